"""Every policy, job by job: recorded traces, and an independent reference on random traces."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_reference import INEXACT, POLICIES, TRACES, load, resolve

import reference
from tailsched import mgn


def simulated(key, eps, d):
    """The policy class and parameters for a name used in the trace files."""
    name, options = POLICIES[key]
    if name == "thresh":
        policy = {"fcfs": mgn.ThreshSplitFCFS, "srpt": mgn.ThreshSplitSRPT}[options["small"]]
        return policy, {"threshold": d, "steal": options.get("steal", True)}
    if name == "sek":
        return mgn.SEK, {"epsilon": eps, "original": options.get("original", False)}
    if name == "tags":
        return mgn.TagsSplit, {"threshold": d}
    return {"fcfs": mgn.FCFS, "srpt": mgn.SRPT, "ps": mgn.PS, "split": mgn.Split}[name], {}


def run(key, jobs, n, eps, d):
    policy, parameters = simulated(key, eps, d)
    arrivals, sizes = np.array(jobs, float).reshape(-1, 2).T
    return mgn.completions(policy, n, arrivals, sizes, **parameters)


@pytest.mark.parametrize("key", POLICIES)
@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: trace.stem)
def test_recorded_trace(trace, key):
    n, eps, d, jobs, ends = load(trace)[key]
    ours = run(key, jobs, n, eps, d)
    if key in INEXACT:
        np.testing.assert_allclose(ours, ends, rtol=1e-9, atol=1e-9)
    else:
        assert ours.tolist() == ends


# Gaps and sizes are multiples of 1/64, so that all but shared rates are exact in float64 and ties are ties.
gap = st.one_of(st.just(0), st.integers(0, 64), st.integers(0, 640), st.integers(10_000, 40_000))
size = st.one_of(
    st.integers(1, 8), st.sampled_from([64, 128, 256]), st.integers(1, 640), st.integers(1, 6400)
)
jobs_of = st.lists(st.tuples(gap, size), min_size=1, max_size=60)
level = st.sampled_from([0.0, 0.5, 1.0, 2.0, 4.0, 30.0, np.inf])
tie_prone = settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


@pytest.mark.parametrize("key", POLICIES)
@tie_prone
@given(steps=jobs_of, n=st.sampled_from([1, 2, 3, 10]), eps=level, d=level)
def test_random_trace(key, steps, n, eps, d):
    name, options = resolve(key, eps, d)
    if n == 1 and name in ("thresh", "tags"):
        n = 2
    arrivals = np.cumsum([step for step, _ in steps]) / 64
    jobs = list(zip(arrivals.tolist(), [size / 64 for _, size in steps], strict=True))
    expected = reference.completions(name, jobs, n, **options)
    ours = run(key, jobs, n, eps, d)
    np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-9)
    if key not in INEXACT:
        assert ours.tolist() == expected


@pytest.mark.parametrize("key", POLICIES)
@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_long_pareto_trace(key, n):
    """2,000 jobs at a load of .9, sizes and gaps of full precision, sizes on both sides of d and eps."""
    name, options = resolve(key, 6.0, 4.0)
    if n == 1 and name in ("thresh", "tags"):
        pytest.skip("needs two servers")
    rng = np.random.default_rng(n)
    sizes = np.exp(rng.exponential(size=2000) / 1.5)
    arrivals = np.cumsum(rng.exponential(3 / (0.9 * n), size=2000))
    jobs = list(zip(arrivals.tolist(), sizes.tolist(), strict=True))
    expected = reference.completions(name, jobs, n, **options)
    np.testing.assert_allclose(run(key, jobs, n, 6.0, 4.0), expected, rtol=1e-9)


def test_preemption_with_an_idle_server():
    """Two long jobs and a short one on two and on three servers: no job waits while a server is idle."""
    jobs = [(0, 10), (0, 10), (1, 1)]
    assert (run("srpt", jobs, 2, 0, 0) - [0, 0, 1]).tolist() == [10, 11, 1]
    assert (run("srpt", jobs, 3, 0, 0) - [0, 0, 1]).tolist() == [10, 10, 1]


def test_no_preemption_between_equals():
    arrivals = [0, 0, 0.25, 0.5, 0.5, 2]
    jobs = [(arrival, 1.0) for arrival in arrivals]
    for n in (1, 3):
        assert run("srpt", jobs, n, 0, 0).tolist() == run("fcfs", jobs, n, 0, 0).tolist()


def test_repeated_preemption_leaves_no_residue():
    """A thousand jobs of .1, one every .1, and a long one that each of them preempts."""
    jobs = [(0.0, 7.0)] + [(0.1 * i, 0.1) for i in range(1000)]
    ends = run("srpt", sorted(jobs, key=lambda job: job[0]), 1, 0, 0)
    assert len(ends) == 1001 and np.all(np.isfinite(ends))
    np.testing.assert_allclose(np.sort(ends)[-1], 107.0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.sort(ends)[:-1], 0.1 * np.arange(1, 1001), rtol=0, atol=1e-9)


def test_tags_moves_jobs_with_their_work():
    assert (run("tags", [(0, 3), (1, 5)], 2, 0, 1.0) - [0, 1]).tolist() == [4, 6]
