"""From fixed points to figures and checks of the SQ(d) paper, and the part of the DAG that makes them."""

import csv
import importlib.util
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tailsched.dispatch import points, sweeps
from tailsched.dispatch.cavity import Cavity
from tailsched.files import write_csv
from tailsched.plotting.dispatch import gain_panel, gains, read_rows

ROOT = Path(__file__).parent.parent
SWEEP = {
    "x": "lam", "from": 0.4, "to": 0.8, "points": 5, "policies": ["sq", "sq-rtb", "las", "las-qtb", "lew"],
    "d": [3], "sizes": "hexp:4,0.5", "delta": 0.5, "threshold": 2,
}  # fmt: skip


def load(path):
    """Return a script of the project as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def brute_ties(u, d):
    """Equation (21), term by term; u[l - 1] = P[Q >= l]."""
    u = [*u, 0.0]
    total = 0.0
    for k in range(1, d + 1):
        for here, above in zip(u, u[1:], strict=False):
            total += k * math.comb(d, k) * (here - above) ** k * above ** (d - k)
    return total / u[0] ** d


@pytest.mark.parametrize("d", [2, 5, 20])
def test_the_mean_number_of_ties_is_equation_21(d):
    solution = Cavity("sq", d, "hexp:10,0.5").solve(0.9)
    ties = sweeps.mean_ties(solution.queue_tail, d)
    assert ties == pytest.approx(brute_ties(list(solution.queue_tail), d), rel=1e-10)
    assert 1 < ties < d


def test_a_sweep_gives_the_fixed_points():
    rows = list(sweeps.rows(SWEEP))
    assert len(rows) == 25
    for policy, d, x, wait, ties, _ in rows[::6]:
        again = Cavity(policy, d, SWEEP["sizes"], 0.5).solve(x)
        assert wait == pytest.approx(again.mean_wait, rel=1e-8)
        assert (ties is None) == (policy != "sq")
    thresholds = {**SWEEP, "x": "threshold", "from": 0.2, "to": 3.0, "log": True, "lam": 0.7, "points": 3}
    rows = list(sweeps.rows({**thresholds, "policies": ["sq", "sq-rtb-re"]}))
    assert len({row[3] for row in rows[:3]}) == 1 and len({row[3] for row in rows[3:]}) == 3
    assert sweeps.whole_layers(0.25, 0.1) == pytest.approx(0.25 / 3)
    assert sweeps.whole_layers(0.3, 0.1) == pytest.approx(0.1)


def test_points_pair_the_policies():
    system = {
        "policies": ["sq", "lew"], "servers": [50], "d": 3, "lams": [0.7], "sizes": "exp", "delta": 0.5,
        "threshold": 2, "cut": 5,
    }  # fmt: skip
    spec = {"share": 0.5, "runs": 5, "times": [0, 2], "systems": [system]}
    rows = [dict(zip(points.COLUMNS, row, strict=True)) for row in points.rows(spec, 400_000, 1)]
    means = {row["policy"]: row for row in rows if row["quantity"] == "mean_wait"}
    (gain,) = [row for row in rows if row["quantity"] == "gain"]
    # With exponential sizes LEW is SQ: on the same jobs, to the last digit.
    assert means["sq"]["estimate"] == means["lew"]["estimate"] and gain["estimate"] == 0.0
    assert [row["t"] for row in rows if row["quantity"] == "wait_tail"] == [0.0, 2.0] * 2


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    place = tmp_path_factory.mktemp("drawn")
    write_csv(place / "sweep.csv", sweeps.COLUMNS, sweeps.rows(SWEEP))
    gain_panel("Doc.", [str(place / "sweep.csv"), "-o", str(place / "fig02a")], d=3)
    return place


def test_a_panel_holds_the_gains(drawn):
    curves = gains(read_rows(drawn / "sweep.csv"))
    with open(drawn / "fig02a.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["curve"] for row in rows} == {"SQ(3)-RTB", "LAS(3)", "LAS(3)-QTB", "LEW(3)"}
    for row in rows:
        x, gain, _ = next(p for p in curves[row["policy"], 3] if p[0] == float(row["x"]))
        assert float(row["gain"]) == gain
    assert all((drawn / f"fig02a.{kind}").stat().st_size > 1000 for kind in ("pdf", "png"))


def test_a_panel_is_the_same_byte_for_byte(drawn):
    arguments = [str(drawn / "sweep.csv"), "-o", str(drawn / "again_a")]
    gain_panel("Doc.", [*arguments[:2], str(drawn / "fig99a")], d=3)
    for kind in ("pdf", "png", "csv"):
        assert (drawn / f"fig99a.{kind}").read_bytes() == (drawn / f"fig02a.{kind}").read_bytes()


def test_a_missing_input_names_the_rule(drawn, capsys):
    with pytest.raises(SystemExit) as end:
        gain_panel("Doc.", [str(drawn / "none.csv"), "-o", str(drawn / "x")])
    assert end.value.code == 2 and "is missing: `snakemake" in capsys.readouterr().err


def test_the_helpers_of_the_statements():
    checks = load(ROOT / "paper_checks" / "sqd_statements.py")
    curve = [(0.0, 0.5, None), (0.5, 0.25, None), (1.0, -0.25, None)]
    assert checks.at(curve, 0.25) == pytest.approx(0.375)
    assert checks.last_gain(curve) == pytest.approx(0.75)
    flat = [(x, 0.3, None) for x in (0.0, 0.5, 1.0)]
    assert checks.crossings(curve, flat) == [0.5]
    assert checks.crossings(flat, flat) == []
    assert checks.turns([0, 1, 0.5, 0.9, 0.1], 0.2) == 2
    assert checks.turns([0, 1, 0.95, 1, 0.1], 0.2) == 1
    assert checks.turns([3, 2, 1], 0.2) == checks.turns([1, 2, 3], 0.2) == 0


def test_a_statement_that_does_not_hold_fails():
    checks = load(ROOT / "paper_checks" / "sqd_statements.py")
    geometric = [{"policy": "sq", "d": 2, "change": 0.5**i} for i in range(45)]
    creeping = [{"policy": "sq", "d": 2, "change": 1.0 / i**8} for i in range(1, 60)]
    verdicts = [
        [row[-1] for row in checks.convergence({"fig01a": rows, "fig01b": rows})]
        for rows in (geometric, creeping)
    ]
    assert verdicts[0] == [True] * 4 and False in verdicts[1]


def test_the_verdict_on_agreement():
    checks = load(ROOT / "paper_checks" / "sqd_agreement.py")
    assert checks.verdict(1.0, 0.01, 1.02, True) == "pass"
    assert checks.verdict(1.0, 0.01, 1.2, True) == "fail"
    assert checks.verdict(1.0, 0.2, 1.2, True) == checks.verdict(1.0, 0.01, 1.2, False) == "undecided"


def test_servers_at_most():
    system = {"servers": [10, 50, 100, 500], "lams": [0.5, 0.7]}
    assert points.cases(system, 50) == [(10, 0.5, 0.0), (10, 0.7, 0.0), (50, 0.5, 0.0), (50, 0.7, 0.0)]
    assert len(points.cases({**system, "delays": [0, 1]}, 10**7)) == 16


def test_runs_shorter_than_their_warm_up_decide_nothing():
    checks = load(ROOT / "paper_checks" / "sqd_agreement.py")
    row = {"servers": 1000, "lam": 0.5, "sizes": "exp", "runs": 10, "arrivals": 100_000}
    assert not checks.settled(row) and checks.settled({**row, "arrivals": 1_000_000})


def test_families_of_one_call(tmp_path):
    """Several families, with a share of the points; an unknown one is named."""
    config = {"sweeps": {"one": {**SWEEP, "points": 40}, "two": SWEEP}, "residuals": {}, "tails": {}}
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(config))
    command = [sys.executable, "-m", "tailsched.dispatch.sweeps", path, "--points", "0.25", "-o", tmp_path]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}

    def run(*names):
        return subprocess.run([*command, *names], env=environment, capture_output=True, text=True)

    assert run("one", "two").returncode == 0
    assert [len(read_rows(tmp_path / f"{name}.csv")) for name in ("one", "two")] == [50, 25]
    done = run("three")
    assert done.returncode == 2 and "no family three" in done.stderr


def test_panels_of_one_process(tmp_path):
    """A batch runs its scripts with their own arguments, and ends at the first that fails."""
    script = tmp_path / "a script.py"
    script.write_text("import sys\nprint(sys.argv[1:])\nassert sys.argv[1] != 'bad'\n")
    calls = [f"'{script}' 'an argument'", f"'{script}' bad", f"'{script}' never"]
    command = [sys.executable, "-m", "tailsched.plotting.batch", *calls]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}
    )
    assert done.returncode != 0 and done.stdout == "['an argument']\n['bad']\n"


def dry_run(place, *targets):
    """The jobs that a dry run lists, as a dict from rule to count."""
    command = [sys.executable, "-m", "snakemake", "-n", "--cores", "1", *targets]
    environment = {**os.environ, "PYTHONPATH": str(place / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    stats = re.search(r"^Job stats:\njob +count\n[- ]+\n(.*?)^total", done.stdout + done.stderr, re.M | re.S)
    return (
        {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", stats[1], re.M)} if stats else {}
    )


def test_an_edited_solver_asks_for_no_simulation_of_the_other_paper(tmp_path):
    place = tmp_path / "a b"
    place.mkdir()
    for part in ("Snakefile", "workflow", "config", "src", "figures", "paper_checks"):
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
        copy(ROOT / part, place / part)
    (place / "pyproject.toml").write_text("")
    config = yaml.safe_load((ROOT / "config" / "sqd.yaml").read_text())
    jobs = dry_run(place, "sqd")
    assert sum(name.startswith("sqd_solve") for name in jobs) == 3
    assert jobs["sqd_simulate"] == len(config["simulations"])
    assert sum(name.startswith("sqd_draw") for name in jobs) == 5 and "shard" not in jobs
    from tailsched._jit import DISPATCH_SOURCES, KERNEL_SOURCES

    assert not any("dispatch" in pattern for pattern in KERNEL_SOURCES)
    assert not any("mgn" in pattern for pattern in DISPATCH_SOURCES)
    assert all((ROOT / "src" / "tailsched" / name).exists() for name in DISPATCH_SOURCES)


def test_every_panel_has_its_module_and_its_families():
    rules = (ROOT / "workflow" / "rules" / "sqd_common.smk").read_text()
    modules = set(re.findall(r'"(sqd_(?:fig|table|threshold|bias|stale)\w*)"', rules))
    assert modules == {path.stem for path in (ROOT / "figures").glob("sqd_*.py")}
    config = yaml.safe_load((ROOT / "config" / "sqd.yaml").read_text())
    for sweep in config["sweeps"].values():
        assert sweep["policies"][0] == "sq"
