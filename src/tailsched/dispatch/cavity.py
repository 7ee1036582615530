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

    and what goes up from l comes back by completions: :math:`y_l = \int \lambda(a, l) x_l(a) P[X > a] da`,
    for l = 1 with :math:`\lambda (1 - \lambda^d)` added. That is one unknown a length: a pass upwards over l
    solves the queue in O(r B) operations, without a matrix of queue lengths, and nothing cancels. Beyond the
    cut the rates are constant in age, and the phases solve m linear equations.

Fixed point
    The paper's iteration takes the maps in turn, from an idle system, until the law moves by less than the
    tolerance in L1. At high load it creeps: the queues as a whole drift towards their level. Here the pass
    works out the rates of length l as it comes to it, from the new probabilities of shorter queues and the
    old ones of the others, and Anderson's acceleration mends the rest. Where the age is compared first
    (LAS-QTB) the plain maps contract well, and are accelerated only. Under LAS and RE rates do not depend
    on l: the layers' probabilities are :math:`\lambda \int P[X > a] da`, one pass is exact, and the tail of
    the queue is geometric.

Measures
    :math:`E[W] = \sum (l - 1) x_{k,l} / \lambda` by Little's law, and, by the state that a job joins,
    :math:`\sum J_{l,j} (E[X_j] + l - 1)` with :math:`J_{l,j} = \sum_k \lambda(k,l) \pi_{k,l,j} / \lambda`.
    Both must agree. The law of W is that of the time in which the chain that starts from J drains.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from scipy import special
from scipy.linalg import expm

from tailsched.dispatch import kernels
from tailsched.dispatch.phase_type import phase_type
from tailsched.dispatch.policies import Layers, choose_cut, find_policy, make_layers, ranks
from tailsched.sizes import check_count, check_number

#: Change in L1 at which the iteration ends.
TOLERANCE = 1e-10

#: Probability of the longest queues kept.
LOST = 1e-11

#: Relative difference of E[W] by its two routes that is accepted.
AGREEMENT = 1e-8

#: Iterations, with acceleration or without.
MOST_ITERATIONS = 2000

#: Accelerated iterations at one load, after which the way to it is taken in steps.
PATIENCE = 60

#: Lengths after which the same is done: far from the fixed point they run away.
START_LENGTHS = 400

#: Ratio of the distances 1 - lam of two such steps, and the first distance.
NEARER, FAR = 1.4, 0.5

#: Probability of queues that may share one place a layer, under policies that look at the age first.
MIXED = 1e-4

#: Change of the ratio of two lengths, over its distance from 1, below which the tail is geometric.
SETTLED = 5e-12

#: Cells (k, l) of a law, 8 bytes each in a few arrays.
MOST_CELLS = 6 * 10**7

#: Memory of the acceleration: large laws are accelerated over fewer steps.
MOST_BYTES = 2 * 10**9

#: Servers sampled: a step of ages is as short as d makes it.
MOST_CHOICES = 10**4

#: Lengths of a queue worked out one by one.
MOST_LENGTHS = 10**7

#: Greatest q w of a step, and greatest rate times width of a quadrature panel.
STEP, PANEL = 8.0, 6.0

_NODES, _WEIGHTS = (np.polynomial.legendre.leggauss(20)[i] for i in (0, 1))


class NotConverged(ValueError):
    """The iteration did not reach its tolerance; `residuals` are its changes in L1."""

    def __init__(self, message, residuals=()):
        super().__init__(message)
        self.residuals = list(residuals)


def _functions(sizes, kind):
    """Return functions of the phase, (m, J): of the tail and the density, of the work left, or each phase."""
    ones = np.ones(sizes.phases)
    if kind == "phases":
        return np.eye(sizes.phases)
    return np.stack([ones, sizes.exits if kind == "rates" else sizes.means], axis=1)


