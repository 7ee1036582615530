r"""Loads and thresholds of Thresh-SPLIT and TAGS-SPLIT (SPLIT, Sections 5 and 6).

Both policies keep one server for large jobs and n - 1 for the rest. With :math:`\lambda = n\rho / E[S]`:

==================  =====================================  ==============================================
policy              load of the large server               load of the n - 1 small servers together
==================  =====================================  ==============================================
Thresh-SPLIT(d)     :math:`r_{>d} = \lambda E[S; S > d]`   :math:`r_{\le d} = n\rho - r_{>d}`
TAGS-SPLIT(d)       :math:`\lambda E[(S - d)^+]`           :math:`\lambda E[\min(S, d)]`, the rest of n rho
==================  =====================================  ==============================================

Without work stealing the system is stable if and only if the first is below 1 and the second below n - 1. The
limits of the normalized tail are proved there, so that thresholds outside are refused.

The load of the large server falls as d grows. It must stay above :math:`n\rho - (n - 1)`, and where that is
positive it is met at the critical threshold :math:`d^*`. For Pareto sizes all thresholds are closed forms;
for other sizes the least d whose load is at most the wanted one is found by bisection.
"""

import math
from numbers import Real

import numpy as np

from tailsched.sizes import Pareto, Sizes, check_number
from tailsched.theory.bounds import arrival_rate, check_system


def load_above(sizes: Sizes, n: int, rho: float, d):
    """Return r_{>d} = lam E[S; S > d], in servers; `d` is a size or an array of sizes."""
    return arrival_rate(sizes, n, rho) * sizes.mean_above(d)


def load_up_to(sizes: Sizes, n: int, rho: float, d):
    """Return r_{<=d} = lam E[S; S <= d], in servers; `d` is a size or an array of sizes."""
    return n * rho - load_above(sizes, n, rho, d)


def load_beyond(sizes: Sizes, n: int, rho: float, d):
    """Return lam E[(S - d)^+], the load in servers of what jobs still need after `d` units of service."""
    return arrival_rate(sizes, n, rho) * sizes.mean_excess(d)


def _loads(load, sizes, n, rho, d):
    n, rho = check_system(n, rho, least=2)
    large = float(load(sizes, n, rho, d))
    return large, max(n * rho - large, 0.0) / (n - 1)


def thresh_loads(sizes: Sizes, n: int, rho: float, d: float) -> tuple[float, float]:
    """Return the loads of the large server and of each small server under Thresh-SPLIT(d), no stealing."""
    return _loads(load_above, sizes, n, rho, d)


def tags_loads(sizes: Sizes, n: int, rho: float, d: float) -> tuple[float, float]:
    """Return the loads of the large server and of each small server under TAGS-SPLIT(d)."""
    return _loads(load_beyond, sizes, n, rho, d)


def thresh_work(sizes, d):
    """Return the work on the large server of jobs of the (m,) `sizes` under Thresh-SPLIT(d), none being stolen."""
    return np.where(sizes > d, sizes, 0.0)


def tags_work(sizes, d):
    """Return the work on the large server of jobs of the (m,) `sizes` under TAGS-SPLIT(d)."""
    return np.maximum(sizes - d, 0.0)


def _least_threshold(load, level):
    """Return the least d >= 0 with load(d) <= level, for a load that falls to 0."""
    if load(0.0) <= level:
        return 0.0
    low = high = 1.0
    while load(high) > level:
        high *= 4.0
    while load(low) <= level:
        low /= 4.0
    while low < (middle := (low + high) / 2.0) < high:
        low, high = (middle, high) if load(middle) > level else (low, middle)
    return high


def _threshold_above(sizes, n, rho, level):
    """Invert `load_above`."""
    if level <= 0.0:
        return math.inf
    if isinstance(sizes, Pareto) and level <= n * rho:
        return sizes.x_min * (level / (n * rho)) ** (-1.0 / (sizes.alpha - 1.0))
    return _least_threshold(lambda d: load_above(sizes, n, rho, d), level)


def _threshold_beyond(sizes, n, rho, level):
    """Invert `load_beyond`."""
    if level <= 0.0:
        return math.inf
    if isinstance(sizes, Pareto):
        at_x_min = n * rho / sizes.alpha
        if level <= at_x_min:
            return sizes.x_min * (level / at_x_min) ** (-1.0 / (sizes.alpha - 1.0))
        return max(sizes.mean * (1.0 - level / (n * rho)), 0.0)
    return _least_threshold(lambda d: load_beyond(sizes, n, rho, d), level)


def _least_large_load(n, rho):
    """What the n - 1 small servers cannot carry, cleared of rounding."""
    excess = n * rho - (n - 1)
    return excess if excess > 1e-12 * n else 0.0


