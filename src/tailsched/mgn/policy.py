"""What a policy is: a named tuple of parameters and arrays, and six small functions.

A policy is a class derived from `typing.NamedTuple`. Its fields are the parameters (`n`, a threshold ...)
and the arrays that hold jobs; what changes at every event and is a mere number (how many jobs are in
service, how many wait) travels beside it as a plain tuple of scalars, the *state*, which the compiler
keeps in registers. The functions are written as methods of the class. They are compiled into the event
loop of `tailsched.mgn.engine`, which is specialised for each policy class by its type, and they run as
they stand when compilation is switched off.

===================================================  =========================================================
``create(n, capacity, **parameters)``                class method: returns ``(policy, state)`` for an empty
                                                     system
``next_event(self, state)``                          time of the next departure or internal event, inf if none
``depart(self, state, pool, now)``                   carries out one event that is due at `now`; returns
                                                     ``(state, slot)``, with slot -1 if no job leaves
``settle(self, state, pool, now)``                   all events of one instant are over: the servers pick
``arrive(self, state, pool, now, slot)``             a job arrives, the servers pick
``busy(self, state)``                                number of busy servers
``rebase(self, state, shift)``                       moves the origin of time to `shift`; returns the state
===================================================  =========================================================

Two more let a large job be followed at less cost (`tailsched.mgn.tagged`); a policy may leave them out. They
are never compiled.

===================================================  =========================================================
``regard(self, largest)``                            `Regard` for large jobs, if no other job's original size
                                                     exceeds `largest`
``shorten(self, state, pool, slot, by, now)``        takes `by` off the work of a large job; returns the state
                                                     and the work it has left at `now`
===================================================  =========================================================

Jobs are known by their *slot* in the pool, which holds each job's arrival time, size and number. Arrays
made with length `capacity` hold one entry a job, used from the front; the engine sees to it that they are
never outgrown (`grow`). A policy owns its slots only between `arrive` and `depart`.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from tailsched._jit import INLINED


class Regard(NamedTuple):
    """How a policy regards large jobs.

    Jobs larger than `size` are served alike while each has more than `remaining` of its work left, and are
    not affected by jobs of size `notice` or less.
    """

    size: float
    remaining: float
    notice: float


class Pool(NamedTuple):
    """The jobs in the system, by slot; ``free[present:]`` lists the slots that are free."""

    arrival: np.ndarray
    size: np.ndarray
    number: np.ndarray
    free: np.ndarray


def create_pool(capacity):
    """Return an empty pool of `capacity` slots."""
    return Pool(np.zeros(capacity), np.zeros(capacity), np.zeros(capacity, np.int64), np.arange(capacity))


def grow(record, capacity, larger):
    """Make every array of length `capacity` in `record` (a policy or a pool) `larger`, in place.

    The pool's list of free slots is continued with the new slots. Nothing else may hold on to the arrays.
    """
    for name, field in record._asdict().items():
        if isinstance(field, np.ndarray) and field.size == capacity:
            field.resize(larger, refcheck=False)
            if name == "free":
                field[capacity:] = np.arange(capacity, larger)


def duplicate(record, capacity, kept):
    """Return a record (a policy or a pool) with arrays of its own, those of length `capacity` cut to `kept`."""
    return record._replace(
        **{
            name: field[: kept if field.size == capacity else None].copy()
            for name, field in record._asdict().items()
            if isinstance(field, np.ndarray)
        }
    )


def next_event(policy, state):
    """Dispatch to the policy's `next_event`."""
    return policy.next_event(state)


def depart(policy, state, pool, now):
    """Dispatch to the policy's `depart`."""
    return policy.depart(state, pool, now)


def settle(policy, state, pool, now):
    """Dispatch to the policy's `settle`."""
    return policy.settle(state, pool, now)


def arrive(policy, state, pool, now, slot):
    """Dispatch to the policy's `arrive`."""
    return policy.arrive(state, pool, now, slot)


def busy(policy, state):
    """Dispatch to the policy's `busy`."""
    return policy.busy(state)


def _dispatch(function):
    def choose(policy, *arguments):
        if isinstance(policy, types.BaseNamedTuple):
            return getattr(policy.instance_class, function.__name__)
        return None

    overload(function, strict=False, jit_options=INLINED)(choose)


for _function in (next_event, depart, settle, arrive, busy):
    _dispatch(_function)
