"""The simulator against closed forms, reductions between policies, and identities of the path.

Statistical comparisons have fixed seeds and use intervals so wide that a correct simulator fails one of
them with probability below 1e-4 (`FALSE_ALARM` over all comparisons of this file, by Bonferroni).
"""

import numpy as np
import pytest
from scipy import special

import reference
from tailsched import mgn
from tailsched.curves import summarize
from tailsched.runs import divide, run_shards
from tailsched.sampling import fill_arrivals
from tailsched.settings import Setting
from tailsched.sizes import parse_sizes
from tailsched.streams import PURPOSES, stream
from tailsched.theory import erlang, single_server

FALSE_ALARM = 1e-4
COMPARISONS = 200
SHARDS = 20
REACH = float(special.stdtrit(SHARDS - 1, 1 - FALSE_ALARM / COMPARISONS / 2))


def simulated(policy, n, rho, sizes, arrivals=2_000_000, times=()):
    setting = Setting.parse(policy, n, rho, sizes)
    shards = run_shards(setting, "oracle", 7, divide(arrivals, SHARDS), times)
    return summarize(setting, shards)[0]


def agrees(entry, truth):
    assert entry["se"] > 0
    return abs(entry["estimate"] - truth) <= REACH * entry["se"]


def batch_agrees(values, truth):
    """Whether the mean of `values`, in their order of arrival, agrees with the truth, by batch means."""
    means = np.array([batch.mean() for batch in np.array_split(values, SHARDS)])
    return abs(means.mean() - truth) <= REACH * means.std(ddof=1) / np.sqrt(SHARDS)


def jobs(sizes, lam, count, name="jobs"):
    """Arrival times and sizes of `count` jobs."""
    arrivals = np.empty(count)
    fill_arrivals(stream(3, name, 0, "arrivals"), lam, 0.0, arrivals)
    return arrivals, sizes.sample(stream(3, name, 0, "sizes"), count)


@pytest.mark.parametrize(("n", "rho"), [(1, 0.8), (2, 0.5), (2, 0.8), (3, 0.5), (3, 0.8), (10, 0.94)])
def test_erlang(n, rho):
    lam = n * rho
    times = [0.5, 1.0, 2.0, 5.0]
    summary = simulated("fcfs", n, rho, "exp", 4_000_000, times)
    assert agrees(summary["mean_response"], erlang.mean_response(n, lam))
    assert agrees(summary["mean_jobs"], lam * erlang.mean_response(n, lam))
    assert agrees(summary["mean_busy"], lam)
    for row in summary["tail"]:
        assert agrees(row, erlang.response_tail(row["t"], n, lam))


@pytest.mark.parametrize(
    "sizes", ["exp", "det:1", "hexp:10,0.5", "merlang:4,0.5,3", "pareto:4", "weibull:0.7"]
)
def test_pollaczek_khinchine(sizes):
    truth = single_server.mean_response("fcfs", parse_sizes(sizes), 0.7)
    assert agrees(simulated("fcfs", 1, 0.7, sizes, 4_000_000)["mean_response"], truth)


@pytest.mark.parametrize(
    ("policy", "formula"), [("srpt", "srpt"), ("ps", "ps"), ("split", "npljf"), ("sek:epsilon=0", "srpt")]
)
@pytest.mark.parametrize(("sizes", "rho"), [("exp", 0.5), ("exp", 0.8), ("pareto:3.5", 0.8)])
def test_one_server(policy, formula, sizes, rho):
    """Schrage-Miller SRPT, insensitive PS, and non-preemptive LJF, which SPLIT is on one server."""
    truth = single_server.mean_response(formula, parse_sizes(sizes), rho)
    summary = simulated(policy, 1, rho, sizes)
    assert agrees(summary["mean_jobs"], rho / parse_sizes(sizes).mean * truth)
    if summary["mean_response"]["se"] is not None:
        assert agrees(summary["mean_response"], truth)


def test_ps_is_insensitive_for_every_size():
    """M/G/1-PS: E[T | S = x] = x / (1 - rho), for Pareto(1.5) sizes."""
    rho, law = 0.5, parse_sizes("pareto:1.5")
    arrivals, sizes = jobs(law, rho / law.mean, 1_000_000)
    slowdown = (mgn.completions(mgn.PS, 1, arrivals, sizes) - arrivals) / sizes
    for low, high in [(1, 1.2), (1.2, 2), (2, 5), (5, 50)]:
        assert batch_agrees(slowdown[(sizes > low) & (sizes <= high)], 1 / (1 - rho))


