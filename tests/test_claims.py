"""Claims: the decision rules have the error rates that they state, and every group convicts what is wrong.

Seeds are fixed. A group is tried on a world in which its claims are true (`worlds`), then on the same world
with one wrong number, or with a simulation of a wrong policy, which it has to convict: each of these mutants
names the claim that falls. Rates of the decision rules are compared with binomial limits of 5 standard
deviations: a false alarm of about 10^-6 each.
"""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import worlds

from tailsched import claims, evidence
from tailsched.claims import CATCH, Value, above, below, equals, every, exact, falls, within
from tailsched.curves import write_curve
from tailsched.evidence import Results
from tailsched.mgn.registry import FCFS, SRPT, Split
from tailsched.mgn.servers import create_row, srpt_arrive, srpt_fill
from tailsched.probes import (
    PROBES,
    approximation,
    overload,
    packing,
    pick,
    reductions,
    small_jobs,
    small_servers,
)
from tailsched.probes.harness import System, estimate, share, streams_of, with_endless_job
from tailsched.runs import divide
from tailsched.settings import Setting

CHECKS = worlds.ROOT / "paper_checks"
GROUPS = (
    "lower_bounds", "theorem_4_2", "lemmas_4_4_and_4_11", "lemma_5_2", "theorems_5_3_and_5_4",
    "theorems_6_2_and_6_3", "theorem_a1", "theorem_b1", "section_7_1", "section_7_2", "section_7_3",
    "section_8_2", "appendix_e",
)  # fmt: skip


def group(name, folder=CHECKS):
    """Return the module of a group of claims, or of a figure."""
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows_of(name, folder):
    return list(group(name).rows(Results(folder)))


def verdict_of(name, folder, text):
    """Return the verdicts of the rows of a group whose claim contains a text."""
    found = [row.verdict for row in rows_of(name, folder) if text in row.claim]
    assert found, f"no claim of {name} has {text!r}"
    return found


@pytest.fixture(scope="module")
def truth(tmp_path_factory):
    """A world in which the claims are true."""
    folder = tmp_path_factory.mktemp("truth") / "split"
    worlds.write(folder)
    return folder


@pytest.fixture
def world(truth, tmp_path):
    """A copy of it, to be spoilt."""
    import shutil

    folder = shutil.copytree(truth, tmp_path / "split")
    return worlds.World(folder)


# ------------------------------------------------------------------------------------------ decision rules


def shards_of(rng, mean, shards, runs):
    """Return `runs` values, each of `shards` normal shards around `mean`."""
    sample = rng.normal(mean, 1.0, (runs, shards))
    se = sample.std(axis=1, ddof=1) / np.sqrt(shards)
    return [Value(m, s, s, shards - 1, 1) for m, s in zip(sample.mean(axis=1), se, strict=True)]


@pytest.fixture
def frequent(monkeypatch):
    """Tests of level 5 %, so that their rates can be seen."""
    monkeypatch.setattr(claims, "FAMILY", 0.05)
    monkeypatch.setattr(claims, "TESTS", 1)


def near(count, runs, rate):
    return abs(count - runs * rate) <= 5 * np.sqrt(runs * rate * (1 - rate)) + 1


@pytest.mark.parametrize("shards", [4, 16])
def test_a_true_claim_is_convicted_as_often_as_stated(frequent, shards):
    values = shards_of(np.random.default_rng(1), 0.0, shards, 4000)
    rules = {
        "equals": lambda v: equals("", "", v, 0.0, 9),
        "above": lambda v: above("", "", v, 0.0, 9, strict=False),
        "below": lambda v: below("", "", v, 0.0, 9, strict=False),
    }
    for name, rule in rules.items():
        failed = sum(rule(value).verdict == "fails" for value in values)
        assert near(failed, len(values), 0.05), (name, failed)


def test_a_violation_of_the_size_of_the_power_is_caught_as_often_as_stated(frequent):
    """With the true standard error: what is caught is then exactly `CATCH`."""
    rng = np.random.default_rng(2)
    power = equals("", "", Value(0.0, 1.0, 1.0, np.inf), 0.0, 9).power
    values = [Value(x, 1.0, 1.0, np.inf) for x in rng.normal(power, 1.0, 4000)]
    assert near(sum(equals("", "", v, 0.0, 9).verdict == "fails" for v in values), 4000, CATCH)
    power = below("", "", Value(0.0, 1.0, 1.0, np.inf), 0.0, 9).power
    values = [Value(x, 1.0, 1.0, np.inf) for x in rng.normal(power, 1.0, 4000)]
    assert near(sum(below("", "", v, 0.0, 9).verdict == "fails" for v in values), 4000, CATCH)


def test_rows_of_several_comparisons_share_their_level(frequent):
    rng = np.random.default_rng(3)
    sets = [shards_of(rng, 0.0, 16, 6) for _ in range(2000)]
    failed = sum(every("", "", values, [0.0] * 6, 9).verdict == "fails" for values in sets)
    assert failed <= 0.05 * 2000 + 5 * np.sqrt(0.05 * 2000)
    assert failed >= 0.03 * 2000
    failed = sum(falls("", "", values, 9).verdict == "fails" for values in sets)
    assert failed <= 0.05 * 2000 + 5 * np.sqrt(0.05 * 2000)


