"""SPLIT: n - 1 SRPT servers and one non-preemptive LJF server (SPLIT paper, Section 4.1).

Whenever the LJF server is idle it fetches the job of largest original size, from the queue or from an SRPT
server, with its work kept, and serves it to the end. All other jobs run under SRPT-(n - 1). The LJF server
is idle only if the system is empty, and then serves the next arrival. With n = 1 this is non-preemptive
largest-job-first.
"""

from typing import NamedTuple

import numpy as np

from tailsched._jit import inlined
from tailsched.mgn.policy import Regard
from tailsched.mgn.servers import create_row, remove, shorten, srpt_arrive, srpt_fill


@inlined
def _largest(slots, count, pool, index, slot):
    """Return (i, job) of the largest original size in a row, or (index, slot) if that job is larger."""
    for i in range(1, count + 1):
        other = slots[i]
        if slot >= 0:
            if pool.size[other] < pool.size[slot]:
                continue
            if pool.size[other] == pool.size[slot] and pool.number[other] > pool.number[slot]:
                continue
        index, slot = i, other
    return index, slot


class Split(NamedTuple):
    """State: jobs in service under SRPT, jobs waiting, the LJF server's job (-1: idle) and its end."""

    n: int
    done: np.ndarray
    on: np.ndarray
    left: np.ndarray
    waiting: np.ndarray

    @classmethod
    def create(cls, n, capacity):
        return cls(n, *create_row(n), *create_row(capacity)), (0, 0, -1, np.inf)

    def next_event(self, state):
        return min(self.done[state[0]], state[3])

    def depart(self, state, pool, now):
        served, queued, ljf, end = state
        if end <= self.done[served]:
            return (served, queued, -1, np.inf), ljf
        return (served - 1, queued, ljf, end), self.on[served]

    def settle(self, state, pool, now):
        served, queued, ljf, end = state
        if ljf < 0:
            i, ljf = _largest(self.on, served, pool, 0, -1)
            j, ljf = _largest(self.waiting, queued, pool, 0, ljf)
            if j > 0:
                end = now + self.left[j]
                queued = remove(self.left, self.waiting, queued, j)
            elif i > 0:
                end = self.done[i]
                served = remove(self.done, self.on, served, i)
        served, queued = srpt_fill(
            self.done, self.on, served, self.left, self.waiting, queued, self.n - 1, now, pool.number
        )
        return served, queued, ljf, end

    def arrive(self, state, pool, now, slot):
        served, queued, ljf, end = state
        size = pool.size[slot]
        if ljf < 0:
            return served, queued, slot, now + size
        served, queued = srpt_arrive(
            self.done,
            self.on,
            served,
            self.left,
            self.waiting,
            queued,
            self.n - 1,
            now,
            size,
            slot,
            pool.number,
        )
        return served, queued, ljf, end

    def busy(self, state):
        return state[0] + (state[2] >= 0)

    def rebase(self, state, shift):
        self.done[:] -= shift
        served, queued, ljf, end = state
        return served, queued, ljf, end - shift

    def regard(self, largest):
        return Regard(0.0, largest, 0.0)

    def shorten(self, state, pool, slot, by, now):
        served, queued, ljf, end = state
        if ljf == slot:
            return (served, queued, ljf, end - by), end - by - now
        left = shorten(self.done, self.on, served, slot, by) - now
        return state, left if left == left else shorten(self.left, self.waiting, queued, slot, by)
