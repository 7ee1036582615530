"""The cavity solver against closed forms, the paper's own matrices, published values, and limits."""

import math

import numpy as np
import pytest
from reference_dispatch import fixed_point
from scipy.integrate import quad
from scipy.linalg import expm

from tailsched.dispatch import kernels
from tailsched.dispatch.cavity import Cavity, NotConverged
from tailsched.dispatch.phase_type import PhaseType, erlang, exponential, hexp, merlang, phase_type
from tailsched.dispatch.policies import CUT_TOLERANCE, POLICIES, Layers, choose_cut, find_policy, ranks

HEXP = hexp(10, 0.5)
#: Three phases that lead back and forth: A is not triangular.
WANDERING = PhaseType(
    np.array([0.6, 0.1, 0.3]),
    np.array([[-3.0, 1.0, 0.5], [0.2, -0.4, 0.1], [0.0, 1.5, -2.0]]),
)


def exponential_wait(lam, d):
    """E[W] of SQ(d) with exponential sizes: the double exponents of Mitzenmacher and Vvedenskaya."""
    total, exponent = 0.0, 1.0
    while lam**exponent > 1e-18:
        total += lam**exponent
        exponent = exponent * d + 1.0
    return total / lam - 1.0


@pytest.mark.parametrize("d", [2, 3, 5, 20])
@pytest.mark.parametrize("lam", [0.01, 0.5, 0.7, 0.9, 0.95, 0.99, 0.999])
def test_exponential_sizes_have_the_closed_form(lam, d):
    solution = Cavity("sq", d, "exp").solve(lam)
    assert solution.mean_wait == pytest.approx(exponential_wait(lam, d), rel=1e-8)
    assert solution.mean_wait_by_arrivals == pytest.approx(solution.mean_wait, rel=1e-8)
    lengths = np.arange(len(solution.queue_tail))
    below = lam ** ((float(d) ** np.minimum(lengths + 1, 40) - 1) / (d - 1))
    assert solution.queue_tail == pytest.approx(below, abs=1e-10)


def test_published_means_of_exponential_sizes():
    means = {0.5: 1.265686, 0.9: 2.614057, 0.95: 3.383046, 0.99: 5.431997, 0.999: 8.651610}
    for lam, mean in means.items():
        assert Cavity("sq", 2, "exp").solve(lam).mean_response == pytest.approx(mean, abs=5e-7)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("sizes", ["exp", "erlang:3", "hexp:10,0.5", "merlang:10,0.5,5", "hexp:40,0.1"])
def test_one_sampled_server_is_a_single_queue(policy, sizes):
    sizes = phase_type(sizes)
    for lam in (0.01, 0.7, 0.9):
        solution = Cavity(policy, 1, sizes).solve(lam)
        mean = lam * sizes.second_moment / (2 * (1 - lam))
        assert solution.mean_wait == pytest.approx(mean, rel=1e-8)
        # W is a geometric number of residual sizes: phase-type, started from the stationary phases.
        still = sizes.alpha @ np.linalg.inv(-sizes.generator)
        times = [0.0, 0.5, 3.0, 20.0]
        chain = sizes.generator + lam * np.outer(sizes.exits, still)
        tail = [lam * (still @ expm(chain * t)).sum() for t in times]
        assert solution.wait_tail(times) == pytest.approx(tail, rel=1e-7, abs=1e-12)


def test_a_single_queue_at_the_edge_of_the_range():
    solution = Cavity("sq", 1, "hexp:100,0.5").solve(0.999)
    assert solution.mean_wait == pytest.approx(0.999 * 101 / (2 * 0.001), rel=1e-8)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("lam", "d"), [(0.01, 3), (0.8, 2), (0.8, 5), (0.99, 5), (0.9, 50)])
def test_a_job_waits_with_probability_lam_to_the_d(policy, lam, d):
    solution = Cavity(policy, d, HEXP, cut=20).solve(lam)
    assert solution.waiting_probability == pytest.approx(lam**d, rel=1e-9)
    assert solution.wait_tail(0.0) == pytest.approx(lam**d, rel=1e-9)
    assert solution.queue.sum() + solution.queue[-1] * solution.ratio / (1 - solution.ratio) == pytest.approx(
        lam, rel=1e-12
    )
    assert solution.mean_wait_by_arrivals == pytest.approx(solution.mean_wait, rel=1e-8)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("sizes", [HEXP, merlang(4, 0.3, 2), WANDERING], ids=["hexp", "merlang", "wandering"])
