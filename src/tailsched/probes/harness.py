"""What the probes share: arrivals and sizes from addressed streams, copies of a system, endless jobs."""

import copy
import math

import numpy as np

from tailsched.mgn.engine import BLOCK, Engine
from tailsched.mgn.policy import Pool
from tailsched.mgn.tally import create_tally
from tailsched.sampling import fill_arrivals, fill_sizes
from tailsched.streams import stream

#: Size of a job that is never completed: far above any run's length, and small enough for a double to keep
#: its remaining size to 10^-6.
ENDLESS = 1e10

#: Number of the tagged or endless job; others are numbered from 1.
TAGGED = 0


def estimate(values, jobs=0):
    """Return the mean of one value a shard with its standard error, as a dict for JSON."""
    values = np.asarray(values, float)
    mean, se = float(values.mean()), float(values.std(ddof=1) / math.sqrt(values.size))
    return {"estimate": mean, "se": se, "shards": int(values.size), "jobs": int(jobs)}


def share(hits, tries):
    """Return a probability from the hits of each shard in `tries` each, as `estimate` does.

    The standard error is at least the binomial one with a hit and a miss added: a share of exactly 1 is not
    known without error.
    """
    hits = np.asarray(hits, float)
    result = estimate(hits / tries, tries * hits.size)
    p = (hits.sum() + 1) / (result["jobs"] + 2)
    return {**result, "se": max(result["se"], math.sqrt(p * (1 - p) / result["jobs"]))}


def streams_of(seed, name, shard):
    """Return the generators of arrivals and sizes of one shard."""
    return tuple(stream(seed, f"probes/{name}", shard, purpose) for purpose in ("arrivals", "sizes"))


def draw(streams, lam, sizes, jobs, clock=0.0):
    """Return the arrival times, from `clock` on, and the sizes of the next jobs, as (jobs,) arrays."""
    arrivals, work = np.empty(jobs), np.empty(jobs)
    fill_arrivals(streams[0], lam, clock, arrivals)
    fill_sizes(streams[1], *sizes.kernel, work)
    return arrivals, work


class System:
    """An M/G/n under one policy that can be fed, copied and looked into.

    Parameters
    ----------
    policy : a policy class
    n, lam, sizes : servers, arrival rate, `tailsched.sizes.Sizes`
    streams : generators of arrivals and sizes
    parameters : the policy's own
    """

    def __init__(self, policy, n, lam, sizes, streams, **parameters):
        self.engine = Engine(policy, n, sizes.mean, create_tally(jobs=1), **parameters)
        self.engine.epoch = math.inf
        self.engine.pool.number[:] = -1
        self.lam, self.sizes, self.streams, self.number = lam, sizes, streams, 1

    @property
    def clock(self):
        return self.engine.clock

    def run(self, jobs, with_work=False):
        """Take `jobs` fresh arrivals through the system.

        Returns
        -------
        the `tailsched.records.Totals` of that stretch of time; with the total size of the arrivals if
        `with_work`
        """
        totals, brought = None, 0.0
        while jobs > 0:
            length = min(jobs, BLOCK)
            arrivals, work = draw(self.streams, self.lam, self.sizes, length, self.clock)
            block = self.engine.feed(arrivals, work, self.number)
            totals = block if totals is None else totals.plus(block)
            brought += float(work.sum())
            self.number += length
            jobs -= length
        return (totals, brought) if with_work else totals

    def admit(self, size):
        """Let one job of that size, the tagged one, arrive now."""
        self.engine.feed(np.array([self.clock]), np.array([float(size)]), TAGGED)

    def run_until(self, time, arrivals=True):
        """Take all departures up to `time`, and the arrivals if any are wanted, through the system."""
        while True:
            expected = self.lam * (time - self.clock) if arrivals else 0.0
            length = min(int(expected + 5 * math.sqrt(expected) + 10), BLOCK)
            times, work = draw(self.streams, self.lam, self.sizes, length, self.clock)
            inside = int(np.searchsorted(times, time, side="right")) if arrivals else 0
            last = inside < length
            self.engine.feed(times[:inside], work[:inside], self.number, until=time if last else -np.inf)
            self.number += inside
            if last:
                self.engine.clock = time
                return

    def completion(self):
        """Run on until the tagged job leaves; return when it does."""
        done = self.engine.tally.completions
        while math.isnan(done[0]):
            self.run(max(64, min(BLOCK, int(0.2 * self.lam * self.tagged_left()))))
        return float(done[0])

    def copy(self, streams):
        """Return an independent copy of the system as it is, to be fed from other streams."""
        twin = copy.copy(self)
        engine = twin.engine = copy.copy(self.engine)
        engine.pool = Pool(*(array.copy() for array in engine.pool))
        fields = (value.copy() if isinstance(value, np.ndarray) else value for value in engine.policy)
        engine.policy = type(engine.policy)(*fields)
        engine.tally = create_tally(jobs=1)
        twin.streams = streams
        return twin

    def tagged_left(self):
        """Return the remaining size of the tagged job; 0 if it is gone, or waits in a FCFS queue."""
        for keys, slots, count, in_service in rows_of(self.engine.policy, self.engine.state):
            here = np.flatnonzero(self.engine.pool.number[slots[1 : count + 1]] == TAGGED)
            if here.size:
                key = keys[1 + here[0]]
                return float(key - self.clock if in_service else key)
        return 0.0

    def on_ljf(self):
        """Return whether the LJF server of SPLIT holds the tagged job."""
        ljf = self.engine.state[2]
        return bool(ljf >= 0 and self.engine.pool.number[ljf] == TAGGED)


