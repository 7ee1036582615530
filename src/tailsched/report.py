"""A summary as text, for people."""

import math


def show(entry, digits=6):
    """Return an estimate with its interval as text."""
    if entry["estimate"] is None:
        return f"not given: {entry['note']}"
    text = f"{entry['estimate']:.{digits}g}"
    if entry.get("low") is not None:
        text += (
            f"  [{entry['low']:.{digits}g}, {entry['high']:.{digits}g}]"
            if entry.get("high") is not None
            else ""
        )
    return text + (f"  ({entry['note']})" if entry.get("note") else "")


def report(summary):
    """Return a report of a summary (see `tailsched.curves.summarize`) as text; intervals are at 95 %."""
    held = summary["identities"]
    lines = [
        f"{summary['label']}: {summary['servers']} servers, load {summary['load']:g}, "
        f"sizes {summary['sizes']}, lam {summary['arrival_rate']:.6g}"
        + (f", threshold {float(summary['threshold']):.6g}" if summary["threshold"] is not None else ""),
        f"{summary['counted_jobs']} jobs counted in {summary['shards']} shards, {summary['warm_up']} "
        f"arrivals of each dropped as warm-up; seed {summary['seed']}",
        "",
        f"E[T]          {show(summary['mean_response'])}",
        f"E[jobs]       {show(summary['mean_jobs'])}",
        f"E[busy]       {show(summary['mean_busy'])}",
        *(f"{entry['p']:g} %".ljust(14) + show(entry) for entry in summary["quantiles"]),
        "",
        f"normalized tail P[T > t] / P[S > {summary['benchmark_rate']:.6g} t]"
        + (f", limit {summary['limit']}" if summary["limit"] is not None else ""),
        f"{'t':>12} {'P[T > t]':>12} {'std. error':>12} {'normalized':>12} {'low':>10} {'high':>10}",
    ]
    for row in summary["tail"]:
        numbers = [row[key] for key in ("estimate", "se", "normalized", "normalized_low", "normalized_high")]
        cells = ["-" if x is None else f"{x:.4g}" for x in numbers]
        lines.append(
            f"{row['t']:>12.6g} {cells[0]:>12} {cells[1]:>12} {cells[2]:>12} {cells[3]:>10} {cells[4]:>10}"
        )
    lines += [
        "",
        f"checks: Little's law {held['little'] or math.nan:.9f}, "
        f"work served / arrived {held['work']['estimate']:.6f}, "
        f"T < S: {held['responses_below_size']} jobs, servers idle with work {held['idle_with_work']:.3g}",
    ]
    if not held["stationary"]:
        lines.append(
            f"NOT STATIONARY YET: final backlog {held['drift'] or math.nan:.2f} times its average, "
            f"{held['work']['estimate']:.4g} of the work served: simulate longer shards and warm-ups"
        )
    return "\n".join(lines)
