r"""Phase-type sizes that stand in for others, such as Pareto sizes, in the cavity solver.

The stand-in is a mixture of Erlang laws. Of many candidates, with means spaced evenly in logarithms and a few
numbers of phases, non-negative least squares chooses weights such that tail and excess tail,

.. math:: P[X > t] \quad\text{and}\quad \int_t^\infty P[X > u]\,du ,

are met at points spaced evenly in logarithms, in relative terms, with probabilities that sum to 1 and mean 1.
A phase-type tail ends exponentially: beyond the last point it is not that of a heavy-tailed size.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls
from scipy.special import gammaincc

from tailsched.dispatch.phase_type import PhaseType
from tailsched.sizes import Sizes, check_number

#: Phases of the candidates, and their number a decade of means.
SHAPES, A_DECADE = (1, 3, 10, 30), 8

#: Mean beyond which candidates are exponential: only the body of a law has corners.
BODY = 3.0

#: Points a decade at which the fit is judged.
POINTS = 40

#: Weight of the two conditions that must hold exactly.
FIRM = 1e3


class Fit(NamedTuple):
    """A fit: the sizes, the largest relative error of the tail, and the age up to which it was judged."""

    sizes: PhaseType
    error: float
    reach: float


def fit(sizes: Sizes, beyond: float = 1e-7) -> Fit:
    """Return a phase-type size near `sizes`, scaled to mean 1.

    Parameters
    ----------
    sizes : with a finite mean
    beyond : the fit is judged up to the age that a job in service passes with this probability

    Raises
    ------
    ValueError
        If `beyond` is no probability.
    """
    beyond = check_number("beyond", beyond, 0.0, 1.0)
    sizes = sizes.scaled_to_mean(1.0)
    reach = 1.0
    while sizes.mean_excess(reach) > beyond and reach < 1e12:
        reach *= 2.0
    first = min(float(sizes.quantile(1e-3)), 0.1) / 4.0
    decades = np.log10(reach / first)
    t = np.geomspace(first, reach, int(POINTS * decades))
    tail, excess = sizes.tail(t), sizes.mean_excess(t)
    used = tail > 1e-12
    means = np.geomspace(first, reach, int(A_DECADE * decades))
    shapes, means = (grid.ravel() for grid in np.meshgrid(SHAPES, means, indexing="ij"))
    useful = (shapes == 1) | ((means > first) & (means < BODY))
    shapes, means = shapes[useful], means[useful]
    rates = shapes / means
    at = t[:, np.newaxis] * rates
    tails = gammaincc(shapes, at)
    # The excess of an Erlang(k) law: its mean times the tail of Erlang(k + 1), less t times its tail.
    excesses = np.maximum(means * gammaincc(shapes + 1, at) - t[:, np.newaxis] * tails, 0.0)
    rows = [tails[used] / tail[used, np.newaxis], excesses[used] / excess[used, np.newaxis]]
    rows += [np.full((1, shapes.size), FIRM), FIRM * means[np.newaxis]]
    goal = np.concatenate([np.ones(2 * used.sum()), [FIRM, FIRM]])
    weights, _ = nnls(np.vstack(rows), goal, maxiter=50 * shapes.size)
    kept = weights > 1e-15
    made = _mixture(weights[kept] / weights.sum(), shapes[kept], rates[kept], f"fit of {sizes.spec}")
    error = np.abs(tails[used] @ weights / tail[used] - 1.0).max()
    return Fit(made, float(error), float(t[used][-1]))


def _mixture(weights, shapes, rates, name):
    alpha, generator = np.zeros(shapes.sum()), np.zeros((shapes.sum(), shapes.sum()))
    start = 0
    for weight, k, rate in zip(weights, shapes, rates, strict=True):
        block = slice(start, start + k)
        alpha[start] = weight
        generator[block, block] = rate * (np.eye(k, k=1) - np.eye(k))
        start += k
    return PhaseType(alpha, generator, name)
