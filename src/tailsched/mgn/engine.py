"""The event loop of the M/G/n: one for all policies, for random streams and for traces.

`run_block` is the compiled loop. It takes a block of arrivals (times and sizes) through the system, owns
the clock, the pool of jobs, the records and the time averages, and asks the policy for everything else.
At one instant all departures come first, then the servers pick, then the arrivals follow one by one in
their order, with the servers picking after each.

`Engine` feeds it blocks. Between blocks it makes room for the jobs of the next one, and moves the origin of
time before the clock grows so large that a double would lose digits: a run of any length is as exact as a
short one. Counters are 64-bit integers.
"""

from collections import deque
from copy import copy
from functools import lru_cache
from typing import NamedTuple

import numba
import numpy as np

from tailsched._jit import KERNEL, inlined, njit
from tailsched.mgn.policy import arrive, busy, create_pool, depart, duplicate, grow, next_event, settle
from tailsched.mgn.tally import Tally, count, create_tally
from tailsched.records import Totals, unit_of
from tailsched.sampling import fill_arrivals, fill_sizes

#: Arrivals in one call of the compiled loop.
BLOCK = 1 << 16

#: The clock is moved back to 0 when it passes this many mean sizes.
EPOCH = 1 << 20

#: Arrivals in a block however long they take: few enough for the clock to stay small at low loads.
LEAST_BLOCK = 64

#: Rounding errors that a path may gather, relative to its numbers.
UNIT_ROUNDOFF = 4 * float(np.finfo(float).eps)


@inlined
def _elapse(areas, time, n, present, working):
    """Add a stretch of time to the integrals of `Totals`: jobs, busy, idle, few."""
    jobs, busy, idle, few = areas
    idle += time * (min(n, present) - working)
    return jobs + time * present, busy + time * working, idle, few + time * (present < n)


@njit(**KERNEL)
def run_block(
    policy, state, pool, tally, n, present, clock, origin, arrivals, sizes, number, window, unit,
    begin, end, until,
):  # fmt: skip
    """Take one block of arrivals through the system.

    Parameters
    ----------
    policy, state : the policy's record and its scalars
    pool, tally : the jobs in the system, the records
    n, present, clock : servers, jobs in the system, time of the last event
    origin : absolute time of the clock's 0, added to the completion times that are kept
    arrivals, sizes : (m,) arrays, arrivals by the clock, in ascending order
    number : number of the first of these jobs
    window : (first, last) jobs to be counted, last excluded
    unit : rounding error of the clock; a response within a few units of the size is the size
    begin, end : the window's limits by the clock; end is inf until it is known
    until : time up to which departures are carried out after the last arrival (inf empties the system)

    Returns
    -------
    state, present, clock, Totals
    """
    counted = short = 0
    sum_response = sum_work = longest = early = late = 0.0
    areas = (0.0, 0.0, 0.0, 0.0)
    last = arrivals.size
    due = next_event(policy, state)
    for i in range(last + 1):
        upcoming = arrivals[i] if i < last else until
        while due <= upcoming and due < np.inf:
            areas = _elapse(areas, due - clock, n, present, busy(policy, state))
            clock = due
            while due <= clock:
                state, slot = depart(policy, state, pool, clock)
                if slot >= 0:
                    present -= 1
                    pool.free[present] = slot
                    job = pool.number[slot]
                    if job < tally.completions.size:
                        tally.completions[job] = origin + clock
                    if window[0] <= job < window[1]:
                        size = pool.size[slot]
                        response = clock - pool.arrival[slot]
                        rounding = unit + UNIT_ROUNDOFF * size
                        if response < size + rounding:
                            short += int(response < size - rounding)
                            response = size
                        counted += 1
                        sum_response += response
                        sum_work += size
                        longest = max(longest, response)
                        late += max(clock - end, 0.0)
                        count(tally, response, size)
                    elif job < window[0]:
                        early += clock - begin
                due = next_event(policy, state)
            state = settle(policy, state, pool, clock)
            due = next_event(policy, state)
        if i == last:
            break
        areas = _elapse(areas, upcoming - clock, n, present, busy(policy, state))
        clock = upcoming
        slot = pool.free[present]
        present += 1
        pool.arrival[slot] = clock
        pool.size[slot] = sizes[i]
        pool.number[slot] = number + i
        state = arrive(policy, state, pool, clock, slot)
        due = next_event(policy, state)
    totals = Totals(counted, short, sum_response, sum_work, longest, *areas, early, late)
    return state, present, clock, totals


