"""Packing of two servers beside one endless job: its rate q and P_idle, over the load (Section 8.2).

Not a figure of the paper. (a) P_idle, the share of the endless job's service time in which the other server
is idle, with what the paper expects of each policy; (b) the rate q against 2 (1 - rho) / (1 + P_idle).
"""

import argparse
import json
from pathlib import Path

from tailsched.claims import Value
from tailsched.files import write_csv
from tailsched.plotting import style

COLUMNS = (
    "policy", "load", "small_load", "rate", "rate_low", "rate_high",
    "idle", "idle_low", "idle_high", "identity",
)  # fmt: skip
LABELS = {"srpt": "SRPT-2", "split": "SPLIT", "thresh-split": r"Thresh-SPLIT near $d^\ast$"}
MARKERS = {"srpt": "o", "split": "s", "thresh-split": "^"}


def rows(probe):
    """Return the rows of the figure's CSV, with 95 % intervals."""
    table = []
    for row in probe["rows"]:
        rate, idle = (Value.of(row[key]) for key in ("rate", "idle"))
        identity = 2 * (1 - row["load"]) / (1 + idle.estimate)
        numbers = rate.estimate, *rate.interval(), idle.estimate, *idle.interval(), identity
        table.append((row["policy"], row["load"], row.get("small_load"), *numbers))
    return table


def draw(table, mark=""):
    """Return the figure."""
    fig = style.figure(style.PAGE, 2.6)
    left, right = fig.subplots(1, 2)
    loads = [0.0, 0.5]
    left.plot([0, 0.8], [1, 1], color=style.GREY, lw=0.8, ls=(0, (1.2, 1.2)))
    left.annotate(
        "SRPT-2 in the paper: about 1", (0.42, 1.0), (0.42, 1.02), fontsize=style.SMALL, color=style.GREY
    )
    left.plot(loads, [1 - 2 * rho for rho in loads], color=style.FAMILIES["split"][0], lw=0.8)
    left.annotate(
        r"$1-2\rho$", (0.13, 0.72), (0.05, 0.66), fontsize=style.SMALL, color=style.FAMILIES["split"][0]
    )
    most = max(row[2] for row in table if row[2])
    for name, label in LABELS.items():
        chosen = [row for row in table if row[0] == name and row[2] in (None, most)]
        color = style.FAMILIES[name][0]
        if name == "thresh-split":
            label += f"\n(small-job load {most:g})"
        for ax, at in ((left, 6), (right, 3)):
            x, y = [row[1] for row in chosen], [row[at] for row in chosen]
            error = [[row[at] - row[at + 1] for row in chosen], [row[at + 2] - row[at] for row in chosen]]
            ax.errorbar(x, y, error, fmt=MARKERS[name], color=color, ms=3.6, lw=0.9, label=label, zorder=3)
        right.plot(
            [row[1] for row in chosen], [row[9] for row in chosen], marker="_", ms=11, mew=0.9, ls="none",
            color=style.INK, zorder=4, label=r"$2(1-\rho)/(1+P_{\mathrm{idle}})$" if name == "srpt" else None,
        )  # fmt: skip
    left.set_ylabel(r"$P_{\mathrm{idle}}$")
    left.set_ylim(0, 1.1)
    right.set_ylabel("rate $q$ of the endless job")
    right.set_ylim(0, 1.1)
    for ax, panel in ((left, "(a)"), (right, "(b)")):
        ax.set_xlabel(r"load $\rho$")
        ax.set_xlim(0, 0.9)
        ax.set_title(panel, loc="left")
    right.legend(loc="lower left", bbox_to_anchor=(0.02, 0.02))
    if mark:
        fig.text(0.995, 0.99, mark, ha="right", va="top", color=style.GREY, fontsize=style.SMALL)
    return fig


def main():
    """Draw the probe named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("probe", type=Path, metavar="PROBE.json")
    parser.add_argument("-o", "--output", type=Path, required=True, help="path without a suffix")
    parser.add_argument("--mark", default="", help="a note drawn into the figure")
    arguments = parser.parse_args()
    try:
        probe = json.loads(arguments.probe.read_text(encoding="utf-8"))
    except FileNotFoundError:
        parser.exit(
            2, f"{parser.prog}: {arguments.probe} is missing: `snakemake {arguments.probe}` makes it\n"
        )
    table = rows(probe)
    style.save(draw(table, arguments.mark), arguments.output)
    write_csv(arguments.output.with_name(arguments.output.name + ".csv"), COLUMNS, table)


if __name__ == "__main__":
    main()
