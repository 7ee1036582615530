"""PS: each of k jobs is served at rate min(1, n/k); with n = 1, ordinary processor sharing."""

from typing import NamedTuple

import numpy as np

from tailsched.mgn.policy import Regard
from tailsched.mgn.sharing import EMPTY, share_arrive, share_depart, share_rebase, share_shorten


class PS(NamedTuple):
    """State: that of `tailsched.mgn.sharing`."""

    n: int
    finish: np.ndarray
    who: np.ndarray

    @classmethod
    def create(cls, n, capacity):
        return cls(n, np.zeros(capacity), np.zeros(capacity, np.int64)), EMPTY

    def next_event(self, state):
        return state[3]

    def depart(self, state, pool, now):
        return share_depart(self.finish, self.who, state, self.n, now)

    def settle(self, state, pool, now):
        return state

    def arrive(self, state, pool, now, slot):
        return share_arrive(self.finish, self.who, state, self.n, now, pool.size[slot], slot)

    def busy(self, state):
        return min(state[0], self.n)

    def rebase(self, state, shift):
        return share_rebase(self.finish, state, shift)

    def regard(self, largest):
        return Regard(0.0, 0.0, 0.0)

    def shorten(self, state, pool, slot, by, now):
        return share_shorten(self.finish, self.who, state, self.n, slot, by, now)
