"""Running the shards of a setting, on one core or several, with progress."""

import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from tqdm import tqdm

from tailsched.streams import PURPOSES, stream
from tailsched.tails.shards import Shard


class Work(NamedTuple):
    """One shard's work: its index, its arrivals, and how many of them are warm-up."""

    index: int
    arrivals: int
    warm_up: int


def default_warm_up(arrivals, servers=1, load=0.0):
    """Return the arrivals to drop at the start of a shard of `arrivals`.

    A tenth, or what n servers at that load take to forget an empty start if it is more: n + 10 / (1 - rho)^2
    arrivals, ten relaxation times and more of the M/M/n; but at most a million, and at most half.
    """
    relaxed = int(servers + 10 / (1 - load) ** 2)
    return min(max(arrivals // 10, relaxed), 10**6, arrivals // 2)


def plan(arrivals, shards, warm_up=None, setting=None):
    """Divide `arrivals` among `shards`; return a list of `Work`, by default with `default_warm_up`.

    Raises
    ------
    ValueError
        If `warm_up` leaves a shard without a job to count.
    """
    least = arrivals // shards
    if warm_up is None:
        warm_up = default_warm_up(least, setting.servers, setting.load) if setting else least // 10
    if warm_up >= least:
        raise ValueError(f"warm-up = {warm_up}: must be below the arrivals of a shard, {least}")
    return [Work(i, least + (i < arrivals % shards), warm_up) for i in range(shards)]


def progress_bar(arrivals, label):
    """Return a progress bar on standard error, for work of more than a second; sparing if in a log."""
    terminal = sys.stderr.isatty()
    return tqdm(
        total=arrivals, desc=label, unit=" arrivals", unit_scale=True, delay=1.0, leave=False,
        mininterval=0.5 if terminal else 30.0, file=sys.stderr,
    )  # fmt: skip


def run_one(setting, name, seed, work, times=(), progress=None):
    """Simulate one shard of the curve `name`; return a `tailsched.tails.shards.Shard`."""
    from tailsched import mgn

    simulator, parameters = setting.simulator()
    streams = tuple(stream(seed, name, work.index, purpose) for purpose in PURPOSES)
    run = mgn.simulate(
        simulator, setting.servers, setting.lam, setting.sizes, work.arrivals - work.warm_up, work.warm_up,
        streams, times, progress=progress, **parameters,
    )  # fmt: skip
    tally = run.tally
    origin = {"curve": name, "seed": seed, **setting.identity, "warm_up": work.warm_up}
    return Shard(
        origin, work.index, 1.0 / tally.per_unit,
        tally.responses, tally.sizes, tally.times, tally.exceed, tally.outgrow,
        run.totals, run.span, run.seen, run.arrivals,
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
