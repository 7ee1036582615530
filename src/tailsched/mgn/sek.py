"""SEK-eps: SRPT-n, but for n + 1 jobs of which one is large (SPLIT paper, Section 7, "Baselines").

With exactly n + 1 jobs, one of size above eps and n below, the largest is served in place of the second
largest. Size is the remaining size, or with `original` the original one; largest and second largest are
by remaining size in both. A remaining size of exactly eps counts as small, an original size of exactly eps
as neither. Under remaining sizes a served job may reach eps between arrivals and departures, which starts
or ends the exception: an event of its own.
"""

from typing import NamedTuple

import numpy as np

from tailsched._jit import inlined
from tailsched.mgn.policy import Regard
from tailsched.mgn.servers import create_row, insert, remove, shorten, srpt_arrive, srpt_fill


class SEK(NamedTuple):
    """State: jobs in service, jobs waiting, whether the exception holds, when a served job reaches eps.

    While the exception holds, the largest job is the first in the row of served jobs, and the second
    largest is the one that waits.
    """

    n: int
    epsilon: float
    original: bool
    done: np.ndarray
    on: np.ndarray
    left: np.ndarray
    waiting: np.ndarray

    @classmethod
    def create(cls, n, capacity, epsilon, original=False):
        rows = *create_row(n + 1), *create_row(capacity)
        return cls(n, epsilon, original, *rows), (0, 0, False, np.inf)

    def next_event(self, state):
        return min(self.done[state[0]], state[3])

    def depart(self, state, pool, now):
        served, queued, exception, crossing = state
        if self.done[served] <= now:
            return (served - 1, queued, exception, crossing), self.on[served]
        return (served, queued, exception, np.inf), -1

    def settle(self, state, pool, now):
        served, queued = sek_restore(self, state, pool, now)
        served, queued = srpt_fill(
            self.done, self.on, served, self.left, self.waiting, queued, self.n, now, pool.number
        )
        return sek_decide(self, served, queued, pool, now)

    def arrive(self, state, pool, now, slot):
        served, queued = sek_restore(self, state, pool, now)
        served, queued = srpt_arrive(
            self.done, self.on, served, self.left, self.waiting, queued, self.n,
            now, pool.size[slot], slot, pool.number,
        )  # fmt: skip
        return sek_decide(self, served, queued, pool, now)

    def busy(self, state):
        return state[0]

    def rebase(self, state, shift):
        self.done[:] -= shift
        served, queued, exception, crossing = state
        return served, queued, exception, crossing - shift

    def regard(self, largest):
        return Regard(self.epsilon, max(largest, self.epsilon), 0.0)

    def shorten(self, state, pool, slot, by, now):
        served, queued, exception, crossing = state
        left = shorten(self.done, self.on, served, slot, by) - now
        if left == left:
            return (served, queued, exception, crossing - by), left
        return state, shorten(self.left, self.waiting, queued, slot, by)


@inlined
def _crossing(sek):
    return sek.done[1] - sek.epsilon


@inlined
def _left_over(sek, now):
    """Return the first served job's remaining size: exactly eps at the instant it gets there."""
    return sek.epsilon if not sek.original and _crossing(sek) == now else sek.done[1] - now


@inlined
def sek_restore(sek, state, pool, now):
    """Put the jobs back in the order of SRPT; return (jobs in service, jobs waiting)."""
    served, queued, exception, crossing = state
    if exception and served == sek.n:
        largest, rest = sek.on[1], _left_over(sek, now)
        served = remove(sek.done, sek.on, served, 1)
        queued = insert(sek.left, sek.waiting, queued, rest, largest, pool.number)
        served, queued = srpt_fill(
            sek.done, sek.on, served, sek.left, sek.waiting, queued, sek.n, now, pool.number
        )
    return served, queued


@inlined
def sek_decide(sek, served, queued, pool, now):
    """Start the exception if it holds; return the policy's state."""
    if served < sek.n or queued != 1:
        return served, queued, False, np.inf
    if sek.original:
        larger = pool.size[sek.waiting[1]] > sek.epsilon
        smaller = pool.size[sek.waiting[1]] < sek.epsilon
        large, small = int(larger), int(smaller)
        for i in range(1, served + 1):
            large += pool.size[sek.on[i]] > sek.epsilon
            small += pool.size[sek.on[i]] < sek.epsilon
        exception, watch = large == 1 and small == sek.n, False
    else:
        watch = sek.left[1] > sek.epsilon
        exception = watch and _crossing(sek) <= now
    if exception:
        second, rest = sek.on[1], _left_over(sek, now)
        sek.done[1], sek.on[1] = now + sek.left[1], sek.waiting[1]
        sek.left[1], sek.waiting[1] = rest, second
    return served, queued, exception, _crossing(sek) if watch else np.inf
