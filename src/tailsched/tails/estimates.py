r"""Estimates with intervals from independent shards.

Tails
-----
A response is never below the job's size, so with the law of S known

.. math:: P[T > t] = P[S > t] + P[S \le t < T],

and only the second term, the excess, is estimated. In a natural run it is the share of the counted jobs with
T > t less the share with S > t. With tagged jobs (`tailsched.mgn.tagged`) there is, for the sizes in each band of
the ladder, another estimate,

.. math:: \frac{1}{M_b} \sum_{windows} \sum_{j \in b} w_j 1\{x_j \le t < T_j\},

over the M_b windows that reach it. Both are unbiased, whatever the dependence between the jobs of a window,
the windows of a run, and the run itself, and the two are averaged in each band (`Tails.share`).

The standard error is that of the mean over the shards. The interval treats the excess as a sum of equal events,
overdispersed Poisson in number, with the dispersion seen between the shards, and is of Jeffreys' form: with m
effective events, the gamma quantiles of shape m + 1/2. For many events that is the Student interval of the
shards' mean, and for few it does not collapse to a point. Where few events are left their dispersion is at
least the largest known in the octave below t, and at least what one job or one rung of the ladder weighs: a run
without an event says nothing of how they clump. The natural and the tagged part have an interval each, and the
interval of their sum has the root of the sum of squares of their distances on either side.

Beyond `SILENCE` times the longest response seen of a job with a part in it, the natural part is taken to be
over: with tagged jobs there, it is not held against a curve that no such job has been seen, as it is in a natural
run.

Control variate
---------------
For a tail index below 2 the load of a run of N jobs is off its mean by the order of N^(1/alpha - 1), as a giant more
or less came by, and whatever follows the load is off with it. The mean of what it follows is known: n rho servers
are busy under every stable policy. So values of the shards are regressed on the busy servers seen in them, and are
taken at n rho (`controlled`). The busy servers count what was served, not what arrived, of a giant. The tagged jobs
of a band are controlled so where its variance over all t falls by a fifth (`Tails.follows`): they see the states of
the same run.

Percentiles
-----------
A percentile is where the estimated tail passes 1 - p; its interval is where the tail's interval does.

Means
-----
E[T] = E[S] + E[T - S], again with only the second term estimated. Where theory says that the variance is
infinite no standard error exists, and none is given.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import special

from tailsched.records import MANTISSA_BITS, edges
from tailsched.sizes import Sizes

LEVEL = 0.95

#: Exceedances below which a percentile is not estimated.
FEWEST = 10

#: Effective events below which the dispersion is borrowed from shorter times.
FEW_EVENTS = 20

#: Effective events from which a dispersion may be lent to longer times.
LENDERS = 3

#: How far the natural part of a curve with tagged jobs may reach beyond the longest response seen in it.
SILENCE = 2.0

#: Shards from which values are regressed on a control variate.
FEWEST_CONTROLLED = 6

#: Events a shard from which a part of a tail is: a few events do not follow the load.
EVENTS_CONTROLLED = 8

#: Part of its variance that a band's tagged jobs must be left with for the control to be worth its price.
WORTH_CONTROLLING = 0.8

#: Natural jobs expected in a band, in all shards, from which they have a part in the estimate.
FEWEST_NATURAL = 1000

#: Natural jobs that a window is worth at most.
MOST_WORTH = 1000.0

#: Edges for which one is looked at where not all are needed.
COARSE = 32

#: Points an octave on the grid of a curve, all of them edges of the histogram.
GRID_POINTS = 16


class Estimate(NamedTuple):
    """A number with its standard error and interval; what does not exist is None, and `note` says why."""

    estimate: float | None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    note: str | None = None

    def as_dict(self):
        """Return the fields, without an empty note."""
        return {key: value for key, value in self._asdict().items() if key != "note" or value}


class Tail(NamedTuple):
    """P[T > t] at the times `t`, as arrays of one length; `samples` counts the jobs with T > t."""

    t: np.ndarray
    estimate: np.ndarray
    se: np.ndarray
    low: np.ndarray
    high: np.ndarray
    samples: np.ndarray

    def at(self, keep):
        """Return the selected times only."""
        return Tail(*(field[keep] for field in self))


def student(shards, level=LEVEL):
    """Return the two-sided quantile of Student's t for a mean over that many shards."""
    return float(special.stdtrit(shards - 1, 0.5 + level / 2)) if shards > 1 else math.nan


