"""The command line: its contract, its errors, and that results depend on the seed and nothing else."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tailsched import mgn
from tailsched.cli import main
from tailsched.sampling import fill_arrivals
from tailsched.sizes import parse_sizes
from tailsched.streams import PURPOSES, stream

SETTING = "--policy srpt --servers 3 --load 0.5 --sizes pareto:1.5".split()


def run(capsys, *arguments):
    """Run the command line in this process; return (exit code, output, errors)."""
    try:
        main([str(argument) for argument in arguments])
        code = 0
    except SystemExit as end:
        code = end.code or 0
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def simulate(capsys, *arguments):
    code, out, err = run(capsys, "simulate", *arguments, "--json")
    assert code == 0, err
    return json.loads(out, parse_constant=pytest.fail)


def refused(capsys, *arguments):
    """Check that the command ends with 2 and one line, and return the line."""
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1 and "Traceback" not in err
    return err


def write_jobs(path, jobs, header="arrival,size"):
    path.write_text("\n".join([header, *(",".join(str(x) for x in job) for job in jobs)]) + "\n")
    return path


# --------------------------------------------------------------------------------------------------- trace


def test_trace_keeps_order_and_precision(tmp_path, capsys):
    """Unsorted jobs are served in order of arrival and reported in the order of the file."""
    jobs = write_jobs(tmp_path / "jobs.csv", [(0, 8), (4, 5), (3, 2), (2, 1)])
    expected = {"srpt": [16, 6, 2, 1], "fcfs": [8, 12, 8, 7]}
    for policy, responses in expected.items():
        out = tmp_path / f"{policy}.csv"
        assert run(capsys, "trace", "--policy", policy, "--servers", 1, jobs, "-o", out)[0] == 0
        with out.open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert list(rows[0]) == ["arrival", "size", "completion"]
        assert [float(row["completion"]) - float(row["arrival"]) for row in rows] == responses
    third = write_jobs(tmp_path / "third.csv", [(1 / 3, 2 / 3)])
    run(capsys, "trace", "--policy", "ps", "--servers", 1, third, "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[1] == f"{1 / 3!r},{2 / 3!r},1.0"


@pytest.mark.parametrize(
    "options",
    [
        ["--policy", "thresh-split", "--threshold", "2", "--small", "srpt", "--no-steal"],
        ["--policy", "thresh-split:threshold=2,small=srpt,steal=no"],
    ],
)
def test_trace_of_a_threshold_policy(tmp_path, capsys, options):
    jobs = [(0, 3), (0.5, 1), (0.75, 2), (1, 5)]
    path = write_jobs(tmp_path / "jobs.csv", jobs)
    assert run(capsys, "trace", *options, "--servers", 2, path, "-o", tmp_path / "out.csv")[0] == 0
    arrivals, sizes = np.array(jobs, float).T
    expected = mgn.completions(mgn.ThreshSplitSRPT, 2, arrivals, sizes, threshold=2.0, steal=False)
    rows = (tmp_path / "out.csv").read_text().splitlines()[1:]
    assert [float(row.split(",")[2]) for row in rows] == expected.tolist()


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("size,arrival\n1,2\n", "line 1"),
        ("arrival,size\n1,2\n1,2,3\n", "line 3"),
        ("arrival,size\n1,2\n\n3,x\n", "line 4"),
        ("arrival,size\n1,0\n", "line 2"),
        ("arrival,size\n1,nan\n", "line 2"),
        ("arrival,size\ninf,1\n", "line 2"),
        ("arrival,size\n0,1e308\n", "line 2"),
        ("arrival,size\n", "at least one job"),
        ("", "at least one job"),
        (b"\xff\xfe\x00", "CSV"),
    ],
)
def test_malformed_traces(tmp_path, capsys, content, line):
    path = tmp_path / "jobs.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    out = tmp_path / "out.csv"
    message = refused(capsys, "trace", "--policy", "srpt", "--servers", 1, path, "-o", out)
    assert line in message and str(path) in message
    assert sorted(tmp_path.iterdir()) == [path]


def test_trace_without_a_file_or_a_size_threshold(tmp_path, capsys):
    missing = tmp_path / "none.csv"
    assert "none.csv" in refused(
        capsys, "trace", "--policy", "srpt", "--servers", 1, missing, "-o", tmp_path / "o"
    )
    jobs = write_jobs(tmp_path / "jobs.csv", [(0, 1)])
    for options in (["thresh-split:large-load=0.4"], ["tags-split", "--threshold-percentile", "99"]):
        message = refused(capsys, "trace", "--policy", *options, "--servers", 2, jobs, "-o", tmp_path / "o")
        assert "threshold" in message


# ------------------------------------------------------------------------------------------------ simulate


def test_simulate_reports_what_the_contract_names(capsys):
    out = simulate(
        capsys, *SETTING, "--sizes", "pareto:3.5", "--arrivals", "2e5", "--times", "2,10", "--seed", 1
    )
    for key in ("mean_response", "mean_jobs", "mean_busy"):
        entry = out[key]
        assert entry["low"] < entry["estimate"] < entry["high"] and entry["se"] > 0
    assert [entry["p"] for entry in out["quantiles"]] == [50, 90, 99, 99.9, 99.99]
    values = [entry["estimate"] for entry in out["quantiles"]]
    assert values == sorted(values) and all(q["low"] <= q["estimate"] <= q["high"] for q in out["quantiles"])
    assert [row["t"] for row in out["tail"]] == [2, 10]
    for row in out["tail"]:
        assert {"estimate", "se", "normalized"} <= set(row)
        assert row["normalized"] == pytest.approx(row["estimate"] * row["t"] ** 3.5)
    assert out["warm_up"] == 1000 and out["counted_jobs"] == 180_000


def test_the_one_string_form_means_the_same(capsys):
    system = ["--servers", 3, "--load", 0.5, "--sizes", "pareto:1.5", "--arrivals", "1e5"]
    for flags, text in (
        (["thresh-split", "--threshold", 100, "--small", "srpt"], "thresh-split:threshold=100,small=srpt"),
        (
            ["thresh-split", "--threshold-percentile", 99, "--no-steal"],
            "thresh-split:threshold-percentile=99,steal=no",
        ),
        (["tags-split", "--large-load", 0.2], "tags-split:large-load=0.2"),
        (["sek", "--epsilon", 20, "--sek-size", "original"], "sek:epsilon=20,sek-size=original"),
    ):
        assert simulate(capsys, "--policy", *flags, *system) == simulate(capsys, "--policy", text, *system)


def test_infinite_moments_are_not_given(capsys):
    fcfs = ["--policy", "fcfs", "--servers", 1, "--load", 0.5, "--arrivals", "1e5", "--sizes"]
    for alpha, mean, error in ((1.5, False, False), (2.5, True, False), (4, True, True)):
        out = simulate(capsys, *fcfs, f"pareto:{alpha}")
        for key in ("mean_response", "mean_jobs"):
            assert (out[key]["estimate"] is not None) == mean
            assert (out[key]["se"] is not None) == error == (out[key]["low"] is not None)
            assert error or "infinite" in out[key]["note"]
    srpt = simulate(capsys, *SETTING, "--arrivals", "1e5")
    assert srpt["mean_response"]["se"] is None and srpt["mean_response"]["estimate"] > 3
    assert srpt["mean_jobs"]["se"] > 0


def test_few_arrivals(capsys):
    """Quantiles from a handful of jobs are refused by a note, never invented; no arrivals are an error."""
    for arrivals in (1, 2, 3, 100):
        out = simulate(capsys, *SETTING, "--arrivals", arrivals, "--warm-up", 0)
        for entry in out["quantiles"]:
            enough = arrivals * (1 - entry["p"] / 100) >= 10 - 1e-9
            assert (entry["estimate"] is not None) == enough
            if enough:
                assert 1 <= entry["estimate"] <= out["longest_response"] * 1.01
    assert "arrivals = '0'" in refused(capsys, "simulate", *SETTING, "--arrivals", 0)


def test_atoms(capsys):
    """Deterministic sizes in an almost idle system: P[T > 1] is 0, P[T > 1 - 1e-9] is 1."""
    idle = ["--policy", "srpt", "--servers", 10, "--load", 0.01, "--sizes", "det:1", "--arrivals", "1e5"]
    out = simulate(capsys, *idle, "--times", "0.999999999,1")
    assert [row["estimate"] for row in out["tail"]] == [1.0, 0.0]


def test_seeds(capsys):
    small = [*SETTING, "--arrivals", "1e5"]
    np.random.seed(1)  # noqa: NPY002 - the global state must not matter
    first = simulate(capsys, *small, "--seed", 7)
    np.random.seed(2)  # noqa: NPY002
    assert simulate(capsys, *small, "--seed", 7) == first
    large = [simulate(capsys, *small, "--seed", seed) for seed in (2**53, 2**53 + 1, 2**63, 2**63 + 1)]
    assert len({entry["mean_busy"]["estimate"] for entry in [first, *large]}) == 5


def test_results_do_not_depend_on_cores_or_processes(capsys):
    flags = [*SETTING, "--arrivals", "2e5", "--shards", 4, "--seed", 7]
    alone = simulate(capsys, *flags, "--cores", 1)
    assert simulate(capsys, *flags, "--cores", 2) == alone
    environment = {**os.environ, "NUMBA_NUM_THREADS": "1", "LC_ALL": "de_DE.UTF-8", "PYTHONHASHSEED": "3"}
    command = [sys.executable, "-m", "tailsched", "simulate", *map(str, flags), "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == alone


def test_warning_for_split_at_high_load(capsys):
    high = ["--policy", "split", "--servers", 3, "--load", 0.8, "--sizes", "exp", "--arrivals", "1e4"]
    code, _, err = run(capsys, "simulate", *high)
    assert code == 0 and err.count("\n") == 1 and err.startswith("warning: load = 0.8")


def test_report_for_people(capsys):
    code, out, _ = run(capsys, "simulate", *SETTING, "--arrivals", "2e5")
    assert code == 0
    assert "normalized tail" in out and "Little's law 1.000000000" in out


BAD = {
    "unstable load": (["--load", "1"], "load = 1"),
    "negative load": (["--load", "-0.5"], "load = -0.5"),
    "nan load": (["--load", "nan"], "load = nan"),
    "load as a word": (["--load", "half"], "load = 'half'"),
    "no servers": (["--servers", "0"], "servers = '0'"),
    "half a server": (["--servers", "1.5"], "servers = '1.5'"),
    "alpha 1": (["--sizes", "pareto:1"], "alpha = 1"),
    "nan alpha": (["--sizes", "pareto:nan"], "alpha = nan"),
    "unknown sizes": (["--sizes", "cauchy:1"], "cauchy"),
    "missing file": (["--sizes", "file:/none"], "/none"),
    "unknown policy": (["--policy", "lifo"], "policy = 'lifo'"),
    "unknown option": (["--policy", "srpt:d=3"], "option d"),
    "option of another policy": (["--threshold", "3"], "option threshold"),
    "malformed option": (["--policy", "sek:epsilon"], "name=value"),
    "option given twice": (["--policy", "sek:epsilon=1,epsilon=2"], "twice"),
    "options in two places": (["--policy", "sek:epsilon=1", "--epsilon", "2"], "policy ="),
    "sek without epsilon": (["--policy", "sek"], "epsilon"),
    "nan epsilon": (["--policy", "sek:epsilon=nan"], "epsilon = nan"),
    "negative epsilon": (["--policy", "sek:epsilon=-1"], "epsilon = -1"),
    "unknown choice": (["--policy", "thresh-split:threshold=50,small=ps"], "small = 'ps'"),
    "no threshold": (["--policy", "tags-split"], "exactly one"),
    "two thresholds": (["--policy", "tags-split", "--threshold", "9", "--large-load", "0.2"], "exactly one"),
    "nan threshold": (["--policy", "thresh-split:threshold=nan"], "threshold"),
    "percentile above 100": (["--policy", "tags-split:threshold-percentile=101"], "percentile = 101"),
    "overloaded small side": (
        ["--load", "0.8", "--policy", "thresh-split:threshold=100"], "stealing would keep the system stable",
    ),
    "overloaded large side": (["--load", "0.9", "--policy", "thresh-split:threshold=1"], "large server"),
    "load out of reach": (["--load", "0.8", "--policy", "tags-split:large-load=0.3"], "large-load"),
    "one server, threshold": (["--servers", "1", "--policy", "thresh-split:threshold=9"], "needs at least 2"),
    "negative seed": (["--seed", "-1"], "seed = '-1'"),
    "arrivals as a word": (["--arrivals", "many"], "arrivals = 'many'"),
    "infinite arrivals": (["--arrivals", "inf"], "arrivals = 'inf'"),
    "warm-up too long": (["--warm-up", "1000"], "warm-up = 1000"),
    "more shards than jobs": (["--shards", "5000"], "shards = 5000"),
    "no cores": (["--cores", "0"], "cores = '0'"),
    "too many arrivals": (["--arrivals", "1e20"], "arrivals = '1e20'"),
    "too many servers": (["--servers", "1e12"], "servers = '1e12'"),
    "empty times": (["--times", ""], "times = ''"),
    "no feasible threshold": (
        ["--servers", "2", "--sizes", "det:1", "--policy", "thresh-split:large-load=0.4"], "no threshold",
    ),
    "nan time": (["--times", "1,nan"], "times = 'nan'"),
    "unknown flag": (["--speed", "2"], "--speed"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input(capsys, name):
    options, part = BAD[name]
    assert part in refused(capsys, "simulate", *SETTING, "--arrivals", "1000", *options)


def test_times_are_counted_exactly(capsys, tmp_path):
    """The number of samples beyond a time is that of the jobs whose response is longer, one by one."""
    law, jobs = parse_sizes("pareto:1.5"), 100_000
    streams = tuple(stream(1, "simulate", 0, purpose) for purpose in PURPOSES)
    run = mgn.simulate(mgn.SRPT, 3, 0.5, law, jobs, 0, streams, keep=True)
    arrivals = np.empty(jobs)
    fill_arrivals(stream(1, "simulate", 0, "arrivals"), 0.5, 0.0, arrivals)
    responses = run.tally.completions - arrivals
    times = [1.7, 3.3333, 250.0]
    flags = ["--arrivals", jobs, "--times", ",".join(map(str, times)), "--warm-up", 0, "--shards", 1]
    rows = simulate(capsys, *SETTING, *flags)["tail"]
    assert [row["samples"] for row in rows] == [int((responses > t).sum()) for t in times]
    excess = [
        int(((responses > t) & (law.sample(stream(1, "simulate", 0, "sizes"), jobs) <= t)).sum())
        for t in times
    ]
    for row, count in zip(rows, excess, strict=True):
        assert row["estimate"] == pytest.approx(row["t"] ** -1.5 + count / jobs, rel=1e-12)
        assert row["se"] is None


def test_where_output_goes(tmp_path, capsys):
    """A link keeps its target, a device is written to, and a folder or an empty name is refused by name."""
    jobs = write_jobs(tmp_path / "jobs.csv", [(0, 1)])
    target, link = tmp_path / "target.csv", tmp_path / "link.csv"
    link.symlink_to(target)
    trace = ["trace", "--policy", "srpt", "--servers", 1, jobs, "-o"]
    assert run(capsys, *trace, link)[0] == 0
    assert link.is_symlink() and target.read_text().endswith("0.0,1.0,1.0\n")
    assert run(capsys, *trace, "/dev/null")[0] == 0 and not Path("/dev/null").is_file()
    assert str(tmp_path) in refused(capsys, *trace, tmp_path)
    assert "output = ''" in refused(capsys, *trace, "")
    assert "jobs.csv/x" in refused(capsys, *trace, jobs / "x")


def test_help_states_the_conventions(capsys):
    code, out, _ = run(capsys, "simulate", "--help")
    assert code == 0 and "rho = lam E[S]/n" in " ".join(out.split())


def test_an_interrupt_leaves_nothing_behind(tmp_path):
    """A shard that is stopped half-way exits with 130 and writes no file."""
    command = [
        sys.executable, "-c",
        "import sys, signal, os, tailsched.cli as c, tailsched.runs as r\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "r.run_one = lambda *a, **k: os.kill(os.getpid(), signal.SIGINT) or __import__('time').sleep(9)\n"
        "c.main(sys.argv[1:])",
        "shard", *SETTING, "--curve", "x", "--streams", "x", "--shards", "0-0", "--arrivals", "1000", "--warm-up", "0",
        "--seed", "1", "-o", str(tmp_path / "0.npz"),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr.count("\n") == 1 and "interrupted" in done.stderr
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------- tagged, limit and compare


def test_methods(capsys):
    """Natural below ten million arrivals, tagged if asked for, refused where it says nothing."""
    short = [*SETTING, "--arrivals", "2e5", "--shards", 4, "--times", "10,1000"]
    assert simulate(capsys, *short)["method"] == "natural"
    tagged = simulate(capsys, *short, "--method", "tagged")
    assert tagged["method"] == "tagged" and tagged["tagged_jobs"] > 0
    assert tagged["precision"] is None
    asked = simulate(capsys, *short, "--method", "tagged", "--precision", 0.01)["precision"]
    assert asked["budget"] == 200_000 and asked["met"] is False
    again = simulate(capsys, *short, "--method", "tagged", "--cores", 2)
    assert again == tagged
    fcfs = ["--policy", "fcfs", *SETTING[2:]]
    assert "method = 'tagged': under fcfs at this load" in refused(
        capsys, "simulate", *fcfs, "--arrivals", "1e5", "--method", "tagged"
    )
    assert "method = 'guess'" in refused(capsys, "simulate", *short, "--method", "guess")
    assert "precision = 0.1: is for method tagged" in refused(capsys, "simulate", *short, "--precision", 0.1)
    for bad in ("0", "-1", "nan", "x"):
        flags = [*short, "--method", "tagged", "--precision", bad]
        assert f"precision = '{bad}': must be" in refused(capsys, "simulate", *flags)


def test_limit(capsys):
    """Rate and limit, each with its interval; 1 under SPLIT; refused for FCFS."""
    flags = ["--arrivals", "2e5", "--shards", 5, "--json"]
    code, out, _ = run(capsys, "limit", "--policy", "split", *SETTING[2:], *flags)
    answer = json.loads(out)
    assert code == 0 and answer["rate"]["estimate"] == pytest.approx(1.0) and answer["theory"] == 1.0
    code, out, _ = run(capsys, "limit", *SETTING, *flags)
    answer = json.loads(out)
    assert answer["rate"]["low"] < answer["rate"]["estimate"] < answer["rate"]["high"] < 1
    assert answer["limit"]["low"] < answer["limit"]["estimate"] < answer["limit"]["high"]
    assert answer["limit"]["estimate"] == pytest.approx(answer["rate"]["estimate"] ** -1.5)
    assert 1.3 < answer["limit"]["estimate"] < 1.6
    code, out, _ = run(capsys, "limit", *SETTING, *flags[:-1])
    assert code == 0 and "rate q of an endless job" in out
    fcfs = ["limit", "--policy", "fcfs", *SETTING[2:], "--arrivals", "1e5"]
    assert "policy = 'fcfs'" in refused(capsys, *fcfs)


def test_compare(capsys, tmp_path):
    """Differences of like policies are sharper than the policies; a policy has no difference from itself."""
    common = [*SETTING[2:], "--arrivals", "1e6", "--percentiles", "50,99", "--json"]
    code, out, _ = run(capsys, "compare", "--policy", "split", "--policy", "srpt", *common)
    answer = json.loads(out)
    assert code == 0 and [row["p"] for row in answer["percentiles"]] == [50, 99]
    for row in answer["percentiles"]:
        assert row["difference"] == pytest.approx(row["first"] - row["second"])
        assert 0 < row["low"] < row["difference"] < row["high"]
    code, out, _ = run(capsys, "compare", "--policy", "srpt", "--policy", "sek:epsilon=1000", *common)
    row = json.loads(out)["percentiles"][1]
    assert row["se"] < 0.7 * np.hypot(row["first_se"], row["second_se"])
    code, out, _ = run(capsys, "compare", "--policy", "srpt", "--policy", "srpt", *common)
    assert [row["difference"] for row in json.loads(out)["percentiles"]] == [0, 0]
    path = tmp_path / "out.json"
    more = [*common[:-1], "--precision", "0.02", "-o", path]
    code, _, _ = run(capsys, "compare", "--policy", "split", "--policy", "srpt", *more)
    answer = json.loads(path.read_text())
    assert code == 0 and answer["arrivals"] < 1e6
    assert all(row["se"] <= 0.02 * row["first"] for row in answer["percentiles"])
    assert "must be given twice" in refused(capsys, "compare", "--policy", "srpt", *common)
    few = [*SETTING[2:], "--arrivals", "1e4", "--percentiles", "99.99"]
    code, out, _ = run(capsys, "compare", "--policy", "split", "--policy", "srpt", *few)
    assert code == 0 and "needs more jobs" in out
    for bad in ("0", "100", "x", "nan"):
        flags = ["compare", "--policy", "split", "--policy", "srpt", *SETTING[2:], "--arrivals", "1e4"]
        assert f"percentiles = '{bad}'" in refused(capsys, *flags, "--percentiles", bad)
