"""Histograms that lose nothing, shard files that are whole or refused, and intervals that cover the truth.

Coverage is counted over repetitions with fixed seeds. The accepted ranges are those that a method with the
stated coverage leaves with probability below 1e-4.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailsched.curves import COLUMNS, read_curve, summarize, write_curve
from tailsched.mgn.tally import bin_of, count, create_tally
from tailsched.records import BINS, edges
from tailsched.runs import divide, run_shards
from tailsched.settings import Setting
from tailsched.tails.estimates import Tails, excess_interval, mean_over_shards, percentile
from tailsched.tails.shards import check_same, load, save
from tailsched.theory import erlang

EDGES = edges()


def test_bins_are_closed_above():
    """Every edge, and its neighbours one unit in the last place away, falls into its bin."""
    inner = EDGES[1:-1]
    for i in range(0, inner.size, 37):
        edge = inner[i]
        assert bin_of(edge) == i
        assert bin_of(np.nextafter(edge, 0)) == i
        assert bin_of(np.nextafter(edge, np.inf)) == i + 1
    assert bin_of(1e-300) == 0 and bin_of(EDGES[-1]) == BINS - 1 == bin_of(1e300)
    assert np.all(np.diff(EDGES) / EDGES[:-1] <= 1 / 128)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.floats(1e-12, 1e18), min_size=1, max_size=50))
def test_every_value_is_counted_once(values):
    tally = create_tally()
    for value in values:
        count(tally, value, min(value, 1.0))
    assert tally.responses.sum() == tally.sizes.sum() == len(values)
    largest = bin_of(max(values))
    assert tally.responses[largest] > 0 and tally.responses[largest + 1 :].sum() == 0


def test_extra_times_are_strict():
    tally = create_tally([2.0, 1.0])
    for response, size in [(1.0, 1.0), (2.0, 1.0), (2.5, 2.25), (0.5, 0.5)]:
        count(tally, response, size)
    assert tally.times.tolist() == [1.0, 2.0]
    assert tally.exceed.tolist() == [2, 1] and tally.outgrow.tolist() == [1, 1]


def shards_of(policy="srpt", n=3, rho=0.5, sizes="pareto:1.5", arrivals=100_000, shards=4, seed=1, times=()):
    setting = Setting.parse(policy, n, rho, sizes)
    return setting, run_shards(setting, "estimates", seed, divide(arrivals, shards), times)


def test_merging_is_exact():
    """The histogram at an edge equals the exact count at that time, and shards add up to the whole."""
    times = [float(EDGES[i]) for i in np.searchsorted(EDGES, [1.5, 4.0, 40.0])]
    _, shards = shards_of(times=times)
    for shard in shards:
        above = [shard.responses[np.searchsorted(edges(shard.unit), t) :].sum() for t in times]
        assert above == shard.exceed.tolist()
        assert [
            shard.sizes[np.searchsorted(edges(shard.unit), t) :].sum() for t in times
        ] == shard.outgrow.tolist()
        assert shard.responses.sum() == shard.totals.counted


def test_shards_are_independent():
    _, shards = shards_of(shards=8)
    assert len({shard.totals.response for shard in shards}) == 8
    _, more = shards_of(arrivals=200_000, shards=16)
    assert [shard.totals for shard in more[:8]] == [shard.totals for shard in shards]


def test_two_policies_see_the_same_jobs():
    _, fcfs = shards_of("fcfs")
    _, split = shards_of("split")
    for a, b in zip(fcfs, split, strict=True):
        assert a.sizes.tolist() == b.sizes.tolist() and a.span == b.span


def test_tails_are_above_the_sizes_and_fall():
    setting, shards = shards_of(arrivals=400_000)
    tail = Tails.of(shards, setting.sizes).at_edges()
    known = setting.sizes.tail(tail.t)
    assert np.all(tail.estimate >= known) and np.all(tail.low >= known)
    assert np.all((tail.low <= tail.estimate) & (tail.estimate <= tail.high))
    assert np.all(np.diff(tail.samples) <= 0)
    assert tail.samples[0] == 360_000 and tail.samples[-1] == 0


def test_a_shard_file_is_whole_or_refused(tmp_path):
    _, shards = shards_of(arrivals=20_000, times=[2.0])
    path = tmp_path / "0.npz"
    save(path, shards)
    for ours, theirs in zip(shards, load(path), strict=True):
        assert all(np.array_equal(*fields) for fields in zip(ours, theirs, strict=True))
    whole = path.read_bytes()
    for broken in (whole[: len(whole) // 2], b"", b"nonsense"):
        path.write_bytes(broken)
        with pytest.raises(ValueError, match="0.npz"):
            load(path)


def test_shards_of_another_run_are_refused():
    _, shards = shards_of(times=[2.0])
    check_same(shards, {"curve": "estimates", "policy": "srpt"})
    with pytest.raises(ValueError, match="shard 0 is of policy 'srpt', not 'split'"):
        check_same(shards, {"policy": "split"})
    with pytest.raises(ValueError, match="twice"):
        check_same([*shards, shards[1]])
    for change in ({"seed": 2}, {"sizes": "pareto:2"}, {"arrivals": 120_000, "times": [3.0]}):
        _, others = shards_of(**{"times": [2.0], **change})
        with pytest.raises(ValueError, match="merged"):
            check_same([shards[0], others[1]])


@pytest.mark.parametrize("mean", [1e-20, 1e-3, 1e12, 1e40])
def test_the_unit_of_time_changes_nothing(mean):
    """The same system in other units of time: the same percentiles and tails, in those units."""
    entries = []
    for scale in (1.0, mean):
        setting, shards = shards_of("srpt", sizes=f"exp:{scale}", times=[3 * scale])
        summary = summarize(setting, shards)[0]
        entries.append(
            [q["estimate"] / scale for q in summary["quantiles"][:4]] + [summary["tail"][0]["estimate"]]
        )
        assert summary["identities"]["little"] == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(entries[0], entries[1], rtol=0.02)


@pytest.mark.parametrize("rho", [1e-2, 1e-4, 1e-8])
def test_low_loads_lose_no_digits(rho):
    """The clock passes many epochs in a block's worth of arrivals: responses are still sizes, to rounding."""
    for policy in ("fcfs", "ps", "split"):
        setting, shards = shards_of(policy, 1, rho, "exp", 20_000)
        summary = summarize(setting, shards)[0]
        assert summary["identities"]["responses_below_size"] == 0
        assert summary["mean_busy"]["estimate"] == pytest.approx(rho, rel=0.05)
        assert summary["mean_response"]["estimate"] == pytest.approx(1.0, rel=0.02)


