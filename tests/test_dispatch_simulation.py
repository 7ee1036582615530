"""The simulator of finitely many servers: job by job against a plain one, against theory; the commands."""

import json
import math

import numpy as np
import pytest
from reference_dispatch import order

from tailsched import cli
from tailsched.dispatch.cavity import Cavity
from tailsched.dispatch.fits import fit
from tailsched.dispatch.phase_type import PhaseType, hexp
from tailsched.dispatch.policies import POLICIES
from tailsched.dispatch.simulation import default_warm_up, simulate, size_law
from tailsched.sizes import parse_sizes
from tailsched.streams import stream


def plain_waits(policy, servers, d, lam, sizes, jobs, delta, inside, layers, delay, seed, residual):
    """Return the waits of all jobs; all jobs of a server are kept, and looked through at each arrival."""
    arrivals = stream(seed, "dispatch", 0, "arrivals")
    drawer = stream(seed, "dispatch", 0, "sizes")
    sampler = stream(seed, "dispatch/servers", 0, "arrivals")
    held = [[] for _ in range(servers)]  # (arrival, start, end)
    clock, waits = 0.0, []
    for _ in range(jobs):
        clock += arrivals.standard_exponential() / (lam * servers)
        size = float(sizes.sample(drawer, 1)[0])
        sampled = []
        while len(sampled) < d:
            pick = int(sampler.random() * servers)
            if pick not in sampled:
                sampled.append(pick)
        seen = clock - delay
        keys = []
        for server in sampled:
            present = [job for job in held[server] if job[0] <= seen < job[2]]
            if not present:
                keys.append((-1,))
                continue
            age = seen - present[0][1]
            k = max(min(math.ceil(age / delta), layers), 1)
            keys.append((0, *order(policy, k, len(present), inside, residual)))
        server = sampled[keys.index(min(keys))]
        start = max(clock, held[server][-1][2]) if held[server] else clock
        held[server].append((clock, start, start + size))
        waits.append(start - clock)
    return np.array(waits)


@pytest.mark.parametrize("delay", [0.0, 0.7])
@pytest.mark.parametrize("policy", POLICIES)
def test_every_wait_is_that_of_a_plain_simulation(policy, delay):
    servers, d, lam, jobs, delta, r = 7, 3, 0.8, 3000, 0.25, 12
    sizes = parse_sizes("hexp:10,0.5")
    threshold = 1.0
    residual = [None, *hexp(10, 0.5).residuals(delta, r + 1)]
    inside = 1 if POLICIES[policy].layering == "threshold" else 4
    width, layers = (threshold, 2) if POLICIES[policy].layering == "threshold" else (delta, r + 1)
    waits = plain_waits(policy, servers, d, lam, sizes, jobs, width, inside, layers, delay, 3, residual)
    layered = {"delta": delta, "threshold": threshold, "cut": r * delta}
    once = {"seed": 3, "runs": 1, "warm_up": 0, "times": [0.0, 0.5, 2.0]}
    result = simulate(policy, servers, d, lam, sizes, jobs, **layered, delay=delay, **once)
    assert result.mean_wait.estimate == pytest.approx(waits.mean(), rel=1e-12)
    assert result.wait_tail[:, 0] == pytest.approx([(waits > t).mean() for t in (0.0, 0.5, 2.0)], abs=1e-12)
    assert result.waiting_probability.estimate == pytest.approx((waits > 0).mean(), abs=1e-12)
    assert 0.05 < (waits > 0).mean() < 0.95


def test_a_long_queue_is_lindleys():
    """One server, and more jobs than the first pool and the first table hold."""
    lam, jobs = 0.99, 60_000
    gaps = stream(5, "dispatch", 0, "arrivals").standard_exponential(jobs) / lam
    sizes = parse_sizes("exp").sample(stream(5, "dispatch", 0, "sizes"), jobs)
    work, waits = 0.0, []
    for gap, size in zip(gaps, sizes, strict=True):
        work = max(work - gap, 0.0)
        waits.append(work)
        work += size
    result = simulate("las", 1, 1, lam, "exp", jobs, cut=1, seed=5, runs=1, warm_up=0, times=[10.0, 50.0])
    assert max(waits) > 150
    assert result.mean_wait.estimate == pytest.approx(np.mean(waits), rel=1e-9)
    assert result.wait_tail[:, 0] == pytest.approx([np.mean(np.array(waits) > t) for t in (10, 50)], abs=1e-9)


def covers(entry, value, slack=0.0, widths=2.0):
    """Whether the value is within some half widths of the interval, and `slack` of the value."""
    half = (entry.high - entry.low) / 2
    return abs(entry.estimate - value) <= widths * half + slack * value