def test_the_papers_matrices_give_the_same(policy, sizes):
    d, delta, r, inside, lengths = 3, 0.5, 5, 2, 16
    lam = 0.4 if policy in ("las", "las-qtb", "re") else 0.7
    layering = POLICIES[policy].layering
    edges = {"one": [0.0], "threshold": [0.0, 1.0], "delta": list(delta * np.arange(r + 1))}[layering]
    inside = 1 if layering == "threshold" else inside
    pi, _ = fixed_point(policy, d, lam, sizes.alpha, sizes.generator, edges, inside, lengths)
    cavity = Cavity(policy, d, sizes, delta, 1.0, r * delta)
    for accelerate in (True, False):
        solution = cavity.solve(lam, tolerance=1e-12, accelerate=accelerate)
        rows = min(lengths, len(solution.mass))
        # The matrices end at B = 16: what is beyond is their error.
        slack = 1e-9 + 3 * lengths * pi[:, -1].sum()
        assert slack < 1e-8
        assert solution.mass[:rows] == pytest.approx(pi.sum(axis=2).T[:rows], abs=slack)
        rows = min(lengths, len(solution.phases))
        assert solution.phases[:rows] == pytest.approx(pi.sum(axis=0)[:rows], abs=slack)


#: theory of the project, independent scripts: HEXP(10, 1/2), d = 5, delta = .1, T = 2, c_r = 10.
#: E[W], P[W > 2], P[W > 10] at lam = .5, .7, .8, .9.
TABLE = {
    "sq": [
        (0.1482778, 1.135e-2, 5.102e-3), (0.4757251, 3.497e-2, 1.498e-2),
        (0.7665425, 5.511e-2, 2.281e-2), (1.3335358, 9.835e-2, 3.738e-2),
    ],
    "sq-rtb": [
        (0.0459846, 3.083e-3, 1.144e-3), (0.2807566, 1.929e-2, 7.444e-3),
        (0.5909106, 4.144e-2, 1.598e-2), (1.1532187, 8.516e-2, 3.021e-2),
    ],
    "sq-re": [
        (0.0660117, 4.703e-3, 1.918e-3), (0.3370712, 2.392e-2, 9.567e-3),
        (0.6324225, 4.499e-2, 1.744e-2), (1.1920909, 8.888e-2, 3.155e-2),
    ],
    "sq-rtb-re": [
        (0.0453804, 3.036e-3, 1.119e-3), (0.2568779, 1.747e-2, 6.457e-3),
        (0.5331731, 3.715e-2, 1.357e-2), (1.0949651, 8.171e-2, 2.767e-2),
    ],
    "las": [
        (0.0455135, 3.064e-3, 1.115e-3), (0.2629053, 1.860e-2, 6.394e-3),
        (0.5719684, 4.388e-2, 1.378e-2), (1.3887120, 1.305e-1, 3.307e-2),
    ],
    "las-qtb": [
        (0.0454273, 3.054e-3, 1.113e-3), (0.2598493, 1.822e-2, 6.329e-3),
        (0.5562151, 4.172e-2, 1.343e-2), (1.2790564, 1.140e-1, 3.046e-2),
    ],
    "re": [
        (0.0678440, 4.868e-3, 1.976e-3), (0.3930291, 2.923e-2, 1.131e-2),
        (0.8585203, 6.828e-2, 2.431e-2), (2.1031301, 1.951e-1, 5.803e-2),
    ],
    "lew": [
        (0.0452148, 3.027e-3, 1.111e-3), (0.2524061, 1.722e-2, 6.223e-3),
        (0.5198664, 3.655e-2, 1.283e-2), (1.0776512, 8.220e-2, 2.643e-2),
    ],
}  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES)
def test_the_table_of_independent_scripts(policy):
    cavity = Cavity(policy, 5, HEXP, 0.1, 2.0, 10.0)
    for lam, (mean, *tail) in zip((0.5, 0.7, 0.8, 0.9), TABLE[policy], strict=True):
        solution = cavity.solve(lam)
        assert solution.mean_wait == pytest.approx(mean, abs=6e-8)
        assert solution.wait_tail([2.0, 10.0]) == pytest.approx(tail, rel=5e-4)


@pytest.mark.parametrize(
    ("policy", "cut", "mean"),
    [
        ("las", 5, 1.3888225), ("las", 20, 1.3887106), ("lew", 5, 1.0776538), ("lew", 20, 1.0776512),
        ("sq-rtb", 5, 1.1532232), ("sq-rtb", 20, 1.1532187), ("las-qtb", 5, 1.2751279),
        ("las-qtb", 20, 1.2794785),
    ],
)  # fmt: skip
def test_the_effect_of_the_cut(policy, cut, mean):
    assert Cavity(policy, 5, HEXP, 0.1, 2.0, cut).solve(0.9).mean_wait == pytest.approx(mean, abs=6e-8)


