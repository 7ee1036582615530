"""Tagged jobs: copies that are exact, ladders that are unbiased, work that goes where it is needed.

Statistical tests have fixed seeds; a correct estimator fails one of them with probability below 1e-4.
"""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special
from scipy.stats import linregress

from tailsched import mgn, runs
from tailsched.curves import rate_of, summarize
from tailsched.mgn import tagged
from tailsched.mgn.policy import Regard
from tailsched.mgn.tagged import endless_rate
from tailsched.settings import Setting
from tailsched.sizes import parse_sizes
from tailsched.streams import stream
from tailsched.tails import ladder
from tailsched.tails.estimates import Tails, controlled, excess_interval
from tailsched.tails.precision import Goal, allocate, reached
from tailsched.theory.single_server import mean_response_of_size

SYSTEMS = [
    ("srpt", 3, 0.5),
    ("srpt", 10, 0.94),
    ("srpt", 1, 0.5),
    ("sek:epsilon=20", 3, 0.8),
    ("sek:epsilon=20,sek-size=original", 3, 0.8),
    ("split", 3, 0.6),
    ("thresh-split:large-load=0.5,small=fcfs", 3, 0.8),
    ("thresh-split:large-load=0.5,small=srpt", 3, 0.8),
    ("thresh-split:large-load=0.3,small=srpt,steal=no", 3, 0.6),
    ("tags-split:large-load=0.5", 3, 0.8),
    ("ps", 1, 0.5),
    ("ps", 2, 0.7),
]

DATA = Path(__file__).parent / "data"
WORLD = tagged.World


class Script:
    """Arrivals that are given: what comes after a time does not depend on who asks."""

    def __init__(self, arrivals, sizes):
        self.arrivals = arrivals
        self.sizes = sizes

    def world(self, rng, lam, law, above=0.0):
        twin = WORLD(rng, lam, law, above)
        arrivals, sizes = (values[self.sizes > above] for values in (self.arrivals, self.sizes))

        def draw(clock, count):
            first = np.searchsorted(arrivals, clock, side="right")
            assert first + count <= arrivals.size
            twin.drawn += count
            return arrivals[first : first + count].copy(), sizes[first : first + count].copy()

        twin.draw = draw
        return twin


def opened(policy, n, rho, sizes, rungs, monkeypatch, seed, shared):
    """Return the response times of one window, after 2,000 arrivals, with scripted arrivals from there on."""
    setting = Setting.parse(policy, n, rho, sizes)
    simulator, parameters = setting.simulator()
    rng = np.random.default_rng(seed)
    answers = []

    def visit(engine, number):
        clock = engine.clock
        gaps = rng.standard_exponential(2_000_000) / setting.lam
        script = Script(clock + 1e-6 + np.cumsum(gaps), setting.sizes.sample(rng, gaps.size))
        with monkeypatch.context() as patch:
            patch.setattr(tagged, "World", script.world)
            if not shared:
                patch.setattr(simulator, "regard", lambda self, largest: Regard(np.inf, np.inf, 0.0))
            fixed = np.random.default_rng(7)
            answers.append(tagged.window(engine, number, fixed, setting.lam, setting.sizes, rungs, 1e9)[0])

    streams = [np.random.default_rng([seed, k]) for k in range(2)]
    mgn.simulate(
        simulator, n, setting.lam, setting.sizes, 1, 2000, streams, visits=[2000], visit=visit, **parameters
    )
    return answers[0]


