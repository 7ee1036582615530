"""The figures: equal bytes under any environment, honest bands, consistent colours, exact tables."""

import csv
import importlib.util
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tailsched import files
from tailsched.plotting import style
from tailsched.plotting.normalized_tail import (
    bound_label,
    draw_normalized_tails,
    normalized_tail_figure,
    shared_title,
    visible,
    y_range,
)

ROOT = Path(__file__).parents[1]
SETTING = {"n": 3, "rho": 0.5, "alpha": 1.5}
T = np.logspace(0, 6, 61)


def load(name):
    """Import a script of figures/ by its path."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "figures" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def curve(policy="srpt", level=1.5, limit=1.4, **changes):
    estimate = np.full(T.shape, level)
    data = {
        "policy": policy,
        "label": policy,
        "t": T,
        "estimate": estimate,
        "low": 0.95 * estimate,
        "high": 1.05 * estimate,
        "limit": limit,
        "percentiles": {99: 20.0, 99.9: 100.0, 99.99: 480.0},
    }
    return data | changes


DRAW_ALL = """
import sys
sys.path.insert(0, {tests!r})
import test_plotting as here
from tailsched.plotting import style
folder = sys.argv[1]
fig = here.normalized_tail_figure([here.curve("split", 1.0), here.curve()], **here.SETTING)
style.save(fig, folder + "/tail")
here.load("fig02_reductions").main(["-o", folder + "/diagram"])
import matplotlib
assert matplotlib.get_backend().lower() == "agg", matplotlib.get_backend()
assert "matplotlib.pyplot" not in sys.modules
"""


def test_files_are_equal_byte_for_byte_whatever_the_environment(tmp_path):
    rc = tmp_path / "matplotlibrc"
    rc.write_text(
        "text.usetex: True\nfont.family: serif\nsavefig.dpi: 50\npdf.fonttype: 3\nlines.linewidth: 9\n"
    )
    environments = (
        {"TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "1"},
        {"TZ": "America/Los_Angeles", "PYTHONHASHSEED": "2", "MPLBACKEND": "TkAgg", "MATPLOTLIBRC": str(rc)},
    )
    processes = []
    for number, extra in enumerate(environments):
        folder = tmp_path / str(number)
        folder.mkdir()
        inherited = {
            k: v for k, v in os.environ.items() if k not in ("DISPLAY", "MPLBACKEND", "MATPLOTLIBRC")
        }
        command = [sys.executable, "-W", "error", "-c", DRAW_ALL.format(tests=str(ROOT / "tests")), folder]
        processes.append(
            subprocess.Popen(command, env=inherited | extra, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        )
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    names = sorted(path.name for path in (tmp_path / "0").iterdir())
    assert names == ["diagram.csv", "diagram.pdf", "diagram.png", "tail.pdf", "tail.png"]
    for name in names:
        assert (tmp_path / "0" / name).read_bytes() == (tmp_path / "1" / name).read_bytes(), name
    pdf = (tmp_path / "0" / "tail.pdf").read_bytes()
    assert b"/FontFile2" in pdf and b"/Type3" not in pdf and b"CreationDate" not in pdf
    assert b"Software" not in (tmp_path / "0" / "tail.png").read_bytes()


def test_zeros_and_missing_values_raise_no_warning_and_keep_the_limits():
    ax = style.figure().add_subplot()
    good = curve()
    draw_normalized_tails(ax, [good], **SETTING)
    zeros = curve()
    for key in ("estimate", "low", "high"):
        zeros[key] = zeros[key].copy()
    zeros["estimate"][-12:] = zeros["low"][-12:] = 0.0
    zeros["low"][40:] = 0.0
    empty = curve("ps", math.nan, None, percentiles={99: math.nan})
    flat = curve("fcfs", 0.0, math.inf, percentiles={})
    bottom, top = ax.get_ylim()
    for yscale, room in (("linear", 1), ("log", 2)):
        fig = style.figure()
        other = fig.add_subplot()
        draw_normalized_tails(other, [zeros, empty, flat], yscale=yscale, **SETTING)
        assert other.get_ylim() == pytest.approx((bottom, room * top))
        assert other.get_xlim() == (1.0, 1e7)
        fig.draw_without_rendering()
        legends = [t.get_text() for legend in other.artists for t in legend.get_texts()]
        legends += [t.get_text() for t in other.get_legend().get_texts()]
        assert "ps (no data)" in legends and "fcfs (no data)" in legends
        assert "srpt" in legends


def test_what_is_too_uncertain_is_left_out():
    c = curve()
    c["high"] = np.where(T > 1e4, 1.5 * 1.6, c["high"])
    c["low"] = np.where(T > 1e4, 1.5 * 0.4, c["low"])
    t, estimate, low, high = visible(c)
    assert np.array_equal(np.isfinite(estimate), T <= 1e4)
    assert np.array_equal(np.isfinite(estimate), np.isfinite(low) & np.isfinite(high))
    ax = style.figure().add_subplot()
    draw_normalized_tails(ax, [c | {"percentiles": {99: 2e4, 99.9: 100.0}}], legend=False, **SETTING)
    assert [line.get_marker() for line in ax.lines if line.get_marker() != "None"] == ["s"]


def test_noise_and_a_diverging_curve_do_not_move_the_axis():
    c = curve()
    plain_range = y_range([c], (1, 1e6))
    noisy = curve()
    for key, factor in (("estimate", 1.0), ("low", 0.6), ("high", 1.4)):
        noisy[key] = np.where(T > 1e5, 40.0 * factor, noisy[key])
    assert y_range([noisy], (1, 1e6)) == plain_range
    diverging = curve("fcfs", limit=math.inf)
    for key in ("estimate", "low", "high"):
        diverging[key] = diverging[key] * T
    assert y_range([c, diverging], (1, 1e6)) == plain_range
    assert y_range([], (1, 1e6))[0] < 1 < y_range([], (1, 1e6))[1]
    low = y_range([curve(level=0.55)], (1, 1e6))
    assert low[0] < 0.55


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="differ in length"):
        visible(curve(low=np.ones(3)))


def test_the_bound_is_the_one_of_the_load():
    assert "1-" not in bound_label(3, 0.5)
    assert "n(1-" in bound_label(3, 0.8)
    assert "n(1-" in bound_label(3, 2 / 3)


def test_every_axes_has_the_same_size_and_the_legend_fits():
    sides = [f"Thresh-SPLIT, $L={x}$, {s}" for s in ("FCFS", "SRPT-2") for x in (0.45, 0.5, 0.6)]
    figures = [
        normalized_tail_figure([curve(label=label) for label in labels], **SETTING)
        for labels in (["SPLIT"], sides, [*sides, "SRPT-3"])
    ]
    boxes = [fig.axes[0].get_window_extent().size / fig.dpi for fig in figures]
    assert np.ptp(boxes, axis=0) == pytest.approx([0, 0], abs=1e-9)
    for fig in figures:
        ax = fig.axes[0]
        fig.draw_without_rendering()
        for artist in (ax.title, ax.yaxis.label, ax.xaxis.label, ax.get_legend(), *ax.artists):
            box = artist.get_window_extent(fig.canvas.get_renderer())
            assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= fig.bbox.x1 and box.y1 <= fig.bbox.y1, artist


FIGURES = (
    ("split", "srpt", "sek:epsilon=200"),
    ("split", "srpt", "sek:epsilon=10", "sek:epsilon=50", "sek:epsilon=100", "sek:epsilon=200"),
    (*(f"thresh-split:percentile={p},small=fcfs" for p in ("99", "99.9", "99.99")), "srpt", "fcfs", "ps"),
    tuple(f"thresh-split:large-load={x},small={s}" for x in (0.45, 0.5, 0.6) for s in ("fcfs", "srpt")),
    ("tags-split:percentile=99", "tags-split:large-load=0.5", "mine", "mine:k=2", "another"),
)


def test_every_curve_of_a_figure_is_distinct():
    for policies in FIGURES:
        looks = style.styles(policies)
        assert len({(look["color"], str(look["linestyle"])) for look in looks}) == len(policies)
    bases = {style.policy_style(p)["color"] for p in style.FAMILIES}
    assert len(bases) == len(style.FAMILIES)
    thresholds = [look["color"] for look in style.styles(FIGURES[2])[:3]]
    grey = sorted(0.3 * r + 0.59 * g + 0.11 * b for r, g, b in map(style.to_rgb, thresholds))
    assert min(np.diff(grey)) > 0.15


def test_a_policy_has_the_same_colour_in_two_figures():
    first, second = (dict(zip(p, style.styles(p), strict=True)) for p in FIGURES[:2])
    for policy in FIGURES[0]:
        assert first[policy] == second[policy] == style.policy_style(policy)
    for percentile in ("99", "99.9", "99.99"):
        fcfs = f"thresh-split:percentile={percentile},small=fcfs"
        srpt = fcfs.replace("fcfs", "srpt")
        both = [p.replace("fcfs", s) for p in FIGURES[2][:3] for s in ("fcfs", "srpt")]
        alone = style.policy_style(fcfs, among=FIGURES[2])
        assert alone == style.policy_style(fcfs, among=both)
        assert alone["color"] == style.policy_style(srpt, among=both)["color"]
        assert alone["linestyle"] == "-" != style.policy_style(srpt, among=both)["linestyle"]


def test_two_ways_to_write_a_policy_give_one_style():
    written = ("thresh-split:threshold-percentile=99", "thresh-split:percentile=99,small=fcfs,steal=yes")
    others = ["thresh-split:threshold-percentile=99.9", "thresh-split:threshold-percentile=99.9,small=srpt"]
    first, second = (style.policy_style(policy, among=[policy, *others]) for policy in written)
    assert first == second
    with pytest.raises(ValueError, match="key=value"):
        style.parse_policy("sek:200")


def test_what_all_labels_share_is_said_once():
    assert shared_title(["A, x, s", "A, y"]) == ("A", ["x, s", "y"])
    for labels in (["A, x"], ["A, x", "B, y"], ["A", "A, x"]):
        assert shared_title(labels) == (None, labels)


def test_a_failed_save_leaves_the_old_file_and_no_other(tmp_path):
    target = tmp_path / "a.csv"
    files.write_csv(target, ["x"], [[0.1]])
    with pytest.raises(RuntimeError), files.replacing(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert target.read_text() == "x\n0.1\n"
    assert list(tmp_path.iterdir()) == [target]


def test_csv_cells_are_exact():
    values = [np.float64(0.1), 1 / 3, np.int64(7), 1e300, None, "a,b"]
    assert [files.cell(v) for v in values] == ["0.1", "0.3333333333333333", "7", "1e+300", "", "a,b"]
    with pytest.raises(TypeError):
        files.cell([1])


@pytest.mark.parametrize(
    "name", ["fig01_split", "fig02_reductions", "fig04_thresh_split", "fig05_tags_split"]
)
def test_diagrams_fit_the_page_and_list_their_parts(name):
    diagram = load(name).draw()
    fig = diagram.fig
    assert fig.get_figwidth() == style.COLUMN
    box = fig.get_tightbbox(fig.canvas.get_renderer())
    assert box.x0 >= 0 and box.y0 >= 0
    assert box.x1 <= fig.get_figwidth() and box.y1 <= fig.get_figheight()
    names = {row[1] for row in diagram.rows}
    edges = [row for row in diagram.rows if row[0] == "edge"]
    assert edges and {end for row in edges for end in row[2:4]} <= names | {"arrivals", "departures"}
    assert all("\\" not in cell and "$" not in cell for row in diagram.rows for cell in row)


def test_tables(tmp_path):
    from tailsched import curves

    load("table1_single_server").main(["-o", str(tmp_path / "one")])
    summary = {"label": "SRPT-3", "servers": 3, "load": 0.5, "sizes": "pareto:1.5", "limit": "inf"}
    (tmp_path / "curve.json").write_text(json.dumps(summary), encoding="utf-8")
    point = dict.fromkeys(curves.COLUMNS) | {"t": 1024.0, "normalized": 1.0123, "normalized_low": 0.99}
    files.write_csv(tmp_path / "curve.csv", curves.COLUMNS, [point | {"normalized_high": 1.03}])
    script = load("table2_multi_server")
    script.main(["-o", str(tmp_path / "bare")])
    script.main(["-o", str(tmp_path / "two"), "--curves", str(tmp_path / "curve.csv")])
    assert "Measured" not in (tmp_path / "bare.md").read_text(encoding="utf-8")
    text = (tmp_path / "two.md").read_text(encoding="utf-8")
    assert "| n=3, rho=0.5, pareto:1.5 | SRPT-3 | ∞ | 1024 | 1.012 | 0.990 to 1.030 |" in text
    assert "| ∞ | 16384 | no data |  |" in text
    with open(tmp_path / "two.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["normalized_tail"] for row in rows if row["part"] == "measured"] == ["1.0123", ""]
    assert not any("\\" in cell or "$" in cell for row in rows for cell in row.values())
    with pytest.raises(SystemExit):
        script.main(["-o", str(tmp_path / "two"), "--curves", str(tmp_path / "none.csv")])