@lru_cache
def loop_for(policy):
    """Return the compiled loop for a policy class.

    The compile cache is named by the package's own sources: what is compiled for a policy of another module
    stays out of it, or an edit of that module would go unseen.
    """
    ours = policy.__module__.startswith("tailsched.") or not hasattr(run_block, "py_func")
    return run_block if ours else numba.njit(run_block.py_func, **KERNEL)


class Engine:
    """An M/G/n under one policy, fed with blocks of arrivals.

    Parameters
    ----------
    policy : a policy class, see `tailsched.mgn.policy`
    n : number of servers
    mean_size : sets the scale of time on which the clock is rebased
    tally : the records to fill
    parameters : the policy's own (a threshold, for instance)

    Attributes
    ----------
    clock, origin : the absolute time is their sum
    begin, end : the window in which arrivals are counted, by the clock
    present : jobs in the system
    """

    def __init__(self, policy, n, mean_size=1.0, tally=None, **parameters):
        self.n = n
        self.epoch = EPOCH * unit_of(mean_size)
        self.tally = create_tally() if tally is None else tally
        self.capacity = 1024
        self.pool = create_pool(self.capacity)
        self.policy, self.state = policy.create(n, self.capacity, **parameters)
        self.loop = loop_for(policy)
        self.clock = self.origin = self.begin = 0.0
        self.end = np.inf
        self.present = 0

    def clone(self, tally):
        """Return an engine in the same state that goes its own way, with the given records.

        Slots are given out from the low ones on, so only the arrays' beginnings are in use.
        """
        given_out = np.flatnonzero(self.pool.free != np.arange(self.capacity))
        kept = max(self.present, given_out[-1] + 1 if given_out.size else 0) + 2
        twin = copy(self)
        twin.tally = tally
        twin.pool, twin.policy = (
            duplicate(record, self.capacity, kept) for record in (self.pool, self.policy)
        )
        twin.capacity = min(kept, self.capacity)
        return twin

    def rebase(self):
        """Move the origin of time to the clock, if the clock has grown large."""
        if self.clock > self.epoch:
            shift, self.clock = self.clock, 0.0
            self.origin += shift
            self.begin -= shift
            self.end -= shift
            self.pool.arrival[:] -= shift
            self.state = self.policy.rebase(self.state, shift)

    def feed(self, arrivals, sizes, number=0, window=(0, 0), until=-np.inf):
        """Take at most `BLOCK` arrivals through the system; return the block's `Totals`."""
        needed = self.present + arrivals.size + 2
        if needed > self.capacity:
            larger = max(self.capacity + self.capacity // 4, needed)
            for record in (self.pool, self.policy):
                grow(record, self.capacity, larger)
            self.capacity = larger
        unit = UNIT_ROUNDOFF * max(self.epoch, arrivals[-1] if arrivals.size else 0.0)
        self.state, self.present, self.clock, totals = self.loop(
            self.policy, self.state, self.pool, self.tally, self.n, self.present, self.clock, self.origin,
            arrivals, sizes, number, window, unit, self.begin, self.end, until,
        )  # fmt: skip
        return totals


def completions(policy, n, arrivals, sizes, **parameters):
    """Run a trace; return each job's completion time.

    Parameters
    ----------
    policy : a policy class
    n : number of servers
    arrivals, sizes : (m,) arrays, arrivals in ascending order; simultaneous arrivals keep their order
    parameters : the policy's own

    Returns
    -------
    (m,) array of completion times, exact where the arithmetic of the path is exact in float64
    """
    arrivals = np.asarray(arrivals, np.float64)
    sizes = np.asarray(sizes, np.float64)
    mean = sizes.mean() if sizes.size else 1.0
    engine = Engine(policy, n, mean, create_tally(jobs=sizes.size), **parameters)
    if arrivals.size and abs(arrivals[0]) > engine.epoch:
        engine.origin = arrivals[0]
    for start in range(0, sizes.size, BLOCK):
        block = slice(start, start + BLOCK)
        engine.rebase()
        engine.feed(arrivals[block] - engine.origin, sizes[block], start)
    engine.feed(np.empty(0), np.empty(0), until=np.inf)
    return engine.tally.completions


class Run(NamedTuple):
    """What a simulation run returns.

    Attributes
    ----------
    tally : the responses of the counted jobs
    totals : sums over the counted jobs, and time integrals over the window of their arrivals
    span : length of that window
    seen : jobs that the last counted arrival found in the system
    arrivals : all arrivals simulated, with the warm-up and those that came while the last counted jobs
        were still in the system
    """

    tally: Tally
    totals: Totals
    span: float
    seen: int
    arrivals: int


def simulate(
    policy,
    n,
    lam,
    sizes,
    jobs,
    warm_up,
    streams,
    times=(),
    clock=0.0,
    progress=None,
    keep=False,
    cuts=(),
    visits=(),
    visit=None,
    **parameters,
):
    """Simulate the M/G/n and count `jobs` arrivals, after `warm_up` others.

    Every counted job is followed to its completion, with arrivals going on behind it, so that no long
    response is cut off at the end of the run.

    Parameters
    ----------
    policy : a policy class
    n, lam : servers, arrival rate of all jobs
    sizes : a `tailsched.sizes.Sizes`
    jobs, warm_up : arrivals that are counted, arrivals before them that are not
    streams : the generators of arrivals and of sizes
    times : extra times t at which T > t is counted exactly
    clock : absolute time at the start
    progress : called with the number of arrivals after each block
    keep : whether to keep the completion times, in ``Run.tally.completions``, from job 0 on
    cuts : sizes in ascending order, between which jobs are counted apart, too
    visits : numbers of arrivals, in ascending order; just before each of them, but for its interarrival time,
        ``visit(engine, number)`` is called, which must leave the engine as it is
    visit : see `visits`
    parameters : the policy's own

    Returns
    -------
    Run
    """
    total = warm_up + jobs
    tally = create_tally(times, total if keep else 0, unit_of(sizes.mean), cuts)
    visits = deque(visits)
    engine = Engine(policy, n, sizes.mean, tally, **parameters)
    engine.clock = clock
    kind, constants = sizes.kernel
    most = int(min(BLOCK, max(engine.epoch * lam, LEAST_BLOCK)))
    arrivals, work = np.empty(most), np.empty(most)
    totals, span, seen, number = Totals(), 0.0, 0, 0
    while totals.counted < jobs:
        if number == warm_up:
            engine.begin = engine.clock
        while visits and visits[0] <= number:
            visit(engine, visits.popleft())
        bounds = [bound for bound in (visits[0] if visits else -1, warm_up, total) if bound > number]
        length = min(most, min(bounds) - number) if bounds else (most + 15) >> 4
        engine.rebase()
        start = engine.clock
        fill_arrivals(streams[0], lam, start, arrivals[:length])
        fill_sizes(streams[1], kind, constants, work[:length])
        block = engine.feed(arrivals[:length], work[:length], number, (warm_up, total))
        if warm_up <= number < total:
            span += engine.clock - start
        else:
            block = block._replace(jobs=0.0, busy=0.0, idle=0.0, few=0.0, early=0.0)
        totals = totals.plus(block)
        number += length
        if number == total:
            engine.end = engine.clock
            seen = engine.present - 1
            remaining = engine.present - (jobs - totals.counted)
            totals = totals._replace(early=totals.early + remaining * span)
        if progress is not None:
            progress(length)
    return Run(engine.tally, totals, span, seen, number)