@lru_cache(maxsize=32)
def _grid(sizes, layers, q, kind):
    """Return splits, width, the moments and the phase at the cut, for rates up to q."""
    functions = _functions(sizes, kind)
    if layers.r == 0:
        return 1, 1.0, np.empty((functions.shape[1], 1, 0)), sizes.alpha
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
    moves = expm(sizes.generator * (width / panels * nodes)[:, np.newaxis, np.newaxis]) @ functions
    out = np.empty((functions.shape[1], n, layers.r * splits))
    panel = expm(sizes.generator * (width / panels))
    end = kernels.moments(sizes.alpha, panel, moves, weights, places, out)
    return splits, width, out, end


@dataclass(frozen=True, eq=False)
class Solution:
    """A fixed point.

    Attributes
    ----------
    cavity, lam : the system, and the arrival rate per server
    mass : (B, r + 1) probabilities of (l, k), l from 1, k from 1
    queue : (L,) probabilities of l, L >= B
    joins : (L, 2) probabilities that a job joins a server with l jobs, and the mean work left of the first
    rates : (B, r + 1) arrival rates by (l, k), the last row also for longer queues
    ratio : ratio of the geometric tail of queue lengths beyond L; 0 if none was needed
    iterations : evaluations of the map
    residuals : change in L1 at each of them
    """

    cavity: "Cavity"
    lam: float
    mass: np.ndarray
    queue: np.ndarray
    joins: np.ndarray
    rates: np.ndarray
    ratio: float
    iterations: int
    residuals: list = field(repr=False)

    def _total(self, rows):
        """Return the sum over l of rows[l - 1] (l - 1), with the geometric tail."""
        lengths = rows.size
        total = float(rows @ np.arange(lengths))
        if self.ratio:
            tail = self.ratio / (1.0 - self.ratio)
            total += float(rows[-1]) * tail * (lengths - 1 + 1.0 / (1.0 - self.ratio))
        return total

    @cached_property
    def mean_wait(self) -> float:
        """E[W], by Little's law."""
        return self._total(self.queue) / self.lam

    @cached_property
    def mean_wait_by_arrivals(self) -> float:
        """E[W], by the state that a job joins."""
        waits = self._total(self.joins[:, 0])
        rest = self.joins[:, 1]
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
        rows = self.joins[:, 0]
        return float(rows.sum() + rows[-1] * self.ratio / (1.0 - self.ratio))

    @property
    def lost(self) -> float:
        """Probability of the longest queues, from which nothing goes up; 0 with a geometric tail."""
        return 0.0 if self.ratio else float(self.queue[-1])

    @cached_property
    def queue_tail(self) -> np.ndarray:
        """P[Q >= l] for l = 1, ..., L."""
        beyond = self.queue[-1] * self.ratio / (1.0 - self.ratio)
        return np.cumsum(self.queue[::-1])[::-1] + beyond

    @cached_property
    def _by_phase(self):
        return self.cavity._by_phase(self)

    @property
    def phases(self) -> np.ndarray:
        """Probabilities of (l, j), a (L, m) array."""
        return self._by_phase[0]

    @property
    def joined(self) -> np.ndarray:
        """Probabilities that a job finds (l, j) at the server it joins, a (L, m) array."""
        return self._by_phase[1]

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
        rate = float(np.abs(np.diag(self.cavity.sizes.generator)).max())
        reach = rate * float(times.max(initial=0.0))
        left = np.empty(int(reach + 12.0 * math.sqrt(reach)) + 40)
        sizes = self.cavity.sizes
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
        first = np.maximum(1.0 - joined.sum(), 0.0) * self.cavity.sizes.alpha
        return self._drained(np.concatenate([[first], joined]), times)[()]


