"""Whether the LJF server of SPLIT picks a job of size x within sqrt(x) (SPLIT, Lemma 4.11).

A copy of a stationary system gets a tagged job of size x and runs on with arrivals of its own. Since a job of
size x > 1 cannot leave within sqrt(x), it has been picked if the LJF server holds it at that time. Beside it,
the first of the two events in the proof: no job of original size above sqrt(x) is present at the arrival.
"""

import numpy as np

from tailsched.mgn.registry import Split
from tailsched.probes.harness import System, rows_of, share, streams_of
from tailsched.settings import Setting
from tailsched.theory.limits import split_pick_bound
from tailsched.theory.thresholds import load_above

SERVERS, LOAD, SIZES, SHARDS = 3, 0.5, "pareto:1.5", 32
X = (100.0, 300.0, 1000.0, 3000.0, 1e4, 3e4, 1e5, 1e6)

#: Copies of a shard and size in the default run, arrivals between two of them, and before the first.
COPIES, APART, WARM_UP = 150, 1000, 20_000


def present(system):
    """Return the original sizes of the jobs in the system."""
    rows = rows_of(system.engine.policy, system.engine.state)
    return np.concatenate([system.engine.pool.size[slots[1 : count + 1]] for _, slots, count, _ in rows])


def shard(policy, setting, x, copies, seed, index):
    """Return the copies picked in time, and those that found no job above sqrt x, of one shard."""
    name = f"pick/{x:g}"
    system = System(policy, setting.servers, setting.lam, setting.sizes, streams_of(seed, name, index))
    system.run(WARM_UP)
    fresh = streams_of(seed, f"{name}/copies", index)
    root = x**0.5
    picked = alone = 0
    for _ in range(copies):
        system.run(APART)
        twin = system.copy(fresh)
        # The next arrival of a Poisson process, in place of an ordinary job.
        twin.run_until(twin.clock + fresh[0].standard_exponential() / setting.lam, arrivals=False)
        alone += not (present(twin) > root).any()
        twin.admit(x)
        twin.run_until(twin.clock + root)
        picked += twin.on_ljf()
    return picked, alone


def measure(seed, work=1.0, policy=Split):
    """Return p(x) and p_1(x) with their bounds, for each x."""
    setting = Setting.parse("split", SERVERS, LOAD, SIZES)
    copies = max(10, int(COPIES * work))
    rows = []
    for x in X:
        shards = [shard(policy, setting, x, copies, seed, i) for i in range(SHARDS)]
        system = setting.sizes, SERVERS, LOAD
        rows.append(
            {
                "x": x,
                "picked": share([p for p, _ in shards], copies),
                "alone": share([p for _, p in shards], copies),
                "bound": float(split_pick_bound(x, SERVERS, LOAD, setting.sizes)),
                "alone_bound": float(1 - 2 * load_above(*system, x**0.5)),
            }
        )
    return {"servers": SERVERS, "load": LOAD, "sizes": SIZES, "rows": rows}