@pytest.mark.parametrize(("policy", "n", "rho"), SYSTEMS)
def test_a_shared_copy_is_the_one_it_would_have_been(policy, n, rho, monkeypatch):
    """On the same arrivals, a size that is split off late leaves when it leaves if it is there from the start."""
    monkeypatch.setattr(tagged, "WORTH_SHARING", 40)
    monkeypatch.setattr(tagged, "LEAST_STEP", 4)
    rungs = np.geomspace(3.0, 30_000.0, 24)
    for seed in range(6):
        alone = opened(policy, n, rho, "pareto:1.5", rungs, monkeypatch, seed, shared=False)
        together = opened(policy, n, rho, "pareto:1.5", rungs, monkeypatch, seed, shared=True)
        assert np.isfinite(alone).all() and np.all(alone >= rungs * (1 - 1e-12))
        np.testing.assert_allclose(together, alone, rtol=1e-8, atol=1e-5)


def responses(policy, n, rho, sizes, rungs, windows, seed=1, spacing=300):
    """Return the (windows, rungs) response times of tagged jobs."""
    setting = Setting.parse(policy, n, rho, sizes)
    simulator, parameters = setting.simulator()
    rng = np.random.default_rng(seed)
    rows = []

    def visit(engine, number):
        rows.append(tagged.window(engine, number, rng, setting.lam, setting.sizes, rungs, 1e9)[0])

    streams = [stream(seed, "windows", 0, purpose) for purpose in ("arrivals", "sizes")]
    visits = list(range(2000, 2000 + spacing * windows, spacing))
    mgn.simulate(
        simulator, n, setting.lam, setting.sizes, spacing * windows, 2000, streams, visits=visits, visit=visit,
        **parameters,
    )  # fmt: skip
    return np.array(rows)


@pytest.mark.parametrize(("policy", "rho"), [("srpt", 0.5), ("srpt", 0.8), ("ps", 0.5), ("ps", 0.8)])
def test_the_mean_response_of_a_size_in_the_m_g_1(policy, rho):
    """E[T | S = x] is known for SRPT and PS; sizes from the middle of the law to far out in its tail."""
    sizes = parse_sizes("pareto:2.5")
    rungs = np.array([2.0, 10.0, 100.0, 1000.0])
    rows = responses(policy, 1, rho, "pareto:2.5", rungs, 1500)
    truth = np.array([mean_response_of_size(policy, sizes, rho, x) for x in rungs])
    batches = np.array([batch.mean(axis=0) for batch in np.array_split(rows, 20)])
    distance = (batches.mean(axis=0) - truth) / (batches.std(axis=0, ddof=1) / np.sqrt(20))
    assert np.all(np.abs(distance) <= special.stdtrit(19, 1 - 1e-4 / 32))
    assert np.all(batches.std(axis=0) / batches.mean(axis=0) < 0.5)


@pytest.mark.parametrize(
    "sizes", ["pareto:1.5", "pareto:2", "bounded-pareto:1.2,1,1e6", "exp", "weibull:0.5"]
)
def test_a_ladder_is_unbiased(sizes):
    """The weights and sizes of the rungs integrate the tail and the mean beyond the cut; far t are exact."""
    law = parse_sizes(sizes)
    until = 1e5 * law.mean if sizes.startswith("pareto") else float(law.tail_quantile(1e-9))
    built = ladder.build(law, until)
    rng = np.random.default_rng(3)
    t = law.tail_quantile(built.limits[0] * np.array([0.5, 0.1, 1e-2, 1e-3]))
    draws = [built.rungs(rng, built.bands - 1) for _ in range(400)]
    assert all(np.all(np.diff(size) >= 0) and size[0] >= built.cuts[0] for _, _, size in draws)
    beyond = law.tail(until) if built.rest == 0 else 0.0
    for k, function in enumerate([*(lambda x, s=s: x > s for s in t), lambda x: np.minimum(x, t[2])]):
        values = np.array([np.sum(weight * function(size)) for _, weight, size in draws])
        excess = np.array([law.tail(s) for s in t])[k] if k < t.size else None
        if excess is None:
            grid = np.linspace(built.cuts[0], t[2], 200_001)
            middle = (grid[1:] + grid[:-1]) / 2
            excess = built.cuts[0] * built.limits[0] + np.sum(law.tail(middle)) * (grid[1] - grid[0])
            excess -= beyond * t[2]
        else:
            excess -= beyond
        assert abs(values.mean() - excess) <= 4.5 * values.std() / 20 + 1e-6 * excess


