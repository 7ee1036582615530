"""Running the shards of a setting, on one core or several, with progress; and a report for people."""

import math
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from tqdm import tqdm

from tailsched.tails.shards import default_warm_up, run_shard


class Work(NamedTuple):
    """One shard's work: its index, its arrivals, and how many of them are warm-up."""

    index: int
    arrivals: int
    warm_up: int


def plan(arrivals, shards, warm_up=None):
    """Divide `arrivals` among `shards`; return a list of `Work`.

    Raises
    ------
    ValueError
        If `warm_up` leaves a shard without a job to count.
    """
    least = arrivals // shards
    drop = default_warm_up(least) if warm_up is None else warm_up
    if drop >= least:
        raise ValueError(f"warm-up = {drop}: must be below the arrivals of a shard, {least}")
    return [Work(i, least + (i < arrivals % shards), drop) for i in range(shards)]


def progress_bar(arrivals, label):
    """Return a progress bar on standard error, silent if that is not a terminal."""
    return tqdm(
        total=arrivals, desc=label, unit=" arrivals", unit_scale=True, mininterval=0.5, leave=False,
        disable=not sys.stderr.isatty(), file=sys.stderr,
    )  # fmt: skip


def run_one(setting, name, seed, work, times=(), progress=None):
    """Simulate one shard; return a `tailsched.tails.shards.Shard`."""
    simulator, parameters = setting.simulator()
    return run_shard(
        simulator, setting.servers, setting.lam, setting.sizes, parameters,
        seed=seed, name=name, index=work.index, arrivals=work.arrivals, warm_up=work.warm_up,
        times=times, progress=progress,
    )  # fmt: skip


_counter = None


def _share_counter(counter):
    global _counter
    _counter = counter


def _advance(arrivals):
    with _counter.get_lock():
        _counter.value += arrivals


def _run_in_process(*task):
    return run_one(*task, progress=_advance)


def run_shards(setting, name, seed, works, times=(), cores=1):
    """Simulate shards on `cores` processes; return them in order. The result does not depend on `cores`."""
    with progress_bar(sum(work.arrivals for work in works), str(setting.policy)) as bar:
        if cores == 1 or len(works) == 1:
            return [run_one(setting, name, seed, work, times, bar.update) for work in works]
        context = multiprocessing.get_context("spawn")
        counter = context.Value("q", 0)
        with ProcessPoolExecutor(min(cores, len(works)), context, _share_counter, (counter,)) as pool:
            try:
                tasks = [pool.submit(_run_in_process, setting, name, seed, work, times) for work in works]
                while not all(task.done() for task in tasks):
                    time.sleep(0.05)
                    bar.update(counter.value - bar.n)
                return [task.result() for task in tasks]
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _show(entry, digits=6):
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
        f"E[T]          {_show(summary['mean_response'])}",
        f"E[jobs]       {_show(summary['mean_jobs'])}",
        f"E[busy]       {_show(summary['mean_busy'])}",
        *(f"{entry['p']:g} %".ljust(14) + _show(entry) for entry in summary["quantiles"]),
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
        f"busy servers / load {held['busy']['estimate']:.6f}, "
        f"T < S: {held['responses_below_size']} jobs, servers idle with work {held['idle_with_work']:.3g}",
    ]
    if not held["stationary"]:
        lines.append(f"NOT STATIONARY YET: the final backlog is {held['drift']:.2f} times its average")
    return "\n".join(lines)
