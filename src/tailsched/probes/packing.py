"""Two servers and one endless job: the rate at which it is served, and how often the other server is idle.

With n = 2 (SPLIT, Section 8.2) P_idle is the share of the endless job's service time in which the other
server is idle. It is read off the number of jobs (the endless job is alone), the rate off what is left of the
endless job, and neither off the busy servers: work conservation is not assumed. Under Thresh-SPLIT the small
jobs do not notice the large server, so P_idle is the share of time in which their server is idle.
"""

from tailsched.mgn.registry import SRPT, Split, ThreshSplitFCFS
from tailsched.probes.harness import ENDLESS, System, estimate, streams_of
from tailsched.sizes import parse_sizes
from tailsched.theory.bounds import arrival_rate
from tailsched.theory.thresholds import thresh_threshold

SERVERS, SIZES, SHARDS = 2, "pareto:1.5", 32
LOW, HIGH = (0.1, 0.2, 0.3, 0.4), (0.5, 0.6, 0.7, 0.8)

#: Loads of the small-job server of Thresh-SPLIT: near 1 as d comes near d*.
SMALL_LOADS = (0.8, 0.9, 0.98)

#: Arrivals of a shard in the default run.
JOBS = 200_000


def shard(policy, rho, jobs, streams, large_only=False, **parameters):
    """Return (rate, share of time with the endless job alone, mean idle servers) of one shard."""
    sizes = parse_sizes(SIZES)
    lam = arrival_rate(sizes, SERVERS, rho)
    system = System(policy, SERVERS, lam, sizes, streams, **parameters)
    system.admit(ENDLESS)
    system.run(jobs // 10)
    start, left = system.clock, system.tagged_left()
    totals = system.run(jobs)
    span = system.clock - start
    return (left - system.tagged_left()) / span, totals.few / span, SERVERS - totals.busy / span


def row(name, policy, rho, work, seed, **parameters):
    """Return what is measured of one policy at one load."""
    jobs = max(1000, int(JOBS * work))
    shards = [
        shard(policy, rho, jobs, streams_of(seed, f"packing/{rho:g}", i), **parameters) for i in range(SHARDS)
    ]
    total = jobs * SHARDS
    threshold = name == "thresh-split"
    idle = [(i if threshold else alone / q) for q, alone, i in shards]
    predicted = [2 * (1 - rho) / (1 + p) for p in idle]
    return {
        "policy": name,
        "load": rho,
        "rate": estimate([q for q, _, _ in shards], total),
        "idle": estimate(idle, total),
        "predicted": estimate(predicted, total),
        "difference": estimate([s[0] - p for s, p in zip(shards, predicted, strict=True)], total),
        "idle_with_work": max(abs(i - alone) for _, alone, i in shards),
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
