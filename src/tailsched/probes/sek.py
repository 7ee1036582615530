"""The rate of an endless job under SEK, over eps, and under SRPT-n (SPLIT, Section 7 and Appendix E.2).

All policies of a system see the same arrivals and sizes, so that their differences are sharper than their
levels. The limit of the normalized tail that belongs to a rate q is (c/q)^alpha.
"""

import numpy as np

from tailsched.mgn.registry import SEK, SRPT
from tailsched.probes.harness import entry, estimate, jackknife, streams_of, with_endless_job
from tailsched.sizes import parse_sizes
from tailsched.theory.bounds import arrival_rate, benchmark_rate

#: Name of the setting, as in config/split.yaml -> servers, load, sizes.
SYSTEMS = {
    "low": (3, 0.5, "pareto:1.5"),
    "heavier": (3, 0.5, "pareto:1.2"),
    "lighter": (3, 0.5, "pareto:2"),
    "high": (3, 0.8, "pareto:1.5"),
    "high-ten": (10, 0.94, "pareto:1.5"),
}
#: The paper names 200 only; the others show where the improvement ends. 0 is SRPT-n.
EPSILON = (0.0, 10.0, 50.0, 100.0, 200.0, 1000.0, 1e4)
SHARDS = 32

#: Arrivals of a shard in the default run, and before it.
JOBS, WARM_UP = 300_000, 20_000


def measure(seed, work=1.0):
    """Return for each system and eps the rate and the limit.

    The limit also over that of eps = 200 (``over_200``) and over that of the eps before (``step``).
    """
    jobs = max(10_000, int(JOBS * work))
    rows = []
    for name, (servers, load, spec) in SYSTEMS.items():
        sizes = parse_sizes(spec)
        lam, c = arrival_rate(sizes, servers, load), benchmark_rate(servers, load)
        rates = np.empty((SHARDS, len(EPSILON)))
        for i in range(SHARDS):
            for j, epsilon in enumerate(EPSILON):
                policy, options = (SEK, {"epsilon": epsilon}) if epsilon else (SRPT, {})
                streams = streams_of(seed, f"sek/{name}", i)
                run = with_endless_job(policy, servers, lam, sizes, streams, jobs, WARM_UP, **options)
                rates[i, j] = run["rate"]
        base = EPSILON.index(200.0)
        relative, error = jackknife(lambda q, a=sizes.tail_index, b=base: (q[b] / q) ** a, rates)
        earlier = np.maximum(np.arange(len(EPSILON)) - 1, 0)
        step, step_error = jackknife(lambda q, a=sizes.tail_index, e=earlier: (q[e] / q) ** a, rates)
        limits, limit_error = jackknife(lambda q, a=sizes.tail_index, c=c: (c / q) ** a, rates)
        for j, epsilon in enumerate(EPSILON):
            rows.append(
                {
                    "setting": name,
                    "epsilon": epsilon,
                    "rate": estimate(rates[:, j], jobs * SHARDS),
                    "limit": entry(limits[j], limit_error[j], SHARDS, jobs * SHARDS),
                    "step": entry(step[j], step_error[j], SHARDS, jobs * SHARDS),
                    "over_200": entry(relative[j], error[j], SHARDS, jobs * SHARDS),
                }  # fmt: skip
            )
    return {"rows": rows}
