r"""Mean response times of the M/G/1 queue, and the M/D/1 waiting-time law.

Poisson arrivals of rate :math:`\lambda = \rho / E[S]` meet one server of unit speed. Below,
:math:`\rho(x) = \lambda E[S; S \le x]` is the load of jobs up to x, :math:`\rho_{>x} = \rho - \rho(x)`,
:math:`m_2(x) = E[S^2; S \le x]`, and :math:`r(x) = \lambda E[\min(S, x)]`. A job of size x has the mean
response time

=========  ==========================================================================================
policy     E[T(x)]
=========  ==========================================================================================
``fcfs``   :math:`x + \lambda E[S^2] / (2(1 - \rho))` (Pollaczek-Khinchine)
``ps``     :math:`x / (1 - \rho)`
``srpt``   :math:`\lambda(m_2(x) + x^2 P[S > x]) / (2(1-\rho(x))^2) + \int_0^x dt/(1-\rho(t))` (Schrage and
           Miller 1966)
``psjf``   :math:`\lambda m_2(x) / (2(1-\rho(x))^2) + x/(1-\rho(x))`
``fb``     :math:`\lambda E[\min(S, x)^2] / (2(1-r(x))^2) + x/(1-r(x))`
``npsjf``  :math:`x + \lambda E[S^2] / (2(1-\rho(x))^2)`
``npljf``  :math:`x + \lambda E[S^2] / (2(1-\rho_{>x})^2)`
``pljf``   :math:`\lambda (E[S^2] - m_2(x)) / (2(1-\rho_{>x})^2) + x/(1-\rho_{>x})`
=========  ==========================================================================================

(Harchol-Balter 2013, Chapters 29 to 33; FB is least attained service, and PSJF and the LJF policies go by
original size.) Those that compare sizes are stated for continuous sizes. SPLIT with one server is ``npljf``.

E[T] is the mean of E[T(S)]. It is integrated over :math:`v = -\ln P[S > x]`, in which a Pareto quantile is an
exponential and the integrand decays like :math:`e^{-(1 - 1/\alpha)v}`, by Gauss-Legendre panels that shrink
towards v = 0. The second term of SRPT is integrated over t, as :math:`\int P[S > t] / (1 - \rho(t))\,dt`.
"""

import math
from dataclasses import dataclass

import numpy as np

from tailsched.sizes import Sizes, check_number
from tailsched.theory.bounds import arrival_rate
from tailsched.theory.thresholds import check_tags, check_thresh

POLICIES = ("fcfs", "ps", "srpt", "psjf", "fb", "npsjf", "npljf", "pljf")
_NEED_SECOND_MOMENT = ("fcfs", "npsjf", "npljf", "pljf")
_NEED_DISTINCT_SIZES = ("srpt", "psjf", "npsjf", "npljf", "pljf")

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)


def _integrate(function, edges):
    """Integrate over consecutive panels between `edges`, an ascending array."""
    half = np.diff(edges)[:, None] / 2.0
    points = (edges[:-1] + edges[1:])[:, None] / 2.0 + half * _NODES
    return float(np.sum(half * _WEIGHTS * function(points)))


def _panels(sizes):
    """Return the edges of the panels in v = -ln P[S > x]."""
    decay = 1.0 - 1.0 / sizes.tail_index
    last = min(40.0 / decay, 700.0)
    return np.concatenate([[0.0], 2.0 ** np.arange(-50, 0), np.arange(1.0, last)])


def _check(policy, sizes, rho):
    if policy not in POLICIES:
        raise ValueError(f"policy = {policy!r}: must be one of {', '.join(POLICIES)}")
    if policy in _NEED_DISTINCT_SIZES and not sizes.continuous:
        raise ValueError(f"sizes = {sizes!r}: must be continuous for policy {policy}")
    return check_number("rho", rho, 0.0, 1.0)


def mean_work(sizes: Sizes, rho: float) -> float:
    """Return the mean work in an M/G/1 queue, the FCFS mean wait: lam E[S^2] / (2 (1 - rho)).

    It is ``math.inf`` if E[S^2] is.
    """
    return arrival_rate(sizes, 1, rho) * sizes.second_moment / (2.0 * (1.0 - rho))


