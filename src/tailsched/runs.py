"""Running the shards of a setting, on one core or several, with progress."""

import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from tailsched.streams import stream
from tailsched.tails.estimates import Tails
from tailsched.tails.ladder import build
from tailsched.tails.precision import LEAST_JOBS, OVERHEAD, Work, plan, reached
from tailsched.tails.shards import Shard, Tagged

#: Runs of a shard, at most.
MOST_RUNS = 8

#: Jobs of a shard's first natural run, at most.
FIRST_RUN = 2_000_000

#: Jobs above a threshold that a budget must be expected to have.
SEEN = 10

#: Arrivals of a window relative to those of its largest size alone, a guess until it is known.
COPIES = 2.0

#: Arrivals of a shard's run with an endless job, at most, warm-up not counted.
ENDLESS_RUN = 2_000_000

#: Policies that the rate of an endless job is measured for: under SRPT it is known from the natural run, and under
#: FCFS the tail is made by other jobs.
WITH_RATE = ("sek", "split", "thresh-split", "tags-split")


class Natural(NamedTuple):
    """A natural shard's work: its index, its arrivals, and how many of them are warm-up."""

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


def divide(arrivals, shards, warm_up=None, setting=None):
    """Divide `arrivals` among `shards`; return a list of `Natural`, by default with `default_warm_up`.

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
    return [Natural(i, least + (i < arrivals % shards), warm_up) for i in range(shards)]


def progress_bar(arrivals, label):
    """Return a progress bar on standard error, for work of more than a second; sparing if in a log."""
    terminal = sys.stderr.isatty()
    return tqdm(
        total=arrivals, desc=label, unit=" arrivals", unit_scale=True, delay=1.0, leave=False,
        mininterval=0.5 if terminal else 30.0, file=sys.stderr,
    )  # fmt: skip


def run_one(setting, name, seed, work, times=(), curve=None, progress=None):
    """Simulate one natural shard with the streams `name`, of the curve `curve` (default: `name`); return a `Shard`."""
    from tailsched import mgn

    simulator, parameters = setting.simulator()
    streams = tuple(stream(seed, name, work.index, purpose) for purpose in ("arrivals", "sizes"))
    run = mgn.simulate(
        simulator, setting.servers, setting.lam, setting.sizes, work.arrivals - work.warm_up, work.warm_up,
        streams, times, progress=progress, **parameters,
    )  # fmt: skip
    origin = {"curve": curve or name, "seed": seed, **setting.identity, "warm_up": work.warm_up}
    return shard_of(run, origin, work.index)


def shard_of(run, origin, index, **more):
    """Return what `tailsched.mgn.simulate` returned as a shard; `more` are further fields of `Shard`."""
    tally = run.tally
    return Shard(
        origin, index, 1.0 / tally.per_unit, tally.responses, tally.sizes, tally.times, tally.exceed,
        tally.outgrow, tally.cuts, tally.large, tally.large_exceed, run.totals, run.span, run.seen, run.arrivals,
        **more,
    )  # fmt: skip


def run_tagged(setting, name, seed, place, work, warm_up, ladder, times=(), progress=None):
    """Simulate one natural run with its windows (see `tailsched.mgn.tagged`).

    Parameters
    ----------
    setting : Setting
    name : (natural, tagged), the names of the streams of the natural run and of the copies
    seed : root seed
    place : (shard, run), which run of which shard
    work, warm_up : `tailsched.tails.precision.Work`; arrivals before the counted ones
    ladder : `tailsched.tails.ladder.Ladder`
    times, progress : as in `run_one`

    Returns
    -------
    shard : Shard
    drawn : (bands,) arrivals in the copies of each reach
    """
    from tailsched import mgn
    from tailsched.mgn.tagged import window

    simulator, parameters = setting.simulator()
    index, number = place
    streams = [stream(seed, name[0], index, purpose, number) for purpose in ("arrivals", "sizes")]
    rng = stream(seed, name[1], index, "tagged", number)
    reaches = np.repeat(np.arange(len(work.windows)), work.windows)
    rng.shuffle(reaches)
    visits = warm_up + (np.arange(reaches.size) * work.jobs) // max(reaches.size, 1)
    queue = iter(reaches.tolist())
    rows, drawn = [], np.zeros(ladder.bands, np.int64)

    def visit(engine, arrival):
        reach = next(queue)
        band, weight, size = ladder.rungs(rng, reach)
        responses, arrivals = window(engine, arrival, rng, setting.lam, setting.sizes, size, ladder.until)
        drawn[reach] += arrivals
        rows.append((band, weight, size, responses))
        if progress is not None:
            progress(arrivals)

    run = mgn.simulate(
        simulator, setting.servers, setting.lam, setting.sizes, work.jobs, warm_up, streams, times,
        progress=progress, cuts=ladder.cuts, visits=visits.tolist(), visit=visit, **parameters,
    )  # fmt: skip
    rows.append((np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros(0)))
    fields = (np.concatenate(column) for column in zip(*rows, strict=True))
    windows = np.cumsum(np.asarray(work.windows, np.int64)[::-1])[::-1]
    origin = {"curve": name[1], "seed": seed, **setting.identity, "warm_up": warm_up}
    shard = shard_of(run, origin, index, tagged=Tagged(windows, *fields), until=ladder.until)
    return shard._replace(arrivals=shard.arrivals + int(drawn.sum())), drawn


def run_endless(setting, name, seed, index, arrivals, warm_up, progress=None):
    """Return [rate, load] of one shard, see `tailsched.mgn.tagged.endless_rate`."""
    from tailsched.mgn.tagged import endless_rate

    simulator, parameters = setting.simulator()
    rng = stream(seed, name, index, "endless")
    system = simulator, setting.servers, setting.lam, setting.sizes
    return list(endless_rate(*system, rng, arrivals, warm_up, setting.beside_large, progress, **parameters))


def why_not_tagged(setting, until, arrivals):
    """Return in a few words why tagged jobs say nothing of a setting, or None.

    The tail must be that of large jobs: of sizes with a regularly varying tail, under a policy that makes no others
    wait as long. FCFS small-job servers do so with jobs up to their threshold, which must be seen in the natural run.
    """
    sizes = setting.sizes
    if sizes.tail_index == np.inf:
        return "the sizes have no regularly varying tail"
    if setting.policy.name == "fcfs" or setting.tail_index < sizes.tail_index:
        return (
            f"under {setting.policy.name} at this load the tail is made by jobs that wait behind large ones"
        )
    if setting.threshold is not None and arrivals * float(sizes.tail(setting.threshold)) < SEEN:
        return f"jobs above the threshold {setting.threshold:g} are too rare"
    if not build(sizes, until).bands:
        return f"t = {until:g} is too short: no job above the 99.99 percentile of the sizes is needed"
    return None


def _reach_costs(setting, ladder):
    """Return a guess of the arrivals in a window of each reach."""
    simulator, parameters = setting.simulator()
    policy, _ = simulator.create(setting.servers, 16, **parameters)
    notice = policy.regard(0.0).notice if hasattr(policy, "regard") else 0.0
    lam = setting.lam * float(setting.sizes.tail(notice)) if notice > 0 else setting.lam
    times = np.minimum(ladder.tops / setting.rate, ladder.until)
    return COPIES * (lam * times + setting.lam * np.minimum(times, notice))


def sample(setting, name, seed, goal, shards, warm_up, times=(), cores=1):
    """Simulate a curve until it is as precise as `goal` demands, or as its budget allows.

    Where the budget does not reach `goal.until`, t ends earlier, at the shards' `until`. A precision that is out of
    reach is not chased, see `tailsched.tails.precision`.

    Parameters
    ----------
    setting : Setting
    name : (natural, tagged), see `run_tagged`
    seed : root seed
    goal : `tailsched.tails.precision.Goal`
    shards : number of independent shards, at least 2
    warm_up : arrivals dropped at the start of each run of a shard
    times : extra times at which T > t is counted exactly
    cores : processes; the result does not depend on it

    Returns
    -------
    list of Shard

    Raises
    ------
    ValueError
        If tagged jobs say nothing of the setting, see `why_not_tagged`.
    """
    why = why_not_tagged(setting, goal.until, goal.budget)
    if why:
        raise ValueError(f"method = 'tagged': {why}, take natural")
    ladder = build(setting.sizes, goal.until, crowded=setting.rate < 1)
    guess = _reach_costs(setting, ladder)
    # The longest reach is one of which a window a shard leaves something of the budget.
    ladder = ladder.down_to(int((guess * shards <= 0.7 * goal.budget).sum()))
    origin = {"goal": goal._asdict()}
    goal = goal._replace(until=ladder.until)
    first = min(max(goal.budget // (16 * shards), LEAST_JOBS), FIRST_RUN)
    affordable = goal.budget / (16 * shards * max(ladder.bands, 1)) / (guess[: ladder.bands] + OVERHEAD)
    windows = np.clip(affordable, 0, 16).astype(int)
    windows[-1:] = np.maximum(windows[-1:], 1)
    work = Work(first, tuple(windows.tolist()))
    with progress_bar(goal.budget, str(setting.policy)) as bar, _workers(min(cores, shards), bar) as run:
        merged, drawn = [], np.zeros(ladder.bands)
        for number in range(MOST_RUNS):
            tasks = [
                (run_tagged, setting, name, seed, (index, number), work, warm_up, ladder, times)
                for index in range(shards)
            ]
            added, copies = zip(*run(tasks), strict=True)
            drawn += sum(copies)
            merged = [a.plus(b) for a, b in zip(merged, added, strict=True)] if merged else list(added)
            reach = merged[0].tagged.windows - np.append(merged[0].tagged.windows[1:], 0)
            costs = np.where(reach > 0, drawn / np.maximum(reach * shards, 1), guess[: ladder.bands])
            tails = Tails.of(merged, setting.sizes)
            near, far = reached(tails, goal)
            bar.set_postfix_str(f"standard error {near:.1%}, beyond t = {goal.horizon:g} {far:.1%}")
            # Another run pays its warm-up.
            spent = sum(shard.arrivals for shard in merged) + shards * warm_up
            work = plan(tails, goal, costs, ladder.counts(), spent)
            if work is None:
                break
        merged = [shard._replace(origin={**shard.origin, **origin}) for shard in merged]
        if setting.policy.name in WITH_RATE and setting.limit != np.inf:
            jobs = min(merged[0].totals.counted, ENDLESS_RUN, max(goal.budget // (10 * shards), 1))
            tasks = [
                (run_endless, setting, name[1], seed, index, warm_up + jobs, warm_up)
                for index in range(shards)
            ]
            merged = [
                shard._replace(rate=rate, arrivals=shard.arrivals + warm_up + jobs)
                for shard, rate in zip(merged, run(tasks), strict=True)
            ]
    return merged


_counter = None


def _share_counter(counter):
    global _counter
    _counter = counter


def _advance(arrivals):
    with _counter.get_lock():
        _counter.value += arrivals


def _call(function, *arguments):
    return function(*arguments, progress=_advance)


@contextmanager
def _workers(cores, bar):
    """Give a function that carries out tasks, (function, *arguments), and returns their results in order.

    Each function gets a last argument `progress`, which advances the bar.
    """
    if cores == 1:
        yield lambda tasks: [task[0](*task[1:], progress=bar.update) for task in tasks]
        return
    context = multiprocessing.get_context("spawn")
    counter = context.Value("q", 0)
    with ProcessPoolExecutor(cores, context, _share_counter, (counter,)) as pool:

        def run(tasks):
            futures = [pool.submit(_call, *task) for task in tasks]
            while not all(future.done() for future in futures):
                time.sleep(0.05)
                bar.update(counter.value - bar.n)
            return [future.result() for future in futures]

        try:
            yield run
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def run_endless_shards(setting, name, seed, works, cores=1):
    """Return the rate of an endless job in each shard, with the load of the others: see `run_endless`.

    Raises
    ------
    ValueError
        If one endless job makes the others wait for ever, or is not large for the policy.
    """
    if setting.limit == np.inf:
        raise ValueError(
            f"policy = {str(setting.policy)!r}: at this load an endless job makes others wait for ever"
        )
    total = sum(work.arrivals for work in works)
    with progress_bar(total, str(setting.policy)) as bar, _workers(min(cores, len(works)), bar) as run:
        return run([(run_endless, setting, name, seed, *work) for work in works])


def run_shards(setting, name, seed, works, times=(), cores=1, curve=None):
    """Simulate natural shards on `cores` processes; return them in order. The result does not depend on `cores`."""
    total = sum(work.arrivals for work in works)
    with progress_bar(total, str(setting.policy)) as bar, _workers(min(cores, len(works)), bar) as run:
        return run([(run_one, setting, name, seed, work, times, curve) for work in works])
