r"""Tagged jobs: the response times of chosen sizes, in copies of a natural run.

A *window* opens just before an arrival of a natural run. The system is copied, and the arrival is given a
size of our choice, once for each size of a ladder; each copy runs on with fresh arrivals until that job, the
*tagged* one, leaves. Before an arrival chosen without regard to the state, a stationary system is in the
state that arrivals see (PASTA), whatever the size of that arrival: the response times in the copies have the
law of T given S = x, exactly.

The copies of a window share their environment for as long as they are the same. While a large job has more
work left than any other job has, most policies serve it as they would serve one that never ends
(`tailsched.mgn.policy.Regard`). So one *endless* job, of a size beyond all others, stands for all sizes of
the ladder. A size gets a copy of its own from the last state in which it and the endless job are still served
alike, with as much work left as is due, and sees what the endless job has seen so far, then fresh arrivals.
That is a matter of cost alone: each copy is what it would have been with its own size from the start.

The same endless job gives the long-run rate q at which a policy serves a very large one (`endless_rate`). Over a
run of N arrivals the load that giants bring differs from its mean by the order of N^(1/alpha - 1), and the rate with
it. Where one server serves the endless job and certain work of the others, and that work has a known mean, what was
done of it is replaced by its mean, a control variate of coefficient one: the rate is then known to rounding if the
server is never idle and gets just that work, and is not if it does not.
"""

import numpy as np

from tailsched.mgn.engine import Engine
from tailsched.mgn.policy import Regard
from tailsched.mgn.tally import create_tally
from tailsched.records import unit_of
from tailsched.sampling import fill_sizes

#: Size of the endless job, in units of the mean size: beyond the jobs of any run, and exact to 1e-6.
ENDLESS = float(2**30)

#: A size gets its own copy when less than this many times the work of any other job is left of it.
NEAR = 1.25

#: Arrivals in a step, as a share of those expected until the tagged job leaves.
PACE = 0.25

#: Fewest and most arrivals in a step: a copy's arrays have room for one.
LEAST_STEP, MOST_STEP = 64, 8192

#: Arrivals expected while that much work is done, up to which sharing costs more than it saves.
WORTH_SHARING = 4096


class World:
    """Arrivals in copies: Poisson of rate `lam` with independent sizes, of which some may be left out.

    Parameters
    ----------
    rng : numpy.random.Generator
    lam, sizes : the M/G/n's
    above : sizes up to here are left out, and the rate is that of the others

    Attributes
    ----------
    drawn : arrivals drawn so far
    """

    def __init__(self, rng, lam, sizes, above=0.0):
        self.rng = rng
        self.lam = lam
        self.sizes = sizes
        self.share = float(sizes.tail(above)) if above > 0 else 1.0
        self.rate = lam * self.share
        self.drawn = 0
        self.gaps = self.work = np.empty(0)

    def draw(self, clock, count):
        """Return the next `count` arrivals after `clock` (times and sizes)."""
        if count > self.gaps.size:
            self.gaps = self.rng.standard_exponential(MOST_STEP) / self.rate
            if self.share < 1.0:
                self.work = self.sizes.tail_quantile(self.share * self.rng.random(MOST_STEP))
            else:
                self.work = np.empty(MOST_STEP)
                fill_sizes(self.rng, *self.sizes.kernel, self.work)
        gaps, self.gaps = self.gaps[:count], self.gaps[count:]
        work, self.work = self.work[:count], self.work[count:]
        self.drawn += count
        return clock + np.cumsum(gaps), work


