"""SPLIT where a giant on its LJF server overloads the other servers (SPLIT, Section 1.4).

At rho >= (n - 1)/n the LJF server is needed for the ordinary load. Measured is the tail of SPLIT over that
of SRPT-n at several times, both on the same arrivals and sizes.
"""

import numpy as np

from tailsched.mgn.registry import SRPT, Split
from tailsched.probes.harness import entry, jackknife, streams_of
from tailsched.probes.small_jobs import responses
from tailsched.settings import Setting

SERVERS, LOAD, SIZES, SHARDS = 3, 0.8, "pareto:1.5", 32
TIMES = (32.0, 128.0, 512.0)

#: Arrivals of a shard in the default run.
JOBS = 1_000_000


def measure(seed, work=1.0, policy=Split):
    """Return the ratio of the two tails at each time."""
    setting = Setting.parse("srpt", SERVERS, LOAD, SIZES)
    jobs = max(20_000, int(JOBS * work))
    tails = []
    for name in (policy, SRPT):
        above = []
        for i in range(SHARDS):
            response = responses(name, setting, jobs, streams_of(seed, "overload", i))[1]
            above.append([np.mean(response > t) for t in TIMES])
        tails.append(above)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio, error = jackknife(np.divide, *tails)
    total = jobs * SHARDS
    return {
        "servers": SERVERS, "load": LOAD, "sizes": SIZES, "times": list(TIMES),
        "ratios": [entry(v, e, SHARDS, total) for v, e in zip(ratio, error, strict=True)],
    }  # fmt: skip
