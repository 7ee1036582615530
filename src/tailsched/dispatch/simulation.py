"""Simulation of N servers under a dispatching policy, any job sizes, with intervals from independent runs.

Arrivals, sizes and sampled servers have random streams of their own, addressed by the seed, the name and the
index of a run: two policies under one name see the same jobs and sample the same servers.
"""

import math
from typing import NamedTuple

import numpy as np

from tailsched.dispatch import servers
from tailsched.dispatch.phase_type import PhaseType, phase_type
from tailsched.dispatch.policies import choose_cut, find_policy, make_layers, ranks
from tailsched.sizes import Sizes, check_count, check_number, parse_sizes
from tailsched.streams import stream
from tailsched.tails.estimates import Estimate, excess_interval, mean_over_shards, student

#: Arrivals between two looks at the keyboard.
BATCH = 1 << 20

#: Layers of the default cut at most: sizes with heavy tails would ask for millions.
MOST_DEFAULT_LAYERS = 20_000

#: Times at which the tails are estimated by default, in mean sizes.
TIMES = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0)


class _Known:
    """What layers need of any size distribution of mean 1; see `PhaseType` for the same."""

    last_residual = math.inf

    def __init__(self, sizes):
        self.sizes = sizes

    def tail(self, age):
        return float(self.sizes.tail(age))

    def excess_tail(self, age):
        return float(self.sizes.mean_excess(age))

    def residuals(self, step, count):
        ages = step * np.arange(count)
        tail = self.sizes.tail(ages)
        # Beyond the longest size nobody is; the value there must only be finite.
        return np.where(tail > 0, self.sizes.mean_excess(ages) / np.where(tail > 0, tail, 1.0), 0.0)


class Result(NamedTuple):
    """What a simulation gives.

    Attributes
    ----------
    mean_wait, waiting_probability, mean_response : `Estimate`
    times : (q,) times t
    wait_tail, response_tail : (q, 4) arrays: P[W > t], standard error, and the ends of the 95 % interval
    drift : `Estimate` of the mean wait in the second half of the measurements less that in the first
    run_waits : (runs,) mean wait of each run
    warm_up : arrivals dropped at the start of each run
    cut : age from which on ages are not told apart
    """

    mean_wait: Estimate
    waiting_probability: Estimate
    mean_response: Estimate
    times: np.ndarray
    wait_tail: np.ndarray
    response_tail: np.ndarray
    drift: Estimate
    run_waits: np.ndarray
    warm_up: int
    cut: float

    @property
    def stationary(self):
        """Whether the 99.9 % interval of the drift holds 0; true for a single run, which cannot tell."""
        if self.drift.se is None:
            return True
        return abs(self.drift.estimate) <= student(len(self.run_waits), 0.999) * self.drift.se


def size_law(sizes) -> Sizes:
    """Return the size distribution of mean 1 that a text or a `Sizes` stands for."""
    if isinstance(sizes, str) and sizes.partition(":")[0] == "erlang":
        k = check_count("erlang k", _float(sizes.partition(":")[2]), 1, 1000)
        return parse_sizes(f"merlang:{1.0 / k!r},0.5,{k}")
    sizes = parse_sizes(sizes) if isinstance(sizes, str) else sizes
    if isinstance(sizes, PhaseType):
        return size_law(sizes.name)
    if sizes.mean == math.inf:
        raise ValueError(f"sizes = {sizes.spec!r}: must have a finite mean")
    return sizes.scaled_to_mean(1.0)


def _float(text):
    try:
        return float(text)
    except ValueError:
        return math.nan