def test_the_family_of_a_table_is_kept():
    """At the table's own level 100,000 true claims are convicted no more often than it says."""
    values = shards_of(np.random.default_rng(4), 0.0, 16, 100_000)
    failed = sum(equals("", "", value, 0.0, 99).verdict == "fails" for value in values)
    expected = len(values) * claims.FAMILY / claims.TESTS
    assert failed <= expected + 5 * np.sqrt(expected) + 1


def stable(rng, alpha, size):
    """Draw from the stable law of mean 0 that is totally skewed to large values (Chambers et al., 1976)."""
    angle = rng.uniform(-np.pi / 2, np.pi / 2, size)
    w = rng.exponential(size=size)
    slope = np.tan(np.pi * alpha / 2)
    shift = np.arctan(slope) / alpha
    scale = (1 + slope**2) ** (1 / (2 * alpha))
    moved = alpha * (angle + shift)
    return (
        scale
        * np.sin(moved)
        / np.cos(angle) ** (1 / alpha)
        * (np.cos(angle - moved) / w) ** ((1 - alpha) / alpha)
    )


@pytest.mark.parametrize("alpha", [1.2, 1.5])
def test_shards_without_their_giants_are_allowed_for(monkeypatch, alpha):
    """Without the stretch, averages of infinite variance are convicted ten times too often."""
    monkeypatch.setattr(claims, "FAMILY", 1e-3)
    monkeypatch.setattr(claims, "TESTS", 1)
    sample = stable(np.random.default_rng(5), alpha, (40_000, 16))
    se = sample.std(axis=1, ddof=1) / 4
    values = [Value(m, s, s, 15) for m, s in zip(sample.mean(axis=1), se, strict=True)]
    plain = sum(equals("", "", v, 0.0, 9).verdict == "fails" for v in values)
    stretched = sum(equals("", "", v.stretched(alpha, 1), 0.0, 9).verdict == "fails" for v in values)
    assert plain > 10 * 40
    assert stretched <= 1.5 * 40


WIDE = Value(1.0, 50.0, 50.0, 15, 100)
SHARP = Value(1.0, 1e-3, 1e-3, 15, 100)


@pytest.mark.parametrize(
    "decide",
    [
        lambda v: equals("", "", v, 1.0, 0.1),
        lambda v: above("", "", v, 0.9, 0.1),
        lambda v: above("", "", v, 0.9, 0.1, strict=False),
        lambda v: below("", "", v, 1.1, 0.1),
        lambda v: within("", "", v, 1.0, 0.1, 0.1),
        lambda v: every("", "", [v, v], [0.9, 0.9], 0.1),
        lambda v: falls("", "", [Value(9.0, v.below, v.above, 15), v], 0.1),
    ],
)
def test_no_claim_holds_because_its_interval_is_wide(decide):
    assert decide(SHARP).verdict == "holds"
    assert decide(WIDE).verdict == "undecided"
    assert decide(WIDE).power > 0.1 and decide(SHARP).power < 0.1


def test_what_was_not_measured_is_undecided():
    rows = [
        equals("", "", None, 1.0, 1), above("", "", None, 1.0, 1), within("", "", None, 1.0, 1, 1),
        every("", "", [None], [1.0], 1), falls("", "", [SHARP, None], 1), exact("", "", None, "", True, 0),
    ]  # fmt: skip
    assert {row.verdict for row in rows} == {"undecided"}
    assert every("", "", [SHARP, None], [0.0, 0.0], 1).verdict == "undecided"
    assert every("", "", [SHARP, None], [2.0, 0.0], 1).verdict == "fails"


def test_a_strict_inequality_has_to_be_shown():
    close = Value(1.0, 0.01, 0.01, 15)
    assert above("", "", close, 1.0, 0.2).verdict == "undecided"
    assert above("", "", close, 1.0, 0.2, strict=False).verdict == "holds"
    assert within("", "", close, 1.0, 0.02, 0.2).verdict == "undecided"


def test_a_bias_is_no_excuse_for_a_wide_interval():
    assert equals("", "", Value(1.0, 1e-3, 1e-3, 15, bias=0.01), 1.0, 0.1).verdict == "holds"
    assert equals("", "", Value(1.0, 1e-3, 1e-3, 15, bias=1.0), 1.0, 0.1).verdict == "undecided"
    assert equals("", "", Value(1.0, 1e-3, 1e-3, 15, bias=0.01), 1.1, 0.1).verdict == "fails"


def test_only_a_documented_conviction_is_refuted():
    assert below("", "", SHARP, 0.5, 0.1).verdict == "fails"
    assert below("", "", SHARP, 0.5, 0.1, refuted="an entry").verdict == "refuted"
    assert below("", "", SHARP, 1.5, 0.1, refuted="an entry").verdict == "holds"


def test_counts_have_exact_limits():
    """Nothing seen in 1000 is not nothing: the Poisson limit of a test decides."""
    from scipy import special

    limit = float(special.gammainccinv(1, claims.FAMILY / claims.TESTS / 2))
    value = Value.of_count(0, 1e-3, 1000)
    assert value.estimate == 0.0 and value.below == 0.0
    assert value.estimate + claims.reach(np.inf) * value.above == pytest.approx(limit / 1000)


