"""What must hold of every simulated curve, whatever the policy: one row a curve and identity.

No response below the job's size; Little's law, as an account of the path, to rounding; no server idle with
work under the work-conserving policies; mean busy servers equal to the load (pass, or undecided while the
interval is wider than five per cent); a stationary backlog. A failure ends with exit code 1.
"""

import argparse
import json
from pathlib import Path

from scipy import special

from tailsched.files import write_csv, write_text
from tailsched.plotting.tables import markdown_table

COLUMNS = ("curve", "identity", "measured", "expected", "tolerance", "verdict")
WORK_CONSERVING = ("fcfs", "srpt", "ps", "sek", "split")

#: Probability with which a true identity of a curve is reported as failed.
FALSE_ALARM = 1e-6


def _verdict(holds):
    return "pass" if holds else "fail"


def rows(summary):
    """Yield the rows of one curve."""
    held = summary["identities"]
    below = held["responses_below_size"]
    yield "T >= S", below, 0, 0, _verdict(below == 0)
    little = held["little"]
    yield "Little's law", little, 1.0, 1e-9, _verdict(abs(little - 1.0) <= 1e-9)
    if summary["policy"].partition(":")[0] in WORK_CONSERVING:
        idle = held["idle_with_work"]
        yield "no server idle with work", idle, 0, 1e-9, _verdict(abs(idle) <= 1e-9)
    busy = held["busy"]
    if busy["se"] is None:
        yield "busy servers = load", busy["estimate"], 1.0, None, "undecided"
    else:
        degrees = summary["shards"] - 1
        reach = float(special.stdtrit(degrees, 1.0 - FALSE_ALARM / 2)) * busy["se"]
        decided = "pass" if busy["high"] - busy["low"] <= 0.1 else "undecided"
        verdict = decided if abs(busy["estimate"] - 1.0) <= reach else "fail"
        yield "busy servers = load", busy["estimate"], 1.0, reach, verdict
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