def critical_threshold(sizes: Sizes, n: int, rho: float) -> float:
    """Return d*, below which the small servers of Thresh-SPLIT are stable: r_{<=d*} = n - 1.

    It is ``math.inf`` if rho <= (n - 1)/n.
    """
    n, rho = check_system(n, rho, least=2)
    return _threshold_above(sizes, n, rho, _least_large_load(n, rho))


def tags_critical_threshold(sizes: Sizes, n: int, rho: float) -> float:
    """Return the d below which the small servers of TAGS-SPLIT are stable: lam E[min(S, d)] = n - 1.

    It is ``math.inf`` if rho <= (n - 1)/n.
    """
    n, rho = check_system(n, rho, least=2)
    return _threshold_beyond(sizes, n, rho, _least_large_load(n, rho))


def _choose(invert, sizes, n, rho, large_load, percentile):
    n, rho = check_system(n, rho, least=2)
    if (large_load is None) == (percentile is None):
        raise ValueError("threshold: must be given by exactly one of large-load and percentile")
    if percentile is not None:
        return float(sizes.quantile(check_number("threshold-percentile", percentile, 0.0, 100.0) / 100.0))
    least, most = _least_large_load(n, rho), min(1.0, n * rho)
    why = " (the small servers are overloaded otherwise)" if least > 0.0 else ""
    return invert(sizes, n, rho, check_number("large-load", large_load, least, most, why=why))


def thresh_threshold(
    sizes: Sizes, n: int, rho: float, large_load: float | None = None, percentile: float | None = None
) -> float:
    """Return the threshold of Thresh-SPLIT with a given load of the large server, or at a size percentile.

    Parameters
    ----------
    sizes, n, rho : Sizes, int, float
        The system.
    large_load : float, optional
        r_{>d}, between max(0, n rho - (n - 1)) and min(1, n rho). If sizes have atoms the least d whose
        load is not larger is returned.
    percentile : float, optional
        Percentage of jobs of size at most d, between 0 and 100.

    Raises
    ------
    ValueError
        If a number is out of its range, or not exactly one of the last two is given.
    """
    d = _choose(_threshold_above, sizes, n, rho, large_load, percentile)
    check_thresh(sizes, n, rho, d)
    return d


def tags_threshold(
    sizes: Sizes, n: int, rho: float, large_load: float | None = None, percentile: float | None = None
) -> float:
    """Return the threshold of TAGS-SPLIT; as `thresh_threshold`, with lam E[(S - d)^+] for the load."""
    d = _choose(_threshold_beyond, sizes, n, rho, large_load, percentile)
    check_tags(sizes, n, rho, d)
    return d


def _check(d, n, rho, loads, invert, beyond):
    large, small = loads
    if not large < 1.0:
        raise ValueError(
            f"threshold d = {d:g}: must be above {invert(1.0):g}, "
            f"since the load of the large server, {large:g}, has to stay below 1"
        )
    if not small < 1.0:
        most = invert(_least_large_load(n, rho))
        allowed = f"must be below {most:g}" if most < math.inf else "no threshold this large is allowed"
        raise ValueError(
            f"threshold d = {d:g}: {allowed}, since the load of "
            f"the small servers, {small * (n - 1):g}, has to stay below n - 1 = {n - 1}{beyond}"
        )


def check_thresh(sizes: Sizes, n: int, rho: float, d: float) -> None:
    """Refuse a threshold outside the domain of Thresh-SPLIT (SPLIT, Theorem 5.3).

    Raises
    ------
    ValueError
        Unless n >= 2, 0 < rho < 1, d >= 0, r_{>d} < 1 and r_{<=d} < n - 1. An infinite d, which means that
        there are no large jobs, is allowed if n rho < n - 1. Work stealing extends the region of stability,
        but not that of the theorem, and changes nothing here.
    """
    n, rho = check_system(n, rho, least=2)
    if not (isinstance(d, Real) and not isinstance(d, bool) and d >= 0.0):
        raise ValueError(f"threshold d = {d!r}: must be a size of at least 0 (inf for no large jobs)")
    beyond = " (work stealing would keep the system stable beyond, but the paper's domain ends here)"
    loads = thresh_loads(sizes, n, rho, d)
    _check(d, n, rho, loads, lambda level: _threshold_above(sizes, n, rho, level), beyond)


def check_tags(sizes: Sizes, n: int, rho: float, d: float) -> None:
    """Refuse a threshold outside the domain of TAGS-SPLIT (SPLIT, Theorem 6.2).

    Raises
    ------
    ValueError
        Unless n >= 2, 0 < rho < 1, 0 <= d < inf, lam E[(S - d)^+] < 1 and lam E[min(S, d)] < n - 1.
    """
    n, rho = check_system(n, rho, least=2)
    if not (isinstance(d, Real) and not isinstance(d, bool) and 0.0 <= d < math.inf):
        raise ValueError(f"threshold d = {d!r}: must be a finite size of at least 0")
    loads = tags_loads(sizes, n, rho, d)
    _check(d, n, rho, loads, lambda level: _threshold_beyond(sizes, n, rho, level), "")
