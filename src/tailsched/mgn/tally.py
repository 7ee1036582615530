"""What is kept of the responses: histograms that merge exactly, and exact counts at chosen times.

The bins are those of `tailsched.records.edges`.
"""

from typing import NamedTuple

import numpy as np

from tailsched._jit import inlined
from tailsched.records import BINS, LOWEST_EXPONENT, MANTISSA_BITS

_SHIFT = 52 - MANTISSA_BITS
_OFFSET = (LOWEST_EXPONENT + 1023) << MANTISSA_BITS


@inlined
def bin_of(x):
    """Return the bin of a positive float64."""
    return min(max(((np.float64(x).view(np.int64) - 1) >> _SHIFT) - _OFFSET, 0), BINS - 1)


class Tally(NamedTuple):
    """The records of a run.

    `responses` and `sizes` are histograms (int64) of the counted jobs, in units of 1 / `per_unit`. `times`
    (float64, ascending) are extra times t with `exceed`, the number of counted jobs with T > t, and
    `outgrow`, the number of those with S > t. `large` and `large_exceed` are the parts of `responses` and
    `exceed` that come from jobs larger than `cut`. `completions`, if not empty, receives each job's
    completion time by its number.
    """

    responses: np.ndarray
    sizes: np.ndarray
    times: np.ndarray
    exceed: np.ndarray
    outgrow: np.ndarray
    large: np.ndarray
    large_exceed: np.ndarray
    completions: np.ndarray
    per_unit: float
    cut: float


def create_tally(times=(), jobs=0, unit=1.0, cut=np.inf):
    """Return an empty tally; `jobs` is the number of completion times to keep, `unit` a power of two."""
    times = np.array(sorted(times), dtype=np.float64)
    responses, sizes, large = np.zeros((3, BINS), np.int64)
    exceed, outgrow, large_exceed = np.zeros((3, times.size), np.int64)
    completions = np.full(jobs, np.nan)
    return Tally(responses, sizes, times, exceed, outgrow, large, large_exceed, completions, 1.0 / unit, cut)


@inlined
def count(tally, response, size):
    """Count one job."""
    bin = bin_of(response * tally.per_unit)
    tally.responses[bin] += 1
    tally.sizes[bin_of(size * tally.per_unit)] += 1
    large = size > tally.cut
    if large:
        tally.large[bin] += 1
    i = 0
    while i < tally.times.size and tally.times[i] < response:
        tally.exceed[i] += 1
        tally.outgrow[i] += tally.times[i] < size
        tally.large_exceed[i] += large
        i += 1