@pytest.mark.parametrize(("sizes", "rho", "d"), [("pareto:1.5", 0.4, 20.0), ("pareto:2", 0.4, 10.0)])
def test_thresh_split_without_stealing_is_two_queues(sizes, rho, d):
    law = parse_sizes(sizes)
    small, _, _ = single_server.two_server_thresh_split(law, rho, d)
    arrivals, work = jobs(law, 2 * rho / law.mean, 4_000_000)
    responses = mgn.completions(mgn.ThreshSplitFCFS, 2, arrivals, work, threshold=d, steal=False) - arrivals
    assert batch_agrees(responses[work <= d], small)
    # The mean response of large jobs has an infinite variance; job by job, they have a server to themselves.
    alone = mgn.completions(mgn.SRPT, 1, arrivals[work > d], work[work > d]) - arrivals[work > d]
    np.testing.assert_allclose(responses[work > d], alone, rtol=1e-9)


def test_large_jobs_of_thresh_split_with_a_bounded_law():
    law, rho, d = parse_sizes("bounded-pareto:1.5,1,1000"), 0.4, 20.0
    small, large, overall = single_server.two_server_thresh_split(law, rho, d)
    arrivals, work = jobs(law, 2 * rho / law.mean, 4_000_000)
    responses = mgn.completions(mgn.ThreshSplitFCFS, 2, arrivals, work, threshold=d, steal=False) - arrivals
    assert batch_agrees(responses[work <= d], small)
    assert batch_agrees(responses[work > d], large)
    assert batch_agrees(responses, overall)


@pytest.mark.parametrize(("sizes", "d"), [("pareto:1.5", 20.0), ("pareto:2", 10.0)])
def test_tags_split_first_stage(sizes, d):
    law, rho = parse_sizes(sizes), 0.4
    arrivals, work = jobs(law, 2 * rho / law.mean, 4_000_000)
    responses = mgn.completions(mgn.TagsSplit, 2, arrivals, work, threshold=d) - arrivals
    small = work <= d
    assert batch_agrees((responses - work)[small], single_server.two_server_tags_split_wait(law, rho, d))


def test_without_large_jobs_small_servers_are_an_m_m_2():
    summary = simulated("thresh-split:threshold=inf,steal=no", 3, 0.5, "exp", 4_000_000)
    assert agrees(summary["mean_response"], erlang.mean_response(2, 1.5))


REDUCTIONS = {
    "thresh-split fcfs, no large jobs": (mgn.ThreshSplitFCFS, {"threshold": np.inf}, mgn.FCFS, 3, 3),
    "thresh-split srpt, no large jobs": (mgn.ThreshSplitSRPT, {"threshold": np.inf}, mgn.SRPT, 3, 3),
    "thresh-split srpt, no large jobs, no stealing": (
        mgn.ThreshSplitSRPT, {"threshold": np.inf, "steal": False}, mgn.SRPT, 3, 2,
    ),
    "thresh-split, large jobs only": (mgn.ThreshSplitFCFS, {"threshold": 0.5}, mgn.SRPT, 3, 1),
    "tags-split, d = 0": (mgn.TagsSplit, {"threshold": 0.0}, mgn.PS, 2, 1),
    "tags-split, d = inf": (mgn.TagsSplit, {"threshold": np.inf}, mgn.FCFS, 3, 2),
    "sek, eps = 0": (mgn.SEK, {"epsilon": 0.0}, mgn.SRPT, 3, 3),
    "sek, eps = inf": (mgn.SEK, {"epsilon": np.inf}, mgn.SRPT, 3, 3),
    "sek by original size, eps = inf": (mgn.SEK, {"epsilon": np.inf, "original": True}, mgn.SRPT, 3, 3),
}  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reduction(name):
    """Policies that become another one give the same completions, job by job."""
    policy, parameters, other, n, m = REDUCTIONS[name]
    arrivals, sizes = jobs(parse_sizes("pareto:1.5"), 0.25, 50_000)
    ours = mgn.completions(policy, n, arrivals, sizes, **parameters)
    np.testing.assert_allclose(ours, mgn.completions(other, m, arrivals, sizes), rtol=1e-12)


EVERY = {
    "fcfs": (0.5, True),
    "srpt": (0.5, True),
    "ps": (0.8, True),
    "sek:epsilon=20": (0.8, True),
    "sek:epsilon=20,sek-size=original": (0.8, True),
    "split": (0.6, True),
    "thresh-split:threshold=20": (0.5, False),
    "thresh-split:threshold=20,small=srpt": (0.8, False),
    "thresh-split:threshold=20,steal=no": (0.5, False),
    "thresh-split:threshold=20,small=srpt,steal=no": (0.8, False),
    "tags-split:threshold=10": (0.8, False),
}