def test_an_unseen_excess_has_no_standard_error():
    setting, shards = shards_of(times=[0.5, 1e4], seed=4)
    rows = summarize(setting, shards)[0]["tail"]
    assert rows[0]["estimate"] == 1.0 and rows[0]["se"] == 0.0
    assert rows[1]["estimate"] == pytest.approx(1e-6) and rows[1]["se"] is None
    assert rows[1]["low"] < rows[1]["high"] < 1e-3


def test_a_cold_start_is_not_called_stationary():
    """Sixty-four servers at load .99 that start empty, with shards too short to fill them."""
    setting = Setting.parse("sek:epsilon=20", 64, 0.99, "pareto:1.5")
    shards = run_shards(setting, "cold", 1, divide(20_000, 20, 100))
    assert not summarize(setting, shards)[0]["identities"]["stationary"]
    _, warm = shards_of("fcfs", 3, 0.8, "exp", 400_000, 20)
    assert summarize(_, warm)[0]["identities"]["stationary"]


def test_the_rate_of_service_gives_the_limit_of_srpt():
    """q = P[N < n] for exponential sizes is Erlang's, and n = 1 has the limit of theory."""
    setting, shards = shards_of("srpt", arrivals=2_000_000, shards=20)
    summary = summarize(setting, shards)[0]
    assert summary["limit_source"] == "measured rate"
    assert summary["rate"]["estimate"] == pytest.approx(0.78, abs=0.01)
    assert summary["limit"] == pytest.approx(summary["rate"]["estimate"] ** -1.5)
    fcfs, shards = shards_of("fcfs", 3, 0.8, "exp", 2_000_000, 20)
    few = np.mean([shard.totals.few / shard.span for shard in shards])
    assert few == pytest.approx(1 - erlang.erlang_c(3, 2.4), abs=0.01)
    assert summarize(*shards_of("srpt", 1))[0]["limit_source"] == "theory"


def test_curves_keep_every_digit(tmp_path):
    setting, shards = shards_of()
    path = tmp_path / "curve.csv"
    write_curve(path, "a/b", setting, shards)
    first = path.read_bytes(), path.with_suffix(".json").read_bytes()
    summary, columns = read_curve(path)
    _, rows = summarize(setting, shards)
    assert summary["curve"] == "a/b"
    for i, name in enumerate(COLUMNS):
        expected = np.array([row[i] for row in rows], float)  # None becomes nan
        assert np.array_equal(columns[name], expected, equal_nan=True)
    write_curve(path, "a/b", setting, shards)
    assert first == (path.read_bytes(), path.with_suffix(".json").read_bytes())
    assert {p.name for p in tmp_path.iterdir()} == {"curve.csv", "curve.json"}


