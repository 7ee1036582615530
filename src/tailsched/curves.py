"""Curves: what the shards of one setting say together, with an interval on every number.

A curve is written as a CSV (the tail at the grid) and a JSON file (everything else). Floats are written so
that they read back as the same numbers, counts as integers.
"""

import csv
import json
import math

import numpy as np

from tailsched.files import write_csv, write_json
from tailsched.settings import Setting
from tailsched.tails.estimates import (
    GRID_POINTS,
    Estimate,
    Tails,
    controlled,
    mean_over_shards,
    percentile,
    student,
)
from tailsched.tails.precision import Goal, reached
from tailsched.tails.shards import check_same
from tailsched.theory.bounds import benchmark_tail

PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99)

COLUMNS = (
    "t", "estimate", "se", "low", "high",
    "normalized", "normalized_se", "normalized_low", "normalized_high", "samples", "counted_jobs",
)  # fmt: skip

#: Probability with which a stationary run is reported as not stationary, for each of two reasons.
FALSE_ALARM = 1e-4


def _ratio(shards, field, over):
    return np.array([getattr(shard.totals, field) / over(shard) for shard in shards])


def _busy(shards):
    return _ratio(shards, "busy", lambda s: s.span)


def _at_known_load(setting, values, busy):
    """Return the mean of one value a shard, controlled by its busy servers, see `tailsched.tails.estimates`."""
    return mean_over_shards(controlled(values, busy - setting.servers * setting.load))


def _without_variance(estimate, what):
    return Estimate(estimate.estimate, note=f"the variance of {what} is infinite: no standard error exists")


def _mean_response(setting, shards):
    if not setting.tail_index > 1:
        return Estimate(None, note="the mean response time is infinite")
    response, work = (_ratio(shards, key, lambda s: s.totals.counted) for key in ("response", "work"))
    extra = _at_known_load(setting, response - work, _busy(shards))
    mean = setting.sizes.mean
    shifted = (None if value is None else mean + value for value in (extra.estimate, extra.low, extra.high))
    estimate, low, high = shifted
    result = Estimate(estimate, extra.se, low, high, extra.note)
    return result if setting.tail_index > 2 else _without_variance(result, "the response time")


def _mean_jobs(setting, shards):
    finite_mean, finite_variance = setting.jobs_moments
    if not finite_mean:
        return Estimate(None, note="the mean number of jobs is infinite")
    result = _at_known_load(setting, _ratio(shards, "jobs", lambda s: s.span), _busy(shards))
    return result if finite_variance else _without_variance(result, "the number of jobs")


def _over(a, b):
    """Return a / b, None where b is 0: a single job may find and leave an empty system."""
    return float(a / b) if b else None


def _stationary(excess, mean, served):
    """Return whether shards show no drift, from one value a shard: neither a growing backlog nor work left.

    `excess` is the final backlog less its average, `mean` that average, `served` the work served over the
    work arrived. Differences within a tenth of the backlog, or a hundredth of the work, are let pass.
    """
    if excess.size < 2:
        return True
    reach = student(excess.size, 1 - FALSE_ALARM) / math.sqrt(excess.size)
    grows = excess.mean() > max(reach * excess.std(ddof=1), 0.1 * mean)
    left = 1.0 - served.mean() > max(reach * served.std(ddof=1), 0.01)
    return bool(not grows and not left)


