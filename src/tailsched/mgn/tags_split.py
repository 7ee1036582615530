"""TAGS-SPLIT(d): sizes unknown; FCFS for the first d of service, then PS (SPLIT paper, Section 6).

Every job enters the central queue of n - 1 FCFS servers. A job served for d without completing moves to
the processor-sharing server with its remaining size, nothing lost; one of size exactly d completes. The
true migration process is simulated, not its Poisson approximation (Approximation 1).
"""

from typing import NamedTuple

import numpy as np

from tailsched.mgn.policy import Regard
from tailsched.mgn.queue import append, behind
from tailsched.mgn.servers import create_row, insert, shorten
from tailsched.mgn.sharing import EMPTY, share_arrive, share_depart, share_rebase, share_shorten


class TagsSplit(NamedTuple):
    """State: jobs on the FCFS servers, head and tail of their queue, the state of the PS server."""

    n: int
    d: float
    done: np.ndarray
    on: np.ndarray
    link: np.ndarray
    finish: np.ndarray
    who: np.ndarray

    @classmethod
    def create(cls, n, capacity, threshold):
        slots = np.zeros(capacity, np.int64)
        return cls(n, threshold, *create_row(n), slots, np.zeros(capacity), slots.copy()), (0, -1, -1, EMPTY)

    def next_event(self, state):
        return min(self.done[state[0]], state[3][3])

    def depart(self, state, pool, now):
        served, head, tail, shared = state
        if shared[3] <= now:
            shared, slot = share_depart(self.finish, self.who, shared, 1, now)
            return (served, head, tail, shared), slot
        slot = self.on[served]
        rest = pool.size[slot] - self.d
        if rest > 0.0:
            shared = share_arrive(self.finish, self.who, shared, 1, now, rest, slot)
            slot = -1
        return (served - 1, head, tail, shared), slot

    def settle(self, state, pool, now):
        served, head, tail, shared = state
        while served < self.n - 1 and head >= 0:
            end = now + min(pool.size[head], self.d)
            served = insert(self.done, self.on, served, end, head, pool.number)
            head = behind(self.link, head, tail)
        return served, head, tail, shared

    def arrive(self, state, pool, now, slot):
        served, head, tail, shared = state
        if served < self.n - 1:
            end = now + min(pool.size[slot], self.d)
            served = insert(self.done, self.on, served, end, slot, pool.number)
        else:
            head, tail = append(self.link, head, tail, slot)
        return served, head, tail, shared

    def busy(self, state):
        return state[0] + (state[3][0] > 0)

    def rebase(self, state, shift):
        self.done[:] -= shift
        served, head, tail, shared = state
        return served, head, tail, share_rebase(self.finish, shared, shift)

    def regard(self, largest):
        return Regard(self.d, 0.0, 0.0)

    def shorten(self, state, pool, slot, by, now):
        served, head, tail, shared = state
        shared, left = share_shorten(self.finish, self.who, shared, 1, slot, by, now)
        if left != left:
            # On an FCFS server or in the queue, what is kept is the end of the first d.
            served_until = shorten(self.done, self.on, served, slot, 0.0)
            done = self.d - (served_until - now) if served_until == served_until else 0.0
            left = pool.size[slot] - by - done
        return (served, head, tail, shared), left
