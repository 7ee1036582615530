"""Percentiles of two policies on the same arrivals and sizes, with paired differences."""

import json
from pathlib import Path

from tailsched.files import write_csv, write_text
from tailsched.plotting.tables import markdown_table, output_parser, plain

COLUMNS = (
    "servers", "load", "sizes", "first", "second", "percentile", "first_value", "second_value", "difference", "low",
    "high", "arrivals",
)  # fmt: skip


def rows(answer):
    """Yield the rows of a comparison (see `tailsched.comparison.compare`)."""
    system = answer["servers"], answer["load"], answer["sizes"], *answer["labels"]
    for row in answer["percentiles"]:
        yield (
            *system,
            *(row[key] for key in ("p", "first", "second", "difference", "low", "high")),
            answer["arrivals"],
        )


def _digits(value):
    return "" if value is None else f"{value:.4g}"


def main(arguments=None):
    """Write the table."""
    parser = output_parser(__doc__, ("csv", "md"))
    parser.add_argument("comparisons", nargs="+", type=Path, metavar="COMPARISON.json")
    options = parser.parse_args(arguments)
    table = []
    for path in options.comparisons:
        try:
            table += rows(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            parser.exit(2, f"{parser.prog}: {path} is missing: `snakemake {path}` makes it\n")
    write_csv(
        f"{options.output}.csv",
        COLUMNS,
        [(*row[:3], plain(row[3]), plain(row[4]), *row[5:]) for row in table],
    )
    head = ["Setting", "First", "Second", "Percentile", "First", "Second", "Difference", "95 % interval"]
    body = [
        (
            f"$n={row[0]}$, $\\rho={row[1]:g}$, {row[2]}", row[3], row[4], f"{row[5]:g} %", _digits(row[6]),
            _digits(row[7]), _digits(row[8]),
            "" if row[9] is None else f"{_digits(row[9])} to {_digits(row[10])}",
        )
        for row in table
    ]  # fmt: skip
    text = "# Percentiles of the response time, on the same arrivals and sizes\n\nThe difference is the first less "
    write_text(f"{options.output}.md", text + "the second.\n\n" + markdown_table(head, body))


if __name__ == "__main__":
    main()