def rows_of(policy, state):
    """Yield the rows in which a policy keeps jobs, as (keys, slots, count, in service), see `mgn.servers`."""
    names = policy._fields
    if "large_on" in names:
        large, queued = state[-2:]
        yield policy.large_done, policy.large_on, large, True
        yield policy.large_left, policy.large_waiting, queued, False
        return
    served, queued = state[:2]
    yield policy.done, policy.on, served, True
    yield policy.left, policy.waiting, queued, False
    if type(policy).__name__ == "Split" and state[2] >= 0:
        ends = np.array([np.inf, state[3]])
        yield ends, np.array([0, state[2]]), 1, True


def with_endless_job(policy, n, lam, sizes, streams, jobs, warm_up, **parameters):
    """Measure a system that holds one job which never ends.

    Parameters
    ----------
    policy, n, lam, sizes, streams, parameters : as in `System`
    jobs, warm_up : arrivals in the measured stretch, arrivals before it

    Returns
    -------
    dict with
        ``rate``: share of time in which the endless job was served;
        ``idle``: mean number of idle servers;
        ``work``: mean number of servers that served others
    """
    system = System(policy, n, lam, sizes, streams, **parameters)
    system.admit(ENDLESS)
    system.run(warm_up)
    start, left = system.clock, system.tagged_left()
    totals = system.run(jobs)
    span = system.clock - start
    rate = (left - system.tagged_left()) / span
    return {"rate": rate, "idle": n - totals.busy / span, "work": totals.busy / span - rate}


def jackknife(statistic, *arrays):
    """Return the estimate of a statistic of the shards' means, with the jackknife's standard error.

    Parameters
    ----------
    statistic : function of the means over the shards of each of `arrays`
    arrays : (shards, ...) arrays of sums or shares

    Returns
    -------
    (estimate, se), arrays of the statistic's shape
    """
    arrays = [np.asarray(array, float) for array in arrays]
    shards = arrays[0].shape[0]
    whole = [array.mean(axis=0) for array in arrays]
    left_out = np.array(
        [
            statistic(
                *(
                    (shards * mean - array[i]) / (shards - 1)
                    for mean, array in zip(whole, arrays, strict=True)
                )
            )
            for i in range(shards)
        ]
    )
    spread = ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0) * (shards - 1) / shards
    return statistic(*whole), np.sqrt(spread)


def entry(number, se, shards, jobs=0):
    """Return a number with its standard error as a dict for JSON; None for what is not finite."""
    finite = math.isfinite(number) and math.isfinite(se)
    return {
        "estimate": float(number) if math.isfinite(number) else None,
        "se": float(se) if finite else None, "shards": int(shards), "jobs": int(jobs),
    }  # fmt: skip
