"""Job sizes: moments, quantiles, specifications, and the law and the stream of the sampler.

Seeds are fixed, so that a statistical test gives one verdict for good; the false-alarm rate stated with it is
the probability that a correct sampler would have failed under a seed chosen at random.
"""

import hashlib
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailsched import sampling as module
from tailsched import sizes
from tailsched.sampling import draw_size, fill_sizes
from tailsched.sizes import (
    BoundedPareto,
    Deterministic,
    Discrete,
    Empirical,
    Exponential,
    Hyperexponential,
    Lognormal,
    MixedErlang,
    Pareto,
    Weibull,
    parse_sizes,
)

CONTINUOUS = [
    "pareto:1.5",
    "pareto:2",
    "pareto:2.5,3",
    "bounded-pareto:1.5,1,1e6",
    "bounded-pareto:1,2,50",
    "bounded-pareto:0.5,1,1e4",
    "exp",
    "exp:3",
    "hexp:10,0.5",
    "merlang:5,0.3,4,2",
    "weibull:0.5,3",
    "weibull:3",
    "lognormal:1.5,2",
]
ATOMIC = ["det", "det:2.5", "discrete:1@0.9,10@0.1", "discrete:0.5@0.25,2@0.5,3@0.25"]


def generator(seed=1):
    return np.random.Generator(np.random.SFC64(seed))


# ------------------------------------------------------------------------------------- moments and quantiles


def erlang_tail(k, mean, t):
    x = k * t / mean
    return np.exp(-x) * sum(x**i / math.factorial(i) for i in range(k))


def bounded_tail(alpha, low, high, t):
    t = np.clip(t, low, high)
    return (t**-alpha - high**-alpha) / (low**-alpha - high**-alpha)


def normal_tail(z):
    return np.array([math.erfc(v / math.sqrt(2.0)) / 2.0 for v in z])


TAILS = {
    "pareto:1.5": lambda t: np.maximum(t, 1.0) ** -1.5,
    "pareto:2": lambda t: np.maximum(t, 1.0) ** -2.0,
    "pareto:2.5,3": lambda t: np.maximum(t / 3.0, 1.0) ** -2.5,
    "bounded-pareto:1.5,1,1e6": lambda t: bounded_tail(1.5, 1.0, 1e6, t),
    "bounded-pareto:1,2,50": lambda t: bounded_tail(1.0, 2.0, 50.0, t),
    "bounded-pareto:0.5,1,1e4": lambda t: bounded_tail(0.5, 1.0, 1e4, t),
    "exp": lambda t: np.exp(-t),
    "exp:3": lambda t: np.exp(-t / 3.0),
    "hexp:10,0.5": lambda t: 0.952267 * np.exp(-1.904534 * t) + 0.047733 * np.exp(-0.095466 * t),
    "weibull:0.5,3": lambda t: np.exp(-np.sqrt(t / 1.5)),
    "weibull:3": lambda t: np.exp(-((t * math.gamma(4 / 3)) ** 3)),
    "lognormal:1.5,2": lambda t: normal_tail((np.log(t / 2.0) + 1.125) / 1.5),
}


@pytest.mark.parametrize("spec", TAILS)
def test_tails_against_explicit_laws(spec):
    t = np.geomspace(1e-3, 1e7, 300)
    np.testing.assert_allclose(parse_sizes(spec).tail(t), TAILS[spec](t), rtol=2e-6, atol=2e-9)


def test_tail_of_the_mixed_erlang():
    t, (k, f, mean) = np.geomspace(1e-3, 100.0, 300), (4, 0.3, 2.0)
    s = 2.0 * 6.0 / (1.0 + 1.0 / k) - 1.0
    root = math.sqrt((s - 1.0) * (s - 1.0 + 8.0 * f * (1.0 - f)))
    mu1 = (s + 4.0 * f - 1.0 + root) / (2.0 * f * (s + 1.0))
    mu2 = (s + 4.0 * (1.0 - f) - 1.0 - root) / (2.0 * (1.0 - f) * (s + 1.0))
    law = f * mu1 * erlang_tail(k, mean / mu1, t) + (1.0 - f * mu1) * erlang_tail(k, mean / mu2, t)
    np.testing.assert_allclose(parse_sizes("merlang:5,0.3,4,2").tail(t), law, rtol=1e-9, atol=1e-13)


NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)


def integrate(function, low, high, kinks):
    """Gauss-Legendre rules on panels that grow by a factor below 2 and end at the kinks."""
    edges = np.unique([low, high, *np.geomspace(1e-12, 1e28, 140), *kinks])
    edges = edges[(edges >= low) & (edges <= high)]
    half = np.diff(edges)[:, None] / 2.0
    points = (edges[1:] + edges[:-1])[:, None] / 2.0 + half * NODES
    return np.sum(half * WEIGHTS * function(points))


@pytest.mark.parametrize("spec", CONTINUOUS)
def test_moments_are_integrals_of_the_tail(spec):
    sizes = parse_sizes(spec)
    kinks = sizes.quantile([0.0, 1.0])
    for d in [0.0, *sizes.quantile([0.0, 0.03, 0.4, 0.9, 0.999]), 1e28]:
        excess = integrate(sizes.tail, d, 1e28, kinks)
        tail = sizes.tail(d)
        second = integrate(lambda t, tail=tail: 2.0 * t * (sizes.tail(t) - tail), 0.0, d, kinks)
        assert sizes.mean_excess(d) == pytest.approx(excess, rel=1e-10, abs=1e-12)
        assert sizes.mean_above(d) == pytest.approx(excess + d * tail, rel=1e-10, abs=1e-12)
        assert sizes.truncated_second_moment(d) == pytest.approx(second, rel=1e-8, abs=1e-12)
    assert sizes.mean == pytest.approx(integrate(sizes.tail, 0.0, 1e28, kinks), rel=1e-10)
    if sizes.second_moment < math.inf:
        second = integrate(lambda t: 2.0 * t * sizes.tail(t), 0.0, 1e28, kinks)
        assert sizes.second_moment == pytest.approx(second, rel=1e-10)


@pytest.mark.parametrize("spec", ATOMIC)
def test_moments_against_sums(spec):
    sizes = parse_sizes(spec)
    if isinstance(sizes, Deterministic):
        pairs = [(sizes.value, 1.0)]
    else:
        pairs = list(zip(sizes.values, sizes.probabilities, strict=True))
    for d in (0.0, 0.5, 1.0, 2.0, 2.5, 9.99, 10.0, 100.0):
        assert sizes.tail(d) == pytest.approx(sum(p for x, p in pairs if x > d))
        assert sizes.mean_above(d) == pytest.approx(sum(p * x for x, p in pairs if x > d))
        assert sizes.mean_excess(d) == pytest.approx(sum(p * max(x - d, 0.0) for x, p in pairs))
        assert sizes.truncated_second_moment(d) == pytest.approx(sum(p * x * x for x, p in pairs if x <= d))
    assert sizes.mean == pytest.approx(sum(p * x for x, p in pairs))
    assert sizes.second_moment == pytest.approx(sum(p * x * x for x, p in pairs))
    assert not sizes.continuous


@pytest.mark.parametrize("spec", CONTINUOUS + ATOMIC)
def test_ends_and_shapes(spec):
    sizes = parse_sizes(spec)
    assert (sizes.tail(0.0), sizes.tail(-1.0), sizes.tail(math.inf)) == (1.0, 1.0, 0.0)
    assert sizes.mean_above(0.0) == pytest.approx(sizes.mean)
    assert sizes.mean_above(math.inf) == sizes.mean_excess(math.inf) == 0.0
    assert sizes.mean_excess(0.0) == pytest.approx(sizes.mean)
    assert sizes.truncated_second_moment(0.0) == 0.0
    assert sizes.truncated_second_moment(math.inf) == pytest.approx(sizes.second_moment)
    grid = np.array([[0.1, 1.0, 3.0], [math.inf, 7.0, 0.0]])
    for method in ("tail", "mean_above", "mean_excess", "truncated_second_moment"):
        assert isinstance(getattr(sizes, method)(2.0), float)
        values = getattr(sizes, method)(grid)
        assert values.shape == (2, 3)
        assert values[1, 1] == pytest.approx(getattr(sizes, method)(7.0), rel=1e-14)
    assert sizes.quantile(np.full((2, 3), 0.5)).shape == (2, 3)
    assert sizes.quantile(0.5) == sizes.tail_quantile(0.5)
    for p in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="quantile"):
            sizes.quantile(p)


