r"""What theory says of the response-time tail as t grows (SPLIT, Sections 4 to 6, Appendices A and B).

The normalized tail is :math:`P[T > t] / P[S > ct]` with :math:`c = \min\{1, n(1 - \rho)\}`. A policy is
strongly tail-optimal if it tends to 1. Its limit in the cases that are known:

=====================  ================================================  ====================================
policy                 limit                                             source
=====================  ================================================  ====================================
SPLIT                  1 if rho < (n - 1)/n                              Theorem 4.2
Thresh-SPLIT(d)        :math:`(c / (1 - r_{>d}))^\alpha`                 Theorem 5.3
TAGS-SPLIT(d)          :math:`(c / (1 - \lambda E[(S - d)^+]))^\alpha`   Theorem 6.2, Poisson migrations
FCFS-n                 infinite if :math:`(n - k)(\alpha - 1) < \alpha`, Foss and Korshunov (2012)
                       1 if it is larger; k = floor(n rho)
SRPT-n, SEK            :math:`(c / q)^\alpha`, with q the rate at which  lower bound: Theorem B.1
                       an endless job of lowest priority is served
=====================  ================================================  ====================================

The rates in the table are those at which a very large job is served in the long run; q has no closed form for
n >= 2, and `limit_from_rate` turns a measured q into the limit.

A job waits behind few giants or does not notice them. Under FCFS-n the wait exceeds t when n - k servers are
held by giants at once, each with probability of order :math:`t^{1-\alpha}`: the wait has index
:math:`(n - k)(\alpha - 1)`. When rho >= (n - 1)/n the LJF server of SPLIT is needed for the ordinary load,
and one giant on it does the same harm, index :math:`\alpha - 1`; this last case is our own reading, since the
paper leaves such loads to Thresh-SPLIT.

Policies are named as on the command line, see `POLICIES`; none of this depends on the policy of the small
servers, on work stealing, or on which size SEK compares.
"""

import math

import numpy as np

from tailsched.sizes import Sizes, check_number
from tailsched.theory.bounds import arrival_rate, benchmark_rate, check_system
from tailsched.theory.thresholds import check_tags, check_thresh, load_above, tags_loads, thresh_loads

POLICIES = ("fcfs", "ps", "srpt", "sek", "split", "thresh-split", "tags-split")


def _known(policy):
    if policy not in POLICIES:
        raise ValueError(f"policy = {policy!r}: must be one of {', '.join(POLICIES)}")
    return policy


def _whole_load(n, rho):
    """Return floor(n rho), and whether n rho is an integer, up to rounding."""
    k = math.floor(n * rho + 1e-9)
    return k, abs(n * rho - k) < 1e-9


def _wait_index(policy, n, rho, alpha):
    """Return the tail index of what giants make others wait; infinite where giants are harmless."""
    k, _ = _whole_load(n, rho)
    if policy == "fcfs" or (policy == "split" and k >= n - 1):
        return (n - k) * (alpha - 1.0)
    return math.inf


def limit_from_rate(q: float, n: int, rho: float, alpha: float) -> float:
    """Return (c / q)^alpha, the limit of the normalized tail if a very large job is served at rate `q`.

    Parameters
    ----------
    q : float
        Long-run share of time in which the large job is in service, in (0, 1].
    n, rho, alpha : int, float, float
        Servers, load, tail index of the sizes.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    q = check_number("q", q, 0.0, 1.0, closed=True)
    return (benchmark_rate(n, rho) / q) ** check_number("alpha", alpha, 1.0)


def response_tail_index(policy: str, n: int, rho: float, sizes: Sizes) -> float:
    """Return the index of the response-time tail: P[T > t] falls like t^-index, up to slower factors.

    It is alpha unless giants make others wait longer: min{alpha, (n - k)(alpha - 1)} for FCFS-n, with k the
    integer part of n rho, and alpha - 1 for SPLIT with rho >= (n - 1)/n. The mean response time is finite if
    the index is above 1, the variance if it is above 2. Sizes with all moments give ``math.inf``.

    Raises
    ------
    ValueError
        For an unknown policy, and for `n` or `rho` out of range.
    """
    n, rho = check_system(n, rho)
    return min(sizes.tail_index, _wait_index(_known(policy), n, rho, sizes.tail_index))


def number_moments_finite(policy: str, n: int, rho: float, sizes: Sizes) -> tuple[bool, bool]:
    """Return whether the number of jobs in the system has a finite mean, and a finite variance.

    Both hold unless giants make others wait, with a wait of index 1 or less (mean), 2 or less (variance).
    """
    n, rho = check_system(n, rho)
    index = _wait_index(_known(policy), n, rho, sizes.tail_index)
    return index > 1.0 + 1e-9, index > 2.0 + 1e-9


def tail_limit(policy: str, n: int, rho: float, sizes: Sizes, d: float | None = None) -> float | None:
    """Return the limit of P[T > t] / P[S > c t] as t grows, or None where theory gives no value.

    Parameters
    ----------
    policy : str
        See the module's docstring.
    n, rho, sizes : int, float, Sizes
        The system. Without a regularly varying tail there is no value.
    d : float, optional
        The threshold, for Thresh-SPLIT and TAGS-SPLIT.

    Returns
    -------
    float or None
        ``math.inf`` if the response-time tail is heavier than that of the sizes. None for SRPT-n and SEK with
        n >= 2 (see `limit_from_rate`); for FCFS-n if n rho is whole or the wait is as heavy as the sizes; for
        Thresh-SPLIT without large jobs (d infinite).

    Raises
    ------
    ValueError
        For an unknown policy, and for a threshold outside the stability region.
    """
    name = _known(policy)
    n, rho = check_system(n, rho)
    alpha = sizes.tail_index
    large_load = None
    if name in ("thresh-split", "tags-split"):
        check, loads = (check_tags, tags_loads) if name == "tags-split" else (check_thresh, thresh_loads)
        check(sizes, n, rho, d)
        large_load = loads(sizes, n, rho, d)[0] if d < math.inf else None
    if alpha == math.inf:
        return None
    if large_load is not None:
        return limit_from_rate(1.0 - large_load, n, rho, alpha)
    if name in ("fcfs", "split"):
        wait = _wait_index(name, n, rho, alpha)
        if math.isclose(wait, alpha) or (name == "fcfs" and _whole_load(n, rho)[1]):
            return None
        return 1.0 if wait > alpha else math.inf
    return 1.0 if n == 1 and name in ("srpt", "ps") else None


def split_pick_bound(x, n: int, rho: float, sizes: Sizes):
    """Return a lower bound on p(x): that the LJF server of SPLIT picks a job of size x within sqrt(x).

    The bound, (1 - 2 r_{>sqrt x}) exp(-lam P[S > x] sqrt x), tends to 1 (SPLIT, Lemma 4.11); it says nothing
    where it is negative.

    Parameters
    ----------
    x : float or array
        Size of the job.
    n, rho, sizes : int, float, Sizes
        The system.
    """
    root = np.sqrt(np.asarray(x, dtype=float))
    competitors = arrival_rate(sizes, n, rho) * sizes.tail(x) * root
    return ((1.0 - 2.0 * load_above(sizes, n, rho, root)) * np.exp(-competitors))[()]
