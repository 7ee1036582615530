"""Sorted rows of jobs: the servers of SRPT and the jobs that wait for them.

A *row* is a pair of arrays, keys in descending order and the jobs' slots, with a sentinel key of infinity
at index 0: the jobs of a row of m have the indexes 1 to m, and the last is the next to act. Jobs in service
are a row keyed by their absolute completion times, waiting jobs a row keyed by their remaining sizes, so
that an event touches no job but its own. Among equal keys the job with the lower number acts first.
"""

import numpy as np

from tailsched._jit import inlined


def create_row(length):
    """Return an empty row (keys, slots) for up to ``length - 1`` jobs."""
    keys = np.zeros(length)
    keys[0] = np.inf
    return keys, np.zeros(length, np.int64)


@inlined
def insert(keys, slots, count, key, slot, number):
    """Insert a job into a row of `count` jobs; among equal keys, by the jobs' `number`; return the count."""
    i = count + 1
    while keys[i - 1] < key or (keys[i - 1] == key and number[slots[i - 1]] < number[slot]):
        keys[i] = keys[i - 1]
        slots[i] = slots[i - 1]
        i -= 1
    keys[i] = key
    slots[i] = slot
    return count + 1


@inlined
def push(keys, slots, count, key, slot):
    """Put a job that precedes all others at the end of a row; return the new count."""
    keys[count + 1] = key
    slots[count + 1] = slot
    return count + 1


@inlined
def remove(keys, slots, count, i):
    """Take entry `i` out of a row; return the new count."""
    while i < count:
        keys[i] = keys[i + 1]
        slots[i] = slots[i + 1]
        i += 1
    return count - 1


@inlined
def replace_first(keys, slots, count, key, slot):
    """Drop the first entry of a row of `count` jobs for a later job with a smaller key."""
    i = 1
    while i < count and keys[i + 1] > key:
        keys[i] = keys[i + 1]
        slots[i] = slots[i + 1]
        i += 1
    keys[i] = key
    slots[i] = slot


@inlined
def srpt_arrive(done, on, served, left, waiting, queued, servers, now, size, slot, number):
    """Admit the latest job to SRPT on `servers` servers; return (jobs in service, jobs waiting)."""
    end = now + size
    if served < servers:
        served = insert(done, on, served, end, slot, number)
    elif served > 0 and end < done[1]:
        queued = push(left, waiting, queued, done[1] - now, on[1])
        replace_first(done, on, served, end, slot)
    else:
        queued = insert(left, waiting, queued, size, slot, number)
    return served, queued


@inlined
def srpt_fill(done, on, served, left, waiting, queued, servers, now, number):
    """Start waiting jobs, shortest remaining size first, on idle servers; return both counts."""
    while served < servers and queued > 0:
        served = insert(done, on, served, now + left[queued], waiting[queued], number)
        queued -= 1
    return served, queued


def shorten(keys, slots, count, slot, by):
    """Take `by` off the key of a job in a row of `count` jobs; return the key, NaN if it is not there."""
    for i in range(1, count + 1):
        if slots[i] == slot:
            keys[i] -= by
            return keys[i]
    return np.nan
