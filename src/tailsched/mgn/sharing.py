r"""Processor sharing in virtual time.

Each of k jobs on `servers` unit-speed servers is served at rate r = min(1, servers / k). Virtual time V
grows at that rate, so a job that arrives at virtual time V leaves at virtual time V + S, whatever happens
in between: the jobs form a heap keyed by that time, and an event costs O(log k). The clock at which the
next job leaves is `since` + (V_next - V) / r, with V the virtual time at the clock `since`.

The state is (count, virtual, since, due). Virtual time restarts from 0 in an empty system.
"""

import numpy as np

from tailsched._jit import inlined

EMPTY = (0, 0.0, 0.0, np.inf)


@inlined
def heap_push(keys, slots, count, key, slot):
    """Add an entry to a binary heap; return the new count."""
    i = count
    while i > 0 and keys[(i - 1) >> 1] > key:
        keys[i] = keys[(i - 1) >> 1]
        slots[i] = slots[(i - 1) >> 1]
        i = (i - 1) >> 1
    keys[i] = key
    slots[i] = slot
    return count + 1


@inlined
def heap_pop(keys, slots, count):
    """Drop the least entry, which is at index 0; return the new count."""
    count -= 1
    i = 0
    child = 1
    while child < count:
        if child + 1 < count and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= keys[count]:
            break
        keys[i] = keys[child]
        slots[i] = slots[child]
        i = child
        child = 2 * i + 1
    keys[i] = keys[count]
    slots[i] = slots[count]
    return count


@inlined
def _due(finish, count, virtual, servers, now):
    if count == 0:
        return np.inf
    return now + max(finish[0] - virtual, 0.0) * max(1.0, count / servers)


@inlined
def share_arrive(finish, who, state, servers, now, size, slot):
    """Admit a job; return the new state."""
    count, virtual, since, due = state
    virtual = virtual + (now - since) / max(1.0, count / servers) if count > 0 else 0.0
    count = heap_push(finish, who, count, virtual + size, slot)
    return count, virtual, now, _due(finish, count, virtual, servers, now)


@inlined
def share_depart(finish, who, state, servers, now):
    """Let the next job leave, which is due now; return (state, slot)."""
    count, virtual, since, due = state
    virtual = finish[0]
    slot = who[0]
    count = heap_pop(finish, who, count)
    return (count, virtual, now, _due(finish, count, virtual, servers, now)), slot


def share_rebase(finish, state, shift):
    """Move the origins of the clock and of virtual time; return the new state."""
    count, virtual, since, due = state
    finish[:count] -= virtual
    return count, 0.0, since - shift, due - shift


def share_shorten(finish, who, state, servers, slot, by, now):
    """Take `by` off the work of a job; return the state and the work it has left, NaN if it is not there."""
    count, virtual, since, due = state
    here = np.flatnonzero(who[:count] == slot)
    if here.size == 0:
        return state, np.nan
    finish[here[0]] -= by
    virtual += (now - since) / max(1.0, count / servers)
    left = finish[here[0]] - virtual
    order = np.argsort(finish[:count], kind="stable")  # ascending keys are a heap
    finish[:count], who[:count] = finish[order], who[order]
    return (count, virtual, now, _due(finish, count, virtual, servers, now)), left