@given(st.sampled_from(CONTINUOUS), st.floats(1e-9, 1.0 - 1e-9), st.floats(1e-250, 0.5))
@settings(deadline=None)
def test_quantile_inverts_the_tail(spec, p, q):
    sizes = parse_sizes(spec)
    assert 1.0 - sizes.tail(sizes.quantile(p)) == pytest.approx(p, rel=1e-6, abs=1e-14)
    if sizes.family != "bounded-pareto":  # close to its upper end a double cannot resolve the tail
        assert sizes.tail(sizes.tail_quantile(q)) == pytest.approx(q, rel=1e-9)


@given(st.sampled_from(ATOMIC), st.floats(0.001, 1.0))
def test_quantile_of_atoms_is_the_least_size_that_reaches_p(spec, p):
    sizes = parse_sizes(spec)
    x = sizes.quantile(p)
    assert 1.0 - sizes.tail(x) >= p - 1e-12
    assert 1.0 - sizes.tail(np.nextafter(x, 0.0)) < p + 1e-12


def test_quantile_at_a_step():
    sizes = parse_sizes("discrete:0.5@0.25,2@0.5,3@0.25")
    p = [0.0, 0.25, np.nextafter(0.25, 1), 0.75, np.nextafter(0.75, 1), 1.0]
    assert list(sizes.quantile(p)) == [0.5, 0.5, 2.0, 2.0, 3.0, 3.0]
    assert list(sizes.tail_quantile([0.25, np.nextafter(0.25, 0), 0.75, 0.0])) == [2.0, 3.0, 0.5, 3.0]


def test_pareto_values():
    for alpha, mean, median in ((1.5, 3.0, 1.587), (2.0, 2.0, 1.414)):
        sizes = Pareto(alpha)
        assert sizes.mean == mean
        assert sizes.quantile(0.5) == pytest.approx(median, abs=5e-4)
        assert sizes.second_moment == math.inf
        assert sizes.tail_index == alpha
        assert sizes.quantile(0.0) == 1.0
        assert sizes.quantile(1.0) == math.inf
    assert Pareto(1.5).tail_quantile(1e-3) == pytest.approx(100.0, rel=1e-14)
    assert Pareto(2.0).truncated_second_moment(math.e) == pytest.approx(2.0)
    assert Pareto(2.0 + 1e-12).truncated_second_moment(math.e) == pytest.approx(2.0)
    assert Pareto(2.5).second_moment == pytest.approx(5.0)
    assert Exponential().tail_index == Lognormal(1.5).tail_index == math.inf


def test_bounded_pareto_tends_to_pareto():
    t = np.geomspace(0.5, 1e3, 40)
    far, pareto = BoundedPareto(1.5, 1.0, 1e30), Pareto(1.5)
    for method in ("tail", "mean_above", "mean_excess", "truncated_second_moment"):
        np.testing.assert_allclose(getattr(far, method)(t), getattr(pareto, method)(t), rtol=1e-9)
    assert BoundedPareto(1.0, 1.0, 1e4).mean == pytest.approx(math.log(1e4) / (1.0 - 1e-4))
    assert BoundedPareto(1.5, 1.0, 1e4).tail(1e4) == 0.0


