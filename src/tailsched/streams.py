"""Random streams: one root seed, and a child of it for each curve, shard and purpose.

The child is addressed, not spawned: its key is made of the curve's name, the shard's index and the
purpose, so a shard draws the same numbers whatever runs beside it, before it or elsewhere. Arrivals and
sizes have streams of their own: two policies under one name see the same jobs at the same times. What a
shard adds to its first run has streams of its own too, numbered by the run.
"""

import hashlib

import numpy as np

PURPOSES = ("arrivals", "sizes", "tagged", "endless")


def stream(seed: int, name: str, shard: int, purpose: str, run: int = 0) -> np.random.Generator:
    """Return the generator (SFC64) of one purpose in one shard of one curve.

    Parameters
    ----------
    seed : root seed, a non-negative integer of any length
    name : the curve's name
    shard : index of the shard, from 0
    purpose : one of `PURPOSES`
    run : index of the run within the shard
    """
    words = np.frombuffer(hashlib.sha256(name.encode()).digest(), "<u4")
    key = (*(int(word) for word in words), shard, PURPOSES.index(purpose), *([run] if run else []))
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=key)))
