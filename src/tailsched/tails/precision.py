r"""Sequential precision: how much more work a curve needs, and where.

A curve is specified by the standard error that it must reach, relative to P[T > t], at every t of a grid. The
variance of the estimate is a sum over its parts, the natural run and the bands of the ladder, each of which falls
like one over the part's work:

.. math:: \sigma^2(t) = V_0(t) / N + \sum_b V_b(t) / M_b .

The V are estimated from the shards that are there, and the work is allocated at least cost subject to
:math:`\sigma(t) \le goal(t)`: at the optimum :math:`N = \sqrt{\sum_t \mu_t V_0(t) / cost_0}`, and so for each band
(Neyman's allocation, for many targets at once), with multipliers :math:`\mu_t` that are raised where the goal is
missed and lowered where it is passed, until both hold.

A curve that cannot come near its goal within the budget is given the lesser precision that is asked for beyond the
horizon, and what that leaves of the budget is not spent. One that cannot come near that either gets half the budget.

The amount of work of a later run depends on the spread seen before, which leaves each run's estimates unbiased and
their average biased in second order only, like that of any sequential sampling.
"""

import math
from typing import NamedTuple

import numpy as np

from tailsched.tails.estimates import GRID_POINTS, parts_of

#: Cost of a tagged job beside its arrivals, in arrivals: copying the system, and the calls.
OVERHEAD = 3000

#: Fewest jobs of a natural run, and jobs between two windows.
LEAST_JOBS, SPACING = 1000, 100

#: Most that a part grows by at once.
GROWTH = 6.0

#: A goal that would cost more than so many budgets is given up for `Goal.far`, and what has that is left at that.
OUT_OF_REACH = 1.5

#: Part of the goal that is aimed at, since a standard error is itself known to some tenths only.
AIM = 0.85


class Goal(NamedTuple):
    """What a curve must reach.

    Attributes
    ----------
    precision : standard error relative to P[T > t], for all t from one unit of time to `horizon`
    horizon : see `precision`
    far : the same beyond, up to `until`
    until : largest t
    budget : arrivals after which no more work is added, reached or not; runs with an endless job, up to a tenth
        of it, come on top
    settle : whether a precision that is out of reach is given up for a lesser one
    """

    precision: float
    horizon: float
    far: float
    until: float
    budget: int
    settle: bool = True

    def at(self, t):
        """Return the standard error that must be reached at times t, relative to P[T > t]."""
        return np.where(t <= self.horizon * (1 + 1e-9), self.precision, self.far)


class Work(NamedTuple):
    """Work of one shard: counted arrivals of the natural run, and windows by reach."""

    jobs: int
    windows: tuple[int, ...]


def _relative(tails, goal):
    """Return (t, relative standard error) on the grid of the curves, from one unit of time to `goal.until`."""
    unit = tails.shards[0].unit
    fine = np.frexp(tails.t / unit)[0] * (2 * GRID_POINTS) % 1 == 0
    keep = fine & (tails.t >= unit) & (tails.t <= goal.until * (1 + 1e-9))
    tail = tails.at_edges().at(keep)
    # Where no excess was seen, the standard error is put at half an event: Jeffreys' mean number of events.
    one = 0.5 * sum(part.weight for part in tails.parts)[keep] / len(tails.shards)
    se = np.where(np.isnan(tail.se), one, tail.se)
    return tail.t, se / np.maximum(tail.estimate, 1e-300)


def reached(tails, goal):
    """Return (near, far): the largest relative standard error up to `goal.horizon`, and beyond."""
    t, relative = _relative(tails, goal)
    near = t <= goal.horizon * (1 + 1e-9)
    return tuple(float(relative[part].max(initial=0.0)) for part in (near, ~near))


def allocate(variance, cost, target):
    """Return the work of each part, at least cost, so that the sum of variance over work is at most `target`.

    Parameters
    ----------
    variance : (parts, t) array
    cost : (parts,) array, of one unit of work
    target : (t,) array, greater than 0

    Returns
    -------
    (parts,) array, not rounded
    """
    relative = variance / target
    multiplier = np.ones(target.size)
    for step in range(400):
        work = np.sqrt(relative @ multiplier / cost) + 1e-9
        ratio = (relative / work[:, np.newaxis]).sum(axis=0)
        multiplier *= np.maximum(ratio, 1e-9) ** (1.0 if step < 200 else 0.5)
    return work * ratio.max()


def plan(tails, goal, costs, rungs, spent):
    """Return the `Work` to add to each shard, or None if the goal is reached, or out of reach, or the budget spent.

    Parameters
    ----------
    tails : `tailsched.tails.estimates.Tails` of what is there
    goal : `Goal`
    costs : (bands,) arrivals of a window of each reach, on average
    rungs : (bands,) rungs of each band
    spent : arrivals so far
    """
    near, far = reached(tails, goal)
    if (near <= goal.precision and far <= goal.far) or spent >= goal.budget:
        return None
    shards, unit = tails.shards, tails.shards[0].unit
    coarse = np.frexp(tails.t / unit)[0] * 8 % 1 == 0
    keep = coarse & (tails.t >= unit) & (tails.t <= goal.until * (1 + 1e-9))
    t = tails.t[keep]
    estimate = tails.sizes.tail(t) + tails.excess[:, keep].mean(axis=0)
    parts = parts_of(tails, keep)
    windows = shards[0].tagged.windows.astype(float)
    have = np.append(np.mean([shard.totals.counted for shard in shards]), windows)
    each = parts.var(axis=0, ddof=1)
    # What the parts have in common is shared out among them.
    joint = np.maximum(parts.sum(axis=1).var(axis=0, ddof=1) / np.maximum(each.sum(axis=0), 1e-300), 1.0)
    variance = each * joint * have[:, np.newaxis] / len(shards)
    costs = np.maximum.accumulate(np.asarray(costs, float))
    cost = np.append(1.0, OVERHEAD * np.asarray(rungs) + np.diff(costs, prepend=0.0))
    arrivals = len(shards) * np.append(1.0, np.diff(costs, prepend=0.0))

    def wanted(precision):
        target = np.maximum((AIM * precision * estimate) ** 2, 1e-300)
        work = np.maximum(allocate(variance, cost, target), have)
        # A longer reach serves the bands below it too.
        work[1:] = np.maximum.accumulate(work[:0:-1])[::-1]
        return work

    def price(work):
        return spent + float(arrivals @ (work - have))

    work, most = wanted(goal.at(t)), goal.budget
    if goal.settle and price(work) > OUT_OF_REACH * goal.budget:
        if near <= goal.far and far <= goal.far:
            return None
        work = wanted(np.maximum(goal.at(t), goal.far))
        if price(work) > OUT_OF_REACH * goal.budget:
            most = goal.budget / 2
            if spent >= most:
                return None
    # No part grows by more than `GROWTH` at once: the variances are estimates.
    work = np.minimum(work, GROWTH * have)
    if price(work) <= spent:
        # The goal is missed between the times looked at, or where nothing was seen yet: a third more of all.
        work = have + np.ceil(have / 3)
    extra = (work - have) * min(1.0, (most - spent) / (price(work) - spent))
    beyond = np.append(extra[2:], 0.0)
    windows = tuple(int(x) for x in np.round(np.maximum(extra[1:] - beyond, 0.0)))
    if not any(windows) and extra[0] < have[0] / 20:
        return None
    return Work(max(math.ceil(extra[0]), LEAST_JOBS, SPACING * sum(windows)), windows)