@pytest.mark.parametrize(
    ("sizes", "second"), [("exp", 2.0), ("pareto:3.5", 2.5**2 / (1.5 * 3.5)), ("det", 1.0)]
)
def test_one_sampled_server_has_the_mean_of_pollaczek_and_khinchine(sizes, second):
    result = simulate("sq", 20, 1, 0.6, sizes, 4_000_000, seed=2)
    assert result.stationary
    assert covers(result.mean_wait, 0.6 * second / (2 * 0.4))
    assert covers(result.waiting_probability, 0.6)


@pytest.mark.parametrize("policy", POLICIES)
def test_many_servers_agree_with_the_cavity_method(policy):
    solution = Cavity(policy, 3, "hexp:4,0.5", 0.25, 2.0, 10.0).solve(0.7)
    result = simulate(
        policy, 2000, 3, 0.7, "hexp:4,0.5", 3_000_000, 0.25, 2.0, 10.0, seed=11, times=[1.0, 4.0]
    )
    assert result.stationary
    assert covers(result.mean_wait, solution.mean_wait, 0.01)
    assert covers(result.waiting_probability, 0.7**3, 0.01)
    for (estimate, _, low, high), value in zip(result.wait_tail, solution.wait_tail([1.0, 4.0]), strict=True):
        assert abs(estimate - value) <= (high - low) + 0.02 * value
    for (estimate, _, low, high), value in zip(
        result.response_tail, solution.response_tail([1.0, 4.0]), strict=True
    ):
        assert abs(estimate - value) <= (high - low) + 0.01 * value


def test_fewer_servers_wait_longer_by_one_over_their_number():
    few, more = (simulate("sq", n, 2, 0.8, "exp", 8_000_000, seed=4).mean_wait for n in (10, 50))
    limit = Cavity("sq", 2, "exp").solve(0.8).mean_wait
    assert few.low > more.high and more.low > limit
    assert (few.estimate - limit) / (more.estimate - limit) == pytest.approx(5, rel=0.3)


def test_old_reports_cost():
    fresh, old = (
        simulate("lew", 200, 5, 0.7, "hexp:4,0.5", 800_000, cut=10, delay=h, seed=1).mean_wait for h in (0, 1)
    )
    assert old.low > 1.5 * fresh.high


def test_a_seed_gives_the_same_and_another_seed_another():
    def waits(seed):
        return simulate("sq-rtb", 50, 3, 0.7, "exp", 20_000, seed=seed, runs=4).run_waits.tolist()

    assert waits(7) == waits(7)
    results = [tuple(waits(seed)) for seed in (7, 8, 2**53, 2**53 + 1, 2**63 + 1)]
    assert len(set(results)) == 5
    assert len(set(results[0])) == 4


def test_the_warm_up_forgets_the_empty_start():
    sizes = parse_sizes("exp")
    assert default_warm_up(100, 0.5, sizes, 10**6) == 1000
    assert default_warm_up(100, 0.5, sizes, 100) == 50
    assert default_warm_up(100, 0.5, parse_sizes("pareto:1.5"), 1000) == 500
    cold = simulate("sq", 1000, 2, 0.95, "exp", 100_000, runs=5, warm_up=0)
    assert not cold.stationary


def test_sizes_are_scaled_to_mean_one():
    assert size_law("pareto:1.5,7").mean == pytest.approx(1.0)
    assert size_law("erlang:4").scv == pytest.approx(0.25)
    assert size_law(hexp(10, 0.5)).spec == "hexp:10,0.5"
    with pytest.raises(ValueError, match="family"):
        size_law(PhaseType(np.ones(1), -np.ones((1, 1)), "mine"))


def test_a_fit_has_the_tail_and_the_waits_of_what_it_fits():
    sizes = parse_sizes("weibull:0.5").scaled_to_mean(1.0)
    made = fit(sizes)
    assert made.error < 0.02
    t = np.geomspace(0.01, 0.9 * made.reach, 50)
    assert made.sizes.tail(t) == pytest.approx(sizes.tail(t), rel=0.03)
    assert made.sizes.scv == pytest.approx(sizes.second_moment - 1, rel=0.02)
    cavity = Cavity("sq-re", 3, made.sizes).solve(0.6)
    assert covers(simulate("sq-re", 1000, 3, 0.6, sizes, 3_000_000).mean_wait, cavity.mean_wait, 0.02)


# -------------------------------------------------------------------------------------------- the commands

SOLVE = "solve --policy las-qtb --d 5 --lam .7 --sizes hexp:10,0.5".split()
SIMULATE = "simulate-dispatch --policy las-qtb --servers 50 --d 5 --lam .7 --sizes hexp:10,0.5".split()
SIMULATE += ["--arrivals", "1e4"]


def run(capsys, *arguments):
    cli.main(list(map(str, arguments)))
    return json.loads(capsys.readouterr().out)