class _Copy:
    """A copy of an engine with a tagged job, and the time it has reached: the engine's clock may lag."""

    def __init__(self, engine, number, now):
        self.engine = engine
        self.number = number
        self.following = number + 1
        self.now = now
        self.start = engine.origin + now
        self.slot = -1
        self.busy = 0.0  # the integral over time of the busy servers

    def clone(self):
        twin = object.__new__(_Copy)
        twin.__dict__.update(self.__dict__)
        twin.engine = self.engine.clone(self.engine.tally)
        return twin

    def insert(self, gap, size):
        self.now += gap
        self.start = self.engine.origin + self.now
        self.engine.feed(np.array([self.now]), np.array([size]), self.number)
        self.slot = int(self.engine.pool.free[self.engine.present - 1])

    def rebase(self):
        before = self.engine.origin
        self.engine.rebase()
        self.now -= self.engine.origin - before

    @property
    def elapsed(self):
        return self.engine.origin + self.now - self.start

    def feed(self, arrivals, sizes, end):
        """Run up to `end`; return the tagged job's response time, NaN if it is still there."""
        window = (self.number, self.number + 1)
        totals = self.engine.feed(arrivals, sizes, self.following, window, end)
        self.following += arrivals.size
        self.busy += totals.busy
        self.now = end
        return totals.response if totals.counted else np.nan

    def largest(self):
        """Return the largest size among the other jobs."""
        pool = self.engine.pool
        sizes = pool.size.copy()
        sizes[pool.free[self.engine.present :]] = 0.0
        if self.slot >= 0:
            sizes[self.slot] = 0.0
        return float(sizes.max())

    def left(self, by=0.0):
        """Take `by` off the tagged job's work; return what it has left."""
        left = self._shorten(self.slot, by)
        self.engine.pool.size[self.slot] -= by
        return left

    def _shorten(self, slot, by):
        engine = self.engine
        engine.state, left = engine.policy.shorten(engine.state, engine.pool, slot, by, self.now)
        return left

    def unfinished(self, part):
        """Return what is still to be done of the other jobs' work `part(size)`, done last of a job's work."""
        pool = self.engine.pool
        parts = part(pool.size)
        parts[pool.free[self.engine.present :]] = parts[self.slot] = 0.0
        return sum(min(self._shorten(slot, 0.0), parts[slot]) for slot in np.flatnonzero(parts).tolist())

    def follow(self, world, left, until):
        """Run on until the tagged job, with work `left`, leaves; return its response, inf beyond `until`."""
        while self.elapsed <= until:
            self.rebase()
            count = int(min(max(PACE * world.rate * left, LEAST_STEP), MOST_STEP))
            arrivals, sizes = world.draw(self.now, count)
            response = self.feed(arrivals, sizes, arrivals[-1])
            if response == response:
                return response
        return np.inf


def window(engine, number, rng, lam, sizes, ladder, until):
    """Open a window just before an arrival of a natural run.

    Parameters
    ----------
    engine : Engine, left as it is
    number : number of the arrival
    rng : numpy.random.Generator of the copies
    lam, sizes : the M/G/n's arrival rate and job sizes
    ladder : (m,) array of sizes in ascending order
    until : responses are followed up to this time

    Returns
    -------
    responses : (m,) array, inf where the job is still there at `until`
    arrivals : int, drawn for all copies
    """
    scratch = create_tally(unit=unit_of(sizes.mean))
    start = _Copy(engine.clone(scratch), number, engine.clock)
    regard = getattr(engine.policy, "regard", lambda largest: Regard(np.inf, np.inf, 0.0))
    least, remaining, notice = regard(start.largest())
    everyone = World(rng, lam, sizes)
    noticed = World(rng, lam, sizes, notice) if notice > 0 else everyone
    if noticed.rate == 0.0:  # no job is that large
        noticed, least = everyone, np.inf
    worth = WORTH_SHARING / noticed.rate
    gap = rng.standard_exponential() / lam
    responses = np.full(ladder.size, np.inf)
    alone = int(np.searchsorted(ladder, max(least, remaining, worth), side="right"))
    for i in range(alone):
        twin = start.clone()
        twin.insert(gap, ladder[i])
        responses[i] = twin.follow(noticed if ladder[i] > least else everyone, ladder[i], until)
    if alone < ladder.size:
        start.insert(gap, max(ENDLESS * unit_of(sizes.mean), 4.0 * ladder[-1]))
        _descend(start, regard, noticed, ladder, responses, alone, until)
    return responses, everyone.drawn + (noticed.drawn if noticed is not everyone else 0)