def test_arithmetic_of_values_matches_simulation():
    """The errors of a ratio, a power and a difference, against 200,000 draws."""
    rng = np.random.default_rng(6)
    one, other = Value(2.0, 0.02, 0.02, 15), Value(3.0, 0.01, 0.01, 7)
    a, b = rng.normal(2.0, 0.02, 200_000), rng.normal(3.0, 0.01, 200_000)
    for value, sample in ((one.over(other), a / b), (one.raised(-1.5), a**-1.5), (one.minus(other), a - b)):
        assert value.estimate == pytest.approx(sample.mean(), rel=1e-3)
        assert value.below == pytest.approx(sample.std(), rel=0.02)
    assert one.over(other).degrees == 7


# --------------------------------------------------------------------------------------- a world that is true


def test_a_true_world_has_no_failure_and_hardly_anything_undecided(truth):
    rows = [row for name in GROUPS for row in rows_of(name, truth)]
    assert not [row.claim for row in rows if row.verdict == "fails"]
    assert sum(row.verdict == "holds" for row in rows) >= 200
    assert sum(row.verdict == "undecided" for row in rows) <= len(rows) / 10
    assert sum(row.tests for row in rows) <= claims.TESTS
    assert len({(row.claim, row.source) for row in rows}) == len(rows)


def test_a_run_without_rates_decides_less_and_fails_nothing(tmp_path):
    worlds.write(tmp_path, rate=False)
    rows = [row for name in GROUPS for row in rows_of(name, tmp_path)]
    assert not [row.claim for row in rows if row.verdict == "fails"]
    assert sum(row.verdict == "holds" for row in rows) >= 60


def test_every_refuted_claim_is_explained():
    """The entry that a script names is a heading of docs/claims.md, and each such entry is named."""
    text = (worlds.ROOT / "docs" / "claims.md").read_text()
    headings = set(re.findall(r"^### (.+)$", text, re.M))
    named = set()
    for name in GROUPS:
        named |= set(re.findall(r'"docs/claims\.md, ([^"]+)"', (CHECKS / f"{name}.py").read_text()))
    assert named == headings


# -------------------------------------------------------------------------------------------- wrong numbers


def _set(key, value):
    return lambda content: content.update({key: value})


def _within(key, **values):
    return lambda content: content[key].update(values)


def _rate(factor):
    def change(content):
        content["rate"] = {key: value * factor for key, value in content["rate"].items()}

    return change


def _percentiles(factor):
    def change(content):
        for entry in content["quantiles"]:
            entry.update({key: entry[key] * factor for key in ("estimate", "low", "high")})

    return change


def _rows(key, factor, **where):
    """Multiply the estimate of `key` in the rows of a probe that match."""

    def change(content):
        for row in content["rows"]:
            if all(row.get(name) == value for name, value in where.items()):
                row[key]["estimate"] *= factor

    return change


def _entries(path, values):
    """Set the estimates of a list of numbers."""

    def change(content):
        for row in content.get("rows", [content]):
            for entry, value in zip(row[path], values, strict=False):
                entry["se"] *= value / entry["estimate"]
                entry["estimate"] = value

    return change


def _cases(part, values):
    def change(content):
        for case, value in zip(content["cases"], values, strict=True):
            case[part]["estimate"] = value

    return change


def _busy(estimate):
    return _within("identities", busy={"estimate": estimate, "se": 1e-3})


def _unpacked(content):
    for row in content["rows"]:
        row["identity_error"] = 0.1


def _threshold_off(content):
    """The rate that goes with a threshold a tenth too large."""
    from tailsched.sizes import parse_sizes
    from tailsched.theory.thresholds import thresh_loads

    rate = 1 - thresh_loads(parse_sizes(content["sizes"]), 3, 0.5, 1.1 * content["threshold"])[0]
    content["rate"].update(estimate=rate)


def _late_small_jobs(content):
    content["late"][-1][0] += 20_000
    for t in (1, 2, 3):
        content["late"][t][0] += 3_000_000


