"""A run against the committed reference run: the same figures, within both runs' sampling error.

Each curve of each figure is compared at the times 10, 100, 1000 and 10000, where the half widths of the
two 95 % intervals, added in quadrature, are the unit. Runs of one version and one amount of work agree to
the last byte; runs with another seed or another amount of work agree within `ALLOWED` units.
"""

import argparse
import csv
import math
from pathlib import Path

import numpy as np

from tailsched.files import write_csv, write_text
from tailsched.plotting.tables import markdown_table

COLUMNS = ("figure", "curve", "t", "run", "reference", "distance", "verdict")
TIMES = (10.0, 100.0, 1000.0, 10000.0)

#: Distance in units of the joint half width that is put down to chance: six standard errors and more.
ALLOWED = 4.0


def tails(path):
    """Return the tails in a figure's CSV: from a curve to its (t, normalized, low, high) array."""
    curves = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["kind"] == "tail":
                numbers = [
                    float(row[key] or "nan")
                    for key in ("t", "normalized", "normalized_low", "normalized_high")
                ]
                curves.setdefault(row["curve"], []).append(numbers)
    return {name: np.array(rows).T for name, rows in curves.items()}


def at(curve, t):
    """Return (normalized, half width) of a curve at a time, interpolated between its grid points."""
    grid, normalized, low, high = curve
    if not grid[0] <= t <= grid[-1]:
        return math.nan, math.nan
    value, below, above = (float(np.interp(t, grid, column)) for column in (normalized, low, high))
    return value, (above - below) / 2


def rows(figure, run, reference):
    """Yield the rows of one figure."""
    for name in sorted(run.keys() | reference.keys()):
        if name not in run or name not in reference:
            yield figure, name, None, None, None, None, "undecided"
            continue
        for t in TIMES:
            (ours, our_width), (theirs, their_width) = at(run[name], t), at(reference[name], t)
            unit = math.hypot(our_width, their_width)
            if not math.isfinite(ours + theirs + unit):
                yield figure, name, t, None, None, None, "undecided"
                continue
            distance = abs(ours - theirs) / unit if ours != theirs else 0.0
            # Half of the reference's own value: an interval as wide as that decides nothing.
            decided = "pass" if unit <= theirs / 2 else "undecided"
            yield figure, name, t, ours, theirs, distance, decided if distance <= ALLOWED else "fail"


def main():
    """Compare the figures named on the command line with those of the same name in the reference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", nargs="+", type=Path, metavar="FIGURE.csv")
    parser.add_argument("--reference", type=Path, required=True, help="folder of the reference run's figures")
    parser.add_argument("-o", "--output", type=Path, required=True, help="path without a suffix")
    arguments = parser.parse_args()
    table = []
    for path in arguments.figures:
        if not path.exists():
            parser.exit(2, f"{parser.prog}: {path} is missing: `snakemake {path}` makes it\n")
        committed = arguments.reference / path.name
        table += rows(path.stem, tails(path), tails(committed) if committed.exists() else {})
    verdicts = [row[-1] for row in table]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in ("pass", "fail", "undecided"))
    print(f"reference: {counts}")
    for row in table:
        if row[-1] == "fail":
            print("FAIL", *row[:-1])
    write_text(f"{arguments.output}.md", f"{counts}\n\n" + markdown_table(COLUMNS, table))
    write_csv(f"{arguments.output}.csv", COLUMNS, table)
    if "fail" in verdicts:
        parser.exit(1, f"{parser.prog}: {verdicts.count('fail')} values differ from the reference run\n")


if __name__ == "__main__":
    main()