def mean_over_shards(values, note=None):
    """Return the mean of one value a shard, with Student's interval."""
    values = np.asarray(values, float)
    if values.size < 2:
        return Estimate(float(values.mean()), note="one shard gives no standard error")
    mean, se = float(values.mean()), float(values.std(ddof=1) / math.sqrt(values.size))
    reach = student(values.size) * se
    return Estimate(mean, se, mean - reach, mean + reach, note)


def controlled(values, control):
    """Return values of the shards with their dependence on a control variate taken out.

    Parameters
    ----------
    values : (shards, ...) array
    control : (shards,) array whose mean is known to be 0

    Returns
    -------
    array of the values' shape, whose mean is the regression's at 0 and whose spread makes the standard error of its
    mean that of the regression; the values as they are if there are fewer than `FEWEST_CONTROLLED` shards or no
    spread
    """
    values, control = np.asarray(values, float), np.asarray(control, float)
    shards = values.shape[0]
    centred = control - control.mean()
    spread = float(centred @ centred)
    if shards < FEWEST_CONTROLLED or not spread > 0.0:
        return values
    mean = values.mean(axis=0)
    slope = np.tensordot(centred, values - mean, 1) / spread
    residuals = values - mean - np.multiply.outer(centred, slope)
    at_zero = mean - slope * control.mean()
    scale = (shards - 1) / (shards - 2) * (1.0 + shards * control.mean() ** 2 / spread)
    return at_zero + math.sqrt(scale) * residuals


def dispersion_of(values):
    """Return variance over mean of one value a shard, 0 where all are 0; `values` is a (shards, ...) array."""
    mean = values.mean(axis=0)
    return np.divide(values.var(axis=0, ddof=1), mean, out=np.zeros_like(mean), where=mean > 0)


def excess_interval(values, weight, floor=0.0, counts=True):
    """Return the mean of one excess a shard, and its interval.

    Parameters
    ----------
    values : (shards, ...) array, not negative
    weight : what one event adds to a shard's value, the least dispersion where fewer than `FEW_EVENTS` effective
        events are seen; a number or an array of the values' trailing shape; where it is 0, no event is the
        certain number of events
    floor : another least dispersion where so few are seen, likewise
    counts : whether the values are numbers of events, whose dispersion is nowhere below that of independent ones;
        the rungs of a ladder, evenly spaced, are better than independent

    Returns
    -------
    mean, low, high : arrays of the values' trailing shape; the interval is NaN for one shard
    """
    shards = values.shape[0]
    mean = values.mean(axis=0)
    if shards < 2:
        return mean, *(np.full(mean.shape, np.nan) for _ in range(2))
    dispersion = np.maximum(dispersion_of(values), weight if counts else 0.0)
    least = np.maximum(weight, dispersion)
    few = shards * mean < FEW_EVENTS * least
    dispersion = np.where(few & (weight > 0), np.maximum(least, floor), dispersion)
    tail_probability = special.ndtr(-student(shards))
    events = np.divide(shards * mean, dispersion, out=np.zeros_like(mean), where=dispersion > 0)
    low = np.where(mean > 0, special.gammaincinv(events + 0.5, tail_probability), 0.0)
    high = special.gammainccinv(events + 0.5, tail_probability)
    scale = dispersion / shards
    return mean, low * scale, high * scale


def _greater(histogram):
    """Return, for each edge, the count of values greater than it."""
    return np.append(np.cumsum(histogram[::-1])[::-1], 0)


def _tagged(tagged, t):
    """Return, at each t, the excess of the tagged jobs in each band, (bands, t), and how many jobs have T > t."""
    excess, number = np.zeros((tagged.windows.size, t.size)), np.zeros(t.size, np.int64)
    for band, windows in enumerate(tagged.windows):
        jobs = tagged.only(band)

        def above(values, weight=jobs.weight):
            order = np.argsort(values)
            sums = np.append(0.0, np.cumsum(weight[order]))
            passed = np.searchsorted(values[order], t, side="right")
            return sums[-1] - sums[passed], order.size - passed

        (longer, many), (larger, outgrown) = above(jobs.response), above(jobs.size)
        excess[band] = np.where(many > outgrown, np.maximum(longer - larger, 0.0), 0.0) / max(windows, 1)
        number += many
    return excess, number


