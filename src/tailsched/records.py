"""What simulators hand to estimators: sums over a path, and the bins of the histograms of responses.

Histograms are of responses and sizes in units of a power of two near the mean size, `unit_of`. Bin i holds
the values x with ``edges[i] < x <= edges[i + 1]``, so that the sum of the counts from bin i on is the number
of values *greater than* ``edges[i]``, atoms included. Every power of two from 2^-40 to 2^60 is divided into
128 equal parts, and the bin is read off the exponent and the leading bits of the mantissa. The first and the
last bin also take what lies beyond.
"""

import math
from typing import NamedTuple

import numpy as np

MANTISSA_BITS = 7
LOWEST_EXPONENT, HIGHEST_EXPONENT = -40, 60
BINS = (HIGHEST_EXPONENT - LOWEST_EXPONENT) << MANTISSA_BITS


def unit_of(mean_size):
    """Return the power of two nearest to the mean size: the unit of the histograms."""
    return 2.0 ** round(math.log2(mean_size))


def edges(unit=1.0):
    """Return the ``BINS + 1`` edges of the histogram's bins."""
    steps = np.arange(BINS + 1)
    exponent = LOWEST_EXPONENT + (steps >> MANTISSA_BITS)
    mantissa = 1.0 + (steps % (1 << MANTISSA_BITS)) / (1 << MANTISSA_BITS)
    return unit * np.ldexp(mantissa, exponent)


class Totals(NamedTuple):
    """Sums over a stretch of the path.

    `counted` jobs with total `response` and total size `work`; `short` is the number of them with a
    response below their size by more than rounding, which must be 0; `longest` is the longest response.
    `jobs`, `busy` and `idle` are integrals over time of the jobs present, the busy servers, and the servers
    idle while jobs wait, `few` is the time with fewer jobs than servers. `early` is the time that jobs of
    before the window spent inside it, `late` the time that counted jobs spent after it:
    `jobs` = `response` + `early` - `late`, up to rounding.
    """

    counted: int = 0
    short: int = 0
    response: float = 0.0
    work: float = 0.0
    longest: float = 0.0
    jobs: float = 0.0
    busy: float = 0.0
    idle: float = 0.0
    few: float = 0.0
    early: float = 0.0
    late: float = 0.0

    def plus(self, other):
        """Return the sums over both stretches."""
        longest = max(self.longest, other.longest)
        return Totals(*(a + b for a, b in zip(self, other, strict=True)))._replace(longest=longest)
