"""Figures of the SQ(d) paper: gains over SQ(d), and what their modules in figures/ share.

The gain of a policy is (E[W of SQ(d)] - E[W]) / E[W of SQ(d)]. Lines are fixed points of the cavity map, dots
with bars are simulations of finitely many servers with 95 % intervals. Nothing here computes a fixed point.
"""

import argparse
import csv
from pathlib import Path

from tailsched.files import write_csv
from tailsched.plotting.style import COLUMN, GREY, figure, save

#: Policy -> (colour, line style). The solid line is drawn beneath the others, which may lie on it.
STYLES = {
    "sq": ("#1a1a1a", (0, (1.2, 1.2))),
    "sq-rtb": ("#0b62b0", (0, (4.5, 1.3))),
    "sq-re": ("#00806b", (0, (4, 1.1, 1.1, 1.1))),
    "sq-rtb-re": ("#43147c", (0, (2.5, 1.2))),
    "las": ("#d1730a", (0, (4, 1.1, 1.1, 1.1, 1.1, 1.1))),
    "las-qtb": ("#7f3300", (0, (7, 1.5, 1.5, 1.5))),
    "re": ("#8a7300", (0, (6, 1.5))),
    "lew": ("#cc1f1f", "-"),
}
#: Policies of the two panels of most figures.
PANELS = {"a": ("sq-rtb", "las", "las-qtb", "lew"), "b": ("sq-re", "sq-rtb-re", "re", "lew")}

#: Colours of the numbers d, in ascending order, from light to dark.
SHADES = ("#f5ac52", "#d1730a", "#a3195b", "#43147c", "#0b2f6b", "#00806b", "#1a1a1a")


def label(policy, d, threshold=2):
    """Return the policy's name as the paper writes it, e.g. ``SQ(5)-RTB-RE(2)``."""
    limit = f"{threshold:g}" if isinstance(threshold, float | int) else threshold
    return {
        "sq": f"SQ({d})",
        "sq-rtb": f"SQ({d})-RTB",
        "sq-re": f"SQ({d})-RE({limit})",
        "sq-rtb-re": f"SQ({d})-RTB-RE({limit})",
        "las": f"LAS({d})",
        "las-qtb": f"LAS({d})-QTB",
        "re": f"RE({d},{limit})",
        "lew": f"LEW({d})",
    }[policy]


def _read(text):
    if text == "":
        return None
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() and "." not in text and "e" not in text else number


def read_rows(path):
    """Return the rows of a CSV file as dictionaries of numbers, texts and None."""
    with open(path, newline="", encoding="utf-8") as stream:
        return [{key: _read(value) for key, value in row.items()} for row in csv.DictReader(stream)]


def gains(rows):
    """Return {(policy, d): [(x, gain, mean wait), ...]} from the rows of a sweep that holds SQ(d)."""
    base = {(row["d"], row["x"]): row["mean_wait"] for row in rows if row["policy"] == "sq"}
    curves = {}
    for row in rows:
        gain = 1.0 - row["mean_wait"] / base[row["d"], row["x"]]
        curves.setdefault((row["policy"], row["d"]), []).append((row["x"], gain, row["mean_wait"]))
    return curves


def parser(doc):
    """Return the parser that the modules share: files of numbers, ``-o OUT``, ``--mark``."""
    made = argparse.ArgumentParser(description=doc.strip().splitlines()[0])
    made.add_argument("inputs", nargs="*", type=Path, metavar="NUMBERS.csv")
    made.add_argument("-o", "--output", type=Path, required=True, help="path without a suffix")
    made.add_argument("--mark", default="", help="a note drawn into the figure")
    return made


def arguments_of(doc, arguments=None):
    """Return the arguments, and the rows of each input."""
    made = parser(doc)
    given = made.parse_args(arguments)
    for path in given.inputs:
        if not path.exists():
            made.exit(2, f"{made.prog}: {path} is missing: `snakemake {path}` makes it\n")
    return given, [read_rows(path) for path in given.inputs]


def axes(height=2.7, width=COLUMN):
    """Return a figure with one pair of axes."""
    fig = figure(width, height)
    return fig, fig.add_subplot()


