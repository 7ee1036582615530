"""A slow, plain simulator of the multiserver policies, used as the oracle in tests.

Nothing here is shared with the package. At every event the present jobs are sorted and the served set is
formed anew; the only facts that outlive an event are those that a policy itself remembers (which job the
LJF server of SPLIT holds, which small jobs hold servers under Thresh-SPLIT with FCFS, which jobs have
migrated under TAGS-SPLIT).

Conventions for coincidences, which have probability 0 with continuous sizes and gaps:

* of two jobs equal in the policy's key, the one that comes first in the input goes first;
* at one instant, all departures and migrations happen first and together, then the servers pick, then the
  arrivals enter one by one in input order, the servers picking after each.

Numbers: if all arrivals, sizes and options are integers or fractions, the whole path is computed in exact
rational arithmetic; otherwise in floats. In floats the job that determines the next event is set exactly to
its target (0 left, the age d, or epsilon left) instead of being left with a rounding residue, so each event
makes progress even if the clock is too large to move by the step.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite
from numbers import Rational
from typing import NamedTuple

Number = float | Fraction

POLICIES = ("fcfs", "srpt", "ps", "sek", "split", "thresh", "tags")


@dataclass(eq=False)
class Job:
    """A job in the system; `id` is its place in the input and so also the order of arrival."""

    id: int
    size: Number
    remaining: Number
    attained: Number
    migrated: bool = False


class Segment(NamedTuple):
    """A stretch of time between two events. `present` holds ids in order of arrival."""

    start: Number
    end: Number
    present: tuple[int, ...]
    rates: dict[int, Number]  # served jobs only
    busy: int  # servers that are not idle


class Path(NamedTuple):
    """What one run gives: completion time of each job, and integrals over the whole path."""

    completions: list[Number]
    jobs_time: Number  # integral of the number of jobs present
    busy_time: Number  # integral of the number of busy servers
    start: Number  # first arrival
    end: Number  # last completion

    @property
    def mean_jobs(self) -> Number:
        """Time average of the number of jobs present, from the first arrival to the last completion."""
        return self.jobs_time / (self.end - self.start)

    @property
    def mean_busy(self) -> Number:
        """Time average of the number of busy servers, from the first arrival to the last completion."""
        return self.busy_time / (self.end - self.start)


def by_arrival(jobs: list[Job]) -> list[Job]:
    return sorted(jobs, key=lambda job: job.id)


def by_remaining(jobs: list[Job]) -> list[Job]:
    return sorted(jobs, key=lambda job: (job.remaining, job.id))


class Policy:
    """What the event loop needs to know of a policy.

    `pick` gets the present jobs and returns the rates of the served ones and the number of busy servers.
    `milestone` is the work after which a served job does something before it completes (None: it does not);
    `reach` is called when it does.
    """

    def pick(self, present: list[Job]) -> tuple[dict[int, Number], int]:
        served = self.serve(present)
        return {job.id: 1 for job in served}, len(served)

    def serve(self, present: list[Job]) -> list[Job]:
        """For policies that run each served job on a server of its own."""
        raise NotImplementedError

    def milestone(self, job: Job) -> Number | None:
        return None

    def reach(self, job: Job) -> None:
        raise NotImplementedError


class Fcfs(Policy):
    """FCFS-n with one queue. Nobody is preempted, so the n jobs that came first are the served ones."""

    def __init__(self, n: int):
        self.n = n

    def serve(self, present: list[Job]) -> list[Job]:
        return by_arrival(present)[: self.n]


class Srpt(Policy):
    """SRPT-n: the n jobs with the least work left."""

    def __init__(self, n: int):
        self.n = n

    def serve(self, present: list[Job]) -> list[Job]:
        return by_remaining(present)[: self.n]


class Ps(Policy):
    """Processor sharing by n servers: each of k jobs gets min(1, n/k)."""

    def __init__(self, n: int, ratio: Callable[[int, int], Number]):
        self.n = n
        self.ratio = ratio

    def pick(self, present: list[Job]) -> tuple[dict[int, Number], int]:
        busy = min(self.n, len(present))
        return {job.id: self.ratio(busy, len(present)) for job in present}, busy


class Sek(Policy):
    """SEK (Section 7): SRPT-n, but with n + 1 jobs of which just one is larger than epsilon, that one is
    served in place of the second largest.

    "Size" is the remaining work, so a served job that shrinks to epsilon is an event; from then on it is
    small. A waiting job may have stopped at epsilon before; the two are then equal, and the earlier goes.
    With `original`, the condition looks at original sizes, "larger" and "smaller" both strict, while the
    ranks stay those of the remaining work; then nothing changes between arrivals and departures.
    """

    def __init__(self, n: int, epsilon: Number, original: bool):
        self.n = n
        self.epsilon = epsilon
        self.original = original

    def serve(self, present: list[Job]) -> list[Job]:
        order = by_remaining(present)
        if len(order) == self.n + 1:
            if self.original:
                large = [job for job in order if job.size > self.epsilon]
                small = [job for job in order if job.size < self.epsilon]
            else:
                large = [job for job in order if job.remaining > self.epsilon]
                small = [job for job in order if job.remaining <= self.epsilon]
            if len(large) == 1 and len(small) == self.n:
                return order[: self.n - 1] + order[-1:]
        return order[: self.n]

    def milestone(self, job: Job) -> Number | None:
        if not self.original and job.remaining > self.epsilon > 0:
            return job.remaining - self.epsilon
        return None

    def reach(self, job: Job) -> None:
        job.remaining = self.epsilon


class Split(Policy):
    """SPLIT (Section 4): an idle LJF server takes the job of largest original size, from an SRPT server too,
    and keeps it to its end; of the rest, the n - 1 jobs with the least work left are served."""

    def __init__(self, n: int):
        self.n = n
        self.held: Job | None = None

    def serve(self, present: list[Job]) -> list[Job]:
        if self.held not in present:  # completed, or never picked
            self.held = min(present, key=lambda job: (-job.size, job.id), default=None)
        if self.held is None:
            return []
        rest = [job for job in present if job is not self.held]
        return [self.held, *by_remaining(rest)[: self.n - 1]]


class ThreshSrpt(Policy):
    """Thresh-SPLIT(d) (Section 5) with SRPT for the small jobs (size <= d) on n - 1 servers and SRPT for the
    big ones on the last server. With stealing (Section 7), the last server joins in the SRPT of the small
    jobs while no big job is present."""

    def __init__(self, n: int, d: Number, steal: bool):
        self.n = n
        self.d = d
        self.steal = steal

    def serve(self, present: list[Job]) -> list[Job]:
        big = [job for job in present if job.size > self.d]
        small = [job for job in present if job.size <= self.d]
        servers_for_small = self.n if self.steal and not big else self.n - 1
        return by_remaining(big)[:1] + by_remaining(small)[:servers_for_small]


class ThreshFcfs(Policy):
    """Thresh-SPLIT(d) with FCFS for the small jobs on n - 1 servers and SRPT for the big ones on the last.

    With stealing, the last server serves the head of the small jobs' queue while no big job is present. Such
    a stolen job stays there, even if a small server becomes free, until it ends or a big job comes; in the
    latter case it goes back, with the work done so far, to the front of the queue. Jobs on the small servers
    are never stopped.
    """

    def __init__(self, n: int, d: Number, steal: bool):
        self.n = n
        self.d = d
        self.steal = steal
        self.on_small_servers: list[Job] = []
        self.stolen: Job | None = None

    def serve(self, present: list[Job]) -> list[Job]:
        big = [job for job in present if job.size > self.d]
        small = [job for job in present if job.size <= self.d]
        self.on_small_servers = [job for job in self.on_small_servers if job in small]
        if big or self.stolen not in small:
            self.stolen = None
        # Arrival order puts a job that was stolen before all that never started.
        queue = by_arrival(
            [job for job in small if job not in self.on_small_servers and job is not self.stolen]
        )
        while queue and len(self.on_small_servers) < self.n - 1:
            self.on_small_servers.append(queue.pop(0))
        if self.steal and queue and not big and self.stolen is None:
            self.stolen = queue.pop(0)
        last_server = by_remaining(big)[:1] if big else [job for job in [self.stolen] if job is not None]
        return self.on_small_servers + last_server


class Tags(Policy):
    """TAGS-SPLIT(d) (Section 6): all jobs start in the FCFS queue of n - 1 servers; one that has been served
    for d without completing moves, with its work left, to the last server, which shares itself equally.
    A job of size d completes where it is."""

    def __init__(self, n: int, d: Number, ratio: Callable[[int, int], Number]):
        self.n = n
        self.d = d
        self.ratio = ratio

    def pick(self, present: list[Job]) -> tuple[dict[int, Number], int]:
        first = by_arrival([job for job in present if not job.migrated])[: self.n - 1]
        second = [job for job in present if job.migrated]
        rates: dict[int, Number] = {job.id: 1 for job in first}
        rates.update({job.id: self.ratio(1, len(second)) for job in second})
        return rates, len(first) + min(1, len(second))

    def milestone(self, job: Job) -> Number | None:
        return self.d - job.attained if job.size > self.d and not job.migrated else None

    def reach(self, job: Job) -> None:
        job.migrated = True
        job.attained = self.d
        job.remaining = job.size - self.d


def completions(policy: str, jobs: list[tuple[Number, Number]], n: int, **options) -> list[Number]:
    """Completion time of each job, in input order.

    `jobs` holds (arrival, size) in order of arrival. Policies and their options:
    fcfs, srpt, ps, split; sek (epsilon, original=False); thresh (d, small="fcfs" or "srpt", steal=True);
    tags (d).
    """
    return path(policy, jobs, n, **options).completions


def path(policy: str, jobs: list[tuple[Number, Number]], n: int, **options) -> Path:
    """Completions (see `completions`) together with the integrals of jobs present and of busy servers."""
    ends: dict[int, Number] = {}
    jobs_time = busy_time = clock = 0
    for segment in _run(policy, jobs, n, options, ends):
        step = segment.end - segment.start
        jobs_time += len(segment.present) * step
        busy_time += segment.busy * step
        clock = segment.end
    start = jobs[0][0] if jobs else 0
    return Path([ends[i] for i in range(len(jobs))], jobs_time, busy_time, start, clock)


def segments(policy: str, jobs: list[tuple[Number, Number]], n: int, **options) -> list[Segment]:
    """The path as stretches between events: who is present and who is served at which rate.

    Stretches of no length, between coinciding events, are left out, as is the time before the first arrival.
    """
    return [s for s in _run(policy, jobs, n, options, {}) if s.end > s.start]


def _run(
    name: str, jobs: list[tuple[Number, Number]], n: int, options: dict, ends: dict[int, Number]
) -> Iterator[Segment]:
    """The event loop. Yields the segments and writes completion times to `ends`."""
    policy, inputs = _prepare(name, jobs, n, options)
    present: list[Job] = []
    rates: dict[int, Number] = {}
    busy = 0
    arrived = 0
    clock = inputs[0][0] if inputs else 0
    while present or arrived < len(inputs):
        # When does the next thing happen, and who completes or reaches a milestone then?
        completes = {}
        reaches = {}
        for job in present:
            if job.id in rates:
                work = policy.milestone(job)
                if work is None:
                    completes[job.id] = job.remaining / rates[job.id]
                else:
                    reaches[job.id] = max(work, 0) / rates[job.id]  # below 0 only by rounding
        to_arrival = inputs[arrived][0] - clock if arrived < len(inputs) else inf
        step = min([to_arrival, *completes.values(), *reaches.values()])
        if step == inf:
            raise RuntimeError("jobs are waiting, but none is served and none will arrive")

        # Let the time pass.
        end = inputs[arrived][0] if step == to_arrival else clock + step
        if present:
            yield Segment(clock, end, tuple(job.id for job in present), dict(rates), busy)
        clock = end
        for job in present:
            if job.id in rates:
                job.remaining -= rates[job.id] * step
                job.attained += rates[job.id] * step

        # All departures and milestones of this instant, then the servers pick.
        leaving = [
            job
            for job in present
            if job.id in completes and (completes[job.id] == step or job.remaining <= 0)  # < 0: rounding
        ]
        for job in leaving:
            ends[job.id] = clock
            present.remove(job)
        for job in present:
            if reaches.get(job.id) == step:
                policy.reach(job)
        rates, busy = policy.pick(present)

        # The arrivals of this instant, one by one, the servers picking after each.
        while arrived < len(inputs) and inputs[arrived][0] == clock:
            size = inputs[arrived][1]
            present.append(Job(arrived, size, remaining=size, attained=0 * size))
            arrived += 1
            rates, busy = policy.pick(present)


def _prepare(
    name: str, jobs: list[tuple[Number, Number]], n: int, options: dict
) -> tuple[Policy, list[tuple[Number, Number]]]:
    """Check the input, choose the arithmetic, and build the policy."""
    if n < 1:
        raise ValueError("n must be at least 1")
    for _, size in jobs:
        if not 0 < size < inf:
            raise ValueError("sizes must be positive and finite")
    if any(not isfinite(arrival) for arrival, _ in jobs):
        raise ValueError("arrivals must be finite")
    if any(later[0] < earlier[0] for earlier, later in zip(jobs, jobs[1:], strict=False)):
        raise ValueError("jobs must be in order of arrival")
    exact = all(isinstance(value, Rational) for job in jobs for value in job)
    number = Fraction if exact else float
    inputs = [(number(arrival), number(size)) for arrival, size in jobs]

    def ratio(a: int, b: int) -> Number:
        return Fraction(a, b) if exact else a / b

    options = dict(options)

    def level(key: str) -> Number:
        value = options.pop(key)
        if not value >= 0:
            raise ValueError(f"{key} must be at least 0")
        return number(value) if isfinite(value) else inf

    if name == "fcfs":
        policy = Fcfs(n)
    elif name == "srpt":
        policy = Srpt(n)
    elif name == "ps":
        policy = Ps(n, ratio)
    elif name == "sek":
        policy = Sek(n, level("epsilon"), options.pop("original", False))
    elif name == "split":
        policy = Split(n)
    elif name == "thresh":
        small = options.pop("small", "fcfs")
        steal = options.pop("steal", True)
        if n == 1 and not steal:
            raise ValueError("without stealing, small jobs need a second server")
        if small not in ("fcfs", "srpt"):
            raise ValueError("small must be fcfs or srpt")
        policy = (ThreshFcfs if small == "fcfs" else ThreshSrpt)(n, level("d"), steal)
    elif name == "tags":
        if n == 1:
            raise ValueError("tags needs a second server")
        policy = Tags(n, level("d"), ratio)
    else:
        raise ValueError(f"unknown policy {name!r}; one of {', '.join(POLICIES)}")
    if options:
        raise TypeError(f"{name} has no option {', '.join(sorted(options))}")
    return policy, inputs
