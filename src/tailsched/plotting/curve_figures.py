"""A figure of normalized tails from the files of its curves: what the modules in figures/ share."""

import argparse
import math
from pathlib import Path

from tailsched.curves import read_curve
from tailsched.files import write_csv
from tailsched.plotting.normalized_tail import normalized_tail_figure
from tailsched.plotting.style import save
from tailsched.sizes import parse_sizes

#: Percentiles marked on the curves.
MARKED = (99.0, 99.9, 99.99)

#: Tail probability below which the paper's 1e10 arrivals a curve see fewer than 100 jobs, a tenth of them error.
REACHED = 1e-8

COLUMNS = (
    "kind", "curve", "policy", "label", "t", "t_low", "t_high",
    "normalized", "normalized_low", "normalized_high", "predicted_limit",
)  # fmt: skip


def _curve(path):
    summary, columns = read_curve(path)
    limit = summary["limit"]
    return {
        "curve": summary["curve"],
        "policy": summary["policy"],
        "label": summary["label"],
        "t": columns["t"],
        "estimate": columns["normalized"],
        "reach": float(columns["t"][columns["estimate"] >= REACHED].max(initial=0.0)),
        "low": columns["normalized_low"],
        "high": columns["normalized_high"],
        "limit": math.inf if limit == "inf" else limit,
        "percentiles": {
            entry["p"]: entry["estimate"]
            for entry in summary["quantiles"]
            if entry["p"] in MARKED and entry["estimate"] is not None
        },
        "quantiles": [entry for entry in summary["quantiles"] if entry["p"] in MARKED],
        "system": {key: summary[key] for key in ("servers", "load", "sizes")},
    }


def _rows(curves):
    """Yield the figure's numbers: the tails, and the percentiles of T with their intervals."""

    def plain(value):
        return None if value is None or not math.isfinite(value) else float(value)

    for curve in curves:
        head = curve["curve"], curve["policy"], curve["label"]
        columns = (curve[key] for key in ("t", "estimate", "low", "high"))
        for t, *normalized in zip(*columns, strict=True):
            yield "tail", *head, float(t), None, None, *map(plain, normalized), curve["limit"]
        for entry in curve["quantiles"]:
            times = entry["estimate"], entry.get("low"), entry.get("high")
            yield f"percentile {entry['p']:g}", *head, *times, None, None, None, None


def main(description, **options):
    """Draw the curves named on the command line; the module of the figure gives its options.

    Parameters
    ----------
    description : str
        The module's docstring.
    options
        Of `tailsched.plotting.normalized_tail.draw_normalized_tails`.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("curves", nargs="+", type=Path, metavar="CURVE.csv")
    parser.add_argument("-o", "--output", type=Path, required=True, help="path without a suffix")
    parser.add_argument("--mark", default="", help="a note drawn into the figure")
    arguments = parser.parse_args()
    try:
        curves = [_curve(path) for path in arguments.curves]
    except ValueError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    system = curves[0]["system"]
    panel = arguments.output.name[5:]
    fig = normalized_tail_figure(
        curves,
        n=system["servers"],
        rho=system["load"],
        alpha=parse_sizes(system["sizes"]).tail_index,
        title=f"({panel})" if panel else None,
        mark=arguments.mark or None,
        reach=max(curve["reach"] for curve in curves),
        **options,
    )
    save(fig, arguments.output)
    write_csv(arguments.output.with_name(arguments.output.name + ".csv"), COLUMNS, _rows(curves))
