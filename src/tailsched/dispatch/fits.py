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

#: Numbers of phases of the candidates, from simple to rich: the first good set is taken, else the best.
SHAPES = (1,), (1, 3), (1, 10), (1, 3, 10, 30)

#: Candidates of one shape a decade of means; error of the tail that is good enough; phases at most.
A_DECADE, GOOD, MOST = 8, 0.01, 320

#: Mean beyond which candidates are exponential: only the body of a law has corners.
BODY = 3.0

#: Points a decade at which the fit is judged.
POINTS = 40

#: Weight of the two conditions that must hold exactly.
FIRM = 1e3


class Fit(NamedTuple):
    """A fit: the sizes, the relative error of the tail, root mean square, and the age up to which it is."""

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
    ratios = tail[used], excess[used]
    best = None
    for candidates in SHAPES:
        weights, shapes, rates, error = _weights(candidates, t[used], *ratios, first, reach)
        if shapes.sum() <= MOST and (best is None or error < best.error):
            made = _mixture(weights, shapes, rates, f"fit of {sizes.spec}")
            best = Fit(made, error, float(t[used][-1]))
            if error < GOOD:
                break
    return best


def _weights(candidates, t, tail, excess, first, reach):
    """Return weights, phases, rates of the components, and the relative error of the tail (rms)."""
    means = np.geomspace(first, reach, int(A_DECADE * np.log10(reach / first)))
    shapes, means = (grid.ravel() for grid in np.meshgrid(candidates, means, indexing="ij"))
    useful = (shapes == 1) | (means < BODY)
    shapes, means = shapes[useful], means[useful]
    rates = shapes / means
    at = t[:, np.newaxis] * rates
    tails = gammaincc(shapes, at)
    # The excess of an Erlang(k) law: its mean times the tail of Erlang(k + 1), less t times its tail.
    excesses = np.maximum(means * gammaincc(shapes + 1, at) - t[:, np.newaxis] * tails, 0.0)
    rows = [tails / tail[:, np.newaxis], excesses / excess[:, np.newaxis]]
    rows += [np.full((1, shapes.size), FIRM), FIRM * means[np.newaxis]]
    goal = np.concatenate([np.ones(2 * t.size), [FIRM, FIRM]])
    weights, _ = nnls(np.vstack(rows), goal, maxiter=50 * shapes.size)
    weights /= weights.sum()
    error = float(np.sqrt(np.mean((tails @ weights / tail - 1.0) ** 2)))
    kept = weights > 1e-15
    return weights[kept], shapes[kept], rates[kept], error


def _mixture(weights, shapes, rates, name):
    alpha, generator = np.zeros(shapes.sum()), np.zeros((shapes.sum(), shapes.sum()))
    start = 0
    for weight, k, rate in zip(weights, shapes, rates, strict=True):
        block = slice(start, start + k)
        alpha[start] = weight
        generator[block, block] = rate * (np.eye(k, k=1) - np.eye(k))
        start += k
    return PhaseType(alpha, generator, name)
