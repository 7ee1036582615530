r"""SPLIT against SRPT-n over loads and tail indexes, for several numbers of servers.

Beyond the paper. Both policies see the same jobs. SPLIT is better at a percentile if its tail at SRPT-n's
percentile is the smaller one; that difference, shard by shard, decides. The ratio of the two percentiles is
quoted with it. The price of the mean is :math:`E[T^{SPLIT}] / E[T^{SRPT}] - 1`, each mean by Little's law
from the mean number of jobs, whose variance is finite (that of the response time is not for alpha <= 2).
"""

import numpy as np

from tailsched.mgn.engine import completions
from tailsched.mgn.registry import SRPT, Split
from tailsched.probes.harness import draw, entry, jackknife, streams_of
from tailsched.sizes import parse_sizes
from tailsched.theory.bounds import arrival_rate

SERVERS = (2, 3, 5, 10)
LOADS = tuple(round(0.1 * i, 1) for i in range(1, 10))
ALPHAS = (1.2, 1.5, 2.0, 2.5, 3.0)
PERCENTILES = (99.0, 99.9, 99.99)
SHARDS = 16

#: Times at which tails are compared, over the mean size: eight an octave.
STEPS = 8
TIMES = 2.0 ** (np.arange(-2 * STEPS, 16 * STEPS + 1) / STEPS)

#: Arrivals of a shard in the default run, and those at either end that are not looked at.
JOBS, END = 100_000, 4_000

#: Student's quantile for a one-sided comparison at the level 10^-3 with the shards' degrees of freedom: of
#: the some 400 cells of a map, well under one is coloured wrongly by chance.
LEVEL = 1e-3


def jobs_present(arrivals, done, start, end):
    """Return the mean number of jobs in the system between two times."""
    return float(np.maximum(np.minimum(done, end) - np.maximum(arrivals, start), 0.0).sum() / (end - start))


def shard(servers, lam, sizes, jobs, streams):
    """Return the sorted responses under SRPT-n and SPLIT, and the mean numbers of jobs under each."""
    arrivals, x = draw(streams, lam, sizes, jobs + 2 * END)
    start, end = arrivals[END], arrivals[-END]
    both, present = [], []
    for policy in (SRPT, Split):
        done = completions(policy, servers, arrivals, x)
        both.append(np.sort((done - arrivals)[END:-END]))
        present.append(jobs_present(arrivals, done, start, end))
    return both, present


def _above(ordered, times):
    return 1.0 - np.searchsorted(ordered, times, side="right") / ordered.size


def crossing(times, difference, error, quantile):
    """Return where SPLIT's tail passes below SRPT-n's for good, as far as it is shown.

    Returns
    -------
    last_above : last grid time at which SPLIT is shown to be above, None if there is none
    below_from : first grid time after it at which it is shown to be below, None if there is none
    below_until : last grid time at which it is shown to be below
    """
    above = np.flatnonzero(difference - quantile * error > 0)
    last_above = int(above[-1]) if above.size else -1
    below = np.flatnonzero(difference + quantile * error < 0)
    below = below[below > last_above]
    return tuple(
        float(times[i]) if i is not None and i >= 0 else None
        for i in (last_above, *((below[0], below[-1]) if below.size else (None, None)))
    )


def cell(servers, load, alpha, jobs, seed):
    """Return one cell of the map."""
    from scipy import special

    sizes = parse_sizes(f"pareto:{alpha:g}")
    lam = arrival_rate(sizes, servers, load)
    runs = [
        shard(servers, lam, sizes, jobs, streams_of(seed, f"map/{servers}/{load:g}/{alpha:g}", i))
        for i in range(SHARDS)
    ]
    present = np.array([numbers for _, numbers in runs])
    price, price_error = jackknife(lambda m: m[1] / m[0] - 1.0, present)
    pooled = [np.sort(np.concatenate([both[k] for both, _ in runs])) for k in (0, 1)]
    total = pooled[0].size
    levels = 1.0 - np.array(PERCENTILES) / 100.0
    ranks = np.array([max(int(np.ceil(total * level)), 1) for level in levels])
    quantiles = np.array([part[-ranks] for part in pooled])
    quantile = -float(special.stdtrit(SHARDS - 1, LEVEL))

    def difference(times):
        values = np.array([_above(both[1], times) - _above(both[0], times) for both, _ in runs])
        return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(SHARDS)

    change, error = difference(quantiles[0])
    # The error of a ratio of percentiles: the tail falls like t^-alpha there.
    ratio = quantiles[1] / quantiles[0]
    spread = ratio * error / levels / alpha
    rows = []
    for k, percent in enumerate(PERCENTILES):
        decided = "undecided"
        if abs(change[k]) > quantile * error[k] and total * levels[k] >= 50:
            decided = "split" if change[k] < 0 else "srpt"
        rows.append(
            {"percentile": percent, "ratio": entry(ratio[k], spread[k], SHARDS, total), "better": decided}
        )
    times = TIMES * sizes.mean
    change, error = difference(times)
    last_above, begin, until = crossing(times, change, np.where(error > 0, error, np.inf), quantile)
    return {
        "servers": servers, "load": load, "alpha": alpha, "percentiles": rows,
        "price": entry(float(price), float(price_error), SHARDS, total),
        "last_above": last_above, "below_from": begin, "below_until": until,
    }  # fmt: skip


def measure(seed, work=1.0):
    """Return the cells with rho < (n - 1)/n, where SPLIT is defined to be optimal."""
    jobs = max(4000, int(JOBS * work))
    cells = [
        cell(n, rho, alpha, jobs, seed)
        for n in SERVERS
        for rho in LOADS
        if rho < (n - 1) / n - 1e-9
        for alpha in ALPHAS
    ]
    return {
        "servers": list(SERVERS), "loads": list(LOADS), "alphas": list(ALPHAS), "level": LEVEL,
        "percentiles": list(PERCENTILES), "cells": cells,
    }  # fmt: skip