@pytest.mark.parametrize("policy", EVERY)
def test_identities(policy):
    rho, conserving = EVERY[policy]
    summary = simulated(policy, 3, rho, "bounded-pareto:1.5,1,1000")
    held = summary["identities"]
    assert held["responses_below_size"] == 0
    assert held["little"] == pytest.approx(1.0, abs=1e-9)
    assert agrees(held["work"], 1.0)
    assert agrees(summary["mean_busy"], 3 * rho)
    assert held["stationary"]
    assert (abs(held["idle_with_work"]) < 1e-12) == conserving


@pytest.mark.parametrize("policy", EVERY)
def test_every_job_of_a_long_run(policy):
    """A million jobs: none leaves before it can, and all their work is done, no more and no less."""
    setting = Setting.parse(policy, 3, EVERY[policy][0], "pareto:1.5")
    simulator, parameters = setting.simulator()
    arrivals, sizes = jobs(setting.sizes, setting.lam, 1_000_000)
    engine = mgn.Engine(simulator, 3, setting.sizes.mean, **parameters)
    totals = mgn.Totals()
    for start in range(0, sizes.size, 50_000):
        block = slice(start, start + 50_000)
        engine.rebase()
        totals = totals.plus(
            engine.feed(arrivals[block] - engine.origin, sizes[block], start, (0, sizes.size))
        )
    empty = np.empty(0)
    totals = totals.plus(engine.feed(empty, empty, window=(0, sizes.size), until=np.inf))
    assert engine.present == 0
    assert totals.counted == sizes.size and totals.short == 0
    assert totals.work == pytest.approx(sizes.sum(), rel=1e-12)
    assert totals.busy == pytest.approx(sizes.sum(), rel=1e-9)
    assert totals.jobs == pytest.approx(totals.response, rel=1e-9)
    responses = mgn.completions(simulator, 3, arrivals, sizes, **parameters) - arrivals
    assert np.all(responses - sizes >= -1e-9 * np.maximum(arrivals, 1.0))
    assert totals.response == pytest.approx(responses.sum(), rel=1e-9)


@pytest.mark.parametrize("policy", ["srpt", "ps"])
def test_tail_against_a_long_run_of_the_reference(policy):
    """P[T > t] on one server, simulated, and counted in an independent run of the slow reference."""
    rho, law, times = 0.7, parse_sizes("pareto:2.5"), [1.5, 3.0, 6.0, 12.0, 25.0]
    counts = []
    for i in range(SHARDS):
        arrivals, sizes = jobs(law, rho / law.mean, 5000, f"reference {i}")
        ends = reference.completions(policy, list(zip(arrivals.tolist(), sizes.tolist(), strict=True)), 1)
        responses = (np.array(ends) - arrivals)[500:4500]
        counts.append([(responses > t).mean() for t in times])
    mean, error = np.mean(counts, axis=0), np.std(counts, axis=0, ddof=1) / np.sqrt(SHARDS)
    summary = simulated(policy, 1, rho, "pareto:2.5", 4_000_000, times)
    for row, truth, spread in zip(summary["tail"], mean, error, strict=True):
        assert abs(row["estimate"] - truth) <= REACH * np.hypot(row["se"], spread)


@pytest.mark.parametrize("policy", EVERY)
def test_a_clock_of_1e9_loses_no_digits(policy):
    """The same jobs from absolute time 0 and from 1e9 have the same responses, to 1e-6 relative."""
    setting = Setting.parse(policy, 3, EVERY[policy][0], "pareto:1.5")
    simulator, parameters = setting.simulator()
    runs = []
    for clock in (0.0, 1e9):
        streams = tuple(stream(5, "clock", 0, purpose) for purpose in PURPOSES)
        run = mgn.simulate(
            simulator,
            3,
            setting.lam,
            setting.sizes,
            200_000,
            0,
            streams,
            clock=clock,
            keep=True,
            **parameters,
        )
        arrivals = np.empty(200_000)
        fill_arrivals(stream(5, "clock", 0, "arrivals"), setting.lam, 0.0, arrivals)
        runs.append((run.tally.completions - clock - arrivals, run.totals))
    np.testing.assert_allclose(runs[0][0], runs[1][0], rtol=1e-6, atol=1e-6)
    assert runs[0][1].response == pytest.approx(runs[1][1].response, rel=1e-12)


def test_a_trace_far_from_the_origin_keeps_its_ties():
    """Times of 2^30 and jobs of eighths: exact, whatever the origin."""
    arrivals = np.array([0, 0, 1, 2, 2, 5]) + 2.0**30
    sizes = np.array([2, 2, 0.125, 1, 1, 3])
    ends = mgn.completions(mgn.SRPT, 2, arrivals, sizes)
    assert (ends - arrivals).tolist() == (
        mgn.completions(mgn.SRPT, 2, arrivals - 2.0**30, sizes) - arrivals + 2.0**30
    ).tolist()