class _Anderson:
    """Anderson's acceleration (type II) of x <- f(x) on vectors, over a window of a few steps."""

    def __init__(self, window=6):
        self.window, self.residuals, self.images = window, [], []

    def __call__(self, point, image):
        # Residuals, images and steps: three vectors of 8 bytes an entry for each step of the window.
        window = min(self.window, max(2, MOST_BYTES // (24 * image.size)))
        self.residuals = [*self.residuals, image - point][-window:]
        self.images = [*self.images, image][-window:]
        if len(self.images) == 1:
            return image
        steps = np.stack([self.residuals[-1] - r for r in self.residuals[:-1]])
        weights = np.linalg.lstsq(steps @ steps.T, steps @ self.residuals[-1], rcond=1e-14)[0]
        return image - sum(w * (image - old) for w, old in zip(weights, self.images[:-1], strict=True))


class _Law(NamedTuple):
    """What a sweep gives, scaled to a busy probability of lam; the fields are those of `kernels.sweep`."""

    mass: np.ndarray
    beyond: np.ndarray
    queue: np.ndarray
    found: np.ndarray
    joined: np.ndarray
    ratio: float
    levels: int


class Cavity:
    """A policy on servers of infinite number: solves for any load.

    Parameters
    ----------
    policy : a name, a `Policy`, or a function xi(k, l)
    d : servers sampled, from 1
    sizes : a `PhaseType` or what `phase_type` accepts; scaled to mean 1
    delta : width of a layer of age, for the policies that look at it
    threshold : age T, for the policies that have it
    cut : age c_r from which on ages are not told apart; by default that of `choose_cut`

    Raises
    ------
    ValueError
        One line with the parameter, its value and what is allowed.
    """

    def __init__(self, policy, d, sizes, delta=0.1, threshold=2.0, cut=None):
        self.policy = find_policy(policy)
        self.d = check_count("d", d, 1, MOST_CHOICES)
        self.sizes = phase_type(sizes)
        if self.policy.layering == "delta":
            delta = check_number("delta", delta, 0.0)
            cut = choose_cut(self.policy, self.sizes, self.d, delta) if cut is None else cut
        self.layers = make_layers(self.policy, self.sizes, delta, threshold, cut)
        if self.d == 1:  # no choice: nothing is compared, and layers tell nothing
            self.layers = Layers(math.inf, 0, 0, self.sizes)
        self._ranks = {}

    def _rank(self, lengths):
        if lengths not in self._ranks:
            cells = lengths * (self.layers.r + 1)
            if cells > MOST_CELLS:
                raise ValueError(
                    f"{lengths} queue lengths by {self.layers.r + 1} layers are more than {MOST_CELLS:.0e} "
                    "states; a larger delta or a smaller cut needs fewer"
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

    @cached_property
    def by_layers(self) -> bool:
        """Whether the policy looks at the queue length only between servers of one layer."""
        table, _ = self._rank(3)
        return self.layers.r > 1 and bool((np.diff(table, axis=0) == 1).all())

    def _cheap(self, lengths):
        """Whether rates that are worked out on the way cost no more than the rest of a sweep."""
        table, places = self._rank(lengths)
        gaps = np.diff(table, axis=1)
        far = (gaps < 0) | (gaps > 64)
        return bool(far.mean() * (64 + (places >> 12)) <= 128) if gaps.size else True

    def _sweep(self, lam, rates, old=None, lengths=None, settled=0.0, kind=None):
        """Return the `_Law` of a server; `rates` are made from `old` on the way if it is given.

        Queues are at most as long as `rates` tells, or as `lengths`.
        """
        q, layers = float(self.d), self.layers.r + 1
        splits, width, g, end = _grid(self.sizes, self.layers, q, "rates")
        functions = _functions(self.sizes, kind) if kind else np.empty((self.sizes.phases, 0))
        wanted = _grid(self.sizes, self.layers, q, kind)[2] if kind else np.empty((0, *g.shape[1:]))
        triangular = bool((np.tril(self.sizes.generator, -1) == 0).all())
        size = (end, self.sizes.generator, self.sizes.exits, triangular, functions)
        closed, stored = lengths is None, len(rates)
        lengths = stored if closed else lengths
        mass, beyond, queue = np.empty((stored, layers)), np.empty(layers), np.empty(lengths)
        found, joined = np.empty((2, lengths, functions.shape[1]))
        table, groups = self._rank(stored) if old is not None else (np.empty((0, 0), np.int32), 0)
        sums = (np.empty((groups >> shift) + 1) for shift in (0, 6, 12))
        live = (np.empty((0, 0)) if old is None else old, table, *sums)
        levels, ratio = kernels.sweep(
            rates, live, closed, splits, width, q, g, wanted, size, lam, self.d,
            settled, mass, beyond, queue, found, joined,
        )  # fmt: skip
        if not closed:
            queue, found, joined = queue[:levels], found[:levels], joined[:levels]
        scale = lam / (queue.sum() + queue[-1] * ratio / (1.0 - ratio))
        for array in (mass, beyond, queue, found, joined):
            array *= scale
        return _Law(mass, beyond, queue, found, joined / lam, ratio, levels)

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
        accelerate : take the ways above; otherwise the paper's iteration

        Raises
        ------
        NotConverged
            If the iterations do not suffice, or E[W] by its two routes does not agree to `AGREEMENT`.
        """
        lam = check_number("lam", lam, 0.0, 1.0)
        tolerance = check_number("tolerance", tolerance, 0.0)
        max_iterations = check_count("max_iterations", max_iterations, 1)
        if accelerate and self.blind:
            return self._solve_blind(lam)
        if accelerate and self.by_layers:
            return self._solve_open(lam, start, tolerance, max_iterations)
        law, rates, residuals = self._converge(lam, start, tolerance, max_iterations, accelerate)
        kernels.arrival_rates(law.mass, *self._rank(len(law.mass)), law.beyond * 0.0, lam, self.d, rates)
        return self._checked(lam, self._sweep(lam, rates, kind="means"), rates, residuals)

    def _by_phase(self, solution):
        closed = not solution.ratio and len(solution.queue) == len(solution.rates)
        sweep = self._sweep if closed else self._open_sweep
        law = sweep(solution.lam, solution.rates, kind="phases")
        return law.found, law.joined

    def _checked(self, lam, law, rates, residuals):
        solution = Solution(
            self, lam, law.mass, law.queue, law.joined, rates, law.ratio, len(residuals), residuals
        )  # fmt: skip
        routes = solution.mean_wait, solution.mean_wait_by_arrivals
        if not abs(routes[0] - routes[1]) <= AGREEMENT * routes[0]:
            raise NotConverged(
                f"lam = {lam:g}: E[W] is {routes[0]!r} by Little's law and {routes[1]!r} by the arrivals "
                f"after {len(residuals)} iterations; a smaller tolerance may help"
            )
        return solution

    def _open_sweep(self, lam, rates, kind=None):
        """Return the law of a server with the rates of the longest queues for all that are longer."""
        lengths = 2 * len(rates) + 1024
        while True:
            law = self._sweep(lam, rates, None, lengths, SETTLED, kind)
            if law.levels < lengths:
                return law
            if lengths > MOST_LENGTHS:
                raise NotConverged(f"lam = {lam:g}: queues beyond {lengths} jobs are likely")
            lengths *= 4

    def _solve_blind(self, lam):
        """One pass: the layers' probabilities are known."""
        layers, sizes = self.layers, self.sizes
        excess = np.ones(layers.r + 1)
        if layers.r:
            move, phase = expm(sizes.generator * layers.delta), sizes.alpha
            for k in range(layers.r + 1):
                excess[k] = phase @ sizes.means
                phase = phase @ move
        by_layer = lam * (excess - np.append(excess[1:], 0.0))[np.newaxis]
        table, groups = self._rank(1)
        rates = np.empty_like(by_layer)
        kernels.arrival_rates(by_layer, table, groups, np.zeros(layers.r + 1), lam, self.d, rates)
        law = self._open_sweep(lam, rates, "means")
        found = law.mass.sum(axis=0) + law.beyond
        return self._checked(lam, law, rates, [float(np.abs(found - by_layer).sum())])

    def _solve_open(self, lam, start, tolerance, most):
        """Lengths beyond B share one place a layer: what that mixes is of the order of P[Q > B]^2."""
        x, residuals, anderson = self._start(lam, start), [], _Anderson()
        beyond = np.zeros(x.shape[1])
        while len(residuals) < most:
            table, groups = self._rank(len(x))
            rates = np.empty_like(x)
            kernels.arrival_rates(x, table, groups, beyond, lam, self.d, rates)
            law = self._open_sweep(lam, rates)
            residuals.append(float(np.abs(law.mass - x).sum() + np.abs(law.beyond - beyond).sum()))
            if law.beyond.sum() > MIXED and residuals[-1] < MIXED:
                x = np.concatenate([law.mass, np.zeros((len(x) // 2 + 1, x.shape[1]))])
                beyond, anderson = law.beyond, _Anderson()
                continue
            if residuals[-1] < tolerance:
                return self._checked(lam, self._open_sweep(lam, rates, "means"), rates, residuals)
            point, image = np.vstack([x, beyond]), np.vstack([law.mass, law.beyond])
            image = np.maximum(anderson(point.ravel(), image.ravel()).reshape(image.shape), 0.0)
            image *= lam / image.sum()
            x, beyond = image[:-1], image[-1]
        raise self._gave_up(lam, residuals)

    def _start(self, lam, start):
        layers = self.layers.r + 1
        x = np.zeros((16, layers)) if start is None else np.array(start, float)
        if x.ndim != 2 or x.shape[1] != layers:
            raise ValueError(f"start of shape {x.shape}: must be (B, {layers})")
        return x

    def _gave_up(self, lam, residuals):
        return NotConverged(
            f"lam = {lam:g}: no fixed point after {len(residuals)} iterations, the last moved by "
            f"{residuals[-1]:.1e}",
            residuals,
        )

    def _converge(self, lam, start, tolerance, most, accelerate):
        """Iterate at one load; where that fails, come to it from lower loads; in the end, iterate plainly."""
        if not accelerate:
            return self._iterate(lam, start, tolerance, most, False)
        spent, x = [], start
        steps = max(math.ceil(math.log(FAR / (1.0 - lam)) / math.log(NEARER)), 0)
        way = [lam, *(1.0 - np.geomspace(FAR, 1.0 - lam, steps + 1)[1:-1]), lam]
        for i, load in enumerate(way):
            left = min(PATIENCE, most - len(spent))
            if left < 1:
                break
            try:
                longest = START_LENGTHS if i == 0 else MOST_LENGTHS
                law, rates, residuals = self._iterate(load, x, tolerance, left, True, longest)
            except NotConverged as error:
                spent += error.residuals
                x = None if i == 0 else x
                continue
            spent += residuals
            if load == lam:
                return law, rates, spent
            x = law.mass
        if len(spent) >= most:
            raise self._gave_up(lam, spent)
        try:
            law, rates, residuals = self._iterate(lam, x, tolerance, most - len(spent), False)
        except NotConverged as error:
            raise self._gave_up(lam, spent + error.residuals) from None
        return law, rates, spent + residuals

    def _iterate(self, lam, start, tolerance, most, accelerate, longest=MOST_LENGTHS):
        """Return the law, the rates and the residuals."""
        x, residuals, anderson = self._start(lam, start), [], _Anderson()
        nothing, live, rates = np.zeros(x.shape[1]), False, None
        while len(residuals) < most:
            if rates is None or len(rates) != len(x):
                live = accelerate and self._cheap(len(x))
                rates = np.empty_like(x)
            if not live:
                kernels.arrival_rates(x, *self._rank(len(x)), nothing, lam, self.d, rates)
            law = self._sweep(lam, rates, x if live else None)
            image = law.mass
            residuals.append(float(np.abs(image - x).sum()))
            if law.queue[-1] > LOST:
                if len(x) > longest:
                    break
                x = np.concatenate([image, np.zeros((len(x) // 2 + 1, x.shape[1]))])
                anderson = _Anderson()
                continue
            if residuals[-1] < tolerance:
                weights = np.arange(len(x))
                moved = weights @ np.abs(image - x).sum(axis=1)
                if moved <= 1e-2 * AGREEMENT * (weights @ law.queue):
                    return law, rates, residuals
            point, x = x, image
            if accelerate:
                x = np.maximum(anderson(point.ravel(), image.ravel()).reshape(image.shape), 0.0)
                x *= lam / x.sum()
        raise self._gave_up(lam, residuals)

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