def _descend(path, regard, world, ladder, responses, first, until):
    """Run the endless job along; give each size from number `first` on a copy of its own in its time."""
    endless = path.engine.pool.size[path.slot]
    close = WORTH_SHARING / 4 / world.rate
    served = 0.0
    while first < ladder.size and path.elapsed <= until:
        path.rebase()
        largest = path.largest()
        margin = regard(largest).remaining
        left = ladder[first] - served
        if left <= NEAR * margin + close:
            twin = path.clone()
            left = _set_size(twin, endless, ladder[first])
            responses[first] = twin.follow(world, left, until)
            first += 1
            continue
        end = path.now + 0.5 * (left - margin)
        count = int(min(max(world.rate * (end - path.now), LEAST_STEP), MOST_STEP))
        arrivals, sizes = world.draw(path.now, count)
        if arrivals[-1] < end:
            end = arrivals[-1]
        keep = np.searchsorted(arrivals, end, side="right")
        arrivals, sizes = arrivals[:keep], sizes[:keep]
        before = path.clone()
        path.feed(arrivals, sizes, end)
        served = endless - path.left()
        largest = max(largest, sizes.max(initial=0.0))
        margin = regard(largest).remaining
        while first < ladder.size and ladder[first] - served <= margin:
            twin = before.clone()
            left = _set_size(twin, endless, ladder[first])
            response = twin.feed(arrivals, sizes, end)
            if response != response:
                response = twin.follow(world, left, until)
            responses[first] = response
            first += 1


def _set_size(copy, endless, size):
    """Make the endless job one of the given size; return what is left of it."""
    left = copy.left(endless - size)
    copy.engine.pool.size[copy.slot] = size
    return left


def endless_rate(policy, n, lam, sizes, rng, arrivals, warm_up, beside=None, progress=None, **parameters):
    """Return the long-run rate at which an endless job is served, from its presence throughout a run.

    Parameters
    ----------
    policy : a policy class with `regard` and `shorten`
    n, lam, sizes : the M/G/n
    rng : numpy.random.Generator
    arrivals, warm_up : arrivals simulated, arrivals before the endless job's service is counted
    beside : (part, load), a function from the (m,) sizes of jobs to the work of each that only the endless job's
        server does, and the mean of that work per unit of time; None if there is no such work
    progress : called with the number of arrivals after each block
    parameters : the policy's own

    Returns
    -------
    rate : share of the time in which the endless job was served
    load : mean number of servers that served others, in the long run n rho
    """
    engine = Engine(policy, n, sizes.mean, create_tally(unit=unit_of(sizes.mean)), **parameters)
    endless = max(ENDLESS * unit_of(sizes.mean), 64 * LEAST_STEP / lam)
    if hasattr(engine.policy, "regard") and not engine.policy.regard(0.0).size < endless:
        raise ValueError("an endless job is not a large one: the threshold is above all sizes")
    path = _Copy(engine, 0, 0.0)
    world = World(rng, lam, sizes)
    path.insert(0.0, endless)
    part, load = beside or (np.zeros_like, 0.0)
    served = brought = span = 0.0
    at_first = None
    while world.drawn < arrivals:
        path.rebase()
        warm = world.drawn < warm_up
        if not warm and at_first is None:
            at_first = path.unfinished(part)
            path.busy = 0.0
        start = path.now
        left = (warm_up if warm else arrivals) - world.drawn
        block = world.draw(start, min(left, MOST_STEP, max(int(engine.epoch * lam), LEAST_STEP)))
        path.feed(*block, block[0][-1])
        done = endless - path.left()
        path.left(-done)  # as good as new: it never ends
        if not warm:
            served += done
            brought += float(part(block[1]).sum())
            span += path.now - start
        if progress is not None:
            progress(block[0].size)
    done_beside = brought + at_first - path.unfinished(part)
    return served / span + (done_beside / span - load), (path.busy - served) / span