class Tails(NamedTuple):
    """The tails of some shards.

    Attributes
    ----------
    t : (m,) edges of the histogram, from the last one that all jobs pass to the first that none does, or with
        tagged jobs to the last that is not above `Shard.until`
    parts : one `Part`, of the natural runs, or two, of these and of the tagged jobs
    samples : (m,) jobs with T > t, tagged ones too
    shards : the shards
    sizes : the job-size distribution
    share : (bands,) weight of the tagged jobs in each band
    follows : (bands,) whether what the tagged jobs of a band tell follows the load
    """

    t: np.ndarray
    parts: list
    samples: np.ndarray
    shards: list
    sizes: Sizes
    share: np.ndarray
    follows: np.ndarray

    @classmethod
    def of(cls, shards, sizes):
        used = np.flatnonzero(np.sum([shard.responses + shard.sizes for shard in shards], axis=0))
        grid = edges(shards[0].unit)
        last = used[-1] + 1
        if shards[0].tagged:
            last = int(np.searchsorted(grid, shards[0].until * (1 + 1e-12), side="right")) - 1
        window = slice(used[0], max(last, used[0]) + 1)
        t = grid[window]
        counts = []
        for shard in shards:
            small = _greater(shard.responses - shard.large.sum(axis=0))
            longer = np.array([small, *map(_greater, shard.large)])[:, window]
            counts.append(_Counts.of(shard, longer, _greater(shard.sizes)[window]))
        share, follows = _weighing(shards, counts, sizes, t) if shards[0].tagged else np.zeros((2, 0))
        parts, samples = _parts(shards, counts, share, follows, t)
        return cls(t, [part.with_floor() for part in parts], samples, shards, sizes, share, follows)

    @property
    def excess(self):
        """(shards, m) estimates of P[S <= t < T]."""
        return sum(part.values for part in self.parts)

    def _tail(self, t, parts, samples):
        known = self.sizes.tail(t)
        excess = sum(part.values for part in parts)
        mean = excess.mean(axis=0)
        below, above = np.zeros((2, t.size))
        for i, part in enumerate(parts):
            middle, low, high = excess_interval(part.values, part.weight, part.floor, counts=i == 0)
            below = below + np.maximum(middle - low, 0.0) ** 2
            above = above + (high - middle) ** 2
        if len(self.shards) > 1:
            se = excess.std(axis=0, ddof=1) / math.sqrt(len(self.shards))
            # The parts of a shard see the same run, and may go together.
            apart = np.sqrt(sum(part.values.var(axis=0, ddof=1) for part in parts) / len(self.shards))
            joint = np.maximum(np.divide(se, apart, out=np.ones_like(se), where=apart > 0), 1.0) ** 2
            below, above = below * joint, above * joint
            # Of an excess that was never seen only the interval is known; where all sizes are above t it is 0.
            se = np.where((mean > 0) | (known == 1.0), se, np.nan)
        else:
            se = np.full(t.size, np.nan)
        bound = np.minimum(known + np.stack([mean, mean - np.sqrt(below), mean + np.sqrt(above)]), 1.0)
        return Tail(t, bound[0], se, np.maximum(bound[1], known), bound[2], samples)

    def at_edges(self):
        """Estimate P[T > t] at the edges of the histogram."""
        return self._tail(self.t, self.parts, self.samples)

    def at_times(self):
        """Estimate P[T > t] at the extra times of the shards, from exact counts."""
        times = self.shards[0].times[self.shards[0].times <= self.shards[0].until]
        counts = []
        for shard in self.shards:
            longer = np.array([shard.exceed - shard.large_exceed.sum(axis=0), *shard.large_exceed])
            counts.append(_Counts.of(shard, longer[:, : times.size], shard.outgrow[: times.size]))
        seen = np.any(self.parts[0].values, axis=0)
        longest = self.t[np.flatnonzero(seen)[-1]] if seen.any() else 0.0
        parts, samples = _parts(self.shards, counts, self.share, self.follows, times, longest)
        at = np.clip(np.searchsorted(self.t, times), 0, self.t.size - 1)
        parts = [part._replace(floor=own.floor[at]) for part, own in zip(parts, self.parts, strict=True)]
        return self._tail(times, parts, samples)


