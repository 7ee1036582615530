"""Tests of the reference simulator: recorded traces, small cases worked by hand, conservation laws."""

import csv
import random
from fractions import Fraction
from pathlib import Path

import pytest

# isort: split
from reference import completions, path, segments

TRACES = sorted((Path(__file__).parent / "data" / "traces").glob("*.csv"))

# Name of a policy in the trace files -> name and options here.
POLICIES = {
    "fcfs": ("fcfs", {}),
    "srpt": ("srpt", {}),
    "ps": ("ps", {}),
    "sek": ("sek", {}),
    "sek_orig": ("sek", {"original": True}),
    "split": ("split", {}),
    "thresh_fcfs": ("thresh", {"small": "fcfs"}),
    "thresh_srpt": ("thresh", {"small": "srpt"}),
    "thresh_fcfs_ns": ("thresh", {"small": "fcfs", "steal": False}),
    "thresh_srpt_ns": ("thresh", {"small": "srpt", "steal": False}),
    "tags": ("tags", {}),
}
NOT_BUILT = {"thresh_fcfs_canon"}
INEXACT = {"tags", "ps"}  # shared rates, so doubles round
WORK_CONSERVING = ("fcfs", "srpt", "ps", "sek", "sek_orig", "split")


def resolve(key, eps, d):
    """Policy name and full options for a name used in the trace files."""
    name, options = POLICIES[key]
    level = {"sek": {"epsilon": eps}, "thresh": {"d": d}, "tags": {"d": d}}.get(name, {})
    return name, {**options, **level}


def load(trace):
    """The blocks of a trace file: policy -> (n, eps, d, jobs, completions)."""
    rows = {}
    with trace.open(newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["policy"], []).append(row)
    blocks = {}
    for key, block in rows.items():
        assert [int(row["id"]) for row in block] == list(range(len(block)))
        jobs = [(float(row["arrival"]), float(row["size"])) for row in block]
        ends = [float(row["completion"]) for row in block]
        blocks[key] = int(block[0]["n"]), float(block[0]["eps"]), float(block[0]["d"]), jobs, ends
    return blocks


def as_fractions(jobs):
    return [(Fraction(arrival), Fraction(size)) for arrival, size in jobs]


def responses(key, jobs, n, **options):
    ends = completions(key, jobs, n, **options)
    return [end - arrival for end, (arrival, _) in zip(ends, jobs, strict=True)]


def random_jobs(seed, count, load=0.8, n=3, grid=64):
    """Heavy-tailed sizes and exponential gaps, rounded to a grid so that ties occur and doubles are exact."""
    rng = random.Random(seed)
    clock = Fraction(0)
    jobs = []
    for _ in range(count):
        clock += Fraction(round(rng.expovariate(load * n / 3) * grid), grid)
        size = Fraction(round((1 - rng.random()) ** (-1 / 1.5) * grid), grid)
        jobs.append((clock, size))
    return jobs


def test_nine_traces():
    assert len(TRACES) == 9
    for trace in TRACES:
        assert set(load(trace)) == set(POLICIES) | NOT_BUILT


@pytest.mark.parametrize("key", POLICIES)
@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: trace.stem)
def test_trace(trace, key):
    """Every recorded completion, in doubles and in exact arithmetic."""
    n, eps, d, jobs, ends = load(trace)[key]
    name, options = resolve(key, eps, d)
    got = completions(name, jobs, n, **options)
    exact = completions(name, as_fractions(jobs), n, **options)
    assert all(isinstance(end, Fraction) for end in exact)
    if key in INEXACT:
        assert got == pytest.approx(ends, rel=0, abs=1e-9)
        assert [float(end) for end in exact] == pytest.approx(ends, rel=0, abs=1e-9)
    else:
        assert got == ends
        assert exact == ends


@pytest.mark.parametrize("key", POLICIES)
@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: trace.stem)
def test_conservation_on_traces(trace, key):
    """All work is done by busy servers, no job leaves before its size has passed, Little's law is exact."""
    n, eps, d, jobs, _ = load(trace)[key]
    name, options = resolve(key, eps, d)
    jobs = as_fractions(jobs)
    result = path(name, jobs, n, **options)
    times = [end - arrival for end, (arrival, _) in zip(result.completions, jobs, strict=True)]
    assert result.busy_time == sum(size for _, size in jobs)
    assert result.jobs_time == sum(times)
    assert all(time >= size for time, (_, size) in zip(times, jobs, strict=True))
    assert result.start == jobs[0][0] and result.end == max(result.completions)
    assert result.mean_busy <= n


