"""What a very large job gets, the limit of the normalized tail, and the precision that each curve reached.

The rate q at which an endless job is served is measured apart from the tail: (c/q)^alpha, the limit that it leads
one to expect, and the tail at t = 1e6 are two independent views of one number.
"""

from pathlib import Path

import numpy as np

from tailsched.curves import read_curve
from tailsched.files import write_csv, write_text
from tailsched.plotting.tables import markdown_table, output_parser, plain, rounded

TIME = 1e6

LIMITS = (
    "curve", "policy", "rate", "rate_low", "rate_high", "limit", "limit_low", "limit_high", "theory",
    "t", "normalized_tail", "normalized_tail_low", "normalized_tail_high",
)  # fmt: skip

PRECISION = (
    "curve", "policy", "precision", "horizon", "reached", "far", "until", "reached_far", "met", "arrivals",
    "counted_jobs", "tagged_jobs",
)  # fmt: skip


def limit_row(summary, columns):
    """Return the row of `LIMITS` of a curve, or None if no rate was measured."""
    if "rate" not in summary:
        return None
    rate, limit = summary["rate"], summary["limit_estimate"]
    theory = float(summary["limit"]) if summary["limit_source"] == "theory" else None
    at = int(np.argmin(np.abs(np.log(columns["t"] / TIME))))
    near = abs(np.log(columns["t"][at] / TIME)) < 0.05
    tail = [
        columns[key][at] if near else np.nan for key in ("normalized", "normalized_low", "normalized_high")
    ]
    numbers = [entry.get(key) for entry in (rate, limit) for key in ("estimate", "low", "high")]
    return (
        summary["curve"], summary["label"], *numbers, theory, float(columns["t"][at]) if near else None,
        *(None if np.isnan(value) else float(value) for value in tail),
    )  # fmt: skip


def precision_row(summary):
    """Return the row of `PRECISION` of a curve."""
    goal = summary["precision"] or {}
    reached = [
        goal.get(key)
        for key in ("precision", "horizon", "reached", "far", "reached_until", "reached_far", "met")
    ]
    amounts = [summary[key] for key in ("arrivals", "counted_jobs", "tagged_jobs")]
    return summary["curve"], summary["label"], *reached, *amounts


def _interval(low, high):
    return "" if low is None or high is None else f"{rounded(low, 4)} to {rounded(high, 4)}"


def _percent(value):
    return "" if value is None else f"{100 * value:.2f} %"


def main(arguments=None):
    """Write the two tables."""
    parser = output_parser(__doc__, ("csv", "md"))
    parser.add_argument("--precision", required=True, metavar="OUT", help="the same for the second table")
    parser.add_argument("curves", nargs="+", type=Path, metavar="CURVE.csv")
    options = parser.parse_args(arguments)
    limits, precision = [], []
    for path in options.curves:
        try:
            summary, columns = read_curve(path)
        except ValueError as error:
            parser.exit(2, f"{parser.prog}: {error}\n")
        limits.append(limit_row(summary, columns))
        precision.append(precision_row(summary))
    limits = [row for row in limits if row]
    write_csv(f"{options.output}.csv", LIMITS, [(row[0], plain(row[1]), *row[2:]) for row in limits])
    head = ["Curve", "Policy", "$q$", "95 %", r"$(c/q)^\alpha$", "95 %", "Theory", "Tail at $t=10^6$", "95 %"]
    body = [
        (
            row[0], row[1], rounded(row[2], 4), _interval(*row[3:5]), rounded(row[5], 4), _interval(*row[6:8]),
            rounded(row[8], 4), rounded(row[10], 4), _interval(*row[11:13]),
        )
        for row in limits
    ]  # fmt: skip
    write_text(
        f"{options.output}.md",
        "# The rate of an endless job, and the limit of the normalized tail\n\n" + markdown_table(head, body),
    )
    write_csv(f"{options.precision}.csv", PRECISION, [(row[0], plain(row[1]), *row[2:]) for row in precision])
    met = sum(bool(row[8]) for row in precision)
    asked = sum(row[2] is not None for row in precision)
    head = ["Curve", "Policy", "Goal", "Reached", "Goal beyond", "Reached", "Up to $t$", "Met", "Arrivals"]
    body = [
        (
            row[0], row[1], _percent(row[2]), _percent(row[4]), _percent(row[5]), _percent(row[7]),
            "" if row[6] is None else f"{row[6]:.3g}", {True: "yes", False: "no"}.get(row[8], ""), f"{row[9]:.3g}",
        )
        for row in precision
    ]  # fmt: skip
    write_text(
        f"{options.precision}.md",
        f"# Precision\n\nStandard error of the normalized tail, relative, the largest at any t of the grid; {met} of "
        f"{asked} curves are as precise as was asked for.\n\n" + markdown_table(head, body),
    )


if __name__ == "__main__":
    main()
