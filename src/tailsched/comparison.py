"""Paired comparisons: two policies on the same arrivals and sizes.

Both see the same jobs at the same times, shard by shard, so what the jobs happen to be cancels in the differences.
A percentile is that of all shards together; the interval of a difference is the jackknife's over the shards: with
one shard left out at a time, pseudo-values, and Student's interval of their mean.
"""

import numpy as np

from tailsched.report import show
from tailsched.runs import run_shards
from tailsched.tails.estimates import FEWEST, Tails, mean_over_shards, percentile


def _percentiles(setting, shards, levels):
    """Return the percentiles of T in percent, NaN where there are too few jobs."""
    tail = Tails.of(shards, setting.sizes).at_edges()
    jobs = sum(shard.totals.counted for shard in shards)
    found = (percentile(p, tail, jobs).estimate for p in levels)
    return np.array([np.nan if value is None else value for value in found])


def _jackknife(function, count):
    """Return pseudo-values of a statistic of a list of shards: a (count, ...) array from ``function(indexes)``."""
    whole = function(range(count))
    without = np.array([function([i for i in range(count) if i != j]) for j in range(count)])
    return count * whole - (count - 1) * without


def _rows(settings, both, levels):
    def statistic(indexes):
        return np.array(
            [
                _percentiles(setting, [shards[i] for i in indexes], levels)
                for setting, shards in zip(settings, both, strict=True)
            ]
        )

    count = len(both[0])
    whole = statistic(range(count))
    pseudo = _jackknife(statistic, count)
    jobs = sum(shard.totals.counted for shard in both[0])
    rows = []
    for i, p in enumerate(levels):
        if np.isnan(pseudo[:, :, i]).any():
            note = f"needs more jobs than {jobs}: {FEWEST} beyond the percentile"
            rows.append(
                {
                    "p": p,
                    "first": None,
                    "second": None,
                    "difference": None,
                    "low": None,
                    "high": None,
                    "note": note,
                }
            )
            continue
        first, second = (mean_over_shards(pseudo[:, k, i]) for k in (0, 1))
        difference = mean_over_shards(pseudo[:, 0, i] - pseudo[:, 1, i])
        values = [whole[0, i], whole[1, i], whole[0, i] - whole[1, i]]
        reach = difference.high - difference.estimate
        rows.append(
            {
                "p": p,
                "first": float(values[0]),
                "second": float(values[1]),
                "difference": float(values[2]),
                "low": float(values[2] - reach),
                "high": float(values[2] + reach),
                "se": difference.se,
                "first_se": first.se,
                "second_se": second.se,
            }  # fmt: skip
        )
    return rows


def compare(settings, name, seed, plan, levels, precision=None, cores=1):
    """Compare the percentiles of T of two policies.

    Parameters
    ----------
    settings : two `tailsched.settings.Setting` that differ in their policy only
    name, seed : of the random streams, the same for both
    plan : list of `tailsched.runs.Natural`, the shards
    levels : percentiles in percent
    precision : if given, shards an eighth as long as `plan`'s are added, as many at a time as it has, until the
        standard error of each difference is at most `precision` times the first percentile, or `plan`'s arrivals are
        spent; the warm-up of such a shard is at most half of it
    cores : processes

    Returns
    -------
    dict with ``percentiles``, a list of ``{p, first, second, difference, low, high}``; the difference is the first
    less the second, with its 95 % interval
    """
    if precision is not None:
        count, short = len(plan), plan[0].arrivals // 8
        if short < 2:
            raise ValueError(f"arrivals: {plan[0].arrivals} a shard are too few to be added by eighths")
        warm_up = min(plan[0].warm_up, short // 2)
        plan = [plan[0]._replace(index=i, arrivals=short, warm_up=warm_up) for i in range(8 * count)]
        ends = [count * step for step in range(1, 9)]
    else:
        ends = [len(plan)]
    both, start, rows = ([], []), 0, []
    for end in ends:
        for shards, setting in zip(both, settings, strict=True):
            shards += run_shards(setting, name, seed, plan[start:end], (), cores)
        start = end
        rows = _rows(settings, both, levels)
        if precision is not None and all(
            row["first"] and row["se"] <= precision * row["first"] for row in rows
        ):
            break
    return {
        "first": str(settings[0].policy), "second": str(settings[1].policy),
        "labels": [setting.label for setting in settings],
        "servers": settings[0].servers, "load": settings[0].load, "sizes": settings[0].sizes.spec,
        "arrivals": sum(shard.arrivals for shard in both[0]), "shards": len(both[0]), "seed": seed,
        "percentiles": rows,
    }  # fmt: skip


def report(answer):
    """Return a comparison as text."""
    head = (
        f"{answer['first']} less {answer['second']}: {answer['servers']} servers, load {answer['load']:g}, "
        f"sizes {answer['sizes']}; {answer['arrivals']} arrivals in {answer['shards']} shards, seed {answer['seed']}"
    )
    lines = [head, "", f"{'percentile':>12} {'first':>12} {'second':>12}  difference, 95 % interval"]
    for row in answer["percentiles"]:
        if row["first"] is None:
            lines.append(f"{row['p']:>11g}%  {row['note']}")
            continue
        difference = show({"estimate": row["difference"], "low": row["low"], "high": row["high"]}, 5)
        lines.append(f"{row['p']:>11g}% {row['first']:>12.6g} {row['second']:>12.6g}  {difference}")
    return "\n".join(lines)
