"""SRPT-n: the n jobs of shortest remaining processing time are in service (SPLIT paper, Section 1.3).

Preempt-resume. Served jobs only get shorter, so the served set changes at arrivals and departures alone. A
newcomer does not preempt its equal.
"""

from typing import NamedTuple

import numpy as np

from tailsched.mgn.policy import Regard
from tailsched.mgn.servers import create_row, shorten, srpt_arrive, srpt_fill


class SRPT(NamedTuple):
    """State: jobs in service, jobs waiting."""

    n: int
    done: np.ndarray
    on: np.ndarray
    left: np.ndarray
    waiting: np.ndarray

    @classmethod
    def create(cls, n, capacity):
        return cls(n, *create_row(n + 1), *create_row(capacity)), (0, 0)

    def next_event(self, state):
        return self.done[state[0]]

    def depart(self, state, pool, now):
        served, queued = state
        return (served - 1, queued), self.on[served]

    def settle(self, state, pool, now):
        served, queued = state
        return srpt_fill(
            self.done, self.on, served, self.left, self.waiting, queued, self.n, now, pool.number
        )

    def arrive(self, state, pool, now, slot):
        served, queued = state
        size = pool.size[slot]
        return srpt_arrive(
            self.done, self.on, served, self.left, self.waiting, queued, self.n, now, size, slot, pool.number
        )

    def busy(self, state):
        return state[0]

    def rebase(self, state, shift):
        self.done[:] -= shift
        return state

    def regard(self, largest):
        return Regard(0.0, largest, 0.0)

    def shorten(self, state, pool, slot, by, now):
        served, queued = state
        left = shorten(self.done, self.on, served, slot, by) - now
        return state, left if left == left else shorten(self.left, self.waiting, queued, slot, by)