@pytest.mark.parametrize("key", POLICIES)
def test_segments(key):
    """Each job gets its size in all, at rate 1 at most, and no server idles that the policy could use."""
    jobs = random_jobs(seed=1, count=150)
    if key == "ps":  # exact shares have ever larger denominators
        jobs = jobs[:60]
    n = 3
    name, options = resolve(key, eps=Fraction(4), d=Fraction(5))
    served = dict.fromkeys(range(len(jobs)), Fraction(0))
    pieces = segments(name, jobs, n, **options)
    for i, piece in enumerate(pieces):
        assert set(piece.rates) <= set(piece.present)
        assert all(0 < rate <= 1 for rate in piece.rates.values())
        assert sum(piece.rates.values()) == piece.busy <= n
        if key in WORK_CONSERVING:
            assert piece.busy == min(n, len(piece.present))
        if name == "thresh":
            big = sum(jobs[job][1] > options["d"] for job in piece.present)
            small = len(piece.present) - big
            for_small = n if options.get("steal", True) and not big else n - 1
            assert piece.busy == min(1, big) + min(for_small, small)
        if i:
            assert piece.start >= pieces[i - 1].end
        for job, rate in piece.rates.items():
            served[job] += rate * (piece.end - piece.start)
    assert list(served.values()) == [size for _, size in jobs]


@pytest.mark.parametrize("key", POLICIES)
def test_doubles_agree_with_fractions(key):
    """Decimal inputs, so that every double is rounded."""
    jobs = [(arrival * Fraction(7, 10), size * Fraction(9, 10)) for arrival, size in random_jobs(2, 150)]
    if key == "ps":
        jobs = jobs[:60]
    name, options = resolve(key, eps=4, d=5)
    exact = completions(name, jobs, 3, **options)
    rounded = completions(name, [(float(a), float(s)) for a, s in jobs], 3, **options)
    assert all(isinstance(end, float) for end in rounded)
    assert rounded == pytest.approx([float(end) for end in exact], rel=0, abs=1e-9)


@pytest.mark.parametrize("key", POLICIES)
def test_conservation_with_doubles(key):
    rng = random.Random(3)
    clock = 0.0
    jobs = []
    for _ in range(2000):
        clock += rng.expovariate(0.75)
        jobs.append((clock, (1 - rng.random()) ** (-1 / 1.5)))
    name, options = resolve(key, eps=10.0, d=15.0)
    result = path(name, jobs, 3, **options)
    times = [end - arrival for end, (arrival, _) in zip(result.completions, jobs, strict=True)]
    assert result.busy_time == pytest.approx(sum(size for _, size in jobs), rel=1e-10)
    assert result.jobs_time == pytest.approx(sum(times), rel=1e-10)
    assert all(time - size >= -1e-9 for time, (_, size) in zip(times, jobs, strict=True))


@pytest.mark.parametrize("n", [1, 3])
def test_equal_jobs_are_not_preempted(n):
    """With equal sizes SRPT-n is FCFS-n, also when jobs arrive together."""
    jobs = [(Fraction(a, 4), 2) for a in (0, 1, 1, 3, 3, 3, 8, 20, 20, 21, 24, 24, 24, 24, 25, 60, 60)]
    assert completions("srpt", jobs, n) == completions("fcfs", jobs, n)
    last = {}
    for piece in segments("srpt", jobs, n):
        for job in piece.rates:
            assert last.get(job, piece.start) == piece.start  # no gap in service
            last[job] = piece.end


def test_srpt_preempts_though_a_server_is_free():
    jobs = [(0, 10), (0, 10), (1, 1)]
    assert responses("srpt", jobs, 2) == [10, 11, 1]
    assert responses("srpt", jobs, 3) == [10, 10, 1]


