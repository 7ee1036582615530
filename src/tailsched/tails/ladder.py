r"""Ladders of sizes: which tagged jobs are run, and what each stands for.

Jobs up to the size `cut` are counted in the natural run. For the others there are tagged jobs whose sizes are
the rungs of a ladder. The ladder is divided into *bands*, in each of which P[S > x] falls from :math:`p_b` to
:math:`p_{b+1}`, by about the same factor; a band has :math:`R_b` rungs, evenly spaced in log P[S > x], with a random
shift U common to all:

.. math:: P[S > x_j] = p_b e^{-\delta_b (j + U)}, \quad \delta_b = \log(p_b / p_{b+1}) / R_b,
          \qquad w_j = \delta_b P[S > x_j] .

For any function f of the size, :math:`\sum_j w_j f(x_j)` has the mean :math:`E[f(S); x_0 < S \le x_{end}]`: the
ladder is unbiased whatever the number of its rungs. Sizes beyond the end are above the largest t of interest, and
so are their response times. If no size can be that large the ladder ends where almost nothing is left, and one
more rung, drawn from what is left, stands for it.

Within a window, the rungs see one environment. Few suffice where it decides much of a response time, as it does in a
*crowded* system for all but the largest jobs. A window of *reach* b runs the rungs of
the bands 0 to b.
"""

import math
from typing import NamedTuple

import numpy as np

from tailsched.records import edges, unit_of

#: P[S > x] at the first rung, about: from there on a copy costs less than waiting for a job of that size.
FIRST = 1e-4

#: P[S > x] falls by about this factor in a band.
BAND = 8.0

#: Rungs of a band; in a crowded system those of the first band, and their growth from band to band.
RUNGS, CROWDED_RUNGS, GROWTH = 16, 3, 1.25

#: Where the ladder ends, relative to its beginning, if at the largest t of interest P[S > t] is less than `NOTHING`.
LAST, NOTHING = 1e-9, 1e-16


class Ladder(NamedTuple):
    """A ladder; `tailsched.tails.ladder.build` makes it.

    Attributes
    ----------
    sizes : the job-size distribution
    cuts : (bands,) sizes below the first rung of each band, edges of the histograms; no bands if no size is as large
    limits : (bands + 1,) P[S > x] at the limits of the bands
    rest : P[S > x] beyond the last rung that is not known to outlast the largest t of interest
    until : the largest t of interest
    crowded : whether a large job's response time is mostly its environment's doing
    """

    sizes: object
    cuts: np.ndarray
    limits: np.ndarray
    rest: float
    until: float
    crowded: bool = False

    @property
    def bands(self):
        """Number of bands."""
        return self.cuts.size

    def counts(self):
        """Return (bands,) array: the number of rungs of each band."""
        if not self.crowded:
            return np.full(self.bands, RUNGS)
        return np.minimum(CROWDED_RUNGS * GROWTH ** np.arange(self.bands), RUNGS).astype(int)

    def rungs(self, rng, reach):
        """Draw the rungs of the bands 0 to `reach`; return (band, weight, size), arrays in ascending order of size."""
        shift = rng.random()
        counts = self.counts()[: reach + 1]
        band = np.repeat(np.arange(reach + 1), counts)
        within = np.concatenate([np.arange(count) for count in counts])
        step = np.log(self.limits[band] / self.limits[band + 1]) / counts[band]
        beyond = self.limits[band] * np.exp(-step * (within + shift))
        weight = step * beyond
        if reach == self.bands - 1 and self.rest > 0.0:
            beyond = np.append(beyond, self.rest * rng.random())
            band, weight = np.append(band, reach), np.append(weight, self.rest)
        return band, weight, self.sizes.tail_quantile(beyond)

    @property
    def tops(self):
        """(bands,) array: the largest size of each band."""
        return self.sizes.tail_quantile(self.limits[1:])

    def down_to(self, bands):
        """Return the ladder of the first `bands` bands; it is good for t up to their largest size."""
        if bands == self.bands:
            return self
        cuts, limits = self.cuts[:bands], self.limits[: bands + 1]
        until = float(self.tops[bands - 1]) if bands else float(self.cuts[0])
        return self._replace(cuts=cuts, limits=limits, rest=0.0, until=until)


def build(sizes, until, crowded=False):
    """Return the ladder for response times up to `until`."""
    grid = edges(unit_of(sizes.mean))
    start = min(float(sizes.tail_quantile(FIRST)), until)
    cut = float(grid[np.searchsorted(grid, start)])
    first, last = float(sizes.tail(cut)), float(sizes.tail(until))
    if first <= last:
        return Ladder(sizes, np.zeros(0), np.array([first]), 0.0, until, crowded)
    end = last if last > first * NOTHING else first * LAST
    bands = math.ceil(math.log(first / end) / math.log(BAND))
    inner = grid[np.searchsorted(grid, sizes.tail_quantile(first * (end / first) ** (np.arange(1, bands) / bands)))]
    cuts = np.unique([cut, *inner[sizes.tail(inner) > end]])
    limits = np.append(sizes.tail(cuts), end)
    return Ladder(sizes, cuts, limits, end if last < end else 0.0, until, crowded)