def panel_of(output):
    """Return the letter of a panel from the name of its file."""
    return output.name[5:6] if output.name.startswith("fig") else output.name.rpartition("_")[2]


def draw_line(ax, x, y, style, name):
    """Draw a curve of a style (colour, line style); a solid one is a little wider and lies below the others."""
    colour, line = style
    beneath = {"linewidth": 2.0, "zorder": 1.9} if line == "-" else {}
    ax.plot(x, y, color=colour, linestyle=line, label=name, **beneath)


def draw_interval(ax, x, low, high, colour):
    """Draw a 95 % interval."""
    ax.plot([x, x], [low, high], color=colour, linewidth=1.0, solid_capstyle="butt", zorder=3)


def draw_dots(ax, x, y, colour):
    """Draw simulated points."""
    ax.plot(x, y, "o", color=colour, markerfacecolor="white", markersize=3.0, markeredgewidth=0.8, zorder=3)


def finish(fig, ax, arguments, columns, rows, title=None, **legend):
    """Add the legend, title and mark; write the PDF, the PNG and the CSV."""
    ax.legend(**{"loc": "best", "borderaxespad": 0.6, **legend})
    if title:
        ax.set_title(title, loc="left")
    if arguments.mark:
        ax.set_title(arguments.mark, loc="right", color=GREY)
    save(fig, arguments.output)
    write_csv(arguments.output.with_name(arguments.output.name + ".csv"), columns, rows)


GAIN_COLUMNS = ("kind", "curve", "policy", "d", "x", "gain", "low", "high", "mean_wait")


def draw_gains(ax, curves, names, styles, points=()):
    """Draw gains, and simulated ones; return the rows drawn.

    Parameters
    ----------
    ax : matplotlib axes
    curves : of `gains`
    names : {(policy, d): name in the legend}, in the order of the legend
    styles : {(policy, d): (colour, line style)}
    points : rows of a simulation, of which the gains are drawn
    """
    rows = []
    for key, name in names.items():
        x, gain, _ = zip(*curves[key], strict=True)
        draw_line(ax, x, gain, styles[key], name)
        rows += [("cavity", name, *key, a, b, None, None, c) for a, b, c in curves[key]]
        chosen = [p for p in points if (p["policy"], p["d"]) == key and p["quantity"] == "gain"]
        for p in chosen:
            low, high = p["low"], p["high"]
            draw_interval(ax, p["lam"], low, high, styles[key][0])
            rows.append(("simulated", name, *key, p["lam"], p["estimate"], low, high, None))
        draw_dots(ax, [p["lam"] for p in chosen], [p["estimate"] for p in chosen], styles[key][0])
    return rows


def gain_panel(
    doc, arguments=None, *, d=5, threshold=2, xlabel=r"arrival rate $\lambda$", ylim=(0, 1), xlim=None,
    log=False, policies=None, mark_x=None,
):  # fmt: skip
    """Draw one panel of gains of policies at one d: what most of the modules in figures/ do."""
    given, (sweep, *more) = arguments_of(doc, arguments)
    panel = panel_of(given.output)
    chosen = policies or PANELS[panel]
    curves = gains(sweep)
    fig, ax = axes()
    names = {(policy, d): label(policy, d, threshold) for policy in chosen}
    styles = {(policy, d): STYLES[policy] for policy in chosen}
    rows = draw_gains(ax, curves, names, styles, more[0] if more else ())
    if log:
        ax.set_xscale("log")
    if mark_x:
        ax.axvline(mark_x[0], color=GREY, linewidth=0.8, linestyle=(0, (1.5, 1.5)), zorder=0)
        ax.text(mark_x[0], 0.98, f" {mark_x[1]}", color=GREY, transform=ax.get_xaxis_transform(), va="top")
    places = [row[4] for row in rows]
    ax.set_xlim(*(xlim or (min(places), max(places))))
    ax.set_ylim(*ylim)
    if ylim[0] < 0:
        ax.axhline(0.0, color=GREY, linewidth=0.6, zorder=0)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(rf"gain in $E[W]$ over SQ({d})")
    finish(fig, ax, given, GAIN_COLUMNS, rows, f"({panel})")