def identities(setting, shards):
    """Return what must hold of any run, measured on this one.

    Returns
    -------
    dict with
        ``responses_below_size``: jobs with T < S beyond rounding, must be 0;
        ``little``: the integral of the jobs present over the sum of the counted responses, less what these
        spent after the window, plus what earlier jobs spent in it: 1 up to rounding (Little's law);
        ``work``: work served over work arrived in the window, 1 up to what its ends cut off;
        ``busy``: mean busy servers, n rho for every stable policy;
        ``idle_with_work``: mean number of servers idle while jobs wait, exactly 0 under FCFS-n, SRPT-n, PS,
        SEK and SPLIT;
        ``drift``: the backlog at the end of the shards over its average, 1 in a stationary system;
        ``stationary``: false if the backlog grows, or the work served falls short of the work arrived
    """
    totals = [shard.totals for shard in shards]
    jobs, busy = _ratio(shards, "jobs", lambda s: s.span), _busy(shards)
    seen = np.array([shard.seen / shard.runs for shard in shards])
    served = np.array([t.busy / t.work for t in totals])
    return {
        "responses_below_size": sum(t.short for t in totals),
        "little": _over(sum(t.jobs for t in totals), sum(t.response + t.early - t.late for t in totals)),
        "work": mean_over_shards(served).as_dict(),
        "busy": mean_over_shards(busy).as_dict(),
        "idle_with_work": sum(t.idle for t in totals) / sum(shard.span for shard in shards),
        "drift": _over(seen.mean(), jobs.mean()),
        "stationary": _stationary(seen - jobs, jobs.mean(), served),
    }


def service_rate(setting, shards):
    """Return the rate q at which a very large job is served, measured, or None if it was not.

    Under SRPT-n an endless job is served while fewer than n others are present, a share of the natural run's
    time; for other policies it is measured in runs with such a job (`tailsched.mgn.tagged.endless_rate`).
    """
    if setting.policy.name == "srpt":
        return _at_known_load(setting, _ratio(shards, "few", lambda s: s.span), _busy(shards))
    rates = [shard.rate for shard in shards]
    return None if None in rates else rate_of(setting, rates)


def rate_of(setting, rates):
    """Return the rate q of an endless job from [rate, load] of each shard, see `tailsched.mgn.tagged.endless_rate`."""
    return _at_known_load(setting, *np.transpose(rates))


def limit_estimate(setting, rate):
    """Return (c / q)^alpha, the limit of the normalized tail that a measured rate q leads one to expect.

    Theorem B.1 of the SPLIT paper has it as a lower bound for SRPT-n.
    """
    alpha = setting.sizes.tail_index
    if alpha == math.inf:
        return Estimate(None, note="the sizes have no regularly varying tail")
    if not rate.estimate:
        return Estimate(None, note="the rate is 0: too few arrivals")

    def limit(q):
        return None if q is None else (setting.rate / q) ** alpha if q > 0 else math.inf

    middle = limit(rate.estimate)
    se = None if rate.se is None else alpha * middle * rate.se / rate.estimate
    high = limit(rate.low)
    return Estimate(middle, se, limit(rate.high), None if high == math.inf else high, rate.note)


def _limit(setting, shards):
    """Return what is known of the limit of the normalized tail, for the summary.

    `limit` is theory's, or where it has none the one expected from the measured rate.
    """
    measured = service_rate(setting, shards)
    known = {"limit": None, "limit_source": None}
    if measured is not None:
        expected = limit_estimate(setting, measured)
        known = {"limit": expected.estimate, "limit_source": "measured rate" if expected.estimate else None}
        known |= {"rate": measured.as_dict(), "limit_estimate": expected.as_dict()}
    if setting.limit is not None:
        known |= {"limit": "inf" if setting.limit == math.inf else setting.limit, "limit_source": "theory"}
    return known


def _precision(tails):
    """Return what was demanded of the curve and what was reached, for the summary; None if nothing was."""
    goal = tails.shards[0].origin.get("goal")
    if goal is None or not goal["settle"]:
        return None
    until = min(goal["until"], tails.shards[0].until)
    near, far = reached(tails, Goal(**{**goal, "until": until}))
    whole = until >= goal["until"] * (1 - 1e-9)
    met = whole and near <= goal["precision"] and far <= goal["far"]
    beyond = until > goal["horizon"]
    wanted = {key: goal[key] for key in ("precision", "horizon", "far", "until", "budget")}
    return {
        **wanted, "reached": near, "reached_far": far if beyond else None, "reached_until": until, "met": bool(met),
    }  # fmt: skip


