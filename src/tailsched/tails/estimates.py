r"""Estimates with intervals from independent shards.

Tails
-----
A response is never below the job's size, so with the law of S known

.. math:: P[T > t] = P[S > t] + P[S \le t < T],

and only the second term, the excess, is estimated: by the share of the counted jobs with T > t less the
share with S > t. Its standard error is that of the mean over the shards. The interval treats the number of
excess jobs as overdispersed Poisson, with the dispersion seen between the shards, and is of Jeffreys' form:
with m effective events, the gamma quantiles of shape m + 1/2. For many events that is the Student interval
of the shards' mean, and for few it does not collapse to a point. Where few events are left their dispersion
is at least the largest known in the octave below t: a run without an event says nothing of how they clump.

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


def dispersion_of(counts):
    """Return variance over mean of one count a shard, at least 1; `counts` is a (shards, ...) array."""
    mean = counts.mean(axis=0)
    variance = counts.var(axis=0, ddof=1)
    return np.maximum(np.divide(variance, mean, out=np.ones_like(mean), where=mean > 0), 1.0)


def count_interval(counts, floor=1.0):
    """Return the mean of one count a shard, its standard error and its interval.

    Parameters
    ----------
    counts : (shards, ...) array
    floor : least dispersion where fewer than `FEW_EVENTS` effective events are seen; a number or an array of
        the counts' trailing shape

    Returns
    -------
    mean, se, low, high : arrays of the counts' trailing shape; all but the mean are NaN for one shard
    """
    shards = counts.shape[0]
    total = counts.sum(axis=0).astype(float)
    mean = total / shards
    if shards < 2:
        return mean, *(np.full(mean.shape, np.nan) for _ in range(3))
    dispersion = dispersion_of(counts)
    dispersion = np.where(total / dispersion < FEW_EVENTS, np.maximum(dispersion, floor), dispersion)
    tail_probability = special.ndtr(-student(shards))
    events = total / dispersion
    low = np.where(total > 0, special.gammaincinv(events + 0.5, tail_probability), 0.0)
    high = special.gammainccinv(events + 0.5, tail_probability)
    scale = dispersion / shards
    return mean, counts.std(axis=0, ddof=1) / math.sqrt(shards), low * scale, high * scale


def _greater(histograms):
    """Return, for each edge, the count of values greater than it."""
    above = np.cumsum(histograms[:, ::-1], axis=1)[:, ::-1]
    return np.concatenate([above, np.zeros((above.shape[0], 1), above.dtype)], axis=1)


class Tails(NamedTuple):
    """The tails of some shards: counts a shard at the edges, and the least dispersion of the excess there.

    Attributes
    ----------
    t : (m,) edges of the histogram, from the last one that all jobs pass to the first that none does
    exceed, outgrow : (shards, m) jobs with T > t, jobs with S > t
    floor : (m,) largest dispersion of the excess that is known in the octave below t
    shards : the shards
    sizes : the job-size distribution
    """

    t: np.ndarray
    exceed: np.ndarray
    outgrow: np.ndarray
    floor: np.ndarray
    shards: list
    sizes: Sizes

    @classmethod
    def of(cls, shards, sizes):
        used = np.flatnonzero(np.sum([shard.responses + shard.sizes for shard in shards], axis=0))
        window = slice(used[0], used[-1] + 1)
        exceed, outgrow = (
            _greater(np.stack([getattr(shard, key)[window] for shard in shards]))
            for key in ("responses", "sizes")
        )
        t = edges(shards[0].unit)[used[0] : used[-1] + 2]
        floor = np.ones(t.size)
        if len(shards) > 1:
            octave = 1 << MANTISSA_BITS
            excess = exceed - outgrow
            dispersion = dispersion_of(excess)
            known = np.where(excess.sum(axis=0) >= LENDERS * dispersion, dispersion, 1.0)
            padded = np.concatenate([np.ones(octave), known])
            floor = np.lib.stride_tricks.sliding_window_view(padded, octave + 1).max(axis=1)
        return cls(t, exceed, outgrow, floor, shards, sizes)

    @property
    def jobs(self):
        """Counted jobs, by shard."""
        return np.array([shard.totals.counted for shard in self.shards])

    def _tail(self, t, exceed, outgrow, floor):
        known = self.sizes.tail(t)
        average = self.jobs.mean()
        excess = (exceed - outgrow) * (average / self.jobs)[:, np.newaxis]
        mean, se, low, high = count_interval(excess, floor)
        # Of an excess that was never seen only the interval is known; where all sizes are above t it is 0.
        se = np.where((mean > 0) | (known == 1.0), se, np.nan)
        bound = np.minimum(known + np.stack([mean, low, high]) / average, 1.0)
        return Tail(t, bound[0], se / average, bound[1], bound[2], exceed.sum(axis=0))

    def at_edges(self):
        """Estimate P[T > t] at the edges of the histogram."""
        return self._tail(self.t, self.exceed, self.outgrow, self.floor)

    def at_times(self):
        """Estimate P[T > t] at the extra times of the shards, from exact counts."""
        times = self.shards[0].times
        exceed, outgrow = (
            np.stack([getattr(shard, key) for shard in self.shards]) for key in ("exceed", "outgrow")
        )
        floor = self.floor[np.clip(np.searchsorted(self.t, times), 0, self.t.size - 1)]
        return self._tail(times, exceed, outgrow, floor)


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
    """Return the p-th percentile of T (p in percent) with its interval, from `Tails.at_edges`."""
    level = 1.0 - p / 100.0
    if jobs * level < FEWEST * (1 - 1e-9):
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