MUTANTS = [
    # group, claim that falls, curve or probe, change
    ("lower_bounds", "T >= S", "low/split", _within("identities", responses_below_size=1)),
    ("lower_bounds", "P[T > t] >= P[S > t]", "low/split", 0.9),
    ("lower_bounds", "no server idles", "low/split", _within("identities", idle_with_work=1e-3)),
    ("lower_bounds", "servers are busy", "low/srpt", _busy(1.6)),
    ("lower_bounds", "no policy serves an endless job faster", "high/srpt", _rate(2.0)),
    ("lower_bounds", "has a limit of at least 1", "high/thresh-fcfs-0.45", 0.7),
    ("theorem_4_2", "low (alpha = 1.5): the limit", "low/split", 1.3),
    ("theorem_4_2", "lighter (alpha = 2): the limit", "lighter/split", 1.3),
    ("theorem_4_2", "low (alpha = 1.5): SPLIT's normalized tail falls", "low/split", lambda t: t**0.02),
    ("theorem_4_2", "low (alpha = 1.5): SPLIT's normalized tail is within", "low/split", lambda t: t**0.05),
    ("theorem_4_2", "Case 1", "small_jobs", _cases("small", [0.01, 0.01, 0.02, 0.05, 0.1, 0.3])),
    ("theorem_4_2", "Case 2", "small_jobs", _cases("large", [0.1, 0.1, 0.2, 0.3, 0.5, 0.7])),
    ("theorem_4_2", "Case 3", "small_jobs", _cases("huge", [1.8] * 6)),
    ("lemmas_4_4_and_4_11", "for every octave of x", "small_jobs", _late_small_jobs),
    ("lemmas_4_4_and_4_11", "Jobs of x <= t/8 make less", "small_jobs", _late_small_jobs),
    ("lemmas_4_4_and_4_11", "T_x is at most the first s", "reductions", _within("response", violations=1)),
    ("lemmas_4_4_and_4_11", "W_x of SPLIT", "reductions", _within("work", violations=1)),
    ("lower_bounds", "never have less work", "reductions", _within("total", violations=1)),
    ("lemmas_4_4_and_4_11", "is ignored by the LJF server", "reductions", _within("ljf", ignored=1)),
    ("lemmas_4_4_and_4_11", "never idle", "reductions", _within("ljf", idle=1)),
    ("lemmas_4_4_and_4_11", "non-preemptive", "reductions", _within("ljf", dropped=1)),
    ("lemmas_4_4_and_4_11", "The LJF server picks", "pick", _rows("picked", 0.6)),
    ("lemmas_4_4_and_4_11", "finds no job larger", "pick", _rows("alone", 0.5)),
    ("lemmas_4_4_and_4_11", "p(x) rises", "pick", _rows("picked", 1.4, x=100.0)),
    ("lemmas_4_4_and_4_11", "p(x) is above 0.9", "pick", _rows("picked", 0.7, x=1e6)),
    ("lemmas_4_4_and_4_11", "done by x + sqrt x", "giants", _rows("slow", 1.0)),
    ("lemma_5_2", "falls like exp", "small_servers", _rows("theta", 1.0)),
    ("lemma_5_2", "is a line", "small_servers", _entries("rates", [0.3, 0.15])),
    ("theorems_5_3_and_5_4", "low, 99, FCFS: an endless job", "low/thresh-fcfs-99", _threshold_off),
    ("theorems_5_3_and_5_4", "low, 99, FCFS: the limit", "low/thresh-fcfs-99", 1.3),
    ("theorems_5_3_and_5_4", "low, 99, FCFS: the normalized tail", "low/thresh-fcfs-99", 1.3),
    ("theorems_5_3_and_5_4", "low, FCFS: the measured limits", "low/thresh-fcfs-99", _rate(1.45)),
    ("theorems_5_3_and_5_4", "low: for a fixed d", "low/thresh-fcfs-99.99", _rate(1.2)),
    ("theorems_5_3_and_5_4", "high, 0.5, SRPT-(n-1): the limit", "high/thresh-srpt-0.5", lambda t: t**0.1),
    ("theorems_6_2_and_6_3", "low, 99: an endless job", "low/tags-99", _rate(1.05)),
    ("theorems_6_2_and_6_3", "low, 99: the limit", "low/tags-99", 1.4),
    ("theorems_6_2_and_6_3", "high, 0.5: the normalized tail", "high/tags-0.5", 1.4),
    ("theorems_6_2_and_6_3", "low: the measured limits", "low/tags-99", _rate(1.4)),
    ("theorems_6_2_and_6_3", "low: for a fixed d", "low/tags-99.99", _rate(1.2)),
    ("theorems_6_2_and_6_3", "jobs migrate", "approximation", _rows("rate", 1.1)),
    ("theorems_6_2_and_6_3", "no Poisson process", "approximation", _entries("dispersion", [1.2] * 4)),
    ("theorems_6_2_and_6_3", "over windows of 100 d", "approximation", _entries("dispersion", [1.5] * 4)),
    ("theorems_6_2_and_6_3", "PS sojourn", "approximation", _entries("sojourn", [1.4] * 2)),
    ("theorem_a1", "low: the normalized tail", "low/srpt", lambda t: t**0.2),
    ("theorem_a1", "low: the tail of SRPT-n has the index", "low/srpt", lambda t: t**0.4),
    ("theorem_b1", "low: q < min", "low/srpt", _rate(1.5)),
    ("theorem_b1", "low: q > 0", "low/srpt", _rate(-1.0)),
    ("theorem_b1", "low: the normalized tail of SRPT-n has a limit", "low/srpt", 0.7),
    ("theorem_b1", "low: it is (c/q)^alpha", "low/srpt", 1.5),
    ("theorem_b1", "low: SRPT-n is not strongly optimal", "low/split", 2.0),
    ("theorem_b1", "rho = 0.5: P[T_x >= x/c'] rises", "giants", _rows("slow", 0.1, x=1e5)),
    ("theorem_b1", "rho = 0.5: P[T_x >= x/c'] is above", "giants", _rows("slow", 0.5, x=1e5)),
    ("theorem_b1", "rho = 0.4: the rate of an endless job", "packing", _rows("rate", 1.3)),
    ("section_7_1", "low: srpt is bounded away", "low/srpt", lambda t: t**-0.05),
    ("section_7_1", "low: SPLIT outperforms SRPT-n at the 99.9 %", "low/split", _percentiles(1.3)),
    ("section_7_1", "low: SPLIT trails SRPT-n at the 99 %", "low/split", _percentiles(0.8)),
    ("section_7_1", "lighter: SPLIT outperforms SRPT-n at the 99 %", "lighter/split", _percentiles(1.3)),
    ("section_7_1", "low: SPLIT outperforms SRPT-n consistently", "low/split", 1.5),
    ("section_7_1", "low: the normalized tail of Thresh-SPLIT", "low/thresh-fcfs-99.99", 3.0),
    ("section_7_2", "high: Thresh-SPLIT with load 0.45 outperforms srpt", "high/thresh-srpt-0.45", 3.0),
    ("section_7_2", "high: Thresh-SPLIT approaches", "high/thresh-srpt-0.45", 3.0),
    ("section_7_2", "without work stealing", "stealing", _rows("alone", 0.01)),
    ("section_7_2", "tail over SPLIT's falls", "overload", _entries("ratios", [3.0, 2.0, 1.0])),
    ("section_7_2", "inflates response times", "overload", _entries("ratios", [0.4, 0.4, 0.4])),
    ("section_7_2", "sympathy for large jobs", "overload", _entries("ratios", [0.4, 0.4, 0.4])),
    ("section_7_3", "low: the normalized tail of TAGS-SPLIT", "low/tags-99.99", 3.0),
    ("section_7_3", "low, 99: the normalized tail is its limit", "low/tags-99", 1.5),
    ("section_8_2", "SPLIT: q = 2 (1 - rho)", "packing", _unpacked),
    ("section_8_2", "the same within", "packing", _unpacked),
    ("section_8_2", "SPLIT: P_idle = 1 - 2 rho", "packing", _rows("idle", 1.3, policy="split")),
    ("section_8_2", "served all the time", "packing", _rows("rate", 0.9, policy="split")),
    ("section_8_2", "SRPT-2: P_idle is at least", "packing", _rows("idle", 0.5, policy="srpt")),
    ("section_8_2", "P_idle falls as d grows", "packing", _rows("idle", 20.0, small_load=0.98)),
    ("section_8_2", "P_idle is below", "packing", _rows("idle", 20.0, small_load=0.98)),
    ("section_8_2", "not slower", "packing", _rows("rate", 0.5, policy="srpt")),
    ("section_8_2", "not faster", "packing", _rows("rate", 2.0, policy="srpt")),
    ("appendix_e", "low, 99: the tails with FCFS", "low/thresh-fcfs-99", 1.5),
    ("appendix_e", "high, 0.5: the bump with FCFS", "high/thresh-fcfs-0.5", 0.2),
    ("appendix_e", "low: SEK's limit falls", "sek", _rows("step", 1.5, setting="low")),
    ("appendix_e", "low: SEK improves on SRPT-n", "sek", _rows("over_200", 0.5, setting="low")),
    ("appendix_e", "lighter: SEK stops improving", "sek", _rows("over_200", 0.9, setting="lighter")),
    ("appendix_e", "low: SEK-200 has a smaller tail", "low/sek-200", 1.5),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "where", "change"), MUTANTS)