def default_warm_up(servers, lam, sizes, arrivals):
    """Return the arrivals of a run to drop: ten times the mean size of the job in service, at most half."""
    forget = 10.0 * sizes.second_moment
    return int(min(arrivals // 2, lam * servers * forget)) if forget < math.inf else arrivals // 2


class _Run:
    """One run: memory that grows as it must, and the kernel."""

    def __init__(self, place, sizes, system, policy, layers, times):
        seed, name, index = place
        self.rngs = (
            stream(seed, name, index, "arrivals"),
            stream(seed, name, index, "sizes"),
            stream(seed, f"{name}/servers", index, "arrivals"),
        )
        self.law, self.policy, self.layers = sizes.kernel, policy, layers
        count, lam, d, delay = system
        per_delta = 1.0 / layers.delta if layers.r else 0.0
        self.system = lam * count, d, per_delta, delay
        self.table = ranks(policy, layers, 16)
        self.servers, self.links = np.zeros((count, 4)), np.zeros((count, 3), np.int64)
        self.pool, self.nexts = np.zeros((count + 64, 3)), np.zeros(count + 64, np.int64)
        servers.free_list(self.nexts, 1)
        self.state, self.clock = np.zeros(3 + d), 0.0
        self.times = times

    def advance(self, jobs, first, counts, sums):
        """Simulate `jobs` arrivals, of which `first` belong to the first half; add to counts and sums."""
        while jobs:
            batch = min(jobs, BATCH)
            why, self.clock, left = servers.run(
                self.rngs, self.law, self.system, self.table, first, self.servers, self.links, self.pool,
                self.nexts, self.state, self.clock, batch, self.times, counts, sums,
            )  # fmt: skip
            done = batch - left
            jobs, first = jobs - done, max(first - done, 0)
            if why == servers.TABLE_SHORT:
                self.table = ranks(self.policy, self.layers, 2 * len(self.table))
            elif why == servers.POOL_FULL:
                old = self.nexts.size
                self.pool = np.concatenate([self.pool, np.zeros((old, 3))])
                self.nexts = np.concatenate([self.nexts, np.zeros(old, np.int64)])
                servers.free_list(self.nexts, old)


def simulate(
    policy,
    servers,
    d,
    lam,
    sizes,
    arrivals,
    delta=0.1,
    threshold=2.0,
    cut=None,
    delay=0.0,
    seed=1,
    runs=10,
    warm_up=None,
    times=TIMES,
    name="dispatch",
) -> Result:
    """Simulate and estimate.

    Parameters
    ----------
    policy : a name, a `Policy`, or a function xi(k, l)
    servers : number N of servers
    d : servers sampled without replacement, at most N
    lam : arrival rate per server, in (0, 1)
    sizes : a text or a `Sizes`; scaled to mean 1
    arrivals : in all runs together, warm-up included
    delta, threshold, cut : of the layers, see `Cavity`; the default cut has at most `MOST_DEFAULT_LAYERS`
    delay : age of the reports, in mean sizes
    seed : root seed
    runs : independent runs, from an empty system
    warm_up : arrivals dropped at the start of each run; by default those of the time 10 E[S^2] / E[S], at
        most half
    times : times at which the tails are wanted
    name : chooses the random streams

    Raises
    ------
    ValueError
        One line with the parameter, its value and what is allowed.
    """
    policy, law = find_policy(policy), size_law(sizes)
    count = check_count("servers", servers, 1, 10**7)
    d = check_count("d", d, 1, 10**6)
    if d > count:
        raise ValueError(f"d = {d}: must be at most the number of servers, {count}")
    lam = check_number("lam", lam, 0.0, 1.0)
    runs = check_count("runs", runs, 1, 10**4)
    arrivals = check_count("arrivals", arrivals, 2 * runs, 10**15)
    if delay != 0.0:
        delay = check_number("delay", delay, 0.0)
    try:
        known = phase_type(law)
    except ValueError:
        known = _Known(law)
    if policy.layering == "delta":
        delta = check_number("delta", delta, 0.0)
        if cut is None:
            cut = min(choose_cut(policy, known, d, delta), MOST_DEFAULT_LAYERS * delta)
    layers = make_layers(policy, known, delta, threshold, cut)
    each = arrivals // runs
    if warm_up is None:
        warm_up = default_warm_up(count, lam, law, each)
    warm_up = check_count("warm-up", warm_up, 0, each - 1)
    times = np.array(sorted(set(map(float, times))))
    if times.size and not (times[0] >= 0 and math.isfinite(times[-1])):
        raise ValueError(f"times = {times.tolist()}: must be numbers of at least 0")
    counts = np.zeros((runs, 2, times.size + 1), np.int64)
    sums = np.zeros((runs, 2, 3))
    for index in range(runs):
        run = _Run((seed, name, index), law, (count, lam, d, float(delay)), policy, layers, times)
        run.advance(warm_up, 0, np.zeros_like(counts[0]), np.zeros_like(sums[0]))
        run.advance(each - warm_up, (each - warm_up) // 2, counts[index], sums[index])
    return _result(counts, sums, times, warm_up, layers.cut)


def _tails(counts, jobs):
    above = counts.sum(axis=1, keepdims=True) - np.cumsum(counts, axis=1)[:, :-1]
    mean, low, high = excess_interval(above, 1.0)
    one = np.full(mean.shape, math.nan)
    se = above.std(axis=0, ddof=1) / math.sqrt(above.shape[0]) if above.shape[0] > 1 else one
    return np.stack([mean, se, low, np.minimum(high, jobs)], axis=1) / jobs


def _result(counts, sums, times, warm_up, cut):
    jobs = sums[:, :, 0].sum(axis=1)
    waits = sums[:, :, 1].sum(axis=1) / jobs
    wait = mean_over_shards(waits)
    shifted = {
        key: 1.0 + value for key, value in wait._asdict().items() if isinstance(value, float) and key != "se"
    }
    response = wait._replace(**shifted)
    halves = sums[:, :, 1] / np.maximum(sums[:, :, 0], 1.0)
    return Result(
        wait,
        mean_over_shards(sums[:, :, 2].sum(axis=1) / jobs),
        response,
        times,
        _tails(counts[:, 0], jobs[0]),
        _tails(counts[:, 1], jobs[0]),
        mean_over_shards(halves[:, 1] - halves[:, 0]),
        waits,
        warm_up,
        cut,
    )
