"""Where SPLIT beats SRPT-n, over load, tail index and number of servers; and what it costs in the mean.

Beyond the paper. ``map``: the ratio of the two percentiles of T, SPLIT's over SRPT-n's, at 99, 99.9 and
99.99 %; ``price``: E[T] under SPLIT over that under SRPT-n, less 1. Each cell has the number and the half
width of its 95 % interval; a cell whose sign is not decided is hatched.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm
from matplotlib.patches import Rectangle

from tailsched.claims import Value, student
from tailsched.files import write_csv
from tailsched.plotting import style

COLUMNS = ("servers", "load", "alpha", "percentile", "value", "low", "high", "better")
COLORS = LinearSegmentedColormap.from_list(
    "better", [style.FAMILIES["split"][0], "#f7d9d4", "#ffffff", "#d7e6f5", style.FAMILIES["srpt"][0]]
)
SPAN = {"map": (0.7, 1.0, 1.1), "price": (-0.05, 0.0, 0.05)}


def rows(probe, kind):
    """Return the rows of the figure's CSV; ``better`` is split, srpt or undecided."""
    table = []
    for cell in probe["cells"]:
        head = cell["servers"], cell["load"], cell["alpha"]
        if kind == "price":
            value = Value.of(cell["price"])
            low, high = value.interval()
            reach = student(value.degrees, 1 - 2 * probe["level"]) * value.below
            better = (
                "undecided" if abs(value.estimate) <= reach else "split" if value.estimate < 0 else "srpt"
            )
            table.append((*head, None, value.estimate, low, high, better))
            continue
        for entry in cell["percentiles"]:
            value = Value.of(entry["ratio"])
            table.append((*head, entry["percentile"], value.estimate, *value.interval(), entry["better"]))
    return table


def text_of(kind, value, half):
    """Return the two lines of a cell."""
    if kind == "price":
        return f"{100 * value:+.1f}\n±{100 * half:.1f}"
    return f"{value:.2f}\n±{half:.2f}"


def draw(table, probe, kind, mark=""):
    """Return the figure."""
    percentiles = probe["percentiles"] if kind == "map" else [None]
    loads, alphas, servers = probe["loads"], probe["alphas"], probe["servers"]
    fig = style.figure(style.PAGE, 0.55 + 2.75 * len(percentiles))
    axes = fig.subplots(len(percentiles), len(servers), sharex=True, sharey=True, squeeze=False)
    low, centre, high = SPAN[kind]
    norm = TwoSlopeNorm(centre, low, high)
    for row, percent in zip(axes, percentiles, strict=True):
        for ax, n in zip(row, servers, strict=True):
            for servers_, load, alpha, p, value, bottom, top, better in table:
                if servers_ != n or p != percent:
                    continue
                x, y = alphas.index(alpha), loads.index(load)
                decided = better != "undecided"
                ax.add_patch(
                    Rectangle(
                        (x - 0.5, y - 0.5), 1, 1, facecolor=COLORS(norm(value)) if decided else "#ffffff",
                        edgecolor=style.PALE, lw=0.4, hatch=None if decided else "//////",
                    )
                )  # fmt: skip
                shade = "#ffffff" if decided and not 0.1 < norm(value) < 0.9 else style.INK
                box = None if decided else {"facecolor": "#ffffff", "edgecolor": "none", "pad": 0.4}
                ax.text(
                    x, y, text_of(kind, value, (top - bottom) / 2), ha="center", va="center", fontsize=4.3,
                    color=shade, linespacing=0.95, bbox=box,
                )  # fmt: skip
            ax.set_xlim(-0.5, len(alphas) - 0.5)
            ax.set_ylim(-0.5, len(loads) - 0.5)
            ax.set_xticks(range(len(alphas)), [f"{alpha:g}" for alpha in alphas])
            ax.set_yticks(range(len(loads)), [f"{load:g}" for load in loads])
            ax.tick_params(length=0)
            edge = (n - 1) / n
            ax.axhline(np.interp(edge, loads, range(len(loads))), color=style.INK, lw=0.6, ls=(0, (2, 1.5)))
            if ax in axes[0]:
                ax.set_title(f"$n={n}$")
        label = f"{percent:g} % of $T$\n" if percent is not None else ""
        row[0].set_ylabel(label + r"load $\rho$")
    for ax in axes[-1]:
        ax.set_xlabel(r"tail index $\alpha$")
    what = {
        "map": "percentile of $T$, SPLIT over SRPT-$n$",
        "price": "E[T] of SPLIT over that of SRPT-$n$, less 1, in percent",
    }[kind]
    note = f"{what}, ± half of its 95 % interval; red: SPLIT is better, blue: SRPT-$n$, hatched: undecided"
    fig.supxlabel(note, fontsize=style.SMALL, color=style.INK)
    if mark:
        fig.text(0.995, 0.995, mark, ha="right", va="top", color=style.GREY, fontsize=style.SMALL)
    return fig


def main():
    """Draw the probe named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=sorted(SPAN), help="which figure")
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
    table = rows(probe, arguments.kind)
    style.save(draw(table, probe, arguments.kind, arguments.mark), arguments.output)
    write_csv(arguments.output.with_name(arguments.output.name + ".csv"), COLUMNS, table)


if __name__ == "__main__":
    main()