def test_a_ladder_ends_where_it_may():
    law = parse_sizes("pareto:1.5")
    built = ladder.build(law, 1e6)
    assert built.tops[-1] == pytest.approx(1e6) and np.all(np.diff(built.tops) > 0)
    short = built.down_to(2)
    assert short.bands == 2 and short.until == pytest.approx(built.tops[1])
    assert built.down_to(0).bands == 0 and built.down_to(0).until == built.cuts[0]
    assert ladder.build(parse_sizes("det:2"), 1e6).bands == 0
    assert ladder.build(law, 10.0).bands == 0


def sampled(
    policy="srpt", n=3, rho=0.5, sizes="pareto:1.5", budget=3_000_000, precision=1e-6, until=1e4, **more
):
    setting = Setting.parse(policy, n, rho, sizes)
    goal = Goal(precision, until, precision, until, budget)
    options = {"shards": 8, "warm_up": 2000, "seed": 1} | more
    names = "tests", f"tests/{policy}"
    seed, shards, warm_up = (options.pop(key) for key in ("seed", "shards", "warm_up"))
    return setting, runs.sample(setting, names, seed, goal, shards, warm_up, **options)


@pytest.mark.parametrize(("policy", "n", "rho"), SYSTEMS)
def test_tagged_and_natural_runs_agree(policy, n, rho):
    """At every quarter octave of t where a natural run of four million arrivals says something."""
    setting, shards = sampled(policy, n, rho, budget=6_000_000)
    natural = runs.run_shards(setting, "natural", 5, runs.divide(4_000_000, 20, 20_000))
    first, second = (Tails.of(some, setting.sizes).at_edges() for some in (shards, natural))
    t = [t for t in second.t[::32] if 1 <= t <= shards[0].until]
    compared = 0
    for time in t:
        i, j = np.searchsorted(first.t, time), np.searchsorted(second.t, time)
        if second.samples[j] < 30:
            continue
        compared += 1
        low, high = min(first.low[i], second.low[j]), max(first.high[i], second.high[j])
        reach = np.hypot(first.high[i] - first.low[i], second.high[j] - second.low[j])
        assert abs(first.estimate[i] - second.estimate[j]) <= 1.6 * reach, (time, low, high)
    assert compared >= 15


def test_agreement_with_a_natural_run_of_1e9_arrivals():
    """SRPT-3, load .5, alpha 1.5: at every t of the natural run's grid, within the joint interval.

    The natural run is kept in data/; its intervals and ours are at 95 %, and what is allowed is twice their root
    sum of squares, four standard errors and more, at some 120 times of which neighbours are alike.
    """
    setting, shards = sampled(budget=40_000_000, until=1e5, warm_up=20_000, shards=16)
    tail = Tails.of(shards, setting.sizes).at_edges()
    with open(DATA / "natural_srpt_3.csv", newline="", encoding="utf-8") as file:
        rows = [{key: float(value or "nan") for key, value in row.items()} for row in csv.DictReader(file)]
    compared = 0
    for row in rows:
        i = int(np.searchsorted(tail.t, row["t"] * (1 - 1e-9)))
        if not 1 <= row["t"] <= min(1e5, shards[0].until) or row["samples"] < 30:
            continue
        assert tail.t[i] == pytest.approx(row["t"])
        compared += 1
        reach = np.hypot(tail.high[i] - tail.low[i], row["high"] - row["low"]) / 2
        assert abs(tail.estimate[i] - row["estimate"]) <= 2.0 * reach, row["t"]
    assert compared >= 150


