"""Thresh-SPLIT(d): sizes above d on one SRPT server, all others on n - 1 (SPLIT paper, Sections 5 and 7).

The small-job servers are FCFS with a central queue (`ThreshSplitFCFS`, Definition 5.1) or SRPT-(n - 1)
(`ThreshSplitSRPT`, Sections 7.2 and 8.1). With work stealing, as in the paper's simulations, the large-job
server serves small jobs while no large job is present, and a large arrival takes it back at once. A small
job of size exactly d is small; large jobs never use the small-job servers.
"""

from typing import NamedTuple

import numpy as np

from tailsched.mgn.policy import Regard
from tailsched.mgn.queue import append, behind, put_back
from tailsched.mgn.servers import create_row, insert, push, remove, shorten, srpt_arrive, srpt_fill


class ThreshSplitFCFS(NamedTuple):
    """State: small jobs in service, head and tail of their queue; the stolen job (-1: none) and its end;
    large jobs in service and waiting.

    A newcomer prefers a small-job server, and the large-job server steals the head of the queue. A stolen
    job that is preempted goes back to the front of the queue, with its work kept; one that is not preempted
    stays where it is.
    """

    n: int
    d: float
    steal: bool
    done: np.ndarray
    on: np.ndarray
    link: np.ndarray
    left: np.ndarray
    large_done: np.ndarray
    large_on: np.ndarray
    large_left: np.ndarray
    large_waiting: np.ndarray

    @classmethod
    def create(cls, n, capacity, threshold, steal=True):
        queue = np.zeros(capacity, np.int64), np.zeros(capacity)
        rows = *create_row(n), *queue, *create_row(2), *create_row(capacity)
        return cls(n, threshold, steal, *rows), (0, -1, -1, -1, np.inf, 0, 0)

    def next_event(self, state):
        return min(self.done[state[0]], state[4], self.large_done[state[5]])

    def depart(self, state, pool, now):
        served, head, tail, stolen, end, large, queued = state
        if self.large_done[large] <= now:
            return (served, head, tail, stolen, end, large - 1, queued), self.large_on[large]
        if end <= now:
            return (served, head, tail, -1, np.inf, large, queued), stolen
        return (served - 1, head, tail, stolen, end, large, queued), self.on[served]

    def settle(self, state, pool, now):
        served, head, tail, stolen, end, large, queued = state
        large, queued = srpt_fill(
            self.large_done,
            self.large_on,
            large,
            self.large_left,
            self.large_waiting,
            queued,
            1,
            now,
            pool.number,
        )
        while served < self.n - 1 and head >= 0:
            served = insert(self.done, self.on, served, now + self.left[head], head, pool.number)
            head = behind(self.link, head, tail)
        if self.steal and large == 0 and stolen < 0 and head >= 0:
            stolen, end = head, now + self.left[head]
            head = behind(self.link, head, tail)
        return served, head, tail, stolen, end, large, queued

    def arrive(self, state, pool, now, slot):
        served, head, tail, stolen, end, large, queued = state
        size = pool.size[slot]
        if size > self.d:
            if stolen >= 0:
                if served < self.n - 1:
                    served = insert(self.done, self.on, served, end, stolen, pool.number)
                else:
                    self.left[stolen] = end - now
                    head, tail = put_back(self.link, head, tail, stolen)
                stolen, end = -1, np.inf
            large, queued = srpt_arrive(
                self.large_done, self.large_on, large, self.large_left, self.large_waiting, queued,
                1, now, size, slot, pool.number,
            )  # fmt: skip
        elif served < self.n - 1:
            served = insert(self.done, self.on, served, now + size, slot, pool.number)
        elif self.steal and large == 0 and stolen < 0:
            stolen, end = slot, now + size
        else:
            self.left[slot] = size
            head, tail = append(self.link, head, tail, slot)
        return served, head, tail, stolen, end, large, queued

    def busy(self, state):
        return state[0] + (state[3] >= 0) + state[5]

    def rebase(self, state, shift):
        self.done[:] -= shift
        self.large_done[:] -= shift
        served, head, tail, stolen, end, large, queued = state
        return served, head, tail, stolen, end - shift, large, queued

    def regard(self, largest):
        return Regard(self.d, largest, self.d)

    def shorten(self, state, pool, slot, by, now):
        large, queued = state[5], state[6]
        left = shorten(self.large_done, self.large_on, large, slot, by) - now
        return state, left if left == left else shorten(self.large_left, self.large_waiting, queued, slot, by)


class ThreshSplitSRPT(NamedTuple):
    """State: small jobs in service and waiting, large jobs in service and waiting.

    With work stealing the small jobs get SRPT-n while no large job is present; a large arrival stops the
    one of largest remaining size.
    """

    n: int
    d: float
    steal: bool
    done: np.ndarray
    on: np.ndarray
    left: np.ndarray
    waiting: np.ndarray
    large_done: np.ndarray
    large_on: np.ndarray
    large_left: np.ndarray
    large_waiting: np.ndarray

    @classmethod
    def create(cls, n, capacity, threshold, steal=True):
        rows = *create_row(n + 1), *create_row(capacity), *create_row(2), *create_row(capacity)
        return cls(n, threshold, steal, *rows), (0, 0, 0, 0)

    def next_event(self, state):
        return min(self.done[state[0]], self.large_done[state[2]])

    def depart(self, state, pool, now):
        served, waiting, large, queued = state
        if self.large_done[large] <= now:
            return (served, waiting, large - 1, queued), self.large_on[large]
        return (served - 1, waiting, large, queued), self.on[served]

    def settle(self, state, pool, now):
        served, waiting, large, queued = state
        large, queued = srpt_fill(
            self.large_done,
            self.large_on,
            large,
            self.large_left,
            self.large_waiting,
            queued,
            1,
            now,
            pool.number,
        )
        servers = self.n if self.steal and large == 0 else self.n - 1
        served, waiting = srpt_fill(
            self.done, self.on, served, self.left, self.waiting, waiting, servers, now, pool.number
        )
        return served, waiting, large, queued

    def arrive(self, state, pool, now, slot):
        served, waiting, large, queued = state
        size = pool.size[slot]
        if size > self.d:
            if served == self.n:
                waiting = push(self.left, self.waiting, waiting, self.done[1] - now, self.on[1])
                served = remove(self.done, self.on, served, 1)
            large, queued = srpt_arrive(
                self.large_done, self.large_on, large, self.large_left, self.large_waiting, queued,
                1, now, size, slot, pool.number,
            )  # fmt: skip
        else:
            servers = self.n if self.steal and large == 0 else self.n - 1
            served, waiting = srpt_arrive(
                self.done,
                self.on,
                served,
                self.left,
                self.waiting,
                waiting,
                servers,
                now,
                size,
                slot,
                pool.number,
            )
        return served, waiting, large, queued

    def busy(self, state):
        return state[0] + state[2]

    def rebase(self, state, shift):
        self.done[:] -= shift
        self.large_done[:] -= shift
        return state

    def regard(self, largest):
        return Regard(self.d, largest, self.d)

    def shorten(self, state, pool, slot, by, now):
        large, queued = state[2], state[3]
        left = shorten(self.large_done, self.large_on, large, slot, by) - now
        return state, left if left == left else shorten(self.large_left, self.large_waiting, queued, slot, by)