def test_four_jobs_on_one_server():
    jobs = [(0, 8), (2, 1), (3, 2), (4, 5)]
    assert responses("srpt", jobs, 1) == [16, 1, 2, 6]
    assert responses("fcfs", jobs, 1) == [8, 7, 8, 12]


def test_repeated_preemption_leaves_no_residue():
    """A job of size 7 under a thousand small ones, each of which arrives as the one before it leaves."""
    tenth = Fraction(1, 10)
    jobs = [(Fraction(0), Fraction(7))] + [(k * tenth, tenth) for k in range(1000)]
    exact = completions("srpt", jobs, 1)
    assert exact == [107] + [(k + 1) * tenth for k in range(1000)]
    clock, rounded_jobs = 0.0, [(0.0, 7.0)]
    for _ in range(1000):
        rounded_jobs.append((clock, 0.1))
        clock += 0.1
    rounded = completions("srpt", rounded_jobs, 1)
    assert rounded == pytest.approx([float(end) for end in exact], rel=0, abs=1e-9)


def test_tags_moves_jobs_with_their_work():
    assert responses("tags", [(0, 3), (1, 5)], 2, d=1) == [4, 6]


def test_tags_completes_a_job_of_size_d_where_it_is():
    pieces = segments("tags", [(0, 2), (0, 3), (0, 2)], 2, d=2)
    assert [(p.start, p.end, p.rates) for p in pieces] == [
        (0, 2, {0: 1}),
        (2, 4, {1: 1}),
        (4, 5, {1: 1, 2: 1}),
        (5, 6, {2: 1}),
    ]


@pytest.mark.parametrize("epsilon", [0, float("inf")])
@pytest.mark.parametrize("original", [False, True])
def test_sek_reduces_to_srpt(epsilon, original):
    jobs = random_jobs(seed=4, count=200)
    want = completions("srpt", jobs, 3)
    assert completions("sek", jobs, 3, epsilon=epsilon, original=original) == want


def test_sek_exception_starts_at_epsilon():
    """Left at 1: 12, 7, 8. Job 2 has come down to 8, so only job 0 is larger and replaces it."""
    pieces = segments("sek", [(0, 12), (0, 8), (0, 9)], 2, epsilon=8)
    assert [(p.start, p.end, set(p.rates)) for p in pieces[:2]] == [(0, 1, {1, 2}), (1, 5, {0, 1})]


def test_sek_exception_ends_at_epsilon():
    """Job 0 is served in place of job 1 until it has 8 left."""
    jobs = [(0, 12), (0, 7), (0, 6)]
    pieces = segments("sek", jobs, 2, epsilon=8)
    assert [(p.start, p.end, set(p.rates)) for p in pieces] == [
        (0, 4, {0, 2}),
        (4, 6, {1, 2}),
        (6, 11, {0, 1}),
        (11, 14, {0}),
    ]
    # With original sizes the exception lasts until a job leaves.
    assert completions("sek", jobs, 2, epsilon=8, original=True) == [12, 13, 6]


def test_sek_tie_at_epsilon():
    """Job 0 waits with 4 left; job 2 comes down to 4 at time 3. Of the two equals the first goes on.

    Such ties have positive probability even with continuous sizes.
    """
    jobs = [(0, 5), (0, 4), (0, 6)]
    pieces = segments("sek", jobs, 2, epsilon=4)
    assert [(p.start, p.end, set(p.rates)) for p in pieces[:3]] == [
        (0, 1, {0, 1}),
        (1, 3, {1, 2}),
        (3, 4, {0, 1}),
    ]
    assert completions("sek", jobs, 2, epsilon=4) == [7, 4, 8]


def test_sek_original_equality_blocks_the_exception():
    assert completions("sek", [(0, 12), (0, 8), (0, 6)], 2, epsilon=8, original=True) == [18, 8, 6]
    assert completions("sek", [(0, 12), (0, 7), (0, 6)], 2, epsilon=8, original=True) == [12, 13, 6]


def test_split_takes_the_largest_from_an_srpt_server():
    """At 4 job 1 has 2 left of 6; it beats job 2 of size 5 and keeps its work; larger job 3 has to wait."""
    jobs = [(0, 4), (0, 6), (1, 5), (5, 9)]
    assert completions("split", jobs, 2) == [4, 6, 9, 15]


