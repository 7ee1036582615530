r"""The cavity method: one server of infinitely many, in equilibrium, under a dispatching policy.

Notation is that of `tailsched.dispatch.policies`; a server is in (k, l) with probability :math:`x_{k,l}`, and
idle with :math:`1 - \lambda`.

From the law to the rates (Proposition 4.1)
    With :math:`P_\ge, P_>` the probabilities of reports not below, and above, :math:`\xi(k, l)`, a server in
    (k, l) sees arrivals at rate
    :math:`\lambda(k, l) = \lambda \sum_{i<d} P_\ge^i P_>^{d-1-i}`, and jobs start on an idle server at rate
    :math:`\lambda (1 - \lambda^d)`. So :math:`P[W > 0] = \lambda^d` under every policy.

From the rates to the law
    The paper works with matrices of order m B. The queue length does not look at the phase, so given that a
    service lasts, length and phase are independent: :math:`e^{Ft} = e^{Lt} \otimes e^{At}`. Since arrivals
    only lengthen the queue, :math:`x_l(a)`, the density over ages given that the service lasts, solves

    .. math:: x_l' = -\lambda(a, l) x_l + \lambda(a, l - 1) x_{l-1}, \qquad x_l(0) = y_l,

    and what goes up from l comes back by completions: :math:`y_l = \int \lambda(a, l) x_l(a) P[X > a] da`, for
    l = 1 with :math:`\lambda (1 - \lambda^d)` added. That is one unknown a length: a pass upwards over l solves
    the queue in O(r B) operations, without a matrix of queue lengths, and with no term of either sign.
    Beyond the cut the rates are constant in age, and the phases solve m linear equations.

Fixed point
    Both maps in turn, from an idle system or from a solution nearby, until the law moves by less than the
    tolerance in L1; Anderson's acceleration is used unless the plain iteration is asked for. Rates under LAS
    and RE do not depend on l: there the layers' probabilities are :math:`\lambda \int P[X > a] da`, one pass
    is exact, and the tail of the queue is geometric.

Measures
    :math:`E[W] = \sum (l - 1) x_{k,l} / \lambda` by Little's law, and, by the state that a job joins,
    :math:`\sum J_{l,j} (E[X_j] + l - 1)` with :math:`J_{l,j} = \sum_k \lambda(k,l) \pi_{k,l,j} / \lambda`. Both
    must agree. The law of W is that of the time in which the chain that starts from J drains.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from scipy import special
from scipy.linalg import expm

from tailsched.dispatch import kernels
from tailsched.dispatch.phase_type import PhaseType, phase_type
from tailsched.dispatch.policies import Layers, Policy, find_policy, make_layers, ranks
from tailsched.sizes import check_count, check_number

#: Change in L1 at which the iteration ends.
TOLERANCE = 1e-10

#: Probability of the longest queues kept.
LOST = 1e-11

#: Probability that all d sampled servers serve a job beyond the cut, at lam = 1, to which the cut is chosen.
CUT_TOLERANCE = 1e-7

#: Relative difference of E[W] by its two routes that is accepted.
AGREEMENT = 1e-8

#: Iterations, with acceleration or without.
MOST_ITERATIONS = 2000

#: Cells (k, l) of a law, 8 bytes each in a few arrays.
MOST_CELLS = 3 * 10**7

#: Greatest q w of a step, and greatest rate times width of a quadrature panel.
STEP, PANEL = 8.0, 6.0

_NODES, _WEIGHTS = (np.polynomial.legendre.leggauss(20)[i] for i in (0, 1))


class NotConverged(ValueError):
    """The iteration did not reach its tolerance."""


@lru_cache(maxsize=32)
def _grid(sizes, layers, q, phases):
    """Return splits, width, the moments and the phase at the cut, for rates up to q."""
    m = sizes.phases
    if layers.r == 0:
        return 1, 1.0, np.empty((m if phases else 2, 1, 0)), sizes.alpha
    splits = max(1, math.ceil(q * layers.delta / STEP))
    width = layers.delta / splits
    n = 2
    while special.gammainc(n, q * width) > 1e-17:
        n += 1
    fastest = max(q, np.abs(np.diag(sizes.generator)).max())
    panels = max(1, math.ceil(fastest * width / PANEL))
    nodes = (1.0 + _NODES) / 2.0
    places = (np.arange(panels)[:, np.newaxis] + nodes) / panels
    weights = width * _WEIGHTS / 2.0 / panels * np.exp(-q * width * places)
    functions = np.eye(m) if phases else np.stack([np.ones(m), sizes.exits], axis=1)
    moves = expm(sizes.generator * (width / panels * nodes)[:, np.newaxis, np.newaxis]) @ functions
    out = np.empty((functions.shape[1], n, layers.r * splits))
    panel = expm(sizes.generator * (width / panels))
    end = kernels.moments(sizes.alpha, panel, moves, weights, places, out)
    return splits, width, out, end


def choose_cut(sizes, d, delta, tolerance=CUT_TOLERANCE):
    """Return the least multiple of delta beyond which all d servers' ages are with probability `tolerance`.

    The probability is that for lam = 1, where the age of a job in service has the tail
    :math:`\\int_a^\\infty P[X > u] du`.
    """
    level = tolerance ** (1.0 / d)
    low, high = 0, 1
    while sizes.excess_tail(high * delta) > level:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if sizes.excess_tail(middle * delta) > level else (low, middle)
    return high * delta


@dataclass(frozen=True, eq=False)
class Solution:
    """A fixed point.

    Attributes
    ----------
    policy, d, lam, sizes, layers : the system; lam is the arrival rate per server
    mass : (B, r + 1) probabilities of (l, k), l from 1, k from 1
    phases : (B, m) probabilities of (l, j)
    joined : (B, m) probabilities that a job finds (l, j) at the server it joins
    rates : (B or 1, r + 1) arrival rates by (l, k)
    ratio : ratio of the geometric tail of queue lengths beyond B; 0 if none was needed
    iterations : evaluations of the map
    residuals : change in L1 at each of them
    """

    policy: Policy
    d: int
    lam: float
    sizes: PhaseType
    layers: Layers
    mass: np.ndarray
    phases: np.ndarray
    joined: np.ndarray
    rates: np.ndarray
    ratio: float
    iterations: int
    residuals: list = field(repr=False)

    def _total(self, rows, beyond=0.0):
        """Return the sum over l of rows[l - 1] (l - 1 + beyond), with the geometric tail."""
        lengths = rows.size
        total = float(rows @ (np.arange(lengths) + beyond))
        if self.ratio:
            tail = self.ratio / (1.0 - self.ratio)
            total += float(rows[-1]) * tail * (lengths - 1 + beyond + 1.0 / (1.0 - self.ratio))
        return total

    @cached_property
    def mean_wait(self) -> float:
        """E[W], by Little's law."""
        return self._total(self.mass.sum(axis=1)) / self.lam

    @cached_property
    def mean_wait_by_arrivals(self) -> float:
        """E[W], by the state that a job joins."""
        waits = self._total(self.joined.sum(axis=1))
        rest = self.joined @ self.sizes.means
        tail = rest[-1] * self.ratio / (1.0 - self.ratio)
        return waits + float(rest.sum() + tail)

    @property
    def mean_response(self) -> float:
        """E[R]."""
        return 1.0 + self.mean_wait

    @property
    def mean_queue(self) -> float:
        """E[Q], jobs at a server, with that in service."""
        return self.lam * self.mean_response

    @property
    def waiting_probability(self) -> float:
        """P[W > 0], from the state that a job joins: lam^d."""
        rows = self.joined.sum(axis=1)
        return float(rows.sum() + rows[-1] * self.ratio / (1.0 - self.ratio))

    @property
    def lost(self) -> float:
        """Probability of the longest queues, from which nothing goes up; 0 with a geometric tail."""
        return 0.0 if self.ratio else float(self.mass[-1].sum())

    @cached_property
    def queue_tail(self) -> np.ndarray:
        """P[Q >= l] for l = 1, ..., B."""
        rows = self.mass.sum(axis=1)
        beyond = rows[-1] * self.ratio / (1.0 - self.ratio)
        return np.cumsum(rows[::-1])[::-1] + beyond

    def _extended(self):
        """Return `joined` with its geometric tail spelt out, to a rest of 1e-13."""
        if not self.ratio:
            return self.joined
        last = self.joined[-1]
        rest = max(last.sum() / (1.0 - self.ratio), 1e-300)
        more = max(math.ceil(math.log(1e-13 / rest) / math.log(self.ratio)), 0)
        return np.concatenate([self.joined, last * self.ratio ** np.arange(1, more + 1)[:, np.newaxis]])

    def _drained(self, joined, times):
        times = np.asarray(times, float)
        if times.size and not (np.isfinite(times).all() and (times >= 0).all()):
            raise ValueError("times: must be numbers of at least 0")
        rate = float(np.abs(np.diag(self.sizes.generator)).max())
        reach = rate * float(times.max(initial=0.0))
        left = np.empty(int(reach + 12.0 * math.sqrt(reach)) + 40)
        sizes = self.sizes
        kernels.drain(joined.copy(), sizes.alpha, sizes.generator, sizes.exits, rate, left)
        n = np.arange(left.size)
        out = [special.xlogy(n, rate * t) - rate * t - special.gammaln(n + 1.0) for t in times.ravel()]
        return np.array([np.exp(weights) @ left for weights in out]).reshape(times.shape)

    def wait_tail(self, times):
        """Return P[W > t]; `times` is a number or an array."""
        return self._drained(self._extended(), times)[()]

    def response_tail(self, times):
        """Return P[R > t], R = W + X; `times` is a number or an array."""
        joined = self._extended()
        first = np.maximum(1.0 - joined.sum(), 0.0) * self.sizes.alpha
        return self._drained(np.concatenate([[first], joined]), times)[()]