class Part(NamedTuple):
    """A part of the excess: (shards, m) values, what one event weighs, and the least dispersion where few are seen."""

    values: np.ndarray
    weight: np.ndarray
    floor: np.ndarray | float = 0.0

    def with_floor(self):
        """Set `floor` to the largest dispersion that is known in the octave below each of the edges t."""
        shards, size = self.values.shape
        if shards < 2:
            return self._replace(floor=np.zeros(size))
        octave = 1 << MANTISSA_BITS
        dispersion = dispersion_of(self.values)
        known = np.where(shards * self.values.mean(axis=0) >= LENDERS * dispersion, dispersion, 0.0)
        padded = np.concatenate([np.zeros(octave), known])
        return self._replace(floor=np.lib.stride_tricks.sliding_window_view(padded, octave + 1).max(axis=1))


class _Counts(NamedTuple):
    """Jobs of a natural run by size, up to the first cut and then by band, as (1 + bands, t) arrays.

    Attributes
    ----------
    longer, larger : jobs with T > t, jobs with S > t
    """

    longer: np.ndarray
    larger: np.ndarray

    @classmethod
    def of(cls, shard, longer, outgrow):
        """Make counts of `longer` and of the (t,) numbers of all jobs with S > t."""
        at_cuts = _greater(shard.sizes)[np.searchsorted(edges(shard.unit), shard.cuts)]
        limits = np.concatenate([[shard.totals.counted], at_cuts, [0]])[:, np.newaxis]
        return cls(longer, np.clip(outgrow - limits[1:], 0, limits[:-1] - limits[1:]))


def _natural(shards, counts, some=slice(None)):
    """Return the excess in the natural runs at some of the times, (shards, 1 + bands, t)."""
    pairs = zip(shards, counts, strict=True)
    return np.stack([(c.longer[:, some] - c.larger[:, some]) / shard.totals.counted for shard, c in pairs])


def _by_band(shards, follows, t):
    """Return (excess, samples) of the tagged jobs, (shards, bands, t) and (t,).

    The bands that follow the load are controlled by it, if they are given.
    """
    excess, numbers = zip(*(_tagged(shard.tagged, t) for shard in shards), strict=True)
    excess = np.stack(excess)
    better = controlled(excess[:, follows], _load(shards))
    excess[:, follows] = np.where(better.mean(axis=0) > 0.0, better, excess[:, follows])
    return excess, sum(numbers)


def _weighing(shards, counts, sizes, t):
    """Return `Tails.share` and `Tails.follows`, from all t together.

    Control has its price where there is nothing to control, and is for bands whose variance falls by a fifth.

    The tagged and the natural jobs of a band estimate the same, and are weighted by their numbers, a window being
    worth so many natural jobs as their variances tell: where a large job's response is its own doing a window does the
    work of hundreds, and where rare states of the system decide it, that of one. Bands with few natural jobs leave
    them out.
    """
    some = slice(None, None, COARSE)
    relative = np.maximum(sizes.tail(t[some]), 1e-300)

    def variance(values):
        return (values / relative).var(axis=0, ddof=1).mean(axis=1)

    own = variance(_by_band(shards, [], t[some])[0])
    better = variance(_by_band(shards, slice(None), t[some])[0])
    follows = better < WORTH_CONTROLLING * own
    tagged = np.where(follows, better, own)
    natural = variance(controlled(_natural(shards, counts, some)[:, 1:], _load(shards)))
    limits = np.append(sizes.tail(shards[0].cuts), 0.0)
    jobs = np.mean([shard.totals.counted for shard in shards]) * -np.diff(limits)
    windows = shards[0].tagged.windows
    spread = tagged * windows
    worth = np.divide(natural * jobs, spread, out=np.full(jobs.size, MOST_WORTH), where=spread > 0)
    weight = np.clip(worth, 1.0, MOST_WORTH) * windows
    return np.where(len(shards) * jobs < FEWEST_NATURAL, 1.0, weight / (weight + jobs)), follows