def test_a_missing_curve_names_its_rule(tmp_path):
    with pytest.raises(ValueError, match="`snakemake .*curve.csv` makes it"):
        read_curve(tmp_path / "curve.csv")


@pytest.mark.parametrize(("mean", "spread"), [(0.05, 1), (0.3, 1), (2, 1), (50, 1), (2, 5), (50, 5)])
def test_coverage_of_count_intervals(mean, spread):
    """Poisson counts, alone and in clumps of `spread`, over 20 shards; 4,000 repetitions.

    With one expected event in all, clumped events cannot be told from single ones; there is no such case.
    """
    rng = np.random.default_rng(1)
    counts = spread * rng.poisson(mean / spread, size=(20, 4000))
    _, low, high = excess_interval(counts, 1.0)
    covered = np.mean((low <= mean) & (mean <= high))
    assert 0.92 <= covered <= 0.992


def test_coverage_of_means():
    rng = np.random.default_rng(2)
    held = []
    for _ in range(2000):
        entry = mean_over_shards(rng.normal(3.0, 1.0, size=8))
        held.append(entry.low <= 3.0 <= entry.high)
    assert 0.93 <= np.mean(held) <= 0.967


def test_coverage_of_the_mean_in_an_m_m_1():
    """Load .9, 5e5 arrivals in 20 shards, 200 repetitions: successive responses are strongly correlated."""
    covered = []
    for seed in range(200):
        setting, shards = shards_of("fcfs", 1, 0.9, "exp", 500_000, 20, seed)
        entry = summarize(setting, shards)[0]["mean_response"]
        covered.append(entry["low"] <= 10.0 <= entry["high"])
    assert 0.88 <= np.mean(covered) <= 0.995


def test_coverage_of_tails_in_an_m_m_2():
    """From most jobs to a quarter of a clump in a run; 300 repetitions of 1e5 arrivals."""
    times = [1.0, 20.0, 40.0]
    truth = erlang.response_tail(np.array(times), 2, 1.8)
    covered = []
    for seed in range(300):
        setting, shards = shards_of("fcfs", 2, 0.9, "exp", 100_000, 20, seed, times)
        rows = summarize(setting, shards)[0]["tail"]
        covered.append([row["low"] <= exact <= row["high"] for row, exact in zip(rows, truth, strict=True)])
    assert np.all(np.abs(np.mean(covered, axis=0) - 0.94) <= 0.055)


def test_coverage_of_a_far_tail():
    """SRPT-3, load .5, alpha 1.5, 1e5 arrivals: one excess job beyond t = 1e3 is expected in a run.

    The normalized tail there is 1.409, from an independent estimator of other shape; 200 repetitions.
    """
    truth = 1.409 * 1e3**-1.5
    covered = []
    for seed in range(200):
        setting, shards = shards_of(arrivals=100_000, shards=20, seed=seed, times=[1e3])
        row = summarize(setting, shards)[0]["tail"][0]
        covered.append(row["low"] <= truth <= row["high"])
    assert 0.88 <= np.mean(covered) <= 0.99


def test_percentiles_of_a_known_law():
    """M/M/1: T is exponential with rate 1 - rho; the interval of each percentile covers, or nearly so."""
    setting, shards = shards_of("fcfs", 1, 0.5, "exp", 4_000_000, 20)
    tail = Tails.of(shards, setting.sizes).at_edges()
    for p in (50.0, 90.0, 99.0, 99.9, 99.99):
        truth = -2 * np.log(1 - p / 100)
        entry = percentile(p, tail, 3_600_000)
        width = entry.high - entry.low
        assert entry.low - width <= truth <= entry.high + width
        assert entry.estimate == pytest.approx(truth, rel=0.03)


def test_intervals_shrink_with_the_work():
    rows = []
    for arrivals in (200_000, 3_200_000):
        setting, shards = shards_of(arrivals=arrivals, shards=20, times=[10.0])
        rows.append(summarize(setting, shards)[0]["tail"][0])
    assert 2.0 <= rows[0]["se"] / rows[1]["se"] <= 8.0


def test_numbers_of_one_shard_have_no_interval():
    setting, shards = shards_of(shards=1, times=[2.0])
    summary, rows = summarize(setting, shards)
    assert summary["mean_busy"]["se"] is None and "one shard" in summary["mean_busy"]["note"]
    assert all(row[2] is None for row in rows) and summary["tail"][0]["low"] is None