def test_two_type_mixtures():
    (p, first), (_, second) = Hyperexponential(10.0, 0.5)._types
    assert (p, 1.0 / first, 1.0 / second) == tuple(
        pytest.approx(value, abs=5e-7) for value in (0.952267, 1.904534, 0.095466)
    )
    for scv, f, k in ((0.2, 0.5, 5), (5.0, 0.3, 4), (30.0, 0.9, 1), (1e9, 0.5, 2)):
        sizes = MixedErlang(scv, f, k)
        (p, b), (q, c) = sizes._types
        assert p + q == pytest.approx(1.0)
        assert 0.0 < p < 1.0
        assert p * k * b == pytest.approx(f)  # type 1 brings the share f of the mean
        assert b <= c
        assert k * (k + 1) * (p * b**2 + q * c**2) == pytest.approx(scv + 1.0)
    assert MixedErlang(4.0, 0.5, 1).tail(2.0) == pytest.approx(Hyperexponential(4.0, 0.5).tail(2.0))
    assert Hyperexponential(1.0, 0.5).tail(2.0) == pytest.approx(math.exp(-2.0))


@given(st.sampled_from(CONTINUOUS + ATOMIC), st.floats(1e-3, 1e3))
@settings(deadline=None)
def test_scaling(spec, mean):
    sizes = parse_sizes(spec)
    scaled = sizes.scaled_to_mean(mean)
    factor = mean / sizes.mean
    assert type(scaled) is type(sizes)
    assert scaled.mean == pytest.approx(mean)
    assert scaled.second_moment == pytest.approx(sizes.second_moment * factor**2)
    assert scaled.tail(1.7 * mean) == pytest.approx(sizes.tail(1.7 * sizes.mean))
    assert scaled.tail_index == sizes.tail_index
    assert parse_sizes(scaled.spec) == scaled


# -------------------------------------------------------------------------------------------- specifications


@pytest.mark.parametrize("spec", CONTINUOUS + ATOMIC)
def test_spec_round_trip(spec):
    sizes = parse_sizes(spec)
    assert parse_sizes(sizes.spec) == sizes
    assert parse_sizes(sizes.spec).spec == sizes.spec
    assert hash(parse_sizes(spec)) == hash(sizes)


@pytest.mark.parametrize(
    ("spec", "sizes", "canonical"),
    [
        ("pareto:1.5", Pareto(1.5), "pareto:1.5"),
        ("pareto:1.50,1.0", Pareto(1.5), "pareto:1.5"),
        (" pareto:1.5, 2 ", Pareto(1.5, 2.0), "pareto:1.5,2"),
        ("bounded-pareto:1.1,1,1e10", BoundedPareto(1.1, 1.0, 1e10), "bounded-pareto:1.1,1,1e+10"),
        ("exp", Exponential(), "exp"),
        ("exp:1", Exponential(1.0), "exp"),
        ("exp:0.1", Exponential(0.1), "exp:0.1"),
        ("det", Deterministic(), "det"),
        ("hexp:10,0.5", Hyperexponential(10.0, 0.5), "hexp:10,0.5"),
        ("merlang:10,0.5,5", MixedErlang(10.0, 0.5, 5), "merlang:10,0.5,5"),
        ("weibull:0.3333333333333333", Weibull(1 / 3), "weibull:0.3333333333333333"),
        ("lognormal:1,4", Lognormal(1.0, 4.0), "lognormal:1,4"),
        ("discrete:10@0.1,1@0.9", Discrete((1.0, 10.0), (0.9, 0.1)), "discrete:1@0.9,10@0.1"),
    ],
)
def test_specs_and_their_canonical_form(spec, sizes, canonical):
    assert parse_sizes(spec) == sizes
    assert parse_sizes(spec).spec == canonical


@given(st.floats(1.0, 50.0, exclude_min=True), st.floats(1e-9, 1e9))
def test_any_pareto_survives_the_round_trip(alpha, x_min):
    assert parse_sizes(Pareto(alpha, x_min).spec) == Pareto(alpha, x_min)


