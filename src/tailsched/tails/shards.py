"""Shards: independent pieces of a simulation, on disk, and their exact merger.

A shard's result depends on its curve's streams, the root seed, its index and its amount of work only. It is
written to a temporary name and renamed, so a file that has the final name is whole; a file that is not is
refused by name.
"""

import json
from typing import NamedTuple

import numpy as np

from tailsched.files import replacing
from tailsched.records import BINS, Totals

ARRAYS = ("responses", "sizes", "times", "exceed", "outgrow", "cuts", "large", "large_exceed")
TAGGED = ("windows", "band", "weight", "size", "response")
NUMBERS = (
    "origin",
    "index",
    "unit",
    "totals",
    "span",
    "seen",
    "arrivals",
    "runs",
    "tagged",
    "until",
    "rate",
)


class Tagged(NamedTuple):
    """The tagged jobs of a shard, see `tailsched.tails.ladder`.

    Attributes
    ----------
    windows : (bands,) int64, windows that reach each band
    band, weight, size, response : (m,) arrays, one entry a tagged job; `response` is inf beyond `Shard.until`
    """

    windows: np.ndarray
    band: np.ndarray
    weight: np.ndarray
    size: np.ndarray
    response: np.ndarray

    def only(self, band):
        """Return the jobs of one band."""
        kept = self.band == band
        return Tagged(self.windows, *(field[kept] for field in self[1:]))

    def plus(self, other):
        """Return the jobs of both."""
        joined = (np.concatenate(pair) for pair in zip(self[1:], other[1:], strict=True))
        return Tagged(self.windows + other.windows, *joined)


class Shard(NamedTuple):
    """Counts and sums of one shard.

    Attributes
    ----------
    origin, index : what was simulated, as a mapping of texts and numbers; which shard of it
    unit : unit of the histograms, see `tailsched.records.unit_of`
    responses, sizes : (BINS,) int64 histograms of the counted jobs
    times, exceed, outgrow : (k,) extra times t, jobs with T > t, jobs with S > t
    cuts, large, large_exceed : (bands,) sizes; the parts of `responses` and `exceed` from the jobs between two of
        them, (bands, BINS) and (bands, k); no bands without tagged jobs
    totals : sums, see `tailsched.records.Totals`
    span : window of time in which the counted jobs arrived
    seen : jobs that the last counted arrival found in the system, summed over the runs
    arrivals : all arrivals simulated, in copies too
    runs : natural runs that make the shard
    tagged : `Tagged`, or None
    until : time up to which response times are followed, inf without tagged jobs
    rate : [rate at which an endless job was served, servers that served others meanwhile], None if not measured
    """

    origin: dict
    index: int
    unit: float
    responses: np.ndarray
    sizes: np.ndarray
    times: np.ndarray
    exceed: np.ndarray
    outgrow: np.ndarray
    cuts: np.ndarray
    large: np.ndarray
    large_exceed: np.ndarray
    totals: Totals
    span: float
    seen: int
    arrivals: int
    runs: int = 1
    tagged: Tagged | None = None
    until: float = np.inf
    rate: list | None = None

    def plus(self, other):
        """Return the shard with the runs of both."""
        added = (
            "responses",
            "sizes",
            "exceed",
            "outgrow",
            "large",
            "large_exceed",
            "span",
            "seen",
            "arrivals",
            "runs",
        )
        sums = {key: getattr(self, key) + getattr(other, key) for key in added}
        tagged = self.tagged.plus(other.tagged) if self.tagged else None
        return self._replace(**sums, totals=self.totals.plus(other.totals), tagged=tagged)


def save(path, shards):
    """Write shards with the same times to one ``.npz`` file."""
    numbers = [{key: getattr(shard, key) for key in NUMBERS} for shard in shards]
    text = json.dumps(
        [
            {**entry, "totals": entry["totals"]._asdict(), "tagged": entry["tagged"] is not None}
            for entry in numbers
        ]
    )
    arrays = {key: np.stack([getattr(shard, key) for shard in shards]) for key in ARRAYS}
    for i, shard in enumerate(shards):
        arrays |= {f"{key}{i}": field for key, field in zip(TAGGED, shard.tagged or (), strict=False)}
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, numbers=np.array(text), **arrays)


def load(path):
    """Return the shards in a file; raise ValueError, with the file's name, unless it is whole."""
    shards = []
    try:
        with open(path, "rb") as binary, np.load(binary) as file:
            arrays = {key: file[key] for key in ARRAYS}
            for i, entry in enumerate(json.loads(str(file["numbers"]))):
                tagged = Tagged(*(file[f"{key}{i}"] for key in TAGGED)) if entry["tagged"] else None
                entry |= {"totals": Totals(**entry["totals"]), "tagged": tagged}
                shards.append(Shard(**{key: array[i] for key, array in arrays.items()}, **entry))
    except Exception as error:  # a damaged archive fails in any of a dozen ways
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
    kinds = {
        (tuple(shard.cuts), shard.until, shard.tagged is None, str(shard.origin.get("goal"))) for shard in shards
    }
    if len(kinds) > 1:
        raise ValueError("method: shards of different methods, or of different goals, cannot be merged")