@pytest.mark.parametrize("policy", ["sq-rtb", "sq-rtb-re", "las", "las-qtb", "lew"])
@pytest.mark.parametrize("d", [2, 5, 20])
def test_beyond_the_default_cut_nothing_changes(policy, d):
    cut = choose_cut(find_policy(policy), HEXP, d, 0.1)
    if policy == "las-qtb":
        assert HEXP.excess_tail(cut) ** d <= CUT_TOLERANCE < HEXP.excess_tail(cut - 0.1) ** d
    chosen, farther = (Cavity(policy, d, HEXP, cut=c).solve(0.9).mean_wait for c in (cut, 2 * cut))
    assert chosen == pytest.approx(farther, rel=1e-6)


@pytest.mark.parametrize("policy", ["las", "re"])
def test_rates_without_lengths_are_known_beforehand(policy):
    lam, d = 0.8, 4
    cavity = Cavity(policy, d, HEXP, 0.25, 1.5, 3.0)
    edges = [0.0, 1.5] if policy == "re" else 0.25 * np.arange(13)
    beyond = [lam * quad(lambda a: HEXP.tail(a), edge, 300, limit=300)[0] for edge in edges] + [0.0]
    for accelerate in (True, False):
        solution = cavity.solve(lam, accelerate=accelerate)
        for k, rate in enumerate(solution.rates[0]):
            here = beyond[k] - beyond[k + 1]
            assert rate == pytest.approx(lam * (beyond[k] ** d - beyond[k + 1] ** d) / here, rel=1e-7)
    assert cavity.solve(lam, accelerate=False).iterations > cavity.solve(lam).iterations == 1


def test_runtime_exclusion_with_a_late_threshold_is_idle_or_random():
    for lam, d in ((0.7, 2), (0.9, 5)):
        mean = lam**d * HEXP.second_moment / (2 * (1 - lam**d))
        assert Cavity("re", d, HEXP, threshold=1e3).solve(lam).mean_wait == pytest.approx(mean, rel=1e-8)


def test_shortest_queue_with_a_late_threshold_is_shortest_queue():
    plain = Cavity("sq", 3, HEXP).solve(0.8)
    late = Cavity("sq-re", 3, HEXP, threshold=1e3).solve(0.8)
    assert late.mean_wait == pytest.approx(plain.mean_wait, rel=1e-9)
    late = Cavity("sq-rtb-re", 3, HEXP, delta=0.5, threshold=200, cut=200).solve(0.8)
    tie_broken = Cavity("sq-rtb", 3, HEXP, delta=0.5, cut=200).solve(0.8)
    assert late.mean_wait == pytest.approx(tie_broken.mean_wait, rel=1e-8)


def test_fine_layers_turn_tie_broken_ages_into_ages():
    waits = [Cavity("las-qtb", 5, HEXP, delta).solve(0.9).mean_wait for delta in (1.0, 0.1, 0.02)]
    ages = Cavity("las", 5, HEXP, 0.02).solve(0.9).mean_wait
    gaps = [ages - wait for wait in waits]
    assert gaps[0] > 2 * gaps[1] > 4 * gaps[2] > 0
    assert gaps[2] < 0.03 * ages


def test_one_wide_layer_makes_all_ages_equal():
    for policy, twin in (("sq-rtb", "sq"), ("las-qtb", "sq")):
        wide = Cavity(policy, 4, HEXP, delta=1e4, cut=1e4).solve(0.8)
        assert wide.mean_wait == pytest.approx(Cavity(twin, 4, HEXP).solve(0.8).mean_wait, rel=1e-8)


def test_without_memory_expected_work_is_the_queue_length():
    for lam in (0.5, 0.95):
        lew = Cavity("lew", 3, "exp", delta=0.1, cut=5).solve(lam)
        assert lew.mean_wait == pytest.approx(exponential_wait(lam, 3), rel=1e-8)


@pytest.mark.parametrize("policy", POLICIES)
def test_more_load_waits_longer_and_more_choice_shorter(policy):
    loads = [s.mean_wait for s in Cavity(policy, 5, HEXP, cut=20).curve(np.linspace(0.3, 0.98, 12))]
    assert (np.diff(loads) > 0).all()
    choices = [Cavity(policy, d, HEXP, cut=20).solve(0.7).mean_wait for d in (1, 2, 3, 5, 10, 20, 50)]
    assert (np.diff(choices) < 0).all()