def test_a_wrong_number_is_convicted(world, name, text, where, change):
    if where in PROBES:
        if text == "done by x + sqrt x":
            world.probe(
                "giants", lambda c: [r["quick"].update(estimate=0.1) for r in c["rows"] if "quick" in r]
            )
        elif text == "falls like exp":
            world.probe(where, lambda c: [r.update(theta=1.1 * r["theta"]) for r in c["rows"]])
        else:
            world.probe(where, change)
    elif callable(change) and change.__qualname__.startswith("<lambda>") or not callable(change):
        world.scale(where, change)
    else:
        world.edit(where, change)
    assert "fails" in verdict_of(name, world.folder, text)


def test_every_claim_that_can_hold_has_a_mutant(truth):
    """Each row of the true world that holds by a test or exactly is matched by a mutant of its kind."""
    texts = {name: [text for group_, text, *_ in MUTANTS if group_ == name] for name in GROUPS}
    spared = re.compile(r"formula's limit|tighter one|has to carry more|are similar|T\* is about|grows, too")
    system = re.compile(r"^(low|heavier|lighter|high|high-ten)\b[^:]*: |^n = [^:]*: | at rho = \S+$")
    policy = re.compile(r"\b(srpt|sek-200|split|thresh\S*|trails|outperforms|with load 0.45)\b|\d\S* %|SPLIT")

    def kind(text):
        return " ".join(policy.sub("", system.sub("", re.sub("^rho = [^:]*: ", "", text))).split())

    missing = []
    for name in GROUPS:
        kinds = [kind(text) for text in texts[name]]
        for row in rows_of(name, truth):
            if row.verdict != "holds" or spared.search(row.claim):
                continue
            if not any(entry in kind(row.claim) for entry in kinds):
                missing.append((name, kind(row.claim)))
    assert not sorted(set(missing))


# ------------------------------------------------------------------------------------------ wrong policies


class _IdleServer:
    """SRPT-n with one server that is never used: SRPT-(n - 1) in a system of n."""

    __module__ = SRPT.__module__
    rebase = SRPT.rebase

    @staticmethod
    def create(n, capacity):
        return SRPT.create(n - 1, capacity)


def test_srpt_with_one_server_idle_is_convicted(world, monkeypatch):
    """By work conservation in its curve, by the packing identity, and by its rate."""
    setting = Setting.parse("srpt", 3, 0.5, "pareto:1.5")
    monkeypatch.setattr(Setting, "simulator", lambda self: (_IdleServer, {}))
    from tailsched.runs import run_shards

    shards = run_shards(setting, "low/srpt", 1, divide(200_000, 8))
    monkeypatch.undo()
    write_curve(world.folder / "curves" / "low" / "srpt.csv", "low/srpt", setting, shards)
    assert verdict_of("lower_bounds", world.folder, "low: no server idles") == ["fails"]
    rows = [packing.row("srpt", _IdleServer, rho, 0.05, 3) for rho in (0.2, 0.4)]
    assert min(row["identity_error"] for row in rows) > 0.1
    world.probe("packing", lambda c: c.update(rows=rows + [r for r in c["rows"] if r["policy"] != "srpt"]))
    assert verdict_of("section_8_2", world.folder, "SRPT-2: q = 2 (1 - rho)") == ["fails"]


