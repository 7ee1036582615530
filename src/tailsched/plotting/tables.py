"""CSV files and Markdown tables: whole files only, with the same bytes whatever the locale.

Floats are written by `repr` (17 significant digits at most, a decimal point, no grouping), so that a
number read back is the number that was written. Nothing here needs matplotlib.
"""

import argparse
import contextlib
import csv
import io
import math
import os
import re
from numbers import Integral, Real
from pathlib import Path

#: Columns of a measured row, see `read_measured`.
MEASURED = ("setting", "policy", "predicted_limit", "t", "normalized_tail", "low", "high")


@contextlib.contextmanager
def replacing(path):
    """Yield a temporary path beside `path`, which takes its place only if the block succeeds."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path, text):
    """Write `text` to `path` at once, as UTF-8 with line feeds."""
    with replacing(path) as temporary:
        temporary.write_bytes(text.encode("utf-8"))


def cell(value):
    """Return the text of one CSV cell: `repr` of a float, the empty text for None."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    raise TypeError(f"a table cell holds text, a number or None, not {value!r}")


def write_csv(path, columns, rows):
    """Write rows to a CSV file.

    Parameters
    ----------
    path : path-like
    columns : sequence of str
        The header.
    rows : iterable of dict or sequence
        Dicts may lack columns (empty cells); a key that is no column is an error.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        if isinstance(row, dict):
            unknown = row.keys() - set(columns)
            if unknown:
                raise ValueError(f"no such columns: {', '.join(sorted(unknown))}")
            row = [row.get(column) for column in columns]
        writer.writerow([cell(value) for value in row])
    write_text(path, text.getvalue())


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


def read_measured(paths):
    """Read measured rows from CSV files that have at least the columns `MEASURED`.

    Returns
    -------
    list of dict
        Text under ``setting`` and ``policy``; floats, or None for an empty cell, under the others.

    Raises
    ------
    ValueError
        If a file lacks a column or has a cell that is no number.
    """
    rows = []
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            missing = [name for name in MEASURED if name not in (reader.fieldnames or ())]
            if missing:
                raise ValueError(f"{path}: no column {', '.join(missing)}")
            for record in reader:
                row = {name: record[name] for name in MEASURED[:2]}
                for name in MEASURED[2:]:
                    try:
                        row[name] = float(record[name]) if record[name] else None
                    except ValueError:
                        raise ValueError(f"{path}, line {reader.line_num}: {name} is no number") from None
                rows.append(row)
    return rows


def rounded(value, digits=3):
    """Return a number for reading, e.g. ``1.436``, ``inf``; the empty text for None or NaN."""
    if value is None or math.isnan(value):
        return ""
    if math.isinf(value):
        return "∞"
    return f"{value:.{digits}f}"


def measured_markdown(rows):
    """Return the Markdown table of measured rows (dicts with the keys `MEASURED`)."""
    return markdown_table(
        ["Setting", "Policy", "Predicted limit", "$t$", "Normalized tail at $t$", "95 % interval"],
        (
            [
                row["setting"],
                row["policy"],
                rounded(row.get("predicted_limit"), 4),
                "" if row.get("t") is None else f"{row['t']:g}",
                rounded(row.get("normalized_tail")),
                "–".join(filter(None, (rounded(row.get("low")), rounded(row.get("high"))))),
            ]
            for row in rows
        ),
    )