BAD = [
    ("pareto:1", "pareto alpha = 1.0: must be a number above 1"),
    ("pareto:0.9", "pareto alpha"),
    ("pareto:nan", "pareto alpha = nan"),
    ("pareto:inf", "pareto alpha = inf"),
    ("pareto:-inf", "pareto alpha"),
    ("pareto:-1.5", "pareto alpha"),
    ("pareto:abc", "pareto alpha = 'abc': must be a number"),
    ("pareto:1.5,0", "pareto x_min"),
    ("pareto:1.5,nan", "pareto x_min"),
    ("pareto:1.5,", "pareto x_min"),
    ("pareto:1.5,1,2", "sizes = 'pareto:1.5,1,2': must have the form pareto:ALPHA[,X_MIN]"),
    ("pareto:", "sizes = 'pareto:': must have the form"),
    ("pareto", "sizes = 'pareto:': must have the form"),
    ("bounded-pareto:1.5,1", "sizes ="),
    ("bounded-pareto:0,1,2", "bounded-pareto alpha"),
    ("bounded-pareto:1.5,2,1", "bounded-pareto high"),
    ("bounded-pareto:1.5,2,2", "bounded-pareto high"),
    ("bounded-pareto:1.5,1,inf", "bounded-pareto high"),
    ("bounded-pareto:1.5,1,nan", "bounded-pareto high"),
    ("exp:0", "exp mean"),
    ("exp:nan", "exp mean"),
    ("exp:1,2", "sizes ="),
    ("exp:1e300", "exp mean"),
    ("det:-1", "det value"),
    ("det:nan", "det value"),
    ("hexp:10", "sizes ="),
    ("hexp:0.5,0.5", "hexp scv = 0.5: must be at least 1"),
    ("hexp:nan,0.5", "hexp scv"),
    ("hexp:10,0", "hexp f"),
    ("hexp:10,1", "hexp f"),
    ("hexp:10,nan", "hexp f"),
    ("hexp:10,0.5,-1", "hexp mean"),
    ("merlang:10,0.5,2.5", "merlang k"),
    ("merlang:10,0.5,0", "merlang k"),
    ("merlang:10,0.5,nan", "merlang k"),
    ("merlang:10,0.5,inf", "merlang k"),
    ("merlang:0.1,0.5,5", "merlang scv = 0.1: must be at least 0.2"),
    ("weibull:0", "weibull shape"),
    ("weibull:nan", "weibull shape"),
    ("lognormal:-1", "lognormal sigma"),
    ("lognormal:nan", "lognormal sigma"),
    ("lognormal:inf", "lognormal sigma"),
    ("discrete:1@0.5,2@0.4", "discrete probabilities = 0.9 in sum: must sum to 1"),
    ("discrete:1@0.5,1@0.5", "discrete value = 1.0: must be given only once"),
    ("discrete:0@1", "discrete value"),
    ("discrete:nan@1", "discrete value"),
    ("discrete:1@nan", "discrete probability"),
    ("discrete:1@0,2@1", "discrete probability"),
    ("discrete:1", "sizes ="),
    ("discrete:", "sizes ="),
    ("file:", "sizes ="),
    ("file:/no/such/file", "file path = '/no/such/file': cannot be read (No such file"),
    ("cauchy:1", "sizes = 'cauchy:1': must be of a known family: pareto, bounded-pareto, exp"),
    ("", "sizes = ''"),
    ("par\neto", "sizes = 'par\\neto'"),
    (None, "sizes = None"),
    (1.5, "sizes = 1.5"),
    (True, "sizes = True"),
]


@pytest.mark.parametrize(("spec", "start"), BAD)
def test_bad_specs(spec, start):
    with pytest.raises(ValueError) as raised:
        parse_sizes(spec)
    message = str(raised.value)
    assert message.startswith(start)
    assert "must be" in message or "must have" in message or "must sum" in message or "cannot" in message
    assert "\n" not in message


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0, 0, "1.5", True, None])
def test_bad_arguments(value):
    for make in (Pareto, Exponential, Weibull, Lognormal, Deterministic):
        with pytest.raises(ValueError, match=f"^{make.family} "):
            make(value)
    with pytest.raises(ValueError, match="^weibull mean"):
        Weibull(0.5).scaled_to_mean(value)
    with pytest.raises(ValueError, match="^merlang k"):
        MixedErlang(10.0, 0.5, value)
    with pytest.raises(ValueError, match="^discrete"):
        Discrete((1.0, 2.0), (0.5,))