class Preemptive(NamedTuple):
    """SPLIT whose LJF server is given to a larger arrival: preemptive largest-job-first."""

    n: int
    done: np.ndarray
    on: np.ndarray
    left: np.ndarray
    waiting: np.ndarray

    @classmethod
    def create(cls, n, capacity):
        return cls(n, *create_row(n), *create_row(capacity)), (0, 0, -1, np.inf)

    next_event, depart, settle, busy, rebase = (
        Split.next_event,
        Split.depart,
        Split.settle,
        Split.busy,
        Split.rebase,
    )

    def arrive(self, state, pool, now, slot):
        served, queued, ljf, end = state
        if ljf < 0:
            return served, queued, slot, now + pool.size[slot]
        rest, moved = pool.size[slot], slot
        if pool.size[slot] > pool.size[ljf]:
            rest, moved = end - now, ljf
            ljf, end = slot, now + pool.size[slot]
        served, queued = srpt_arrive(
            self.done,
            self.on,
            served,
            self.left,
            self.waiting,
            queued,
            self.n - 1,
            now,
            rest,
            moved,
            pool.number,
        )
        return served, queued, ljf, end


class Refusing(NamedTuple):
    """SPLIT whose LJF server takes no job above `REFUSED`."""

    n: int
    done: np.ndarray
    on: np.ndarray
    left: np.ndarray
    waiting: np.ndarray

    @classmethod
    def create(cls, n, capacity):
        return cls(n, *create_row(n), *create_row(capacity)), (0, 0, -1, np.inf)

    next_event, depart, busy, rebase = Split.next_event, Split.depart, Split.busy, Split.rebase

    def settle(self, state, pool, now):
        served, queued, ljf, end = state
        if ljf < 0 and queued > 0 and pool.size[self.waiting[queued]] <= REFUSED:
            ljf, end = self.waiting[queued], now + self.left[queued]
            queued -= 1
        served, queued = srpt_fill(
            self.done, self.on, served, self.left, self.waiting, queued, self.n - 1, now, pool.number
        )
        return served, queued, ljf, end

    def arrive(self, state, pool, now, slot):
        served, queued, ljf, end = state
        if ljf < 0 and pool.size[slot] <= REFUSED:
            return served, queued, slot, now + pool.size[slot]
        served, queued = srpt_arrive(
            self.done, self.on, served, self.left, self.waiting, queued, self.n - 1, now, pool.size[slot],
            slot, pool.number,
        )  # fmt: skip
        return served, queued, ljf, end


REFUSED = 1000.0

Preemptive.__name__ = Refusing.__name__ = "Split"  # what the harness knows as having an LJF server


def test_a_split_that_preempts_its_ljf_server_is_convicted(world):
    """No asymptotic claim can see it, as Section 8.1 says; the definition does."""
    result = reductions.measure(1, 0.05, policy=Preemptive)
    assert result["ljf"]["dropped"] > 0
    world.probe("reductions", lambda content: content.update(result))
    assert verdict_of("lemmas_4_4_and_4_11", world.folder, "non-preemptive") == ["fails"]


def test_a_split_that_neglects_giants_is_convicted(world):
    result = reductions.measure(1, 0.05, policy=Refusing)
    world.probe("reductions", lambda content: content.update(result))
    for text in ("never idle", "is ignored by the LJF server"):
        assert verdict_of("lemmas_4_4_and_4_11", world.folder, text) == ["fails"]
    setting = Setting.parse("split", pick.SERVERS, pick.LOAD, pick.SIZES)
    picked = share([pick.shard(Refusing, setting, 1e5, 20, 1, i)[0] for i in range(16)], 20)
    world.probe("pick", lambda c: [row.update(picked=picked) for row in c["rows"] if row["x"] == 1e5])
    assert verdict_of("lemmas_4_4_and_4_11", world.folder, "The LJF server picks") == ["fails"]


def test_fcfs_in_place_of_split_is_convicted(world):
    result = small_jobs.measure(1, 0.02, policy=FCFS)
    world.probe("small_jobs", lambda content: content.update(result))
    found = verdict_of("lemmas_4_4_and_4_11", world.folder, "for every octave")
    assert found == ["fails"] * 3


def test_a_threshold_off_by_a_tenth_is_convicted(world, monkeypatch):
    """By the decay rate of the small-job servers, which are simulated with the larger threshold."""
    right = small_servers.decay_rate
    monkeypatch.setattr(small_servers, "CASES", small_servers.CASES[:1])
    monkeypatch.setattr(small_servers, "decay_rate", lambda lam, sizes, d, m: right(lam, sizes, d / 1.1, m))
    result = small_servers.measure(1, 0.3)
    world.probe("small_servers", lambda content: content.update(result))
    assert verdict_of("lemma_5_2", world.folder, "falls like exp") == ["fails"]


@pytest.mark.parametrize("change", ["a wrong tail index", "large jobs among the small"])
def test_small_servers_with_the_wrong_jobs_are_convicted(world, monkeypatch, change):
    monkeypatch.setattr(small_servers, "CASES", small_servers.CASES[:1])
    right = small_servers.decay_rate
    if change == "a wrong tail index":
        from tailsched.sizes import parse_sizes

        wrong = parse_sizes("pareto:1.3")
        monkeypatch.setattr(
            small_servers, "decay_rate", lambda lam, sizes, d, m: right(1.5 / wrong.mean, wrong, d, m)
        )
    result = small_servers.measure(1, 0.3, bounded=change == "a wrong tail index")
    world.probe("small_servers", lambda content: content.update(result))
    assert "fails" in verdict_of("lemma_5_2", world.folder, "")


