"""FCFS-n: one central queue in order of arrival, no preemption (SPLIT paper, Section 2.2)."""

from typing import NamedTuple

import numpy as np

from tailsched.mgn.queue import append, behind
from tailsched.mgn.servers import create_row, insert


class FCFS(NamedTuple):
    """State: jobs in service, head and tail of the queue."""

    n: int
    done: np.ndarray
    on: np.ndarray
    link: np.ndarray

    @classmethod
    def create(cls, n, capacity):
        return cls(n, *create_row(n + 1), np.zeros(capacity, np.int64)), (0, -1, -1)

    def next_event(self, state):
        return self.done[state[0]]

    def depart(self, state, pool, now):
        served, head, tail = state
        return (served - 1, head, tail), self.on[served]

    def settle(self, state, pool, now):
        served, head, tail = state
        while served < self.n and head >= 0:
            served = insert(self.done, self.on, served, now + pool.size[head], head, pool.number)
            head = behind(self.link, head, tail)
        return served, head, tail

    def arrive(self, state, pool, now, slot):
        served, head, tail = state
        if served < self.n:
            served = insert(self.done, self.on, served, now + pool.size[slot], slot, pool.number)
        else:
            head, tail = append(self.link, head, tail, slot)
        return served, head, tail

    def busy(self, state):
        return state[0]

    def rebase(self, state, shift):
        self.done[:] -= shift
        return state
