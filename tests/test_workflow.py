"""The DAG on a checkout whose path has spaces: complete, resumable, exact about what an edit touches.

One tiny run of Figure 6(a) and Figure 1 is made once; every test works on a copy of it.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from copy import deepcopy
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PARTS = ("Snakefile", "workflow", "config", "src", "figures", "paper_checks")
TINY = {
    "results": "results/tiny",
    "seed": 3,
    "method": "natural",
    "arrivals": 40_000,
    "shards": 4,
    "shards_per_job": 2,
    "warm_up": 1000,
    "precision": 0.1,
    "horizon": 100,
    "far": 0.1,
    "until": 1000,
    "paired": 20_000,
    "times": [10],
    "claims": {"work": 0.01},
    "sqd": {"points": 0.05, "arrivals": 100_000, "servers": 20},
    "mark": "",
}
FIGURES = "results/tiny/split/figures"
TARGETS = [f"{FIGURES}/fig06a.png", f"{FIGURES}/fig01.pdf", "results/tiny/split/tables/table1.md"]
SHARDS = "results/tiny/split/shards/low"

#: Findings of the linter that CONTRIBUTING.md waives by name.
WAIVED = (
    "Specify a conda environment or container for each rule.",
    "Shell command directly uses variable PYTHON from outside of the rule",
)


def command(*arguments):
    flags = ["--cores", "2", *map(str, arguments), "--configfile", "tiny.yaml"]
    return [sys.executable, "-m", "snakemake", *flags]


def environment(place, **extra):
    """Kernels and command line come from the checkout in `place`."""
    return {**os.environ, "PYTHONPATH": str(place / "src"), "PYTHONDONTWRITEBYTECODE": "1", **extra}


def only(place, curves, comparisons=None, figures=None):
    """Leave of the configuration the setting `low` with some curves."""
    split, paper = (place / "config" / f"{name}.yaml" for name in ("split", "paper"))
    low = yaml.safe_load(split.read_text())["settings"]["low"]
    parts = {
        "settings": {"low": {**low, "curves": curves}},
        "comparisons": comparisons or {},
        "figures": figures or {},
    }
    split.write_text(yaml.safe_dump(parts))
    paper.write_text(yaml.safe_dump({**yaml.safe_load(paper.read_text()), "settings": {}}))


def snakemake(place, *arguments, **extra):
    return subprocess.run(
        command(*arguments),
        cwd=place,
        env=environment(place, **extra),
        capture_output=True,
        text=True,
        timeout=300,
    )


def planned(place, *arguments):
    """The jobs that a dry run lists, as a dict from rule to count."""
    done = snakemake(place, "-n", *(arguments or TARGETS))
    assert done.returncode == 0, done.stderr
    if "Nothing to be done" in done.stdout + done.stderr:
        return {}
    stats = re.search(r"^Job stats:\njob +count\n[- ]+\n(.*?)^total", done.stdout + done.stderr, re.M | re.S)
    return {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", stats[1], re.M)}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    place = tmp_path_factory.mktemp("first") / "My Papers (v2)" / "split artifact"
    place.mkdir(parents=True)
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
        copy(ROOT / part, place / part)
    (place / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    done = snakemake(place, *TARGETS)
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def checkout(finished, tmp_path):
    """A copy of the finished tree, elsewhere, with its times."""
    return shutil.copytree(finished, tmp_path / "moved (2)" / "artifact", copy_function=shutil.copy2)


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_everything_is_planned(finished):
    jobs = planned(finished, "all")
    assert jobs["normalized_tail"] == 15 and jobs["drawing"] == 4
    assert jobs["merge"] == 49 and jobs["shard"] == 98 and jobs["comparison"] == 5
    assert jobs["sqd_simulate"] == 6 and jobs["sqd_solve_others"] == jobs["sqd_draw_curves"] == 1


def test_a_finished_run_has_nothing_to_do(checkout):
    """In another folder, temporary directory, hash seed and core count, and with a touched config."""
    (checkout / "config" / "split.yaml").touch()
    done = snakemake(checkout, "--cores", "1", *TARGETS, PYTHONHASHSEED="7", TMPDIR=str(checkout.parent))
    assert done.returncode == 0 and "Nothing to be done" in done.stdout + done.stderr


def test_outputs_are_whole(finished):
    figures = finished / FIGURES
    names = [f"{name}.{kind}" for name in ("fig01", "fig06a") for kind in ("csv", "pdf", "png")]
    assert sorted(path.name for path in figures.iterdir()) == names
    header = (figures / "fig06a.csv").read_text().splitlines()[0]
    assert header.startswith("kind,curve,policy,label,t,t_low,t_high,normalized,")
    assert not [path for path in finished.rglob(".*.tmp")]


def test_a_second_run_gives_the_same_bytes(finished, checkout):
    shutil.rmtree(checkout / "results")
    shutil.rmtree(checkout / ".snakemake")
    done = snakemake(checkout, "--cores", "1", *TARGETS, NUMBA_NUM_THREADS="1", MPLBACKEND="TkAgg")
    assert done.returncode == 0, done.stderr
    for kind in ("csv", "pdf", "png", "json", "md"):
        paths = sorted((finished / "results").rglob(f"*.{kind}"))
        assert paths
        for path in paths:
            assert path.read_bytes() == (checkout / path.relative_to(finished)).read_bytes(), path


@pytest.mark.parametrize(
    ("file", "old", "jobs"),
    [
        ("figures/fig06_low_load.py", "Figure 6", {"normalized_tail": 1}),
        ("src/tailsched/plotting/normalized_tail.py", '"""', {"normalized_tail": 1}),
        ("src/tailsched/cli.py", "print JSON", {}),
        ("README.md", None, {}),
        (
            "src/tailsched/tails/estimates.py",
            "Estimates with",
            {"shard": 6, "merge": 3, "normalized_tail": 1},
        ),
        ("src/tailsched/curves.py", "Curves:", {"merge": 3, "normalized_tail": 1}),
        ("src/tailsched/settings.py", "A setting:", {"merge": 3, "normalized_tail": 1}),
        ("src/tailsched/mgn/srpt.py", "SRPT-n", {"shard": 6, "merge": 3, "normalized_tail": 1}),
        ("src/tailsched/sampling.py", "Drawing", {"shard": 6, "merge": 3, "normalized_tail": 1}),
    ],
)
def test_what_an_edit_touches(checkout, file, old, jobs):
    """An edited kernel simulates anew, an edited figure is drawn anew, an edited help text does nothing."""
    if old is None:
        (checkout / file).write_text("new")
    else:
        edit(checkout / file, old, old + " ")
    assert planned(checkout) == jobs


