r"""The benchmark tail and the two lower bounds that make it (SPLIT, Section 3.2).

With n servers of unit speed and load rho, the benchmark is :math:`P[S > c t]` with
:math:`c = \min\{1, n(1 - \rho)\}`. No policy has a lighter response-time tail, for two reasons: a job has to
be served, so that :math:`T \ge S`; and a job of size S cannot leave long before :math:`S / (n(1 - \rho))`,
since even one server of speed n would leave it only the capacity that the others do not use. The first bound
holds at every t, the second only as t grows: a normalized tail below 1 at a finite t contradicts nothing.
"""

import numpy as np

from tailsched.sizes import Sizes, check_count, check_number


def check_system(n: int, rho: float, least: int = 1) -> tuple[int, float]:
    """Return the number of servers and the load, checked.

    Raises
    ------
    ValueError
        Unless `n` is a whole number of at least `least` and 0 < `rho` < 1.
    """
    return check_count("n", n, least), check_number("rho", rho, 0.0, 1.0)


def arrival_rate(sizes: Sizes, n: int, rho: float) -> float:
    """Return lam = n rho / E[S], the arrivals per unit of time at load `rho`."""
    n, rho = check_system(n, rho)
    return n * rho / sizes.mean


def benchmark_rate(n: int, rho: float) -> float:
    """Return c = min{1, n (1 - rho)}, the highest rate at which any policy can serve a very large job.

    Raises
    ------
    ValueError
        Unless `n` is a whole number of at least 1 and 0 < `rho` < 1.
    """
    n, rho = check_system(n, rho)
    return min(1.0, n * (1.0 - rho))


def benchmark_tail(sizes: Sizes, n: int, rho: float, t):
    """Return P[S > c t] with c = `benchmark_rate`; `t` is a time or an array of times."""
    return sizes.tail(benchmark_rate(n, rho) * np.asarray(t, dtype=float))


def normalize(tail, t, sizes: Sizes, n: int, rho: float):
    """Return the normalized tail P[T > t] / P[S > c t], with `tail` = P[T > t].

    `tail` and `t` are numbers or arrays of one shape. Where P[S > c t] is 0 the result is nan.
    """
    benchmark = np.asarray(benchmark_tail(sizes, n, rho, t))
    return (np.asarray(tail, dtype=float) / np.where(benchmark > 0.0, benchmark, np.nan))[()]


def size_bound(sizes: Sizes, t):
    """Return P[S > t], below which no P[T > t] can lie, at any t (SPLIT, Section 3.2, lower bound 2)."""
    return sizes.tail(t)


def fast_server_bound(sizes: Sizes, n: int, rho: float, t):
    """Return P[S > n (1 - rho) t], the tail that one server of speed `n` attains as `t` grows.

    The ratio of P[T > t] to it has a lower limit of at least 1 (SPLIT, Section 3.2, lower bound 1); at a
    finite `t` it may be smaller. `t` is a time or an array of times.
    """
    n, rho = check_system(n, rho)
    return sizes.tail(n * (1.0 - rho) * np.asarray(t, dtype=float))
