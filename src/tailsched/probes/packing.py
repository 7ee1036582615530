"""Two servers and one endless job: the rate at which it is served, and how often the other server is idle.

With n = 2 (SPLIT, Section 8.2) P_idle is the share of the endless job's service time in which the other
server is idle. It is read off the number of jobs (the endless job is alone), the rate off what is left of the
endless job, and neither off the busy servers: work conservation is not assumed. Under Thresh-SPLIT the small
jobs do not notice the large server, so P_idle is the share of time in which their server is idle.
"""

from tailsched.mgn.registry import SRPT, Split, ThreshSplitFCFS
from tailsched.probes.harness import ENDLESS, TAGGED, System, estimate, rows_of, streams_of
from tailsched.sizes import parse_sizes
from tailsched.theory.bounds import arrival_rate
from tailsched.theory.thresholds import thresh_threshold

SERVERS, SIZES, SHARDS = 2, "pareto:1.5", 32
LOW, HIGH = (0.1, 0.2, 0.3, 0.4), (0.5, 0.6, 0.7, 0.8)

#: Loads of the small-job server of Thresh-SPLIT: near 1 as d comes near d*.
SMALL_LOADS = (0.8, 0.9, 0.98)

#: Arrivals of a shard in the default run.
JOBS = 300_000


def unfinished(system):
    """Return the work left of all jobs but the endless one."""
    total = 0.0
    for keys, slots, count, in_service in rows_of(system.engine.policy, system.engine.state):
        others = system.engine.pool.number[slots[1 : count + 1]] != TAGGED
        total += (keys[1 : count + 1] - (system.clock if in_service else 0.0))[others].sum()
    return float(total)


def shard(policy, rho, jobs, streams, **parameters):
    """Return what one shard measures.

    Returns
    -------
    rate : share of time in which the endless job was served, from what is left of it
    alone : share of time in which no other job was present, from the number of jobs
    idle : mean number of idle servers, from the busy ones
    load : work done on other jobs over time and two servers, from the jobs that came and what is left of them
    """
    sizes = parse_sizes(SIZES)
    lam = arrival_rate(sizes, SERVERS, rho)
    system = System(policy, SERVERS, lam, sizes, streams, **parameters)
    system.admit(ENDLESS)
    system.run(jobs // 10)
    start, left, work = system.clock, system.tagged_left(), unfinished(system)
    totals, brought = system.run(jobs, with_work=True)
    span = system.clock - start
    rate = (left - system.tagged_left()) / span
    load = (brought + work - unfinished(system)) / span / SERVERS
    return rate, totals.few / span, SERVERS - totals.busy / span, load


def row(name, policy, rho, work, seed, **parameters):
    """Return what is measured of one policy at one load."""
    jobs = max(1000, int(JOBS * work))
    shards = [
        shard(policy, rho, jobs, streams_of(seed, f"packing/{rho:g}", i), **parameters) for i in range(SHARDS)
    ]
    total = jobs * SHARDS
    threshold = name == "thresh-split"
    idle = [(i if threshold else alone / q) for q, alone, i, _ in shards]
    realised = [2 * (1 - load) / (1 + p) for p, (*_, load) in zip(idle, shards, strict=True)]
    return {
        "policy": name,
        "load": rho,
        "rate": estimate([q for q, *_ in shards], total),
        "idle": estimate(idle, total),
        "predicted": estimate([2 * (1 - rho) / (1 + p) for p in idle], total),
        "identity_error": max(abs(s[0] - p) for s, p in zip(shards, realised, strict=True)),
        "jobs": total,
    }


def natural(rho, work, seed):
    """Return P[N <= 1] and P[N = 0] / P[N <= 1] under SRPT-2 without the endless job."""
    sizes = parse_sizes(SIZES)
    jobs = max(1000, int(JOBS * work))
    few, idle = [], []
    for i in range(SHARDS):
        lam = arrival_rate(sizes, SERVERS, rho)
        system = System(SRPT, SERVERS, lam, sizes, streams_of(seed, f"packing/natural/{rho:g}", i))
        system.run(jobs // 10)
        start = system.clock
        totals = system.run(jobs)
        span = system.clock - start
        at_most_one = totals.few / span
        empty = at_most_one - (totals.busy / span - 2 * (1 - at_most_one))
        few.append(at_most_one)
        idle.append(empty / at_most_one)
    return {"load": rho, "few": estimate(few, jobs * SHARDS), "idle": estimate(idle, jobs * SHARDS)}


def measure(seed, work=1.0):
    """Return the rows of SRPT-2, SPLIT and Thresh-SPLIT, and SRPT-2 without the endless job."""
    sizes = parse_sizes(SIZES)
    rows = [row("srpt", SRPT, rho, work, seed) for rho in (*LOW, *HIGH)]
    rows += [row("split", Split, rho, work, seed) for rho in LOW]
    for rho in HIGH:
        for small in SMALL_LOADS:
            d = thresh_threshold(sizes, SERVERS, rho, large_load=2 * rho - small)
            entry = row("thresh-split", ThreshSplitFCFS, rho, work, seed, threshold=d)
            rows.append({**entry, "small_load": small, "threshold": d})
    return {
        "sizes": SIZES,
        "servers": SERVERS,
        "rows": rows,
        "natural": [natural(r, work, seed) for r in LOW],
    }
