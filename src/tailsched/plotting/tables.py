"""Markdown tables, and what the scripts of tables and diagrams share. Nothing here needs matplotlib."""

import argparse
import math
import re

from tailsched.files import cell

#: Columns of a measured row: two texts, then floats or None.
MEASURED = ("setting", "policy", "predicted_limit", "t", "normalized_tail", "low", "high")


def markdown_table(columns, rows):
    """Return a Markdown table; `|` inside a cell is escaped.

    Parameters
    ----------
    columns : sequence of str
    rows : iterable of sequence
        Text, numbers (written by `cell`) or None.
    """

    def line(values):
        return "| " + " | ".join(cell(value).replace("|", r"\|") for value in values) + " |"

    return "\n".join([line(columns), "|" + "---|" * len(columns), *(line(row) for row in rows)]) + "\n"


_WORDS = (
    (r"\\(?:mathbf|mathrm)\{([^{}]*)\}", r"\1"),
    (r"\\!", ""),
    (r"\\[,; ]", " "),
    (r"\{-\}", "-"),
    (r"\\geq(?![a-z]) ?", ">="),
    (r"\\leq(?![a-z]) ?", "<="),
    (r"\\to(?![a-z])", " -> "),
    (r"\\uparrow(?![a-z])", " increasing to "),
    (r"\\infty(?![a-z])", "infinity"),
    (r"\\lambda(?![a-z])", "lam"),
    (r"\\epsilon(?![a-z])", "eps"),
    (r"([A-Za-z])\\(alpha|beta|rho)(?![a-z])", r"\1 \2"),
    (r"\\(alpha|beta|rho|in|sup|min)(?![a-z]) ?", r"\1"),
    (r"\\lfloor ?", "floor("),
    (r" ?\\rfloor", ")"),
    (r"\\([{}])", r"\1"),
    (r"\^\\ast", "*"),
    (r"([_^])\{([A-Za-z0-9]*)\}", r"\1\2"),
    (r"\$", ""),
    (r"[ \n]+", " "),
)


def plain(text):
    """Return `text` with its mathtext spelt in ASCII, e.g. ``lam`` for ``$\\lambda$``, for CSV files."""
    for pattern, replacement in _WORDS:
        text = re.sub(pattern, replacement, text)
    return text.strip()


def output_parser(doc, suffixes):
    """Return the argument parser that every table and diagram script shares: ``-o OUT``."""
    parser = argparse.ArgumentParser(description=doc.strip().splitlines()[0])
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        required=True,
        help="output path without a suffix; writes " + ", ".join(f"OUT.{suffix}" for suffix in suffixes),
    )
    return parser


def rounded(value, digits=3):
    """Return a number for reading, e.g. ``1.436``, ``∞``; the empty text for None or NaN."""
    if value is None or math.isnan(value):
        return ""
    return "∞" if math.isinf(value) else f"{value:.{digits}f}"


def measured_markdown(rows):
    """Return the Markdown table of measured rows (dicts with the keys `MEASURED`)."""

    def interval(row):
        low, high = rounded(row.get("low")), rounded(row.get("high"))
        return f"{low} to {high}" if low and high else ""

    return markdown_table(
        ["Setting", "Policy", "Predicted limit", "$t$", "Normalized tail at $t$", "95 % interval"],
        (
            [
                row["setting"],
                row["policy"],
                rounded(row.get("predicted_limit"), 4),
                "" if row.get("t") is None else f"{row['t']:g}",
                rounded(row.get("normalized_tail")) or "no data",
                interval(row),
            ]
            for row in rows
        ),
    )
