"""SPLIT where a giant on its LJF server overloads the other servers, or is alone (SPLIT, Section 1.4).

At rho >= (n - 1)/n the LJF server is needed for the ordinary load; with n = 1 it is the only one, and SPLIT
is non-preemptive largest-job-first. Measured is the tail of SPLIT over that of SRPT-n at several times, both
on the same arrivals and sizes.
"""

import numpy as np

from tailsched.mgn.registry import SRPT, Split
from tailsched.probes.harness import entry, jackknife, streams_of
from tailsched.probes.small_jobs import responses
from tailsched.settings import Setting

SIZES, SHARDS = "pareto:1.5", 32
SYSTEMS = ((3, 0.8), (1, 0.5))
TIMES = (32.0, 128.0, 512.0)

#: Arrivals of a shard in the default run.
JOBS = 700_000


def measure(seed, work=1.0, policy=Split):
    """Return the ratio of the two tails at each time, for each system."""
    jobs = max(20_000, int(JOBS * work))
    rows = []
    for servers, load in SYSTEMS:
        setting = Setting.parse("srpt", servers, load, SIZES)
        tails = []
        for name in (policy, SRPT):
            above = []
            for i in range(SHARDS):
                response = responses(name, setting, jobs, streams_of(seed, f"overload/{servers}", i))[1]
                above.append([np.mean(response > t) for t in TIMES])
            tails.append(above)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio, error = jackknife(np.divide, *tails)
        total = jobs * SHARDS
        ratios = [entry(v, e, SHARDS, total) for v, e in zip(ratio, error, strict=True)]
        rows.append({"servers": servers, "load": load, "ratios": ratios})
    return {"sizes": SIZES, "times": list(TIMES), "rows": rows}
