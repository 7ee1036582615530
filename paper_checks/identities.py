"""What must hold of every simulated curve, whatever the policy: one row a curve and identity.

No response below the job's size; Little's law, as an account of the path, to rounding; no server idle with
work under the work-conserving policies; work served equal to work arrived, and mean busy servers equal to
n rho, within their errors (undecided while the 95 % interval is wider than a tenth); a stationary run. A
failure ends with exit code 1.
"""

import argparse
import json
from pathlib import Path

from scipy import special

from tailsched.files import write_csv, write_text
from tailsched.plotting.tables import markdown_table

COLUMNS = ("curve", "identity", "measured", "expected", "tolerance", "verdict")
WORK_CONSERVING = ("fcfs", "srpt", "ps", "sek", "split")

#: Probability with which a true identity is reported as failed, for normal errors of the shards.
FALSE_ALARM = 1e-6

#: Width of an interval, over what is expected, from which it decides nothing.
WIDEST = 0.1


def _verdict(holds):
    return "pass" if holds else "fail"


def _compare(entry, expected, degrees):
    """Return the rest of a row for an estimate with a standard error."""
    if entry["se"] is None:
        return entry["estimate"], expected, None, "undecided"
    reach = float(special.stdtrit(degrees, 1.0 - FALSE_ALARM / 2)) * entry["se"]
    decided = "pass" if entry["high"] - entry["low"] <= WIDEST * expected else "undecided"
    return (
        entry["estimate"],
        expected,
        reach,
        decided if abs(entry["estimate"] - expected) <= reach else "fail",
    )


def rows(summary):
    """Yield the rows of one curve."""
    held = summary["identities"]
    below = held["responses_below_size"]
    yield "T >= S", below, 0, 0, _verdict(below == 0)
    little = held["little"]
    yield "Little's law", little, 1.0, 1e-9, _verdict(little is not None and abs(little - 1.0) <= 1e-9)
    if summary["policy"].partition(":")[0] in WORK_CONSERVING:
        idle = held["idle_with_work"]
        yield "no server idle with work", idle, 0, 1e-9, _verdict(abs(idle) <= 1e-9)
    degrees = summary["shards"] - 1
    yield "work served = work arrived", *_compare(held["work"], 1.0, degrees)
    yield "busy servers = n rho", *_compare(held["busy"], summary["servers"] * summary["load"], degrees)
    yield "stationary", held["drift"], 1.0, None, "pass" if held["stationary"] else "undecided"


def main():
    """Check the curves named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("summaries", nargs="+", type=Path, metavar="CURVE.json")
    parser.add_argument("-o", "--output", type=Path, required=True, help="path without a suffix")
    arguments = parser.parse_args()
    table = []
    for path in arguments.summaries:
        try:
            summary = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            parser.exit(2, f"{parser.prog}: {path} is missing: `snakemake {path}` makes it\n")
        table += [(summary["curve"], *row) for row in rows(summary)]
    verdicts = [row[-1] for row in table]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in ("pass", "fail", "undecided"))
    print(f"identities: {counts}")
    for row in table:
        if row[-1] == "fail":
            print("FAIL", *row[:-1])
    stem = arguments.output
    write_text(stem.with_name(stem.name + ".md"), f"{counts}\n\n" + markdown_table(COLUMNS, table))
    write_csv(stem.with_name(stem.name + ".csv"), COLUMNS, table)
    if "fail" in verdicts:
        parser.exit(1, f"{parser.prog}: {verdicts.count('fail')} identities failed\n")


if __name__ == "__main__":
    main()
