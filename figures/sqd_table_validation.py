"""The paper's validation table: E[W] on N servers beside the cavity value, N = 10 to 2000."""

import re

from tailsched.dispatch.cavity import Cavity
from tailsched.files import write_csv, write_text
from tailsched.plotting.dispatch import arguments_of, label
from tailsched.plotting.tables import markdown_table

COLUMNS = (
    "policy",
    "d",
    "lam",
    "sizes",
    "delta",
    "threshold",
    "servers",
    "mean_wait",
    "low",
    "high",
    "cavity",
)


def _short(sizes):
    """Return the text of sizes with rounded numbers."""
    return re.sub(r"0\.\d{5,}", lambda match: f"{float(match[0]):.4g}", sizes)


def main(arguments=None):
    """Write the table."""
    given, (points,) = arguments_of(__doc__, arguments)
    rows, lines, limits = [], {}, {}
    for row in points:
        if row["quantity"] != "mean_wait":
            continue
        key = tuple(row[name] for name in COLUMNS[:6])
        if key not in limits:
            system = [row[name] for name in ("policy", "d", "sizes", "delta", "threshold")]
            limits[key] = Cavity(*system, row["cut"] or None).solve(row["lam"]).mean_wait
        rows.append((*key, row["servers"], row["estimate"], row["low"], row["high"], limits[key]))
        half = (row["high"] - row["low"]) / 2
        lines.setdefault(key, {})[row["servers"]] = f"{row['estimate']:.4f} ± {half:.4f}"
    counts = sorted({row[6] for row in rows})
    heads = ["Policy", "lam", "Sizes", "delta", *(f"N = {n}" for n in counts), "Cavity"]
    body = []
    for key, cells in lines.items():
        policy, d, lam, sizes, delta, threshold = key
        width = f"{delta:g}" if policy not in ("sq", "sq-re", "re") else ""
        head = [label(policy, d, threshold), f"{lam:g}", _short(sizes), width]
        body.append([*head, *(cells[n] for n in counts), f"{limits[key]:.4f}"])
    write_text(f"{given.output}.md", markdown_table(heads, body))
    write_csv(f"{given.output}.csv", COLUMNS, rows)


if __name__ == "__main__":
    main()
