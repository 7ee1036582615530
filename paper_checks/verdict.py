"""The verdict on a run: the counts of all checks, and exit code 1, with nothing written, if one failed."""

import argparse
import csv
from pathlib import Path

from tailsched.files import write_text

VERDICTS = ("pass", "fail", "undecided")


def main():
    """Read the CSV files of the checks named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checks", nargs="+", type=Path, metavar="CHECK.csv")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    lines, failed = [], []
    for path in arguments.checks:
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        counts = (f"{sum(row['verdict'] == verdict for row in rows)} {verdict}" for verdict in VERDICTS)
        lines.append(f"{path.stem}: {', '.join(counts)}")
        failed += [f"{path.stem}: {', '.join(row.values())}" for row in rows if row["verdict"] == "fail"]
    print("\n".join(lines + failed))
    if failed:
        parser.exit(1, f"{parser.prog}: {len(failed)} checks failed, see {arguments.checks[0].parent}\n")
    write_text(arguments.output, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
