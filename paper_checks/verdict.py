"""The verdict on a run: the counts of all checks and claims, and exit code 1, nothing written, if one failed.

A refuted claim, a statement of the paper that the measurement contradicts, is named but stops nothing.
"""

import argparse
import csv
import json
from pathlib import Path

from tailsched.claims import VERDICTS as CLAIMS
from tailsched.files import write_text

VERDICTS = ("pass", "fail", "undecided")
FAILED = ("fail", "fails")


def read(path):
    """Return the rows of a check (CSV) or of the claims (JSON), as dicts with a ``verdict``."""
    with open(path, newline="", encoding="utf-8") as file:
        return json.load(file) if path.suffix == ".json" else list(csv.DictReader(file))


def line(row):
    """Return one line for a row that is to be named."""
    if "claim" not in row:
        return ", ".join(row.values())
    measured = row["measured"] and f"{float(row['measured']['estimate']):.4g}"
    return f"{row['source']}: {row['claim']}: {measured}, predicted {row['predicted']}"


def main():
    """Read the files of the checks named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("checks", nargs="+", type=Path, metavar="CHECK")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    lines, refuted, failed = [], [], []
    for path in arguments.checks:
        try:
            rows = read(path)
        except FileNotFoundError:
            parser.exit(2, f"{parser.prog}: {path} is missing: `snakemake {path}` makes it\n")
        verdicts = CLAIMS if path.suffix == ".json" else VERDICTS
        counts = (f"{sum(row['verdict'] == verdict for row in rows)} {verdict}" for verdict in verdicts)
        lines.append(f"{path.stem}: {', '.join(counts)}")
        refuted += [f"refuted: {line(row)}" for row in rows if row["verdict"] == "refuted"]
        failed += [f"{path.stem}: {line(row)}" for row in rows if row["verdict"] in FAILED]
    print("\n".join(lines + refuted + failed))
    if failed:
        parser.exit(1, f"{parser.prog}: {len(failed)} checks failed, see {arguments.checks[0].parent}\n")
    write_text(arguments.output, "\n".join(lines + refuted) + "\n")


if __name__ == "__main__":
    main()