def test_poisson_migrations_are_told_from_true_ones(world):
    result = approximation.measure(1, 0.3, jitter=False)
    world.probe("approximation", lambda content: content.update(result))
    found = verdict_of("theorems_6_2_and_6_3", world.folder, "no Poisson process")
    assert "holds" not in found


def test_a_policy_that_giants_do_not_harm_is_told_from_split(world):
    result = overload.measure(1, 0.05, policy=SRPT)
    world.probe("overload", lambda content: content.update(result))
    assert verdict_of("section_7_2", world.folder, "inflates") == ["fails"]


# ---------------------------------------------------------------------------------------------- the harness


def test_a_copy_goes_on_like_the_original():
    """A copy fed the same numbers ends in the same state, and leaves the original untouched."""
    setting = Setting.parse("split", 3, 0.5, "pareto:1.5")
    system = System(Split, 3, setting.lam, setting.sizes, streams_of(1, "copy", 0))
    system.run(5000)
    twins = [system.copy(streams_of(1, "fresh", 0)) for _ in range(2)]
    before = system.clock, system.engine.state
    for twin in twins:
        twin.run(2000)
    assert twins[0].engine.state == twins[1].engine.state and twins[0].clock == twins[1].clock
    assert (system.clock, system.engine.state) == before


def test_an_endless_job_alone_is_served_all_the_time():
    """n = 1: q = 1 - rho, from an endless job under SRPT and from the work of the others."""
    setting = Setting.parse("srpt", 1, 0.6, "bounded-pareto:1.5,1,100")
    runs = [
        with_endless_job(SRPT, 1, setting.lam, setting.sizes, streams_of(1, "one", i), 100_000, 10_000)
        for i in range(16)
    ]
    value = Value.of(estimate([run["rate"] for run in runs]))
    assert equals("", "", value, 0.4, 0.02).verdict == "holds"
    assert max(abs(run["rate"] + run["work"] - 1) for run in runs) < 1e-9
    assert max(abs(run["idle"]) for run in runs) < 1e-9


def test_the_bound_of_a_response_by_hand():
    """x = 2, 3 units ahead, one server more than n - 1 = 1; a job of 1 comes at 4: met at 2 + 4 = 6."""
    ahead, sizes = np.array([4.0, 4.5, 50.0]), np.array([1.0, 9.0, 1.0])
    assert reductions.response_bound(2.0, 3.0, ahead, sizes, 2) == 6.0
    assert reductions.response_bound(2.0, 1.0, ahead, sizes, 2) == 3.0
    assert reductions.response_bound(2.0, 3.0, ahead[:1], sizes[:1], 2) == np.inf


def test_the_decay_rate_of_exponential_limits():
    """Bounded Pareto sizes: theta solves the equation of the M/G/1 queue, checked by its own moments."""
    from tailsched.sizes import parse_sizes

    sizes = parse_sizes("pareto:1.5")
    theta = small_servers.decay_rate(0.5, sizes, 21.54, 2)
    x = sizes.sample(np.random.default_rng(1), 4_000_000)
    x = x[x <= 21.54]
    moment = 0.5 * np.sum(np.expm1(theta * x / 2)) / 4_000_000
    assert moment == pytest.approx(theta, rel=0.005)


# ------------------------------------------------------------------------------ figures beyond the paper


def _cell(n, load, alpha, ratio, better, price=0.01):
    def number(value, se):
        return {"estimate": value, "se": se, "shards": 16, "jobs": 1000}

    return {
        "servers": n, "load": load, "alpha": alpha, "price": number(price, 1e-3),
        "percentiles": [{"percentile": 99.0, "ratio": number(ratio, 0.01), "better": better}],
        "last_above": None, "below_from": 12.0 if better == "split" else None, "below_until": None,
    }  # fmt: skip


MAP = {
    "servers": [2, 3], "loads": [0.1, 0.2], "alphas": [1.5, 2.0], "percentiles": [99.0], "level": 1e-3,
    "cells": [
        _cell(2, 0.1, 1.5, 0.8, "split"), _cell(2, 0.2, 2.0, 1.1, "srpt"),
        _cell(3, 0.1, 2.0, 1.0, "undecided", 0.0),
    ],
}  # fmt: skip


def test_the_map_shows_an_undecided_cell_as_such():
    module = group("map", worlds.ROOT / "figures")
    table = module.rows(MAP, "map")
    assert [row[-1] for row in table] == ["split", "srpt", "undecided"]
    assert [row[-1] for row in module.rows(MAP, "price")] == ["srpt", "srpt", "undecided"]
    fig = module.draw(table, MAP, "map")
    hatched = [patch.get_hatch() for ax in fig.axes for patch in ax.patches]
    assert hatched.count(None) == 2 and len(hatched) == 3
    for _, _, _, _, value, low, high, _ in table:
        assert low < value < high


def test_the_crossings_are_in_mean_sizes():
    table = group("table_crossing", worlds.ROOT / "figures").rows(MAP)
    assert table[0] == (2, 0.1, 1.5, None, 4.0, None)
    assert table[1][3:] == (None, None, None)


