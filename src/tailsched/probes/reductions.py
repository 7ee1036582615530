"""SPLIT followed along one path: its definition, its red work, and Lemmas 4.7 and 4.9 (SPLIT, Section 4).

The LJF server is never idle with a job in the system, and keeps a job until it leaves; while a job of
original size above r, a red one, is present it turns to a red one within r (proof of Lemma 4.11). One server
of speed n never has more work than the n servers (Section 3.2, lower bound 1). All this and the lemmas hold
on every path, so that the path is followed arrival by arrival. Relevant work of x is the work of the jobs of
remaining size below x, under SPLIT without the job on the LJF server. The fast server has speed n - 1: it is
an ordinary one whose jobs are that much smaller.
"""

from typing import NamedTuple

import numpy as np

from tailsched.mgn.engine import completions
from tailsched.mgn.registry import SRPT, Split
from tailsched.probes.harness import System, draw, rows_of, streams_of
from tailsched.settings import Setting

SERVERS, LOAD, SIZES = 3, 0.5, "pareto:1.5"
X = (1.5, 3.0, 10.0, 30.0, 100.0)

#: Sizes from which a job is red.
RED = (3.0, 10.0, 30.0, 100.0)

#: Arrivals in the default run, and how many of the jobs get their response time bounded.
JOBS, BOUNDED = 60_000, 20_000

#: Later arrivals that are looked at for one job's bound; a job that needs more is left out.
LATER = 5000

#: Rounding of sums of work along the path, in units of time.
ROUNDING = 1e-6


def remaining(system, now, without_ljf=False):
    """Return the remaining sizes at `now`, a time before the next event, as an array."""
    rows = list(rows_of(system.engine.policy, system.engine.state))
    left = [
        keys[1 : count + 1] - (now if in_service else 0.0)
        for keys, _, count, in_service in (rows[:2] if without_ljf else rows)
    ]
    return np.concatenate(left)


class Present(NamedTuple):
    """The jobs in a system: their numbers, the largest original size, and the LJF server's job (-1: none)."""

    numbers: set
    largest: float
    ljf: int
    ljf_size: float

    @classmethod
    def of(cls, system):
        engine = system.engine
        rows = rows_of(engine.policy, engine.state)
        slots = np.concatenate([slots[1 : count + 1] for _, slots, count, _ in rows])
        ljf = engine.state[2]
        served = (int(engine.pool.number[ljf]), float(engine.pool.size[ljf])) if ljf >= 0 else (-1, 0.0)
        sizes = engine.pool.size[slots]
        return cls(set(engine.pool.number[slots].tolist()), float(sizes.max(initial=0.0)), *served)


def response_bound(x, work, ahead, sizes, servers):
    """Return the first s with x + (work + A_x(s)) / (n - 1) <= s, A_x(s) what of size below x comes by s.

    `ahead` and `sizes` are the later arrivals, as times from now. Infinite if they end before.
    """
    below = sizes < x
    times = ahead[below]
    need = x + (work + np.concatenate([[0.0], np.cumsum(sizes[below])])) / (servers - 1)
    # With the first k arrivals counted the condition is met at need[k], if the next comes later than that.
    met = np.flatnonzero(need[:-1] < times)
    return float(need[met[0]]) if met.size else np.inf


def ignores_red(seen, waits, now):
    """Return for how many r a red job has been ignored for longer than r; `waits` has since when, or None."""
    count = 0
    for r in RED:
        if seen.largest > r >= seen.ljf_size:
            waits[r] = now if waits[r] is None else waits[r]
            count += now - waits[r] > r + ROUNDING
        else:
            waits[r] = None
    return count


def measure(seed, work=1.0, policy=Split):
    """Return the number of violations of the definition and of each lemma, and the least slack seen."""
    setting = Setting.parse("split", SERVERS, LOAD, SIZES)
    jobs, bounded = max(1000, int(JOBS * work)), max(200, int(BOUNDED * work))
    streams = streams_of(seed, "reductions", 0)
    arrivals, sizes = draw(streams, setting.lam, setting.sizes, jobs)
    responses = completions(policy, SERVERS, arrivals, sizes) - arrivals
    ours = System(policy, SERVERS, setting.lam, setting.sizes, streams)
    fast = System(SRPT, 1, setting.lam, setting.sizes, streams)
    speed = SERVERS - 1
    worse = late = checked = idle = dropped = ignored = lazy = 0
    held, total, last = -1, 0.0, 0.0
    waits = dict.fromkeys(RED)
    slack = lateness = np.inf
    empty = np.empty(0)
    for i in range(jobs):
        now, at = arrivals[i], arrivals[i : i + 1]
        for system in (ours, fast):
            system.engine.feed(empty, empty, until=now)
        seen = Present.of(ours)
        idle += bool(seen.numbers) and seen.ljf < 0
        dropped += held >= 0 and seen.ljf != held and held in seen.numbers
        ignored += ignores_red(seen, waits, now)
        held = seen.ljf
        if i < bounded and ours.engine.state[2] >= 0:
            left = remaining(ours, now, without_ljf=True)
            later = slice(i + 1, i + 1 + LATER)
            ahead = arrivals[later] - now
            most = response_bound(sizes[i], left[left < sizes[i]].sum(), ahead, sizes[later], SERVERS)
            if most < np.inf:
                checked += 1
                late += responses[i] > most + ROUNDING
                lateness = min(lateness, most - responses[i])
        ours.engine.feed(at, sizes[i : i + 1], i + 1)
        fast.engine.feed(at, sizes[i : i + 1] / speed, i + 1)
        seen = Present.of(ours)
        idle += seen.ljf < 0
        dropped += held >= 0 and seen.ljf != held
        ignored += ignores_red(seen, waits, now)
        held = seen.ljf
        total = max(total - SERVERS * (now - last), 0.0) + sizes[i]
        last = now
        lazy += remaining(ours, now).sum() < total - ROUNDING
        mine, theirs = remaining(ours, now, without_ljf=True), remaining(fast, now) * speed
        for x in X:
            gap = theirs[theirs < x].sum() + speed * x - mine[mine < x].sum()
            worse += gap < -ROUNDING
            slack = min(slack, gap)
    return {
        "servers": SERVERS, "load": LOAD, "sizes": SIZES, "jobs": jobs,
        "work": {"checks": jobs * len(X), "violations": int(worse), "least_slack": float(slack)},
        "ljf": {"checks": 2 * jobs, "idle": int(idle), "dropped": int(dropped), "ignored": int(ignored)},
        "total": {"checks": jobs, "violations": int(lazy)},
        "response": {"checks": checked, "violations": int(late), "least_slack": float(lateness)},
    }  # fmt: skip