def test_file(tmp_path):
    path = tmp_path / "sizes.txt"
    path.write_text("# measured\nsize\n1\n3   # twice\n\n3\n5e0\n")
    sizes = Empirical(str(path))
    assert sizes.mean == 3.0
    assert [sizes.tail(t) for t in (0.5, 1, 3, 5)] == [1.0, 0.75, 0.25, 0.0]
    assert sizes.second_moment == pytest.approx(11.0)
    assert sizes.spec == f"file:{path}"
    assert parse_sizes(sizes.spec) == sizes
    scaled = sizes.scaled_to_mean(6.0)
    assert scaled.quantile(1.0) == 10.0
    assert scaled.spec == f"file:{path},6"
    assert parse_sizes(scaled.spec) == scaled != sizes
    draws = sizes.sample(generator(), 1000)
    assert set(draws) == {1.0, 3.0, 5.0}


def test_file_whose_name_ends_in_a_number(tmp_path):
    path = tmp_path / "sizes,7"
    path.write_text("2\n")
    assert parse_sizes(Empirical(str(path)).spec) == Empirical(str(path))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("size\n1\nx\n", 3),
        ("1\n2\nnan\n", 3),
        ("1\n-2\n", 2),
        ("0\n", 1),
        ("# c\n\n1,2\n", 3),
        ("1\nsize\n", 2),
    ],
)
def test_bad_lines_of_a_file_are_named(tmp_path, text, line):
    path = tmp_path / "sizes.csv"
    path.write_text(text)
    with pytest.raises(
        ValueError, match=rf"^file .*sizes\.csv', line {line}: size = .*must be a number"
    ) as raised:
        Empirical(str(path))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"size\n", b"# nothing\n", b"\xff\xfe\x00"])
def test_files_without_sizes(tmp_path, content):
    path = tmp_path / "sizes.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="^file path = "):
        Empirical(str(path))


# ---------------------------------------------------------------------------------------------- the sampler


@pytest.mark.parametrize("spec", CONTINUOUS)
def test_sample_has_the_law(spec):
    # Kolmogorov-Smirnov: sqrt(m) D > 2.4 has probability 2 exp(-2 * 2.4^2) = 2e-5.
    sizes, m = parse_sizes(spec), 200_000
    draws = np.sort(sizes.sample(generator(20), m))
    law = 1.0 - sizes.tail(draws)
    steps = np.arange(m + 1) / m
    distance = max(np.max(steps[1:] - law), np.max(law - steps[:-1]))
    assert math.sqrt(m) * distance < 2.4


@pytest.mark.parametrize("spec", [s for s in ATOMIC if s.startswith("discrete")])
def test_sample_has_the_atoms(spec):
    # Each count is within 4.5 standard deviations: false alarm below 1e-5 a count.
    sizes, m = parse_sizes(spec), 200_000
    draws = sizes.sample(generator(21), m)
    for value, p in zip(sizes.values, sizes.probabilities, strict=True):
        assert abs(np.sum(draws == value) - m * p) < 4.5 * math.sqrt(m * p * (1.0 - p))
    assert set(draws) == set(sizes.values)


@pytest.mark.parametrize("spec", [s for s in CONTINUOUS if parse_sizes(s).second_moment < 100.0])
def test_sample_mean(spec):
    # Within 4.5 standard errors: false alarm near 1e-5 where the normal approximation holds.
    sizes, m = parse_sizes(spec), 200_000
    error = math.sqrt((sizes.second_moment - sizes.mean**2) / m)
    assert abs(sizes.sample(generator(22), m).mean() - sizes.mean) < 4.5 * error


