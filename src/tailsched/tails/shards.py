"""Shards: independent pieces of a simulation, on disk, and their exact merger.

A shard's result depends on its curve's name, the root seed and its index only. It is written to a temporary
name and renamed, so a file that has the final name is whole; a file that is not is refused by name.
"""

import json
import zipfile
from typing import NamedTuple

import numpy as np

from tailsched.files import replacing
from tailsched.records import BINS, Totals

ARRAYS = ("responses", "sizes", "times", "exceed", "outgrow")
NUMBERS = ("origin", "index", "unit", "totals", "span", "seen", "arrivals")


class Shard(NamedTuple):
    """Counts and sums of one shard.

    Attributes
    ----------
    origin, index : what was simulated, as a mapping of texts and numbers; which shard of it
    unit : unit of the histograms, see `tailsched.records.unit_of`
    responses, sizes : (BINS,) int64 histograms of the counted jobs
    times, exceed, outgrow : (k,) extra times t, jobs with T > t, jobs with S > t
    totals : sums, see `tailsched.records.Totals`
    span : window of time in which the counted jobs arrived
    seen : jobs that the last counted arrival found in the system
    arrivals : all arrivals simulated
    """

    origin: dict
    index: int
    unit: float
    responses: np.ndarray
    sizes: np.ndarray
    times: np.ndarray
    exceed: np.ndarray
    outgrow: np.ndarray
    totals: Totals
    span: float
    seen: int
    arrivals: int


def save(path, shards):
    """Write shards with the same times to one ``.npz`` file."""
    numbers = [{key: getattr(shard, key) for key in NUMBERS} for shard in shards]
    text = json.dumps([{**entry, "totals": entry["totals"]._asdict()} for entry in numbers])
    arrays = {key: np.stack([getattr(shard, key) for shard in shards]) for key in ARRAYS}
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, numbers=np.array(text), **arrays)


def load(path):
    """Return the shards in a file; raise ValueError, with the file's name, unless it is whole."""
    try:
        with open(path, "rb") as binary, np.load(binary) as file:
            arrays = {key: file[key] for key in ARRAYS}
            numbers = json.loads(str(file["numbers"]))
        shards = [
            Shard(**dict(zip(ARRAYS, fields, strict=True)), **{**entry, "totals": Totals(**entry["totals"])})
            for entry, *fields in zip(numbers, *arrays.values(), strict=True)
        ]
    except (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"shard file {path} cannot be read ({error}): delete it and run again") from None
    if any(shard.responses.size != BINS or shard.responses.sum() != shard.totals.counted for shard in shards):
        raise ValueError(f"shard file {path} does not add up: delete it and run again")
    return shards


def check_same(shards, origin=None):
    """Raise ValueError unless all shards are of one origin (the given one, if any), and no two the same."""
    expected = shards[0].origin if origin is None else origin
    for shard in shards:
        for key, value in expected.items():
            if shard.origin.get(key) != value:
                found = shard.origin.get(key)
                raise ValueError(
                    f"shard {shard.index} is of {key} {found!r}, not {value!r}: it cannot be merged"
                )
    indexes = [shard.index for shard in shards]
    if len(set(indexes)) < len(indexes):
        raise ValueError(f"shards {indexes}: one is given twice, and would be counted twice")
    if any(not np.array_equal(shard.times, shards[0].times) for shard in shards):
        raise ValueError("times: the shards were counted at different times, and cannot be merged")