@pytest.mark.parametrize(
    ("old", "new"),
    [("sek-200: sek:epsilon=200", "sek-200: sek:epsilon=150"), ("split: split", "split: sek:epsilon=1")],
)
def test_a_changed_curve_is_the_only_one(checkout, old, new):
    edit(checkout / "config" / "split.yaml", old, new)
    assert planned(checkout) == {"shard": 2, "merge": 1, "normalized_tail": 1}


TAGGED = {"method": "tagged", "arrivals": 400_000, "warm_up": 500, "shards": 2, "horizon": 1e4, "until": 1e5}


def test_a_curve_with_tagged_jobs(checkout):
    """One job a curve, in the same figures; another precision or budget simulates anew, and the bytes repeat."""
    (checkout / "tiny.yaml").write_text(yaml.safe_dump({**TINY, **TAGGED}))
    curve = "results/tiny/split/curves/low/split.json"
    assert planned(checkout, curve) == {"shard": 1, "merge": 1}
    done = snakemake(checkout, curve)
    assert done.returncode == 0, done.stderr
    first = (checkout / curve).read_bytes()
    summary = yaml.safe_load(first)
    assert summary["method"] == "tagged" and summary["precision"]["budget"] == 400_000
    assert summary["rate"]["estimate"] == pytest.approx(1.0) and summary["limit"] == 1.0
    (checkout / "results/tiny/split/shards/low/split/all.npz").unlink()
    assert snakemake(checkout, curve).returncode == 0 and (checkout / curve).read_bytes() == first
    (checkout / "tiny.yaml").write_text(yaml.safe_dump({**TINY, **TAGGED, "precision": 0.2}))
    assert planned(checkout, curve) == {"shard": 1, "merge": 1}


def test_comparisons_and_limits(checkout):
    """The tables of a run with one setting: paired differences, and the rate of an endless job."""
    only(checkout, {"srpt": "srpt", "split": "split"}, comparisons={"low": [["split", "srpt"]]})
    (checkout / "tiny.yaml").write_text(yaml.safe_dump({**TINY, **TAGGED}))
    tables = checkout / "results/tiny/split/tables"
    done = snakemake(
        checkout, *(f"results/tiny/split/tables/{name}.md" for name in ("limits", "comparisons"))
    )
    assert done.returncode == 0, done.stderr
    limits, comparisons = ((tables / f"{name}.csv").read_text() for name in ("limits", "comparisons"))
    assert limits.count("\n") == 3 and "low/split,SPLIT,1.0" in limits.replace("0.99999", "1.0")
    assert comparisons.count("\n") == 4 and "SPLIT,SRPT-3,99" in comparisons
    assert "of 2 curves are as precise" in (tables / "precision.md").read_text()