def _conditional(policy, sizes, rho, x):
    """E[T(x)] for an array x, without the integral of SRPT."""
    lam = arrival_rate(sizes, 1, rho)
    above = lam * sizes.mean_above(x)
    up_to = rho - above
    if policy == "fcfs":
        return x + mean_work(sizes, rho)
    if policy == "ps":
        return x / (1.0 - rho)
    if policy == "npsjf":
        return x + lam * sizes.second_moment / (2.0 * (1.0 - up_to) ** 2)
    if policy == "npljf":
        return x + lam * sizes.second_moment / (2.0 * (1.0 - above) ** 2)
    second = sizes.truncated_second_moment(x)
    if policy == "pljf":
        return lam * (sizes.second_moment - second) / (2.0 * (1.0 - above) ** 2) + x / (1.0 - above)
    if policy == "psjf":
        return lam * second / (2.0 * (1.0 - up_to) ** 2) + x / (1.0 - up_to)
    capped = second + (x * np.sqrt(sizes.tail(x))) ** 2  # x^2 alone may overflow
    if policy == "srpt":
        return lam * capped / (2.0 * (1.0 - up_to) ** 2)
    below = rho - lam * sizes.mean_excess(x)
    return lam * capped / (2.0 * (1.0 - below) ** 2) + x / (1.0 - below)


def mean_response_of_size(policy: str, sizes: Sizes, rho: float, x: float) -> float:
    """Return E[T(x)], the mean response time of a job of size `x` in an M/G/1 queue.

    Parameters
    ----------
    policy : str
        One of `POLICIES`.
    sizes, rho : Sizes, float
        Sizes and load.
    x : float
        A size, in units of time.

    Returns
    -------
    float
        ``math.inf`` if the policy lets jobs wait for residual services and E[S^2] is infinite.

    Raises
    ------
    ValueError
        For an unknown policy, a load outside (0, 1), or sizes with atoms where they would tie.
    """
    rho = _check(policy, sizes, rho)
    x = check_number("x", x)
    if policy in _NEED_SECOND_MOMENT and sizes.second_moment == math.inf:
        return math.inf
    time = float(_conditional(policy, sizes, rho, np.float64(x)))
    if policy == "srpt":
        lam = arrival_rate(sizes, 1, rho)
        edges = sizes.tail_quantile(np.exp(-_panels(sizes)))
        edges = np.unique(np.concatenate([[0.0], edges[edges < x], [x]]))
        time += _integrate(lambda t: 1.0 / (1.0 - rho + lam * sizes.mean_above(t)), edges)
    return time


def mean_response(policy: str, sizes: Sizes, rho: float) -> float:
    """Return E[T], the mean response time of an M/G/1 queue.

    Parameters, errors and infinite values as in `mean_response_of_size`; about 10 digits are correct,
    fewer for Pareto sizes with alpha below 1.06.
    """
    rho = _check(policy, sizes, rho)
    if policy in _NEED_SECOND_MOMENT and sizes.second_moment == math.inf:
        return math.inf
    if policy in ("fcfs", "ps"):
        return mean_work(sizes, rho) + sizes.mean if policy == "fcfs" else sizes.mean / (1.0 - rho)
    edges = _panels(sizes)
    time = _integrate(
        lambda v: np.exp(-v) * _conditional(policy, sizes, rho, sizes.tail_quantile(np.exp(-v))), edges
    )
    if policy == "srpt":
        lam = arrival_rate(sizes, 1, rho)
        steps = np.unique(np.concatenate([[0.0], sizes.tail_quantile(np.exp(-edges))]))
        time += _integrate(lambda t: sizes.tail(t) / (1.0 - rho + lam * sizes.mean_above(t)), steps)
        time += float(sizes.mean_excess(steps[-1])) / (1.0 - rho)
    elif policy in ("psjf", "fb"):  # no more than that is left beyond the last panel
        time += float(sizes.mean_above(sizes.tail_quantile(math.exp(-edges[-1])))) / (1.0 - rho)
    return time