def test_solve_prints_the_solution(capsys):
    summary = run(capsys, *SOLVE, "--cut", 10, "--times", "2,10", "--json")
    assert summary["mean_wait"] == pytest.approx(0.2598493, abs=6e-8)
    assert summary["mean_response"] == pytest.approx(1.2598493, abs=6e-8)
    assert summary["mean_queue"] == pytest.approx(0.7 * 1.2598493, abs=6e-8)
    assert summary["mean_wait_by_arrivals"] == pytest.approx(summary["mean_wait"], rel=1e-8)
    assert 1 <= summary["iterations"] == len(summary["residuals"]) < 50
    assert [row["t"] for row in summary["tail"]] == [2, 10]
    assert [row["estimate"] for row in summary["tail"]] == pytest.approx([1.822e-2, 6.329e-3], rel=5e-4)
    plain = run(capsys, *SOLVE, "--cut", 10, "--plain-iteration", "--json")
    assert plain["mean_wait"] == pytest.approx(summary["mean_wait"], rel=1e-7)
    cli.main(SOLVE)
    assert "E[W] 0.259868" in capsys.readouterr().out


def test_options_that_a_policy_does_not_look_at_are_ignored(capsys):
    base = "solve --policy sq --d 3 --lam .7 --sizes hexp:10,0.5 --json".split()
    assert run(capsys, *base) == run(capsys, *base, "--delta", 0.7, "--threshold", 0.33, "--cut", 3)
    re = "solve --policy sq-re --d 3 --lam .7 --sizes hexp:10,0.5 --threshold 1.05 --json".split()
    assert run(capsys, *re) == run(capsys, *re, "--delta", 0.4, "--cut", 3)


def test_simulate_dispatch_prints_estimates(capsys):
    summary = run(capsys, *SIMULATE, "--seed", 3, "--times", "0,5", "--json")
    wait = summary["mean_wait"]
    assert wait["low"] < wait["estimate"] < wait["high"]
    assert [row["t"] for row in summary["tail"]] == [0, 5]
    assert summary["tail"][0]["estimate"] == pytest.approx(summary["waiting_probability"]["estimate"])
    assert summary == run(capsys, *SIMULATE, "--seed", 3, "--times", "5,0", "--json")
    cli.main([*SIMULATE, "--runs", "1"])
    assert "E[W]" in capsys.readouterr().out


BAD = [
    (SOLVE, "--lam 1", "lam = '1': must be a number above 0 and below 1"),
    (SOLVE, "--lam nan", "lam = 'nan'"),
    (SOLVE, "--lam x", "lam = 'x'"),
    (SOLVE, "--d 0", "d = '0': must be a whole number"),
    (SOLVE, "--d 2.5", "d = '2.5': must be a whole number"),
    (SOLVE, "--sizes hexp:0.5,0.5", "hexp scv = 0.5: must be at least 1"),
    (SOLVE, "--sizes hexp:10,1.5", "hexp f = 1.5: must be a number above 0 and below 1"),
    (SOLVE, "--sizes merlang:10,0.5,0", "merlang k = 0"),
    (SOLVE, "--sizes merlang:10,0.5,2.5", "merlang k = 2.5"),
    (SOLVE, "--sizes pareto:1.5", "must be of phase type"),
    (SOLVE, "--delta 0", "delta = '0': must be a positive number"),
    (SOLVE, "--delta inf", "delta = 'inf': must be a positive number"),
    (SOLVE, "--policy jsq", "policy = 'jsq': must be one of sq, sq-rtb"),
    (SOLVE, "--policy sq-rtb-re --threshold 0.25", "threshold = 0.25: must be a multiple of delta = 0.1"),
    (SOLVE, "--threshold -1", "threshold = '-1'"),
    (SOLVE, "--times 1,x", "times = '1,x'"),
    (SOLVE, "--tolerance 0", "tolerance = '0'"),
    (SOLVE, "--max-iterations 3", "no fixed point after 3 iterations"),
    (SIMULATE, "--d 51", "d = 51: must be at most the number of servers, 50"),
    (SIMULATE, "--servers 0", "servers = '0'"),
    (SIMULATE, "--arrivals 3", "arrivals = '3'"),
    (SIMULATE, "--delay -1", "delay = '-1'"),
    (SIMULATE, "--warm-up 5000", "warm-up = 5000"),
    (SIMULATE, "--seed -1", "seed = '-1'"),
    (SIMULATE, "--sizes pareto:1", "alpha"),
]


@pytest.mark.parametrize(("command", "options", "message"), BAD, ids=[f"{c[0]} {o}" for c, o, _ in BAD])
def test_bad_input_is_one_line_and_exit_code_2(capsys, command, options, message):
    with pytest.raises(SystemExit) as end:
        cli.main([*command, *options.split()])
    error = capsys.readouterr().err
    assert end.value.code == 2
    assert message in error and error.count("\n") == 1 and error.startswith(f"tailsched {command[0]}: ")
