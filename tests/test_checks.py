"""The checks of a run can fail: each is given a true and a false case."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tailsched.curves import write_curve
from tailsched.files import write_csv
from tailsched.plotting.curve_figures import COLUMNS
from tailsched.runs import divide, run_shards
from tailsched.settings import Setting

CHECKS = Path(__file__).parent.parent / "paper_checks"


def check(script, *arguments):
    command = [sys.executable, str(CHECKS / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def verdicts(path):
    with open(path, newline="") as file:
        return [row["verdict"] for row in csv.DictReader(file)]


@pytest.fixture
def summary(tmp_path):
    """The JSON file of a short run of SPLIT."""
    setting = Setting.parse("split", 3, 0.5, "bounded-pareto:1.5,1,100")
    path = tmp_path / "curve.csv"
    write_curve(path, "low/split", setting, run_shards(setting, "low/split", 1, divide(200_000, 8)))
    return path.with_suffix(".json")


def test_identities_of_a_correct_run_pass(tmp_path, summary):
    done = check("identities.py", summary, "-o", tmp_path / "identities")
    assert done.returncode == 0, done.stdout + done.stderr
    assert verdicts(tmp_path / "identities.csv") == ["pass"] * 6
    assert "6 pass, 0 fail, 0 undecided" in (tmp_path / "identities.md").read_text()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("responses_below_size", 1),
        ("little", 1.0 + 1e-6),
        ("idle_with_work", 1e-3),
        ("work", {"estimate": 1.2, "se": 0.001, "low": 1.19, "high": 1.21}),
        ("busy", {"estimate": 1.2, "se": 0.001, "low": 1.19, "high": 1.21}),
    ],
)
def test_a_broken_identity_fails(tmp_path, summary, key, value):
    content = json.loads(summary.read_text())
    content["identities"][key] = value
    summary.write_text(json.dumps(content))
    done = check("identities.py", summary, "-o", tmp_path / "identities")
    assert done.returncode == 1
    assert "1 identities failed" in done.stderr and "FAIL low/split" in done.stdout


def test_a_wide_interval_decides_nothing(tmp_path, summary):
    content = json.loads(summary.read_text())
    content["identities"]["busy"] = {"estimate": 1.52, "se": 0.1, "low": 1.3, "high": 1.74}
    summary.write_text(json.dumps(content))
    assert check("identities.py", summary, "-o", tmp_path / "identities").returncode == 0
    assert verdicts(tmp_path / "identities.csv").count("undecided") == 1


def test_a_missing_curve_names_its_rule(tmp_path):
    done = check("identities.py", tmp_path / "none.json", "-o", tmp_path / "identities")
    assert done.returncode == 2 and "`snakemake" in done.stderr and done.stderr.count("\n") == 1


def figure(path, factor=1.0, width=0.01, name="low/split"):
    rows = [
        ("tail", name, "split", "SPLIT", t, None, None, factor, factor - width, factor + width, 1.0)
        for t in (1.0, 16.0, 256.0, 4096.0, 65536.0)
    ]
    path.parent.mkdir(exist_ok=True)
    write_csv(path, COLUMNS, rows)
    return path


@pytest.mark.parametrize(
    ("factor", "width", "code", "expected"),
    [(1.0, 0.01, 0, "pass"), (1.02, 0.01, 0, "pass"), (1.2, 0.01, 1, "fail"), (1.2, 1.0, 0, "undecided")],
)
def test_a_run_against_the_reference(tmp_path, factor, width, code, expected):
    figure(tmp_path / "reference" / "fig06a.csv")
    run = figure(tmp_path / "run" / "fig06a.csv", factor, width)
    arguments = [run, "--reference", tmp_path / "reference", "-o", tmp_path / "check"]
    done = check("reference.py", *arguments)
    assert done.returncode == code, done.stderr
    assert verdicts(tmp_path / "check.csv") == [expected] * 4


def test_a_figure_or_curve_without_a_reference_is_undecided(tmp_path):
    figure(tmp_path / "reference" / "fig06a.csv", name="low/other")
    runs = [figure(tmp_path / "run" / f"{name}.csv") for name in ("fig06a", "fig99")]
    done = check("reference.py", *runs, "--reference", tmp_path / "reference", "-o", tmp_path / "check")
    assert done.returncode == 0
    assert verdicts(tmp_path / "check.csv") == ["undecided"] * 3