@pytest.mark.parametrize("policy", POLICIES)
def test_neither_the_start_nor_the_way_matters(policy):
    cavity = Cavity(policy, 5, HEXP, cut=15)
    loads = [0.6, 0.75, 0.85]
    for lam, followed in zip(loads, cavity.curve(loads), strict=True):
        fresh = cavity.solve(lam, tolerance=1e-12)
        plain = cavity.solve(lam, tolerance=1e-13, accelerate=False)
        assert followed.mean_wait == pytest.approx(fresh.mean_wait, rel=2e-9)
        assert plain.mean_wait == pytest.approx(fresh.mean_wait, rel=2e-9)
        assert plain.queue.sum() == pytest.approx(lam)


@pytest.mark.parametrize("policy", ["sq", "sq-rtb-re", "las-qtb", "re", "lew"])
@pytest.mark.parametrize("sizes", [HEXP, merlang(5, 0.4, 3)], ids=["hexp", "merlang"])
def test_the_tails_have_the_means(policy, sizes):
    solution = Cavity(policy, 3, sizes, cut=20).solve(0.7)
    edges = np.concatenate([[0.0], np.geomspace(0.25, 400, 30)])
    nodes, weights = np.polynomial.legendre.leggauss(12)
    places = (edges[:-1, None] + edges[1:, None] + np.diff(edges)[:, None] * nodes) / 2
    weights = np.diff(edges)[:, None] * weights / 2
    assert (weights * solution.wait_tail(places)).sum() == pytest.approx(solution.mean_wait, rel=1e-6)
    assert (weights * solution.response_tail(places)).sum() == pytest.approx(solution.mean_response, rel=1e-6)
    assert solution.response_tail(0.0) == pytest.approx(1.0)
    assert solution.mean_queue == pytest.approx(0.7 * solution.mean_response)


def test_of_jobs_that_do_not_wait_the_response_is_the_size():
    solution = Cavity("lew", 20, HEXP, cut=10).solve(0.05)
    assert solution.response_tail([0.5, 5.0]) == pytest.approx(HEXP.tail([0.5, 5.0]), rel=1e-12)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("sizes", "d", "lam"),
    [
        ("hexp:30,0.5", 20, 0.999), ("hexp:100,0.01", 5, 0.9), ("hexp:100,0.99", 5, 0.99),
        ("merlang:10,0.5,20", 50, 0.999), ("merlang:1,0.01,20", 50, 0.99), ("hexp:30,0.5", 50, 0.999),
        ("hexp:100,0.5", 50, 0.01),
    ],
)  # fmt: skip
def test_the_stated_range_is_solved(policy, sizes, d, lam):
    solution = Cavity(policy, d, sizes).solve(lam)
    assert solution.mean_wait_by_arrivals == pytest.approx(solution.mean_wait, rel=1e-8)
    assert solution.waiting_probability == pytest.approx(lam**d, rel=1e-8)
    assert solution.lost <= 1e-11
    assert solution.iterations < 400


def test_too_few_iterations_are_an_error():
    for policy in ("sq", "sq-rtb", "las-qtb"):
        with pytest.raises(NotConverged, match=r"no fixed point after 5 iterations, the last moved by"):
            Cavity(policy, 5, HEXP, cut=10).solve(0.9, max_iterations=5)


def test_the_plain_iteration_contracts_geometrically():
    residuals = np.array(Cavity("sq-rtb", 5, HEXP, cut=10).solve(0.8, accelerate=False).residuals)
    assert len(residuals) < 50
    ratios = residuals[1:] / residuals[:-1]
    assert (ratios[3:] < 0.9).all()


def test_a_function_of_the_users_is_a_policy():
    cavity = Cavity(lambda k, length: (length, k), 4, HEXP, 0.5, cut=6)
    assert cavity.solve(0.8).mean_wait == Cavity("sq-rtb", 4, HEXP, 0.5, cut=6).solve(0.8).mean_wait
    worst = Cavity(lambda k, length: -length, 4, HEXP, 1.0, cut=1).solve(0.5)
    assert worst.mean_wait > Cavity("re", 4, HEXP).solve(0.5).mean_wait
    with pytest.raises(ValueError, match="xi: must be finite"):
        Cavity(lambda k, length: math.inf, 2, HEXP, cut=1).solve(0.5)


