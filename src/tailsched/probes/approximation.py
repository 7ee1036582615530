"""The migrations of TAGS-SPLIT against the Poisson process that stands for them (SPLIT, Approximation 1).

A job migrates when a small-job server has given it d. These times are the departures of the jobs of size
above d from n - 1 FCFS servers on which a job of size S needs min(S, d). Measured are the variance over the
mean of the number of migrations in windows of time, 1 for a Poisson process, and the tail of the sojourn time
on the PS server, divided by that with Poisson migrations of the same rate and law of the remaining sizes.
"""

import numpy as np

from tailsched.mgn.engine import completions
from tailsched.mgn.registry import FCFS, PS
from tailsched.probes.harness import draw, entry, jackknife, streams_of
from tailsched.settings import Setting

SIZES, SHARDS = "pareto:1.5", 32
CASES = (
    (3, 0.5, "tags-split:threshold-percentile=99"),
    (3, 0.8, "tags-split:large-load=0.5"),
)

#: Windows, in units of d; and levels of the tail at which sojourn times are compared.
WINDOWS = (0.3, 1.0, 10.0, 100.0)
LEVELS = (0.1, 0.01)

#: Arrivals of a shard in the default run, and those at either end that are not looked at.
JOBS, END = 600_000, 50_000


def migrations(setting, jobs, streams, migrate=None):
    """Return (times, remaining sizes) of the migrations of one shard, in order, and the stretch of time."""
    arrivals, sizes = draw(streams, setting.lam, setting.sizes, jobs + 2 * END)
    d = setting.threshold
    done = completions(FCFS, setting.servers - 1, arrivals, np.minimum(sizes, d))
    large = sizes > d
    order = np.argsort(done[large])
    return done[large][order], (sizes[large] - d)[order], (arrivals[END], arrivals[-END])


def dispersion(times, stretch, window):
    """Return (mean, mean square) of the number of migrations in windows of that length."""
    edges = np.arange(stretch[0], stretch[1], window)
    counts = np.histogram(times, edges)[0]
    return counts.mean(), (counts.astype(float) ** 2).mean()


def measure(seed, work=1.0, jitter=True):
    """Return what is measured of the migrations; `jitter` = False puts Poisson ones in their place."""
    rows = []
    for servers, load, text in CASES:
        setting = Setting.parse(text, servers, load, SIZES)
        d, jobs = setting.threshold, max(2 * END, int(JOBS * work))
        expected = setting.lam * float(setting.sizes.tail(d))
        moments, rates, real, poisson = [], [], [], []
        for i in range(SHARDS):
            streams = streams_of(seed, f"approximation/{servers}/{load:g}", i)
            times, left, stretch = migrations(setting, jobs, streams)
            fresh = np.cumsum(streams[0].standard_exponential(times.size)) / expected
            if not jitter:
                times, stretch = fresh, (fresh[0], fresh[-1])
            moments.append([dispersion(times, stretch, window * d) for window in WINDOWS])
            rates.append(np.sum((times > stretch[0]) & (times < stretch[1])) / (stretch[1] - stretch[0]))
            real.append(completions(PS, 1, times, left) - times)
            poisson.append(completions(PS, 1, fresh, left) - fresh)
        levels = np.quantile(np.concatenate(real), 1 - np.array(LEVELS))
        above = [[[np.mean(part > t) for t in levels] for part in parts] for parts in (real, poisson)]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio, ratio_error = jackknife(np.divide, *above)
            index, index_error = jackknife(lambda m: (m[:, 1] - m[:, 0] ** 2) / m[:, 0], moments)
            rate, rate_error = jackknife(lambda r: r, rates)
        total = sum(part.size for part in real)
        rows.append(
            {
                "servers": servers,
                "load": load,
                "policy": text,
                "threshold": d,
                "expected_rate": expected,
                "rate": entry(float(rate), float(rate_error), SHARDS, total),
                "windows": list(WINDOWS),
                "dispersion": [entry(v, e, SHARDS, total) for v, e in zip(index, index_error, strict=True)],
                "levels": list(LEVELS),
                "times": levels.tolist(),
                "sojourn": [entry(v, e, SHARDS, total) for v, e in zip(ratio, ratio_error, strict=True)],
            }  # fmt: skip
        )
    return {"sizes": SIZES, "rows": rows}