class _Anderson:
    """Anderson's acceleration (type II) of x <- f(x) on vectors, over a window of a few steps."""

    def __init__(self, window=6):
        self.window, self.points, self.images = window, [], []

    def __call__(self, point, image):
        self.points.append(point)
        self.images.append(image)
        del self.points[: -self.window], self.images[: -self.window]
        residuals = [b - a for a, b in zip(self.points, self.images, strict=True)]
        steps = np.stack([residuals[-1] - r for r in residuals[:-1]]) if len(residuals) > 1 else None
        if steps is None:
            return image
        gram = steps @ steps.T
        gram[np.diag_indices_from(gram)] += 1e-13 * np.trace(gram)
        weights = np.linalg.solve(gram, steps @ residuals[-1])
        return image - sum(w * (image - old) for w, old in zip(weights, self.images[:-1], strict=True))


class Cavity:
    """A policy on servers of infinite number: solves for any load.

    Parameters
    ----------
    policy : a name, a `Policy`, or a function xi(k, l)
    d : servers sampled, from 1
    sizes : a `PhaseType` or what `phase_type` accepts; scaled to mean 1
    delta : width of a layer of age, for the policies that look at it
    threshold : age T, for the policies that have it
    cut : age c_r from which on ages are not told apart; by default chosen such that all d servers are beyond
        it with probability `CUT_TOLERANCE` at most

    Raises
    ------
    ValueError
        One line with the parameter, its value and what is allowed.
    """

    def __init__(self, policy, d, sizes, delta=0.1, threshold=2.0, cut=None):
        self.policy = find_policy(policy)
        self.d = check_count("d", d, 1, 10**6)
        self.sizes = phase_type(sizes)
        if self.policy.layering == "delta":
            delta = check_number("delta", delta, 0.0)
            cut = choose_cut(self.sizes, self.d, delta) if cut is None else cut
        self.layers = make_layers(self.policy, self.sizes, delta, threshold, cut)
        if self.d == 1:  # no choice: nothing is compared, and layers tell nothing
            self.layers = Layers(math.inf, 0, 0, self.sizes)
        self._ranks = {}

    def _rank(self, lengths):
        if lengths not in self._ranks:
            cells = lengths * (self.layers.r + 1)
            if cells > MOST_CELLS:
                raise ValueError(
                    f"{lengths} queue lengths by {self.layers.r + 1} layers: more than {MOST_CELLS:.0e} states;"
                    " a larger delta or a smaller cut needs fewer"
                )
            table = ranks(self.policy, self.layers, lengths)
            if self.d == 1:
                table = np.zeros_like(table)
            self._ranks = {lengths: (table, int(table.max()) + 1)}
        return self._ranks[lengths]

    @cached_property
    def blind(self) -> bool:
        """Whether the policy never looks at the queue length."""
        table, _ = self._rank(3)
        return bool((table == table[0]).all())

    def _sweep(self, lam, rates, lengths, closed, settled=0.0, phases=False):
        splits, width, g, end = _grid(self.sizes, self.layers, float(self.d), False)
        m = self.sizes.phases
        wanted = _grid(self.sizes, self.layers, float(self.d), True)[2] if phases else np.empty((0, *g.shape[1:]))
        size = (end, self.sizes.generator, self.sizes.exits, bool((np.tril(self.sizes.generator, -1) == 0).all()))
        mass, starts = np.empty((lengths, self.layers.r + 1)), np.empty(lengths)
        by_phase, joined = np.empty((2, lengths if phases else 0, m))
        source = -lam * math.expm1(self.d * math.log(lam))
        levels, ratio = kernels.sweep(
            rates, closed, splits, width, float(self.d), g, wanted, size, source, settled, mass, starts, by_phase, joined
        )  # fmt: skip
        return levels, ratio, mass, by_phase, joined

    def solve(
        self,
        lam,
        start=None,
        tolerance=TOLERANCE,
        max_iterations=MOST_ITERATIONS,
        accelerate=True,
    ) -> Solution:
        """Return the fixed point.

        Parameters
        ----------
        lam : arrival rate per server, in (0, 1)
        start : (B, r + 1) probabilities of (l, k) near the solution; an idle system by default
        tolerance : change in L1 at which to stop
        max_iterations : evaluations of the map before giving up
        accelerate : use Anderson's acceleration, not the plain iteration

        Raises
        ------
        NotConverged
            If the iterations do not suffice, or E[W] by its two routes does not agree to `AGREEMENT`.
        """
        lam = check_number("lam", lam, 0.0, 1.0)
        tolerance = check_number("tolerance", tolerance, 0.0)
        max_iterations = check_count("max_iterations", max_iterations, 1)
        if self.blind:
            return self._solve_blind(lam)
        x, rates, residuals = self._iterate(lam, start, tolerance, max_iterations, accelerate)
        _, _, mass, phases, joined = self._sweep(lam, rates, len(x), True, phases=True)
        return self._checked(lam, mass, phases, joined, rates, 0.0, residuals)

    def _checked(self, lam, mass, phases, joined, rates, ratio, residuals):
        total = mass.sum() + mass[-1].sum() * ratio / (1.0 - ratio)
        scale = lam / total
        solution = Solution(
            self.policy, self.d, lam, self.sizes, self.layers, mass * scale, phases * scale,
            joined * (scale / lam), rates, ratio, len(residuals), residuals,
        )  # fmt: skip
        routes = solution.mean_wait, solution.mean_wait_by_arrivals
        if not abs(routes[0] - routes[1]) <= AGREEMENT * routes[0]:
            raise NotConverged(
                f"lam = {lam:g}: E[W] is {routes[0]!r} by Little's law and {routes[1]!r} by the arrivals after "
                f"{len(residuals)} iterations; a smaller tolerance may help"
            )
        return solution

    def _solve_blind(self, lam):
        """One pass: the layers' probabilities are known."""
        layers, sizes = self.layers, self.sizes
        excess = np.array([1.0])
        if layers.r:
            splits, _, g, end = _grid(sizes, layers, float(self.d), False)
            move, phase = expm(sizes.generator * layers.delta), sizes.alpha
            excess = np.empty(layers.r + 1)
            for k in range(layers.r + 1):
                excess[k] = phase @ sizes.means
                phase = phase @ move
        by_layer = lam * (excess - np.append(excess[1:], 0.0))[np.newaxis]
        table, groups = self._rank(1)
        rates = np.empty_like(by_layer)
        kernels.arrival_rates(by_layer, table, groups, np.zeros(table.shape[1]), lam, self.d, rates)
        lengths = 1024
        while True:
            levels, ratio, mass, phases, joined = self._sweep(lam, rates, lengths, False, 1e-12, True)
            if levels < lengths:
                break
            lengths *= 4
            if lengths * (layers.r + 1) > MOST_CELLS:
                raise NotConverged(f"lam = {lam:g}: queues beyond {lengths // 4} are likely; a smaller cut may help")
        mass, phases, joined = mass[:levels], phases[:levels], joined[:levels]
        found = mass.sum(axis=0) + mass[-1] * ratio / (1.0 - ratio)
        return self._checked(lam, mass, phases, joined, rates, ratio, [float(np.abs(found - by_layer).sum())])

    def _iterate(self, lam, start, tolerance, most, accelerate):
        layers = self.layers.r + 1
        x = np.zeros((16, layers)) if start is None else np.array(start, float)
        if x.ndim != 2 or x.shape[1] != layers:
            raise ValueError(f"start of shape {x.shape}: must be (B, {layers})")
        residuals, anderson = [], _Anderson()
        nothing = np.zeros(layers)
        while len(residuals) < most:
            lengths = len(x)
            table, groups = self._rank(lengths)
            rates = np.empty_like(x)
            kernels.arrival_rates(x, table, groups, nothing, lam, self.d, rates)
            image = self._sweep(lam, rates, lengths, True)[2]
            image *= lam / image.sum()
            residuals.append(float(np.abs(image - x).sum()))
            if image[-1].sum() > LOST:
                x = np.concatenate([image, np.zeros((lengths // 2 + 1, layers))])
                anderson = _Anderson()
                continue
            weights = np.arange(lengths)
            waits = weights @ image.sum(axis=1)
            moved = weights @ np.abs(image - x).sum(axis=1)
            if residuals[-1] < tolerance and moved <= 1e-2 * AGREEMENT * waits:
                return image, rates, residuals
            if accelerate:
                x = np.maximum(anderson(x.ravel(), image.ravel()).reshape(x.shape), 0.0)
                x *= lam / x.sum()
            else:
                x = image
        raise NotConverged(
            f"lam = {lam:g}: no fixed point after {most} iterations, the last moved by {residuals[-1]:.1e}"
        )

    def curve(self, lams):
        """Yield the solutions at `lams`, each started from an extrapolation of the two before it."""
        old = []
        for lam in lams:
            start = None
            if old and not self.blind:
                start = old[-1][1]
                if len(old) > 1 and len({len(x) for _, x in old}) == 1:
                    (a, x), (b, y) = old
                    start = np.maximum(y + (y - x) * ((lam - b) / (b - a)), 0.0)
                start = start * (lam / start.sum())
            solution = self.solve(lam, start)
            old = [*old[-1:], (lam, solution.mass)]
            yield solution
