"""The backlog of Thresh-SPLIT with a threshold above d*, with and without work stealing (SPLIT, Section 7.2).

Above d* the small jobs are more work than n - 1 servers do, so that without stealing the backlog grows. With
it, as in the paper's simulations, the large-job server helps while it has no large job. Measured is the
number of jobs in the system at the end of a run, over the arrivals: the share that is never served.
"""

from tailsched.mgn.registry import ThreshSplitSRPT
from tailsched.probes.harness import System, estimate, streams_of
from tailsched.settings import Setting

SIZES, SHARDS = "pareto:1.5", 32
SYSTEMS = ((3, 0.8),)

#: Load of large jobs, below the 0.4 that the paper says are required.
LARGE_LOAD = 0.3

#: Arrivals of a shard in the default run.
JOBS = 100_000


def measure(seed, work=1.0):
    """Return the backlog over the arrivals, with and without stealing, of each system."""
    jobs = max(20_000, int(JOBS * work))
    rows = []
    for servers, load in SYSTEMS:
        setting = Setting.parse("srpt", servers, load, SIZES)
        alpha = setting.sizes.tail_index
        d = (LARGE_LOAD / (servers * load)) ** (-1 / (alpha - 1))
        row = {"servers": servers, "load": load, "threshold": d, "large_load": LARGE_LOAD}
        for key, steal in (("alone", False), ("stealing", True)):
            backlog = []
            for i in range(SHARDS):
                streams = streams_of(seed, f"stealing/{servers}", i)
                options = {"threshold": d, "steal": steal}
                system = System(ThreshSplitSRPT, servers, setting.lam, setting.sizes, streams, **options)
                system.run(jobs)
                backlog.append(system.engine.present / jobs)
            row[key] = estimate(backlog, jobs * SHARDS)
        rows.append(row)
    return {"sizes": SIZES, "rows": rows}
