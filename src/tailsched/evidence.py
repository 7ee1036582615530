"""What a claim is decided from: the curves and the claims' own simulations in a folder of results."""

import argparse
import json
import math
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from tailsched.claims import VERDICTS, Group, Value
from tailsched.curves import read_curve
from tailsched.files import write_json
from tailsched.sizes import parse_sizes

#: Relative standard error of a rate at least: where a control variate leaves no other, rounding does.
ROUNDING = 1e-6

#: Half width of a 95 % interval, over the estimate, up to which a time counts as measured.
PRECISE = 0.03

#: Share of the first-order error of a tail that is left between the two times of an extrapolation.
SHARE = 0.5

#: Setting -> time from which its curves may be extrapolated: their bumps, of the small-job servers or of
#: several giants, are over. Of a setting that is not here, `OTHER`.
SETTLED = {"low": 4096.0, "heavier": 4096.0, "lighter": 256.0, "high": 32768.0, "high-ten": 65536.0}
OTHER = 65536.0

#: Time up to which a tail follows the realised load more than the count of long responses: errors are
#: stretched there. For alpha < `CALM` the load never settles, and they are stretched everywhere.
LOADED, CALM = 1024.0, 1.5

#: Distance of a grid time from the wanted one, in octaves, that is let pass.
NEAR = 0.125


class Curve:
    """A curve of the results: its summary and its normalized tail as values.

    Attributes
    ----------
    summary : dict, the curve's JSON
    columns : dict of arrays, the curve's CSV
    servers, load, sizes, threshold, shards, jobs : of the summary
    """

    def __init__(self, path):
        self.summary, self.columns = read_curve(Path(path))
        self.servers, self.load = self.summary["servers"], self.summary["load"]
        self.sizes = parse_sizes(self.summary["sizes"])
        self.threshold = None if self.summary["threshold"] is None else float(self.summary["threshold"])
        self.shards, self.jobs = self.summary["shards"], self.summary["counted_jobs"]
        self.benchmark = self.summary["benchmark_rate"]

    def index(self, t):
        """Return the index of the grid time nearest to `t`, None if there is none near."""
        grid = self.columns["t"]
        i = int(np.argmin(np.abs(np.log2(grid / t)))) if grid.size else 0
        return i if grid.size and abs(math.log2(grid[i] / t)) <= NEAR else None

    def value(self, i, of="normalized"):
        """Return a column at index `i` as a value, None where it has no interval."""
        prefix = "" if of == "estimate" else f"{of}_"
        numbers = (self.columns[key][i] for key in (of, f"{prefix}low", f"{prefix}high"))
        value = Value.of_interval(*numbers, self.shards, int(self.columns["samples"][i]))
        alpha = self.sizes.tail_index
        follows = self.columns["t"][i] <= LOADED or alpha < CALM
        return value.stretched(alpha, 1) if value and follows else value

    def at(self, t):
        """Return the normalized tail at the grid time nearest to `t`, None if it is not there."""
        i = self.index(t)
        return None if i is None else self.value(i)

    @cached_property
    def last(self):
        """The largest grid time at which the half width of the interval is at most `PRECISE`; None if none.

        In a bump before it the intervals may be wider.
        """
        grid, centre = self.columns["t"], self.columns["normalized"]
        half = (self.columns["normalized_high"] - self.columns["normalized_low"]) / 2
        precise = np.flatnonzero(half <= PRECISE * centre)
        return float(grid[precise[-1]]) if precise.size else None

    def limit(self):
        """Return the limit of the normalized tail, extrapolated from its last stretch; None if too short.

        What separates the tail from its limit is, to first order, one more giant beside the job in question,
        so that v(t) = limit + K t^(1 - alpha). Two times t / R and t, with R such that the second term
        shrinks to `SHARE`, give the limit. Its bias is taken to be the difference from what the two times
        before them, each earlier by a factor of sqrt(R), give.
        """
        alpha = self.sizes.tail_index
        ratio = SHARE ** (-1.0 / (alpha - 1.0))
        settled = SETTLED.get(self.summary["curve"].partition("/")[0], OTHER)
        if self.last is None or self.last < settled * ratio**1.5:
            return None

        def extrapolated(t):
            late, early = self.at(t), self.at(t / ratio)
            if late is None or early is None:
                return None
            share = SHARE / (1 - SHARE)
            estimate = late.estimate + share * (late.estimate - early.estimate)
            # The two errors may be correlated in any way: they are added, not in quadrature.
            errors = [
                (1 + share) * mine + share * theirs
                for mine, theirs in ((late.below, early.above), (late.above, early.below))
            ]
            return Value(estimate, *errors, late.degrees, self.jobs)

        final, before = extrapolated(self.last), extrapolated(self.last / math.sqrt(ratio))
        if final is None or before is None:
            return None
        bias = abs(final.estimate - before.estimate)
        return Value(final.estimate, final.below, final.above, final.degrees, self.jobs, bias)

    @property
    def rate(self):
        """The measured rate of an endless job, None if the run has none."""
        entry = self.summary.get("rate")
        value = Value.of({"shards": self.shards, **entry}, self.jobs) if entry else None
        if value is None:
            return None
        least = ROUNDING * value.estimate
        value = replace(value, below=max(value.below, least), above=max(value.above, least))
        return value.stretched(self.sizes.tail_index, -1)

    @property
    def limit_from_rate(self):
        """(c/q)^alpha from the measured rate q, None if the run has none."""
        rate = self.rate
        if rate is None or not rate.estimate > 0:
            return None
        return rate.scaled(1 / self.benchmark).raised(-self.sizes.tail_index)

    def percentile(self, p):
        """Return the p-th percentile of T, p in percent; None if it is not there."""
        for entry in self.summary["quantiles"]:
            if math.isclose(entry["p"], p):
                numbers = (entry[key] for key in ("estimate", "low", "high"))
                value = Value.of_interval(*numbers, self.shards, self.jobs)
                return value and value.stretched(self.sizes.tail_index, 1)
        return None