def _parts(shards, counts, share, follows, t, longest=None):
    """Return (parts, samples) at times `t` (see `Tails`).

    `counts` are the `_Counts` of the shards. `longest` is the largest t with an excess in the natural part, if it is
    not among the times.
    """
    natural = np.tensordot(_natural(shards, counts), np.append(1.0, 1.0 - share), (1, 0))
    weight = np.full(t.size, np.mean([1.0 / shard.totals.counted for shard in shards]))
    seen = np.any(natural, axis=0)
    natural = _at_known_load(natural, weight, shards)
    samples = sum(count.longer.sum(axis=0) for count in counts)
    if shards[0].tagged is None:
        return [Part(natural, weight)], samples
    excess, numbers = _by_band(shards, follows, t)
    values = np.tensordot(excess, share, (1, 0))
    rungs = np.mean([_rung_weight(shard.tagged, t, share) for shard in shards], axis=0)
    if longest is None:
        longest = t[np.flatnonzero(seen)[-1]] if seen.any() else 0.0
    weight[t > SILENCE * longest] = 0.0
    return [Part(natural, weight), Part(values, rungs)], samples + numbers


def _load(shards):
    """Return the busy servers seen in each shard, less those expected; zeros where the system is not told."""
    origin = shards[0].origin
    if "servers" not in origin:
        return np.zeros(len(shards))
    return np.array([shard.totals.busy / shard.span for shard in shards]) - origin["servers"] * origin["load"]


def _at_known_load(values, weight, shards):
    """Return the natural parts of the excess, (shards, t), controlled by the load where there are events enough."""
    better = controlled(values, _load(shards))
    many = (values.mean(axis=0) >= EVENTS_CONTROLLED * weight) & (better.mean(axis=0) > 0.0)
    return np.where(many, better, values)


def parts_of(tails, keep):
    """Return what the natural run and the tagged jobs of each band add to the excess at the edges `keep` (a mask).

    Returns
    -------
    (shards, 1 + bands, t) array
    """
    tagged = _by_band(tails.shards, tails.follows, tails.t[keep])[0] * tails.share[:, np.newaxis]
    return np.concatenate([tails.parts[0].values[:, np.newaxis, keep], tagged], axis=1)


def _rung_weight(tagged, t, share):
    """Return what a rung of size t weighs in its shard, 0 below the ladder."""
    if tagged.size.size == 0:
        return np.zeros(np.shape(t))
    order = np.argsort(tagged.size)
    at = np.searchsorted(tagged.size[order], t, side="right") - 1
    scaled = ((share / tagged.windows)[tagged.band] * tagged.weight)[order]
    return np.where(at >= 0, scaled[at], 0.0)


def _passes(t, tail, level):
    """Return where a falling tail passes `level`, interpolated in logarithms; inf if it never does."""
    below = np.flatnonzero(tail <= level)
    if below.size == 0:
        return math.inf
    i = below[0]
    if i == 0 or tail[i] <= 0.0:
        return float(t[i])
    share = math.log(tail[i - 1] / level) / math.log(tail[i - 1] / tail[i])
    return float(t[i - 1] * (t[i] / t[i - 1]) ** share)


def percentile(p, tail, jobs):
    """Return the p-th percentile of T (p in percent) with its interval, from `Tails.at_edges`.

    `jobs` is the number of counted jobs that must suffice, or None with tagged jobs.
    """
    level = 1.0 - p / 100.0
    if jobs is not None and jobs * level < FEWEST * (1 - 1e-9):
        needed = math.ceil(FEWEST / level * (1 - 1e-9))
        return Estimate(None, note=f"needs at least {needed} counted jobs, not {jobs}")
    estimate, low, high = (_passes(tail.t, bound, level) for bound in (tail.estimate, tail.low, tail.high))
    if math.isinf(estimate):
        return Estimate(None, note="lies beyond the longest response: too few jobs")
    if np.isnan(tail.low).all():
        return Estimate(estimate, note="one shard gives no interval")
    if math.isinf(high):
        return Estimate(estimate, None, low, None, note="too few jobs for an upper end")
    return Estimate(estimate, None, low, high)