def test_more_shards_only_add(checkout):
    first = (checkout / SHARDS / "srpt" / "0-1.npz").stat().st_mtime_ns
    (checkout / "tiny.yaml").write_text(yaml.safe_dump({**TINY, "arrivals": 60_000, "shards": 6}))
    assert planned(checkout) == {"shard": 3, "merge": 3, "normalized_tail": 1}
    assert (checkout / SHARDS / "srpt" / "0-1.npz").stat().st_mtime_ns == first


@pytest.mark.parametrize("keep", [0, 0.5])
def test_a_broken_shard_is_named(checkout, keep):
    """A shard that was cut short stops the merge; it is never averaged."""
    path = checkout / SHARDS / "srpt" / "2-3.npz"
    whole = path.read_bytes()
    path.write_bytes(whole[: int(keep * len(whole))])
    done = snakemake(checkout, *TARGETS)
    assert done.returncode != 0
    output = done.stdout + done.stderr
    assert "shard file" in output and "2-3.npz cannot be read" in output
    path.unlink()
    assert snakemake(checkout, "results/tiny/split/curves/low/srpt.csv").returncode == 0
    assert path.read_bytes() == whole


def test_a_killed_run_goes_on_where_it_stopped(finished, checkout):
    """Killed outright after its first shards, unlocked, and run again: what was done is kept."""
    shutil.rmtree(checkout / "results")
    shutil.rmtree(checkout / ".snakemake")
    run = subprocess.Popen(
        command(*TARGETS), cwd=checkout, env=environment(checkout), start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 120
        while len(list(checkout.glob(f"{SHARDS}/*/*.npz"))) < 2:
            assert time.monotonic() < deadline and run.poll() is None
            time.sleep(0.05)
        second = snakemake(checkout, *TARGETS)
        assert second.returncode != 0 and "lock" in (second.stdout + second.stderr).lower()
    finally:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    kept = {path: path.stat().st_mtime_ns for path in checkout.glob(f"{SHARDS}/*/*.npz")}
    assert snakemake(checkout, "--unlock").returncode == 0
    done = snakemake(checkout, *TARGETS, "--rerun-incomplete")
    assert done.returncode == 0, done.stderr
    untouched = [path for path, modified in kept.items() if path.stat().st_mtime_ns == modified]
    assert len(untouched) >= 2
    for path in (finished / "results").rglob("*.csv"):
        assert path.read_bytes() == (checkout / path.relative_to(finished)).read_bytes()


BAD = {
    "unstable load": ({"settings": {"low": {"load": 1.2}}}, "settings.low: load = 1.2"),
    "nan load": ({"settings": {"low": {"load": float("nan")}}}, "settings.low: load = nan"),
    "load as text": ({"settings": {"low": {"load": "0.5"}}}, "settings.low.load = '0.5'"),
    "load as truth": ({"settings": {"low": {"load": True}}}, "settings.low.load = True"),
    "no load": ({"settings": {"low": {"load": None}}}, "settings.low.load = None"),
    "alpha 1": ({"settings": {"low": {"sizes": "pareto:1"}}}, "settings.low: pareto alpha = 1"),
    "unknown policy": ({"settings": {"low": {"curves": {"x": "lifo"}}}}, "curves.x: policy = 'lifo'"),
    "overloaded side": (
        {"settings": {"high": {"curves": {"x": "thresh-split:threshold=100"}}}},
        "settings.high.curves.x: threshold d = 100: must be below 36",
    ),
    "nan threshold": ({"settings": {"low": {"curves": {"x": "tags-split:threshold=nan"}}}}, "threshold"),
    "split where it does not apply": ({"settings": {"high": {"curves": {"x": "split"}}}}, "is in no figure"),
    "unknown key": ({"arivals": 5}, "unknown key arivals, allowed are results"),
    "unknown key below": ({"settings": {"low": {"lod": 5}}}, "settings.low: unknown key lod"),
    "no arrivals": ({"arrivals": 0}, "arrivals = 0: must be at least 1"),
    "nan arrivals": ({"arrivals": float("nan")}, "arrivals = nan: must be of type integer"),
    "uneven shards": ({"arrivals": 1001, "shards": 4, "warm_up": 10}, "must be a multiple of shards"),
    "warm-up too long": ({"warm_up": 10_000}, "warm-up = 10000"),
    "no points": ({"sqd": {"points": 0}}, "sqd.points = 0: must be above 0"),
    "more points than there are": ({"sqd": {"points": 2}}, "sqd.points = 2: must be at most 1"),
    "part of an arrival": ({"sqd": {"arrivals": 2e5 + 0.5}}, "sqd.arrivals = 200000.5: must be of type"),
    "fewer servers than choices": ({"sqd": {"servers": 5}}, "sqd.servers = 5: must be at least 20"),
    "unknown key of sqd": ({"sqd": {"runs": 5}}, "sqd: unknown key runs"),
    "negative seed": ({"seed": -1}, "seed = -1: must be at least 0"),
    "unknown curve": ({"figures": {"fig06a": {"curves": ["none"]}}}, "figures.fig06a.curves: 'none'"),
    "unknown setting": ({"figures": {"fig06a": {"setting": "none"}}}, "figures.fig06a.setting = 'none'"),
    "unknown method": ({"method": "guess"}, "method = 'guess'"),
    "no precision": ({"precision": 0}, "precision = 0: must be above 0"),
    "until before the horizon": ({"until": 50}, "until = 50: must be at least horizon = 100"),
    "one shard for tagged jobs": (
        {"method": "tagged", "shards": 1}, "shards = 1: method tagged needs at least 2",
    ),
    "unknown comparison": ({"comparisons": {"low": [["split", "none"]]}}, "comparisons.low: 'none' must be"),
    "zero time": ({"times": [0]}, "times.0 = 0: must be above 0"),
    "nan time": ({"times": [float("nan")]}, "times = [nan]: must be finite"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_config_is_one_line(finished, tmp_path, name):
    """Checked before anything runs: exit code 2, one line with the field and what is allowed."""
    change, part = BAD[name]
    path = tmp_path / "bad.yaml"
    path.write_text(yaml.safe_dump({**TINY, **change}))
    arguments = [sys.executable, "-m", "snakemake", "-n", "--cores", "1", "--configfile", str(path)]
    done = subprocess.run(arguments, cwd=finished, env=environment(finished), capture_output=True, text=True)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("Config file")]
    assert done.returncode == 2
    assert len(lines) == 1 and lines[0].startswith("config: ") and part in lines[0]
    assert "Traceback" not in done.stderr


def test_a_file_of_sizes_is_watched(checkout):
    """A curve with sizes from a file is simulated anew when the file changes, and the others are not."""
    sizes = checkout / "my sizes.txt"
    sizes.write_text("1\n2\n4\n")
    system = {"servers": 2, "load": 0.5, "sizes": "file:my sizes.txt", "curves": {"srpt": "srpt"}}
    (checkout / "tiny.yaml").write_text(yaml.safe_dump({**TINY, "settings": {"own": system}}))
    target = "results/tiny/split/curves/own/srpt.csv"
    assert snakemake(checkout, target).returncode == 0
    assert planned(checkout, target) == {}
    sizes.write_text("1\n2\n4\n8\n")
    assert planned(checkout, target) == {"shard": 2, "merge": 1}
    assert planned(checkout) == {}


def test_a_failed_check_stops_the_run_and_keeps_its_rows(checkout):
    """All curves of a run of one setting; then one curve is made to break an identity."""
    figures = {"fig06a": {"module": "fig06_low_load", "setting": "low", "curves": ["srpt"]}}
    only(checkout, {"srpt": "srpt"}, figures=figures)
    checks = checkout / "results/tiny/split/checks"
    verdict = "results/tiny/split/checks/verdict.txt"
    done = snakemake(checkout, verdict)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (checks / "verdict.txt").read_text().startswith("identities: ")
    curve = checkout / "results/tiny/split/curves/low/srpt.json"
    edit(curve, '"responses_below_size": 0', '"responses_below_size": 3')
    done = snakemake(checkout, verdict)
    assert done.returncode != 0 and "1 checks failed" in done.stdout + done.stderr
    assert "fail" in (checks / "identities.csv").read_text() and not (checks / "verdict.txt").exists()


def test_the_linter_finds_only_what_is_waived(finished):
    done = snakemake(finished, "--lint")
    findings = {
        line.strip().lstrip("* ").rstrip(":")
        for line in (done.stdout + done.stderr).splitlines()
        if "* " in line
    }
    assert {finding for finding in findings if not finding.startswith(WAIVED)} == set()
    contributing = " ".join((ROOT / "CONTRIBUTING.md").read_text().split())
    assert all(name.rstrip(".") in contributing for name in WAIVED)


def test_the_configs_are_valid():
    """All three configurations over the one DAG pass their own check, and say what they claim."""
    from snakemake.utils import update_config

    from tailsched import config

    split = yaml.safe_load((ROOT / "config" / "split.yaml").read_text())
    for name, arrivals in (("paper", None), ("smoke", None), ("brute_force", 10**10)):
        work = yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text())
        whole = deepcopy(split)
        update_config(whole, work)
        curves = config.check(whole, ROOT / "workflow" / "schemas" / "config.schema.yaml")
        assert 50 <= len(curves) <= 60
        assert arrivals is None or work["arrivals"] == arrivals
    used = {
        f"{figure['setting']}/{curve}" for figure in split["figures"].values() for curve in figure["curves"]
    }
    assert used == set(curves)