def test_coverage_of_the_tail(monkeypatch):
    """1,000 repetitions of 8 shards at n = 2, load .8: the 95 % intervals cover in 91.5 to 98 % at t = 10, 1e3, 1e5.

    The truth is the mean over all 8,000 shards, thirty times as precise as a repetition. At t = 10 the natural run
    decides, at the realised load and so by the control variate; at the others the tagged jobs, of which there are some
    thirty between qt and t. A method that covers in 95 % leaves the range with probability below 1e-5 a time.
    """
    monkeypatch.setattr(ladder, "FIRST", 1e-3)
    setting = Setting.parse("srpt", 2, 0.8, "pareto:1.5")
    times = (10.0, 1e3, 1e5)
    built = ladder.build(setting.sizes, 1.05e5, crowded=True)
    work = runs.Work(20_000, (*[0] * (built.bands - 1), 1))
    tasks = [
        (runs.run_tagged, setting, ("cover", "cover/srpt"), 1, (i, 0), work, 4000, built, times)
        for i in range(8000)
    ]
    with runs.progress_bar(0, "") as bar, runs._workers(2, bar) as run:
        shards = [shard for shard, _ in run(tasks)]
    truth = Tails.of(shards, setting.sizes).at_times().estimate
    held = []
    for k in range(1000):
        tail = Tails.of(shards[8 * k : 8 * k + 8], setting.sizes).at_times()
        held.append((tail.low <= truth) & (truth <= tail.high))
    covered = np.mean(held, axis=0)
    assert np.all((covered >= 0.915) & (covered <= 0.98)), covered


@pytest.mark.parametrize(
    ("policy", "n", "rho"),
    [
        ("split", 3, 0.5),
        ("thresh-split:large-load=0.3,small=fcfs", 3, 0.6),
        ("thresh-split:large-load=0.3,small=srpt", 3, 0.6),
        ("tags-split:large-load=0.3", 3, 0.6),
        ("srpt", 1, 0.5),
        ("ps", 1, 0.5),
    ],
)
def test_an_endless_job_gets_what_theory_says(policy, n, rho):
    """At alpha = 1.5 the load of these runs is off by percents; the rate is not, for it is taken at the known load."""
    setting = Setting.parse(policy, n, rho, "pareto:1.5")
    rate = rate_of(setting, runs.run_endless_shards(setting, "endless", 1, runs.divide(2_000_000, 10, 5000)))
    truth = setting.rate / setting.limit ** (1 / 1.5) if n > 1 else 1 - rho
    assert abs(rate.estimate - truth) <= max(special.stdtrit(8, 1 - 1e-4 / 12) * rate.se, 1e-7)
    assert rate.se < (1e-9 if n > 1 else 0.01)


@pytest.mark.parametrize("policy", ["thresh-split:threshold=30,small=srpt", "tags-split:threshold=20"])
def test_a_rate_is_not_what_theory_says_where_the_load_is_not(policy):
    """The control variate does not make the rate right by itself: a threshold off by a tenth gives another rate."""
    setting = Setting.parse(policy, 3, 0.6, "pareto:1.5")
    simulator, parameters = setting.simulator()
    system = simulator, 3, setting.lam, setting.sizes, np.random.default_rng(1), 200_000, 5000
    beside = setting.beside_large
    right, _ = endless_rate(*system, beside, **parameters)
    wrong, _ = endless_rate(*system, beside, **{**parameters, "threshold": 1.1 * parameters["threshold"]})
    assert right == pytest.approx(1 - beside[1], abs=1e-7) and abs(wrong - right) > 0.005


@settings(max_examples=60, deadline=None)
@given(st.integers(6, 20), st.floats(-3, 3), st.integers(0, 2**32 - 1))
def test_a_controlled_mean_is_the_regression_at_zero(shards, slope, seed):
    rng = np.random.default_rng(seed)
    control, noise = rng.standard_exponential(shards) - 1.0, rng.standard_normal(shards)
    values = 5.0 + slope * control + 0.1 * noise
    better = controlled(values, control)
    fit = linregress(control, values)
    assert np.mean(better) == pytest.approx(fit.intercept, rel=1e-9)
    assert np.std(better, ddof=1) / np.sqrt(shards) == pytest.approx(fit.intercept_stderr, rel=1e-6)
    assert np.array_equal(controlled(values[:5], control[:5]), values[:5])
    assert np.array_equal(controlled(values, np.zeros(shards)), values)


