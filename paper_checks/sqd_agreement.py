"""Simulations of finitely many servers against the cavity values: means, and probabilities of waiting.

A mean is compared in units of half its 95 % interval; the limit of N -> infinity is allowed `BIAS` of the
value beside that. A run that drifts, or that is too short for its warm-up, decides nothing, and neither does a
wide interval. A failure ends with exit code 1.
"""

import argparse
from pathlib import Path

from tailsched.dispatch.cavity import Cavity
from tailsched.dispatch.simulation import default_warm_up, size_law
from tailsched.files import write_csv, write_text
from tailsched.plotting.dispatch import read_rows
from tailsched.plotting.tables import markdown_table
from tailsched.tails.estimates import student

COLUMNS = ("simulation", "policy", "lam", "quantity", "measured", "half_width", "cavity", "verdict")

#: Half widths that are put down to chance: with ten runs, one in some 10^4.
ALLOWED = 3.0

#: Bias of finitely many servers, and what is left of the warm-up, over the value.
BIAS = 0.01

#: Level of the interval of the drift that must hold 0.
STEADY = 0.999

#: Half width over the value from which nothing is decided.
WIDEST = 0.1


def verdict(measured, half, expected, stationary):
    """Return the verdict on one quantity."""
    if not stationary or half is None or half > WIDEST * expected:
        return "undecided"
    return "pass" if abs(measured - expected) <= ALLOWED * half + BIAS * expected else "fail"


def settled(row):
    """Return whether the runs of a point are long enough for their warm-up."""
    each = row["arrivals"] // row["runs"]
    warm_up = default_warm_up(row["servers"], row["lam"], size_law(row["sizes"]), each)
    return warm_up < each // 2


def rows(name, points):
    """Yield the rows of one simulation."""
    systems = {}
    for row in points:
        systems.setdefault((row["policy"], row["lam"], row["servers"]), {})[row["quantity"], row["t"]] = row
    for (policy, lam, _), found in systems.items():
        wait, drift = found["mean_wait", None], found["drift", None]
        reach = student(wait["runs"], STEADY)
        steady = drift["se"] is not None and abs(drift["estimate"]) <= reach * drift["se"]
        system = [wait[key] for key in ("policy", "d", "sizes", "delta", "threshold")]
        solution = Cavity(*system, wait["cut"] or None).solve(lam)
        expected = {"mean_wait": solution.mean_wait, "waiting_probability": lam ** wait["d"]}
        for quantity, value in expected.items():
            row = found[quantity, None]
            half = None if row["low"] is None else (row["high"] - row["low"]) / 2
            judged = verdict(row["estimate"], half, value, steady and settled(wait))
            yield name, policy, lam, quantity, row["estimate"], half, value, judged


def main():
    """Check the simulations named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("points", nargs="+", type=Path, metavar="POINTS.csv")
    parser.add_argument("-o", "--output", type=Path, required=True, help="path without a suffix")
    arguments = parser.parse_args()
    table = []
    for path in arguments.points:
        if not path.exists():
            parser.exit(2, f"{parser.prog}: {path} is missing: `snakemake {path}` makes it\n")
        table += rows(path.stem, read_rows(path))
    verdicts = [row[-1] for row in table]
    counts = ", ".join(f"{verdicts.count(word)} {word}" for word in ("pass", "fail", "undecided"))
    print(f"agreement: {counts}")
    for row in table:
        if row[-1] == "fail":
            print("FAIL", *row[:-1])
    write_text(f"{arguments.output}.md", f"{counts}\n\n" + markdown_table(COLUMNS, table))
    write_csv(f"{arguments.output}.csv", COLUMNS, table)
    if "fail" in verdicts:
        parser.exit(1, f"{parser.prog}: {verdicts.count('fail')} simulations disagree\n")


if __name__ == "__main__":
    main()