@pytest.mark.parametrize(("alpha", "median"), [(1.5, 2 ** (1 / 1.5)), (2.0, 2**0.5)])
def test_pareto_sample_is_not_shifted(alpha, median):
    # The median of 1e6 draws has standard deviation 5e-4 / density; 5 of them.
    draws = Pareto(alpha).sample(generator(23), 1_000_000)
    assert 1.0 <= draws.min() < 1.0 + 2e-5
    density = alpha * median ** (-alpha - 1.0)
    assert abs(np.median(draws) - median) < 5.0 * 5e-4 / density


@pytest.mark.parametrize("spec", CONTINUOUS + ATOMIC)
def test_one_at_a_time_gives_the_same_stream(spec):
    kernel = parse_sizes(spec).kernel
    filled = np.empty(200)
    fill_sizes(generator(5), *kernel, filled)
    rng = generator(5)
    assert [draw_size(rng, *kernel) for _ in range(200)] == list(filled)


DIGEST = """
import hashlib, sys
import numpy as np
from tailsched.sizes import parse_sizes
for spec in sys.argv[1:]:
    rng = np.random.Generator(np.random.SFC64(7))
    print(hashlib.sha256(parse_sizes(spec).sample(rng, 2000).tobytes()).hexdigest())
"""


def test_without_compilation_the_numbers_are_the_same():
    specs = CONTINUOUS + ATOMIC
    done = subprocess.run(
        [sys.executable, "-c", DIGEST, *specs],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    compiled = [
        hashlib.sha256(parse_sizes(s).sample(generator(7), 2000).tobytes()).hexdigest() for s in specs
    ]
    assert done.stdout.split() == compiled


class Stub:
    """A generator whose bits are all 0, or all 1, as far as that can reach its variates."""

    def __init__(self, ones):
        # numpy's ziggurat: the exponential is 0 or ends in its tail, r - log(1 - u) with r = 7.697.
        self.uniform = 1.0 - 2.0**-53 if ones else 0.0
        self.exponential = 7.69711747013105 + 53.0 * math.log(2.0) if ones else 0.0
        self.normal = 13.8 if ones else -13.8

    def random(self):
        return self.uniform

    def standard_exponential(self):
        return self.exponential

    def standard_normal(self):
        return self.normal


SAMPLERS = {
    module.PARETO: module._draw_pareto,
    module.BOUNDED_PARETO: module._draw_bounded_pareto,
    module.EXPONENTIAL: module._draw_exponential,
    module.DETERMINISTIC: module._draw_deterministic,
    module.MIXED_ERLANG: module._draw_mixed_erlang,
    module.WEIBULL: module._draw_weibull,
    module.LOGNORMAL: module._draw_lognormal,
    sizes.DISCRETE: module._draw_discrete,
}
EXTREME = [
    "pareto:1.0000001",
    "pareto:1e9",
    "exp:1e-99",
    "exp:1e99",
    "weibull:0.021",
    "weibull:999",
    "lognormal:19.9",
    "bounded-pareto:1e-9,1,1e99",
    "hexp:1e11,0.5",
    "merlang:1000,0.5,1000",
]


@pytest.mark.parametrize("ones", [False, True])
@pytest.mark.parametrize("spec", CONTINUOUS + ATOMIC + EXTREME)
def test_extreme_bits_give_finite_positive_sizes(spec, ones):
    sizes = parse_sizes(spec)
    kind, params = sizes.kernel
    draw = SAMPLERS[kind]
    size = getattr(draw, "py_func", draw)(Stub(ones), params)
    assert 0.0 < size < math.inf
    if sizes.family in ("pareto", "bounded-pareto"):
        assert sizes.low <= size <= sizes.high
    if sizes.family == "discrete":
        assert size == sizes.values[-1 if ones else 0]


def test_sizes_import_is_light():
    code = (
        "import sys; from tailsched.sizes import Pareto; Pareto(1.5).tail(2.0); "
        "print([m for m in ('scipy.special', 'scipy.stats') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
