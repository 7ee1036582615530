"""The table of all claims: claims.json, claims.md and claims.html, from the rows of each group's script."""

import argparse
import html
import json
from pathlib import Path

from tailsched.claims import CATCH, FAMILY, TESTS, VERDICTS
from tailsched.files import write_json, write_text
from tailsched.plotting.tables import markdown_table

HEADER = ("Verdict", "Claim", "Source", "Measured [95 %]", "Predicted", "Power", "Jobs")

INTRODUCTION = (
    "Each row is a claim of the SPLIT paper, decided by a test. A table of true claims has a false "
    f"conviction (`fails` or `refuted`) with a probability of at most {FAMILY:g}: each of at most {TESTS} "
    "tests has its share. A claim `holds` only if it is not contradicted and if a violation as large as its "
    f"resolution, fixed in advance, would have been convicted with probability {CATCH:g}; the power is the "
    "smallest such violation. Exact rows have no chance in them. `undecided` means too few jobs. `refuted` "
    "is a statement of the paper that the measurement contradicts. docs/claims.md explains each of these, "
    "and the verdicts in full."
)

STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em;
  color: #1a1a1a; }
table { border-collapse: collapse; width: 100%; margin-bottom: 2em; }
th, td { text-align: left; vertical-align: top; padding: .3em .6em; border-bottom: 1px solid #ddd; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.holds { color: #00604f; } .undecided { color: #6b6b6b; } .refuted { color: #8a3d00; }
.fails { color: #b00020; }
td:first-child { font-weight: 600; }
"""


def counts(rows):
    """Return the number of rows of each verdict, as text."""
    return ", ".join(f"{sum(row['verdict'] == verdict for row in rows)} {verdict}" for verdict in VERDICTS)


def cells(row):
    """Return the cells of a row as texts."""
    measured, power = row["measured"], row["power"]
    text = "not measured"
    if measured is not None:
        text = f"{float(measured['estimate']):.4g}"
        if measured["low"] != measured["high"]:
            text += f" [{float(measured['low']):.4g}, {float(measured['high']):.4g}]"
    claim = row["claim"] + (f" ({row['note']})" if row["verdict"] == "refuted" else "")
    shown = "" if power is None else "exact" if row["tests"] == 0 else f"{float(power):.2g}"
    return row["verdict"], claim, row["source"], text, row["predicted"], shown, f"{row['jobs']:,}"


def markdown(groups, mark):
    """Return the table as Markdown."""
    rows = [row for group in groups.values() for row in group]
    parts = [f"# Claims{f' ({mark})' if mark else ''}\n", f"{counts(rows)}\n", INTRODUCTION + "\n"]
    for name, group in groups.items():
        parts += [f"## {name}\n", f"{counts(group)}\n", markdown_table(HEADER, map(cells, group))]
    return "\n".join(parts)


def page(groups, mark):
    """Return the table as one HTML file without further files."""
    rows = [row for group in groups.values() for row in group]
    title = f"Claims{f' ({mark})' if mark else ''}"
    parts = [
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}</style></head><body>",
        f"<h1>{title}</h1><p><strong>{counts(rows)}</strong></p><p>{html.escape(INTRODUCTION)}</p>",
    ]
    for name, group in groups.items():
        parts.append(f"<h2>{html.escape(name)}</h2><p>{counts(group)}</p><table><tr>")
        parts += [f"<th>{column}</th>" for column in HEADER]
        parts.append("</tr>")
        for row in group:
            verdict, *rest = (html.escape(cell) for cell in cells(row))
            kinds = ("", "", ' class="number"', "", ' class="number"', ' class="number"')
            tail = "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, rest, strict=True))
            parts.append(f'<tr><td class="{verdict}">{verdict}</td>{tail}</tr>')
        parts.append("</table>")
    return "\n".join(parts) + "\n</body></html>\n"


def main():
    """Gather the groups named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="+", type=Path, metavar="GROUP.json")
    parser.add_argument("--mark", default="", help="a word for the title")
    parser.add_argument("-o", "--output", type=Path, required=True, help="path without a suffix")
    arguments = parser.parse_args()
    groups = {}
    for path in arguments.groups:
        try:
            groups[path.stem] = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            parser.exit(2, f"{parser.prog}: {path} is missing: `snakemake {path}` makes it\n")
    rows = [row for group in groups.values() for row in group]
    tests = sum(row["tests"] for row in rows)
    if tests > TESTS:
        parser.exit(
            2, f"{parser.prog}: {tests} tests, more than the {TESTS} that share the false-alarm rate\n"
        )
    stem = arguments.output
    write_json(stem.with_name(stem.name + ".json"), rows)
    write_text(stem.with_name(stem.name + ".md"), markdown(groups, arguments.mark))
    write_text(stem.with_name(stem.name + ".html"), page(groups, arguments.mark))
    print(f"claims: {counts(rows)}")


if __name__ == "__main__":
    main()