def test_a_crossing_lies_between_what_is_shown():
    from tailsched.probes.map import crossing

    t = np.arange(1.0, 7.0)
    change, error = np.array([1.0, 0.1, -0.1, -1.0, 0.1, -1.0]), np.full(6, 0.2)
    assert crossing(t, change, error, 2.0) == (1.0, 4.0, 6.0)
    assert crossing(t, -change, error, 2.0) == (6.0, None, None)
    assert crossing(t, 0 * change, error, 2.0) == (None, None, None)


def test_the_packing_figure_has_every_measured_point(tmp_path):
    module = group("packing", worlds.ROOT / "figures")
    probe = json.loads((worlds.PROBES / "packing.json").read_text())
    table = module.rows(probe)
    assert len(table) == len(probe["rows"]) and all(row[4] <= row[3] <= row[5] for row in table)
    fig = module.draw(table)
    assert len(fig.axes) == 2


# ----------------------------------------------------------------------------------------------- the scripts


def run(script, *arguments):
    command = [sys.executable, str(CHECKS / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_script_runs_alone(truth, tmp_path):
    done = run("section_7_1.py", "--results", truth, "-o", tmp_path / "rows.json")
    assert done.returncode == 0, done.stderr
    assert "section_7_1: " in done.stdout
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert rows and rows[0].keys() >= {"claim", "source", "measured", "predicted", "verdict", "power", "jobs"}


def test_a_script_without_its_input_names_what_makes_it(tmp_path):
    done = run("lemma_5_2.py", "--results", tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "probes/small_servers.json is missing: `snakemake" in done.stderr
    done = run("theorem_a1.py", "--results", tmp_path)
    assert done.returncode == 2 and "low/srpt.json is missing" in done.stderr.replace(".csv", ".json")


def test_a_failing_claim_is_exit_code_1_and_keeps_its_rows(world, tmp_path):
    world.scale("low/srpt", 1.5)
    done = run("theorem_b1.py", "--results", world.folder, "-o", tmp_path / "rows.json")
    assert done.returncode == 1 and "a claim fails" in done.stderr
    assert "fails" in {row["verdict"] for row in json.loads((tmp_path / "rows.json").read_text())}


def test_the_table_and_the_verdict(truth, tmp_path):
    for name in ("section_8_2", "theorem_b1"):
        evidence.main(
            "Rows.", name, group(name).rows, ["--results", str(truth), "-o", str(tmp_path / f"{name}.json")]
        )
    stem = tmp_path / "claims"
    done = run("claims_table.py", tmp_path / "section_8_2.json", tmp_path / "theorem_b1.json", "-o", stem)
    assert done.returncode == 0, done.stderr
    rows = json.loads(stem.with_suffix(".json").read_text())
    assert {row["group"] for row in rows} == {"section_8_2", "theorem_b1"}
    text, page = stem.with_suffix(".md").read_text(), stem.with_suffix(".html").read_text()
    assert text.count("\n| ") == len(rows) + 2 and page.count("<tr>") == len(rows) + 2
    assert "refuted" in text and "docs/claims.md, P_idle under SRPT-2" in text
    done = run("verdict.py", stem.with_suffix(".json"), "-o", tmp_path / "verdict.txt")
    assert done.returncode == 0 and "refuted: Section 8.2" in done.stdout
    assert (tmp_path / "verdict.txt").read_text().startswith("claims: ")
    rows[0]["verdict"] = "fails"
    stem.with_suffix(".json").write_text(json.dumps(rows))
    done = run("verdict.py", stem.with_suffix(".json"), "-o", tmp_path / "other.txt")
    assert done.returncode == 1 and "1 checks failed" in done.stderr and not (tmp_path / "other.txt").exists()


def test_a_table_with_too_many_tests_is_refused(tmp_path):
    row = equals("", "", SHARP, 1.0, 0.1).as_dict()
    (tmp_path / "many.json").write_text(json.dumps([row] * (claims.TESTS + 1)))
    done = run("claims_table.py", tmp_path / "many.json", "-o", tmp_path / "claims")
    assert done.returncode == 2 and "share the false-alarm rate" in done.stderr


@pytest.mark.parametrize(
    ("flags", "message"),
    [(["--work", "nan"], "work = nan"), (["--work", "0"], "work = 0.0"), (["--seed", "-1"], "seed = -1")],
)
def test_a_probe_refuses_bad_input(tmp_path, flags, message):
    command = [sys.executable, "-m", "tailsched.probes", "stealing", *flags, "-o", str(tmp_path / "out.json")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1


def test_the_workflow_knows_every_group_and_probe():
    text = (worlds.ROOT / "workflow" / "rules" / "claims.smk").read_text()
    block = text[text.index("GROUPS = {") : text.index("}", text.index("GROUPS = {"))]
    assert set(re.findall(r'^ +"(\w+)":', block, re.M)) == set(GROUPS)
    used = set(re.findall(r'"(\w+)"', block)) - set(GROUPS)
    assert used | {"map"} == set(PROBES)
    for name in GROUPS:
        asked = set(re.findall(r'probe\("(\w+)"\)', (CHECKS / f"{name}.py").read_text()))
        line = re.search(rf'"{name}": \[(.*)\]', block)[1]
        assert asked == set(re.findall(r'"(\w+)"', line)), name
    assert {path.stem for path in Path(worlds.PROBES).glob("*.json")} == set(PROBES) - {"map"}
