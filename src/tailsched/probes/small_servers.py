r"""The tail of the small-job servers of Thresh-SPLIT without stealing (SPLIT, Lemma 5.2).

Small jobs are a Poisson process of rate lam P[S <= d] with sizes bounded by d, served FCFS by m = n - 1
servers. P[T > t] falls like :math:`e^{-\theta t}`, where theta is the positive root of
:math:`\lambda (E[e^{\theta S / m}; S \le d] - P[S \le d]) = \theta` (Sadowsky and Szpankowski, 1990, for
waiting times in the GI/G/m). Measured are the decay rates of P[W > t] over two successive stretches of time.
"""

import numpy as np
from scipy import integrate, optimize

from tailsched.mgn.engine import completions
from tailsched.mgn.registry import FCFS
from tailsched.probes.harness import draw, entry, jackknife, streams_of
from tailsched.settings import Setting
from tailsched.sizes import parse_sizes

SHARDS = 32

#: Settings: servers, load, policy of the threshold.
CASES = (
    (3, 0.5, "thresh-split:threshold-percentile=99"),
    (3, 0.5, "thresh-split:threshold-percentile=99.9"),
    (3, 0.8, "thresh-split:large-load=0.6"),
)
SIZES = "pareto:1.5"

#: The stretches of time end where exp(-theta t) has these values, the first begins at the first.
LEVELS = (np.exp(-2.0), np.exp(-4.0), np.exp(-6.0))

#: Arrivals of a shard in the default run, and those at its start that are dropped.
JOBS, WARM_UP = 1_500_000, 50_000


def decay_rate(lam, sizes, d, servers):
    """Return theta, the decay rate of the wait of jobs of size at most `d` on `servers` FCFS servers."""
    alpha = sizes.tail_index

    def excess(theta):
        moment, _ = integrate.quad(
            lambda u: np.expm1(theta * np.exp(u) / servers) * alpha * np.exp(-alpha * u), 0.0, np.log(d)
        )
        return lam * moment - theta

    high = 1e-6 / d
    while excess(high) < 0:
        high *= 2
    return float(optimize.brentq(excess, high / 2, high, rtol=1e-12))


def measure(seed, work=1.0, policy=FCFS, bounded=True):
    """Return theta and the two measured decay rates of each case; `bounded` = False lets all jobs in."""
    jobs = max(20_000, int(JOBS * work))
    rows = []
    for servers, load, policy_text in CASES:
        setting = Setting.parse(policy_text, servers, load, SIZES)
        d, m = setting.threshold, servers - 1
        theta = decay_rate(setting.lam, setting.sizes, d, m)
        sizes = parse_sizes(f"bounded-pareto:1.5,1,{d!r}") if bounded else setting.sizes
        lam = setting.lam * float(1 - setting.sizes.tail(d)) if bounded else setting.lam
        times = -np.log(np.array(LEVELS)) / theta
        counts = []
        for i in range(SHARDS):
            streams = streams_of(seed, f"small_servers/{servers}/{policy_text}", i)
            arrivals, x = draw(streams, lam, sizes, jobs + WARM_UP)
            wait = (completions(policy, m, arrivals, x) - arrivals - x)[WARM_UP:]
            counts.append([np.sum(wait > t) for t in times])

        def rates(count, times=times):
            return -np.diff(np.log(count)) / np.diff(times)

        with np.errstate(divide="ignore", invalid="ignore"):
            value, error = jackknife(rates, counts)
        total = jobs * SHARDS
        rows.append(
            {
                "servers": servers,
                "load": load,
                "policy": policy_text,
                "threshold": d,
                "theta": theta,
                "small_load": lam * sizes.mean / m,
                "times": times.tolist(),
                "rates": [entry(v, e, SHARDS, total) for v, e in zip(value, error, strict=True)],
            }  # fmt: skip
        )
    return {"sizes": SIZES, "rows": rows}