class Results:
    """A folder of results, ``results/split``."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self._curves = {}

    def curve(self, name):
        """Return the curve ``setting/curve``; raise ValueError, naming what makes it, if it is missing."""
        if name not in self._curves:
            self._curves[name] = Curve(self.folder / "curves" / f"{name}.csv")
        return self._curves[name]

    def curves(self, setting):
        """Return the curves of a setting, by name, in the order of their names."""
        folder = self.folder / "curves" / setting
        names = sorted(path.stem for path in folder.glob("*.csv"))
        if not names:
            raise ValueError(f"{folder} has no curves: `snakemake` makes them")
        return {name: self.curve(f"{setting}/{name}") for name in names}

    def probe(self, name):
        """Return the result of one of the claims' own simulations, see `tailsched.probes`.

        Raises
        ------
        ValueError
            If the file is missing or malformed, naming what makes it.
        """
        path = self.folder / "probes" / f"{name}.json"
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ValueError(f"{path} is missing: `snakemake {path}` makes it") from None
        except ValueError as error:
            raise ValueError(f"{path} cannot be read ({error}): delete it and run again") from None


def show(row):
    """Return one line for a row."""
    numbers = row.as_dict()
    measured = numbers["measured"]
    text = "not measured"
    if measured is not None:
        text = f"{measured['estimate']:.5g} [{measured['low']:.5g}, {measured['high']:.5g}]"
    return f"{row.verdict:9} {row.source}: {row.claim}: {text}, predicted {row.predicted}"


def main(doc, name, rows, arguments=None):
    """Run a script of claims: decide, print, write JSON; exit code 1 if a claim fails, 2 without an input.

    Parameters
    ----------
    doc : the script's docstring
    name : the name of the group
    rows : function from `Results` to the rows of `tailsched.claims.Claim`
    """
    parser = argparse.ArgumentParser(description=doc.strip().splitlines()[0])
    parser.add_argument(
        "--results", type=Path, default=Path("results/split"), metavar="FOLDER",
        help="the folder of curves/ and probes/ (default results/split)",
    )  # fmt: skip
    parser.add_argument("-o", "--output", type=Path, metavar="OUT.json", help="also write the rows as JSON")
    options = parser.parse_args(arguments)
    group = Group(name)
    try:
        for row in rows(Results(options.results)):
            group += row
    except ValueError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    for row in group.rows:
        print(show(row))
    counts = ", ".join(
        f"{sum(row.verdict == verdict for row in group.rows)} {verdict}" for verdict in VERDICTS
    )
    print(f"{name}: {counts}")
    if options.output:
        write_json(options.output, [row.as_dict() for row in group.rows])
    if any(row.verdict == "fails" for row in group.rows):
        parser.exit(1, f"{parser.prog}: a claim fails\n")