def _rows(setting, tail, jobs):
    """Yield one row of `COLUMNS` for each time."""
    benchmark = benchmark_tail(setting.sizes, setting.servers, setting.load, tail.t)
    for i, t in enumerate(tail.t):
        numbers = [float(field[i]) for field in (tail.estimate, tail.se, tail.low, tail.high)]
        scaled = [x / float(benchmark[i]) if benchmark[i] > 0 else math.nan for x in numbers]
        values = [None if math.isnan(x) else x for x in (*numbers, *scaled)]
        yield float(t), *values, int(tail.samples[i]), jobs


def summarize(setting: Setting, shards, percentiles=PERCENTILES):
    """Return everything but the tail on the grid, as a dict for JSON, and the rows of the grid.

    Parameters
    ----------
    setting : the setting that was simulated
    shards : sequence of `tailsched.tails.shards.Shard`
    percentiles : in percent

    Returns
    -------
    summary : dict
    grid : list of rows of `COLUMNS`, in a natural run without times that no response exceeded
    """
    jobs = sum(shard.totals.counted for shard in shards)
    check_same(shards)
    tails = Tails.of(shards, setting.sizes)
    tagged = shards[0].tagged is not None
    edges = tails.at_edges()
    on_grid = np.frexp(edges.t / shards[0].unit)[0] * (2 * GRID_POINTS) % 1 == 0
    times = [dict(zip(COLUMNS, row, strict=True)) for row in _rows(setting, tails.at_times(), jobs)]
    times += [
        {
            "t": float(t),
            **dict.fromkeys(COLUMNS[1:]),
            "note": f"beyond t = {shards[0].until:.4g}, as far as the arrivals go",
        }
        for t in shards[0].times
        if t > shards[0].until
    ]
    summary = {
        "policy": str(setting.policy),
        "label": setting.label,
        "servers": setting.servers,
        "load": setting.load,
        "sizes": setting.sizes.spec,
        "arrival_rate": setting.lam,
        "benchmark_rate": setting.rate,
        "threshold": "inf" if setting.threshold == math.inf else setting.threshold,
        **_limit(setting, shards),
        "tail_index": "inf" if setting.tail_index == math.inf else setting.tail_index,
        "shards": len(shards),
        "arrivals": sum(shard.arrivals for shard in shards),
        "method": "tagged" if tagged else "natural",
        "tagged_jobs": sum(shard.tagged.size.size for shard in shards) if tagged else 0,
        "precision": _precision(tails),
        "counted_jobs": jobs,
        "longest_response": max(shard.totals.longest for shard in shards),
        "mean_response": _mean_response(setting, shards).as_dict(),
        "mean_jobs": _mean_jobs(setting, shards).as_dict(),
        "mean_busy": mean_over_shards(_busy(shards)).as_dict(),
        "quantiles": [
            {"p": p, **percentile(p, edges, None if tagged else jobs).as_dict()} for p in percentiles
        ],
        "tail": times,
        "identities": identities(setting, shards),
    }
    if summary["identities"]["responses_below_size"]:
        raise RuntimeError(f"{setting.policy}: responses below the job's size, the simulator is wrong")
    return summary, list(_rows(setting, edges.at(on_grid & (tagged | (edges.samples > 0))), jobs))


def write_curve(path, name, setting, shards):
    """Write ``path`` (the grid, CSV) and the JSON file beside it."""
    summary, grid = summarize(setting, shards)
    write_json(path.with_suffix(".json"), {"curve": name, **summary})
    write_csv(path, COLUMNS, grid)


def read_curve(path):
    """Return (summary, columns) of a curve; columns are float arrays by name, NaN for empty cells.

    Raises
    ------
    ValueError
        If a file is missing or malformed, naming it.
    """
    try:
        summary = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        columns = {key: np.array([float(row[key] or "nan") for row in rows]) for key in COLUMNS}
    except FileNotFoundError as error:
        raise ValueError(f"{error.filename} is missing: `snakemake {path}` makes it") from None
    except (KeyError, ValueError) as error:
        raise ValueError(f"curve {path} cannot be read ({error}): delete it and run again") from None
    return summary, columns