def test_split_first_of_a_batch_gets_the_ljf_server():
    assert completions("split", [(0, 1), (0, 5), (0, 2)], 2) == [1, 6, 2]
    assert completions("split", [(0, 1), (0, 5), (0, 2)], 1) == [1, 6, 8]


def test_thresh_stolen_job_returns_to_the_front():
    """Jobs 0 to 2 are small: 1 is stolen, stopped by big job 3 at 2, and goes ahead of 2 at 4."""
    jobs = [(0, 4), (1, 4), (1, 1), (2, 10)]
    assert completions("thresh", jobs, 2, d=4, small="fcfs") == [4, 7, 8, 12]
    assert completions("thresh", jobs, 2, d=4, small="srpt") == [4, 8, 2, 12]


def test_thresh_stolen_job_stays_when_a_small_server_is_free():
    """Job 0 leaves at 1 and job 2 takes its server; stopped by big job 3, job 1 waits for job 2."""
    jobs = [(0, 1), (0, 5), (0, 4), (2, 6)]
    assert completions("thresh", jobs, 2, d=5, small="fcfs") == [1, 8, 5, 8]


def test_departures_precede_arrivals():
    """At 2 the only server is free before either job comes, so the first of them gets it, not the larger."""
    assert completions("split", [(0, 2), (2, 1), (2, 3)], 1) == [2, 3, 6]


def test_simultaneous_departures_precede_the_pick():
    """Jobs 0 and 1 leave together at 2; the LJF server then finds jobs 2 and 3 and takes the larger."""
    assert completions("split", [(0, 2), (0, 2), (1, 3), (1, 4)], 2) == [2, 2, 5, 6]
    # Job 4, with 1 to do, does not preempt job 1, which has 1 left.
    assert completions("split", [(0, 2), (0, 2), (1, 3), (1, 4), (1, 1)], 2) == [2, 2, 6, 6, 3]


@pytest.mark.parametrize("small", ["fcfs", "srpt"])
def test_thresh_without_big_jobs(small):
    """With d at or above every size, stealing gives the small jobs all servers, its lack n - 1."""
    jobs = random_jobs(seed=5, count=150)
    d = float("inf")
    assert completions("thresh", jobs, 3, d=d, small=small) == completions(small, jobs, 3)
    assert completions("thresh", jobs, 3, d=d, small=small, steal=False) == completions(small, jobs, 2)
    assert completions("tags", jobs, 3, d=d) == completions("fcfs", jobs, 2)


def test_single_server_forms():
    jobs = random_jobs(seed=6, count=100, n=1)
    clock, want = Fraction(0), []
    for arrival, size in jobs:
        clock = max(clock, arrival) + size
        want.append(clock)
    assert completions("fcfs", jobs, 1) == want
    ends = completions("ps", [(0, 1), (0, 2), (0, 3)], 1)
    assert ends == [3, 5, 6]
    assert completions("ps", [(0, 1), (0, 2), (0, 3)], 2) == [Fraction(3, 2), Fraction(5, 2), Fraction(7, 2)]


@pytest.mark.parametrize(
    ("key", "jobs", "n", "options", "error"),
    [
        ("srpt", [(0, 8), (4, 5), (3, 2)], 1, {}, ValueError),
        ("srpt", [(0, 0)], 1, {}, ValueError),
        ("srpt", [(0, float("nan"))], 1, {}, ValueError),
        ("srpt", [(float("nan"), 1)], 1, {}, ValueError),
        ("srpt", [(0, 1)], 0, {}, ValueError),
        ("srpt", [(0, 1)], 1, {"d": 1}, TypeError),
        ("lcfs", [(0, 1)], 1, {}, ValueError),
        ("sek", [(0, 1)], 1, {"epsilon": float("nan")}, ValueError),
        ("thresh", [(0, 1)], 2, {"d": 1, "small": "ps"}, ValueError),
        ("thresh", [(0, 1)], 1, {"d": 1, "steal": False}, ValueError),
        ("tags", [(0, 1)], 1, {"d": 1}, ValueError),
    ],
)
def test_bad_input_is_refused(key, jobs, n, options, error):
    with pytest.raises(error):
        completions(key, jobs, n, **options)


def test_no_jobs():
    assert completions("srpt", [], 2) == []
