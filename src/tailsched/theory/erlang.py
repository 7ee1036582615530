r"""The M/M/c queue: c servers, one first-come first-served queue, exponential sizes (Erlang 1917).

With offered load :math:`a = \lambda/\mu < c`, blocking obeys the recursion
:math:`B_0 = 1,\ B_j = a B_{j-1} / (j + a B_{j-1})`, a job waits with probability
:math:`C = B_c / (1 - (a/c)(1 - B_c))`, and :math:`P[W > t] = C e^{-(c\mu - \lambda)t}`.
"""

import numpy as np

from tailsched.sizes import check_count, check_number


def _check(servers, lam, mu):
    servers, mu = check_count("servers", servers, 1), check_number("mu", mu)
    return servers, check_number("lam", lam, 0.0, servers * mu), mu


def erlang_c(servers: int, lam: float, mu: float = 1.0) -> float:
    """Return the probability that an arriving job has to wait.

    Parameters
    ----------
    servers : int
        Number c of servers.
    lam, mu : float
        Arrival rate, and service rate of one server, both per unit of time.

    Raises
    ------
    ValueError
        Unless c >= 1 is whole and 0 < lam < c mu.
    """
    servers, lam, mu = _check(servers, lam, mu)
    offered, blocking = lam / mu, 1.0
    for j in range(1, servers + 1):
        blocking = offered * blocking / (j + offered * blocking)
    return blocking / (1.0 - offered / servers * (1.0 - blocking))


def mean_wait(servers: int, lam: float, mu: float = 1.0) -> float:
    """Return E[W], the mean time from arrival to start of service; parameters as in `erlang_c`."""
    return erlang_c(servers, lam, mu) / (servers * mu - lam)


def mean_response(servers: int, lam: float, mu: float = 1.0) -> float:
    """Return E[T], the mean time from arrival to departure; parameters as in `erlang_c`."""
    return mean_wait(servers, lam, mu) + 1.0 / mu


def wait_tail(t, servers: int, lam: float, mu: float = 1.0):
    """Return P[W > t] for a time or an array of times `t` >= 0; other parameters as in `erlang_c`."""
    return (erlang_c(servers, lam, mu) * np.exp(-(servers * mu - lam) * np.asarray(t, dtype=float)))[()]


def response_tail(t, servers: int, lam: float, mu: float = 1.0):
    """Return P[T > t] for a time or an array of times `t` >= 0; other parameters as in `erlang_c`.

    T is W plus an independent exponential of rate mu. Their convolution holds the difference of
    exp(-mu t) and exp(-(c mu - lam) t) over that of the rates, which is smooth where the rates agree.
    """
    from scipy.special import exprel

    t = np.asarray(t, dtype=float)
    rate = servers * mu - lam
    both = t * np.exp(-min(rate, mu) * t) * exprel(-abs(rate - mu) * t)
    return (np.exp(-mu * t) + erlang_c(servers, lam, mu) * mu * both)[()]