def deterministic_wait_cdf(t: float, rho: float) -> float:
    """Return P[W <= t] in the M/D/1 FCFS queue with sizes of 1.

    A sum of positive terms over the stationary number of jobs (Franx 2001); the classical alternating series
    loses all its digits for large `t`.

    Raises
    ------
    ValueError
        Unless 0 < `rho` < 1 and 0 <= `t` < inf.
    """
    rho = check_number("rho", rho, 0.0, 1.0)
    if not 0.0 <= t < math.inf:
        raise ValueError(f"t = {t!r}: must be a finite time of at least 0")
    k = math.floor(t) + 1
    arrivals = np.cumprod(np.concatenate([[math.exp(-rho)], rho / np.arange(1, k + 40)]))
    exceed = np.cumsum(arrivals[::-1])[::-1]  # exceed[j] = P[at least j arrivals in one service]
    number = [1.0 - rho]  # stationary law of the number in the system, by balance across each level
    for i in range(1, k + 1):
        inflow = number[0] * exceed[i] + sum(number[m] * exceed[i - m + 1] for m in range(1, i))
        number.append(inflow / arrivals[0])
    at_most = np.cumsum(number)
    weights = np.cumprod(np.concatenate([[math.exp(-rho * (k - t))], rho * (k - t) / np.arange(1, k)]))
    return min(float(np.dot(weights, at_most[k - np.arange(k)])), 1.0)


@dataclass(frozen=True)
class _Larger(Sizes):
    """The sizes above d, as a distribution of their own."""

    sizes: Sizes
    d: float

    @property
    def _probability(self):
        return self.sizes.tail(self.d)

    @property
    def tail_index(self):
        return self.sizes.tail_index

    @property
    def continuous(self):
        return self.sizes.continuous

    @property
    def mean(self):
        return float(self._above(1, 0.0))

    def _above(self, k, x):
        return self.sizes._above(k, np.maximum(x, self.d)) / self._probability

    def _up_to(self, k, x):
        return (
            self.sizes._up_to(k, np.maximum(x, self.d)) - self.sizes._up_to(k, self.d)
        ) / self._probability

    def _quantile(self, p, q):
        return self.sizes.tail_quantile(q * self._probability)


def two_server_thresh_split(sizes: Sizes, rho: float, d: float) -> tuple[float, float, float]:
    """Return the mean response times of small jobs, of large jobs and of all, under Thresh-SPLIT with n = 2.

    Without work stealing and with a FCFS small server the system is two independent M/G/1 queues: FCFS with
    the sizes up to d, SRPT with those above (SPLIT, Section 5).

    Raises
    ------
    ValueError
        If `d` is outside the stability region, or no job is small, or none is large.
    """
    check_thresh(sizes, 2, rho, d)
    lam, large = arrival_rate(sizes, 2, rho), float(sizes.tail(d))
    if not 0.0 < large < 1.0:
        raise ValueError(f"threshold d = {d!r}: must leave both small and large jobs")
    load_large = lam * float(sizes.mean_above(d))
    load_small = lam * sizes.mean - load_large
    wait = lam * float(sizes.truncated_second_moment(d)) / (2.0 * (1.0 - load_small))
    small_time = wait + load_small / (lam * (1.0 - large))
    large_time = mean_response("srpt", _Larger(sizes, d), load_large)
    return small_time, large_time, (1.0 - large) * small_time + large * large_time


def two_server_tags_split_wait(sizes: Sizes, rho: float, d: float) -> float:
    """Return E[W] in the queue of the small server of TAGS-SPLIT with n = 2 (SPLIT, Section 6).

    All jobs pass that server, each for min(S, d): an M/G/1 FCFS queue with these service times.

    Raises
    ------
    ValueError
        If `d` is outside the stability region.
    """
    check_tags(sizes, 2, rho, d)
    lam = arrival_rate(sizes, 2, rho)
    second = float(sizes.truncated_second_moment(d) + d**2 * sizes.tail(d))
    return lam * second / (2.0 * (1.0 - lam * (sizes.mean - float(sizes.mean_excess(d)))))
