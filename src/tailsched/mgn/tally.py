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
    `outgrow`, the number of those with S > t. Rows b of `large` (bands, BINS) and `large_exceed` (bands, times) are
    the parts of `responses` and `exceed` that come from jobs of band b: larger than ``cuts[b]``, and not than
    ``cuts[b + 1]``. `completions`, if not empty, receives each job's completion time by its number.
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
    cuts: np.ndarray


def create_tally(times=(), jobs=0, unit=1.0, cuts=()):
    """Return an empty tally; `jobs` is the number of completion times to keep, `unit` a power of two."""
    times, cuts = np.array(sorted(times), dtype=np.float64), np.array(cuts, dtype=np.float64)
    responses, sizes = np.zeros((2, BINS), np.int64)
    exceed, outgrow = np.zeros((2, times.size), np.int64)
    large, large_exceed = np.zeros((cuts.size, BINS), np.int64), np.zeros((cuts.size, times.size), np.int64)
    completions = np.full(jobs, np.nan)
    return Tally(responses, sizes, times, exceed, outgrow, large, large_exceed, completions, 1.0 / unit, cuts)


@inlined
def count(tally, response, size):
    """Count one job."""
    bin = bin_of(response * tally.per_unit)
    tally.responses[bin] += 1
    tally.sizes[bin_of(size * tally.per_unit)] += 1
    band = 0
    while band < tally.cuts.size and tally.cuts[band] < size:
        band += 1
    if band > 0:
        tally.large[band - 1, bin] += 1
    i = 0
    while i < tally.times.size and tally.times[i] < response:
        tally.exceed[i] += 1
        tally.outgrow[i] += tally.times[i] < size
        if band > 0:
            tally.large_exceed[band - 1, i] += 1
        i += 1