def test_ranks_keep_ties_and_nothing_else():
    layers = Layers(0.5, 3, 2, exponential())
    tables = {name: ranks(find_policy(name), layers, 3).tolist() for name in POLICIES}
    assert tables["sq"] == tables["lew"] == [[0] * 4, [1] * 4, [2] * 4]
    assert tables["sq-rtb"] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert tables["sq-re"] == [[0, 0, 3, 3], [1, 1, 4, 4], [2, 2, 5, 5]]
    assert tables["sq-rtb-re"] == [[0, 1, 6, 7], [2, 3, 8, 9], [4, 5, 10, 11]]
    assert tables["las"] == [[0, 1, 2, 3]] * 3
    assert tables["las-qtb"] == [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]]
    assert tables["re"] == [[0, 0, 1, 1]] * 3
    ages = ranks(find_policy("lew"), Layers(0.5, 3, 2, HEXP), 1)[0]
    assert ages.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 7, 20, 50, 63, 1000])
def test_the_sum_of_powers(d):
    for upper, lower in ((0.9, 0.3), (0.5, 0.5), (1.0, 0.999999), (0.2, 0.0)):
        total = math.fsum(upper**i * lower ** (d - 1 - i) for i in range(d))
        assert kernels.mean_power_sum(upper, lower, d) == pytest.approx(total, rel=1e-12)


def test_families_have_their_moments():
    p, rates = HEXP.alpha[0], -np.diag(HEXP.generator)
    assert [*rates, p] == pytest.approx([1.904534, 0.095466, 0.952267], abs=5e-7)
    for scv, f, k in ((10, 0.5, 1), (10, 0.5, 5), (30, 0.1, 3), (0.25, 0.7, 4), (100, 0.99, 20)):
        sizes = merlang(scv, f, k)
        assert sizes.alpha @ sizes.means == pytest.approx(1.0)
        assert sizes.scv == pytest.approx(scv)
        assert sizes.alpha[0] * sizes.means[0] == pytest.approx(f)
    assert erlang(4).scv == pytest.approx(0.25)
    assert WANDERING.alpha @ WANDERING.means == pytest.approx(1.0)
    assert exponential().hazard([0.0, 3.0]) == pytest.approx([1.0, 1.0])
    assert HEXP.residuals(0.5, 4) == pytest.approx(
        HEXP.excess_tail(0.5 * np.arange(4)) / HEXP.tail(0.5 * np.arange(4))
    )
    assert (np.diff(HEXP.hazard(np.linspace(0, 10, 50))) < 0).all()
    assert not (np.diff(merlang(10, 0.5, 2).hazard(np.linspace(0, 10, 50))) < 0).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sq", 2, "hexp:0.5,0.5"), "hexp scv = 0.5: must be at least 1"),
        (("sq", 2, "hexp:10,1"), "hexp f = 1.0: must be a number above 0 and below 1"),
        (("sq", 2, "merlang:10,0.5,1.5"), "merlang k = 1.5: must be a whole number"),
        (("sq", 2, "erlang:0"), "erlang k = '0': must be a positive number"),
        (("sq", 2, "pareto:1.5"), "must be of phase type"),
        (("sq", 0, "exp"), "d = 0: must be a whole number from 1"),
        (("sq", 2.5, "exp"), "d = 2.5: must be a whole number"),
        (("nothing", 2, "exp"), "policy = 'nothing': must be one of sq, sq-rtb"),
        (("las", 2, "exp", 0.0), "delta = 0.0: must be a number above 0"),
        (("las", 2, "exp", math.nan), "delta = nan: must be a number above 0"),
        (("re", 2, "exp", 0.1, -1.0), "threshold = -1.0: must be a number above 0"),
        (("sq-rtb-re", 2, "exp", 0.3, 1.0), "threshold = 1: must be a multiple of delta = 0.3"),
        (("las", 2, "exp", 0.1, 2.0, 0.0), "cut = 0.0: must be a number above 0"),
        (("las", 2, "exp", 1e-7, 2.0, 1.0), "cut = 1: must be at most 1000000 layers"),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    with pytest.raises(ValueError) as error:
        Cavity(*arguments)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("lam", [0.0, 1.0, -0.5, math.nan, math.inf, "0.5", True])
def test_loads_out_of_range(lam):
    with pytest.raises(ValueError, match="lam = .*: must be a number above 0 and below 1"):
        Cavity("sq", 2, "exp").solve(lam)


def test_phase_types_that_are_none():
    for alpha, generator, message in (
        ([0.5, 0.4], [[-1, 0], [0, -1]], "sum to 1"),
        ([1.0], [[1.0]], "negative diagonal"),
        ([1.0, 0.0], [[-1, 2], [0, -1]], "row sum above 0"),
        ([1.0, 0.0], [[-1, 1], [1, -1]], "let every phase end"),
        ([1.0], [[-1, 0]], "of shapes"),
        ([math.nan], [[-1]], "finite"),
    ):
        with pytest.raises(ValueError, match=message):
            PhaseType(np.array(alpha), np.array(generator, float))
