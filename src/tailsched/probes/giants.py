"""The response times of very large jobs (SPLIT, Lemma B.3 and Theorem 4.2).

A copy of a stationary system gets a tagged job of size x and runs on until it leaves. Under SRPT-n it takes
x / q, with q the rate at which an endless job is served; under SPLIT it takes little more than x.
"""

from tailsched.mgn.registry import SRPT, Split
from tailsched.probes.harness import System, estimate, share, streams_of, with_endless_job
from tailsched.settings import Setting

SIZES, SHARDS = "pareto:1.5", 32
SYSTEMS = ((3, 0.5), (3, 0.8))
X = (1e2, 1e3, 1e4, 1e5)

#: Rate c' = `SLACK` q of Lemma B.3, which is about every c' > q.
SLACK = 1.1

#: Copies of a shard and size in the default run, by size; arrivals between two copies and before the first.
COPIES = {1e2: 100, 1e3: 100, 1e4: 50, 1e5: 10}
APART, WARM_UP = 1000, 20_000

#: Arrivals of a shard for the rate q.
JOBS = 500_000


def shard(policy, setting, x, copies, seed, index):
    """Return the copies' T_x / x."""
    name = f"giants/{setting.load:g}/{x:g}"
    system = System(policy, setting.servers, setting.lam, setting.sizes, streams_of(seed, name, index))
    system.run(WARM_UP)
    fresh = streams_of(seed, f"{name}/copies", index)
    ratios = []
    for _ in range(copies):
        system.run(APART)
        twin = system.copy(fresh)
        twin.run_until(twin.clock + fresh[0].standard_exponential() / setting.lam, arrivals=False)
        start = twin.clock
        twin.admit(x)
        ratios.append((twin.completion() - start) / x)
    return ratios


def measure(seed, work=1.0, policy=SRPT):
    """Return q, and for each x P[T_x >= x / (SLACK q)] of SRPT-n and P[T_x <= x + sqrt(x)] of SPLIT."""
    rows = []
    for servers, load in SYSTEMS:
        setting = Setting.parse("srpt", servers, load, SIZES)
        system = servers, setting.lam, setting.sizes
        jobs = max(10_000, int(JOBS * work))
        rates = [
            with_endless_job(policy, *system, streams_of(seed, f"giants/{load:g}", i), jobs, WARM_UP)["rate"]
            for i in range(SHARDS)
        ]
        rate = estimate(rates, jobs * SHARDS)
        for x in X:
            copies = max(4, int(COPIES[x] * work))
            ratios = [shard(policy, setting, x, copies, seed, i) for i in range(SHARDS)]
            slow = [sum(r >= 1 / (SLACK * rate["estimate"]) for r in part) for part in ratios]
            row = {
                "policy": "srpt", "servers": servers, "load": load, "x": x, "rate": rate,
                "slow": share(slow, copies),
                "mean": estimate([sum(part) / copies for part in ratios], copies * SHARDS),
            }  # fmt: skip
            if load < (servers - 1) / servers:
                ratios = [shard(Split, setting, x, copies, seed, i) for i in range(SHARDS)]
                quick = [sum(r <= 1 + x**-0.5 for r in part) for part in ratios]
                row["quick"] = share(quick, copies)
            rows.append(row)
    return {"sizes": SIZES, "slack": SLACK, "rows": rows}