def test_an_endless_job_under_srpt_is_served_while_a_server_is_free():
    setting = Setting.parse("srpt", 3, 0.5, "pareto:2.5")
    rates = [
        rate for rate, _ in runs.run_endless_shards(setting, "endless", 1, runs.divide(2_000_000, 10, 5000))
    ]
    shards = runs.run_shards(setting, "few", 1, runs.divide(2_000_000, 10, 5000))
    few = [shard.totals.few / shard.span for shard in shards]
    assert abs(np.mean(rates) - np.mean(few)) <= 5 * np.hypot(np.std(rates), np.std(few)) / np.sqrt(10)
    assert np.std(few) < 0.01


def test_the_result_does_not_depend_on_the_cores():
    _, alone = sampled(budget=400_000, until=1e3)
    _, two = sampled(budget=400_000, until=1e3, cores=2)
    for one, other in zip(alone, two, strict=True):
        assert one.totals == other.totals and np.array_equal(one.tagged.response, other.tagged.response)


def test_a_goal_is_reached_and_not_passed_by_far():
    setting, shards = sampled(budget=300_000_000, precision=0.03, until=1e4)
    tails = Tails.of(shards, setting.sizes)
    goal = Goal(**shards[0].origin["goal"])
    assert reached(tails, goal)[0] <= 0.03
    spent = sum(shard.arrivals for shard in shards)
    assert spent < 60_000_000
    summary, _ = summarize(setting, shards)
    assert summary["precision"]["met"] and summary["method"] == "tagged"


@pytest.mark.parametrize("budget", [1_000_000, 4_000_000])
def test_a_budget_is_kept(budget):
    """Whatever is asked for, the arrivals stay within the budget, but for the last windows and the endless job."""
    _, shards = sampled(budget=budget, precision=1e-6, until=1e4)
    assert sum(shard.arrivals for shard in shards) <= 1.5 * budget
    _, shards = sampled("split", budget=budget, precision=1e-6, until=1e4)
    endless = sum(min(shard.totals.counted, runs.ENDLESS_RUN) + 2000 for shard in shards)
    assert sum(shard.arrivals for shard in shards) - endless <= 1.5 * budget


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(1, 6), st.integers(1, 12), st.integers(0, 10**6))
def test_allocations_meet_every_target_at_no_more_cost_than_uniform_work(parts, times, seed):
    rng = np.random.default_rng(seed)
    variance = rng.lognormal(0, 2, (parts, times)) * (rng.random((parts, times)) < 0.7)
    variance[0] += 1e-6
    cost, target = rng.lognormal(0, 2, parts), rng.lognormal(0, 1, times)
    work = allocate(variance, cost, target)
    assert np.all((variance / work[:, np.newaxis]).sum(axis=0) <= target * (1 + 1e-9))
    uniform = (variance.sum(axis=0) / target).max()
    assert work @ cost <= uniform * cost.sum() * (1 + 1e-6)


def test_few_rungs_do_not_collapse_to_a_point():
    """Without an event the upper end is what a few events would make it; with many it is Student's."""
    _, low, high = excess_interval(np.zeros((8, 1)), np.array([1.0]), counts=False)
    assert low == 0 and 0.2 < high < 1
    values = np.random.default_rng(1).normal(100, 1, (8, 1))
    mean, low, high = excess_interval(values, np.array([1.0]), counts=False)
    reach = special.stdtrit(7, 0.975) * values.std(ddof=1) / np.sqrt(8)
    assert high - mean == pytest.approx(reach, rel=0.05) and mean - low == pytest.approx(reach, rel=0.05)
