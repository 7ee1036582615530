r"""Job-size distributions: moments, tails, quantiles, and sampling inside compiled code.

A size S is the work that a job brings, in units of time on one server of unit speed. Everything that
theory needs from a distribution is a partial moment,

.. math::

    M_k(d) = E[S^k;\, S > d], \qquad m_k(d) = E[S^k;\, S \le d], \qquad k = 0, 1, 2 .

The tail is :math:`P[S > d] = M_0(d)`, the share of the mean in jobs above d is :math:`M_1(d)`, the excess is
:math:`E[(S - d)^+] = M_1(d) - d M_0(d)` and the truncated second moment is :math:`m_2(d)`. Closed forms:

==================  =============================================================================
Pareto(alpha, a)    :math:`P[S > t] = (t/a)^{-\alpha}` for :math:`t \ge a`; with y = d/a,
                    :math:`M_k(d) = a^k \alpha\, y^{k-\alpha} / (\alpha - k)`, infinite for
                    :math:`k \ge \alpha`
bounded Pareto      Pareto conditioned on S <= high
Weibull(shape)      :math:`P[S > t] = \exp(-(t/b)^{shape})`; M_k is an upper incomplete gamma function.
                    The exponential is shape 1
lognormal(sigma)    :math:`\ln S` is normal with standard deviation sigma; M_k is a normal tail shifted by
                    k sigma
mixed Erlang        with probability p an Erlang(k) job of mean 1/mu1, otherwise one of mean 1/mu2
discrete            sums
==================  =============================================================================

The mixed Erlang is given by its squared coefficient of variation (SCV), the share f of the mean that type 1
jobs bring, and k. For mean 1 the conditions :math:`p = f\mu_1,\ 1 - p = (1 - f)\mu_2` and
:math:`(1 + 1/k)(f/\mu_1 + (1-f)/\mu_2) = SCV + 1` have the solution

.. math::

    s = \frac{2(SCV + 1)}{1 + 1/k} - 1, \quad R = \sqrt{(s-1)(s-1+8f(1-f))}, \quad
    \mu_1 = \frac{s - 1 + 4f + R}{2f(s+1)}, \quad \mu_2 = \frac{4(1-f)}{s - 1 + 4(1-f) + R}

with :math:`\mu_1 \ge \mu_2`; it exists when SCV >= 1/k. The hyperexponential is k = 1.

Sizes are drawn by `tailsched.sampling`, which needs a compiler; nothing here does.
"""

import math
from dataclasses import MISSING, dataclass, fields, replace
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar

import numpy as np

#: Sizes, means and the like must lie between these; squares of them are still finite.
SMALLEST, LARGEST = 1e-100, 1e100

#: The kinds of draws that `tailsched.sampling` tells apart.
PARETO, BOUNDED_PARETO, EXPONENTIAL, DETERMINISTIC, MIXED_ERLANG, WEIBULL, LOGNORMAL, DISCRETE = range(8)


# -------------------------------------------------------------------------------------- reading parameters


def check_number(label, value, low=SMALLEST, high=LARGEST, closed=False, why=""):
    """Return `value` as a float.

    Raises
    ------
    ValueError
        Unless it is a number (no truth value, no nan) in (low, high), or in (low, high] if `closed`.
    """
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_):
        if low < value < high or (closed and value == high):
            return float(value)
    end = "at most" if closed else "below"
    limit = f" and {end} {high:g}" if high < math.inf else ""
    raise ValueError(f"{label} = {value!r}: must be a number above {low:g}{limit}{why}")


def check_count(label, value, least, most=math.inf):
    """Return `value` as an int; raise ValueError unless it is whole and between `least` and `most`."""
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_):
        if least <= value <= most and value % 1 == 0:
            return int(value)
    limit = f"from {least} to {most}" if most < math.inf else f"of at least {least}"
    raise ValueError(f"{label} = {value!r}: must be a whole number {limit}")


def _read(label, text):
    """Return the number that `text` spells."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{label} = {text.strip()!r}: must be a number") from None


def _spell(value):
    """Return the shortest text that reads back as the same number."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))


# ---------------------------------------------------------------------------------------- the distributions


class Sizes:
    """A job-size distribution; see `parse_sizes` for the families.

    Attributes
    ----------
    mean : float
        E[S], in units of time.
    second_moment : float
        E[S^2]; ``math.inf`` where it does not exist.
    tail_index : float
        The index alpha of a regularly varying tail; ``math.inf`` if all moments are finite.
    continuous : bool
        Whether two jobs have equal sizes with probability 0.
    kernel : (int, (m,) float64 array)
        What `draw_size` and `fill_sizes` need.
    """

    family: ClassVar[str]
    continuous: ClassVar[bool] = True
    tail_index: float = math.inf

    # A family gives: mean, second_moment, kernel, and for arrays x >= 0 and k = 0, 1, 2
    #   _above(k, x) = E[S^k; S > x],   _up_to(k, x) = E[S^k; S <= x],
    #   _quantile(p, q) with q = 1 - p.

    def tail(self, t):
        """Return P[S > t]; `t` is a number or an array of any shape."""
        return np.asarray(self._above(0, _at_least_zero(t)))[()]

    def mean_above(self, d):
        """Return E[S; S > d]; `d` is a number or an array of any shape."""
        return np.asarray(self._above(1, _at_least_zero(d)))[()]

    def mean_excess(self, d):
        """Return E[(S - d)^+]; `d` is a number or an array of any shape."""
        d = np.asarray(d, dtype=float)
        beyond = np.where(np.isinf(d), 0.0, d) * self.tail(d)
        return np.maximum(self.mean_above(d) - beyond, 0.0)[()]

    def truncated_second_moment(self, d):
        """Return E[S^2; S <= d]; `d` is a number or an array of any shape."""
        return np.asarray(self._up_to(2, _at_least_zero(d)))[()]

    def quantile(self, p):
        """Return the least x with P[S <= x] >= p; `p` in [0, 1] is a number or an array.

        At p = 0 this is the left end of the support.
        """
        p = _probability("quantile p", p)
        return np.asarray(self._quantile(p, 1.0 - p))[()]

    def tail_quantile(self, q):
        """Return the least x with P[S > x] <= q: `quantile(1 - q)`, exact also for a q close to 0."""
        q = _probability("tail quantile q", q)
        return np.asarray(self._quantile(1.0 - q, q))[()]

    def scaled_to_mean(self, m: float) -> "Sizes":
        """Return the distribution of the same shape with mean `m`."""
        return replace(self, mean=m)

    def sample(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Return `count` independent sizes."""
        from tailsched.sampling import fill_sizes

        out = np.empty(count)
        fill_sizes(rng, *self.kernel, out)
        return out

    @property
    def spec(self) -> str:
        """The text from which `parse_sizes` makes an equal object."""
        given = [(field, getattr(self, field.name)) for field in fields(self)]
        while given and given[-1][1] == given[-1][0].default:
            given.pop()
        return ":".join([self.family, ",".join(_spell(value) for _, value in given)]).rstrip(":")

    @classmethod
    def usage(cls) -> str:
        """Return the form of `spec`, as in ``pareto:ALPHA[,X_MIN]``."""
        names = [f.name.upper() for f in fields(cls) if f.default is MISSING]
        optional = [f.name.upper() for f in fields(cls) if f.default is not MISSING]
        text = ",".join(names) + "".join(f"[,{name}]" for name in optional)
        return f"{cls.family}:{text}" if names else f"{cls.family}[:{','.join(optional)}]"

    @classmethod
    def from_text(cls, text: str) -> "Sizes":
        """Return the distribution with the parameters in `text`, the part of a spec after the colon."""
        parts = text.split(",") if text else []
        required = sum(f.default is MISSING for f in fields(cls))
        if not required <= len(parts) <= len(fields(cls)):
            given = f"{len(parts)} given"
            raise ValueError(
                f"sizes = {cls.family + ':' + text!r}: must have the form {cls.usage()}, {given}"
            )
        named = zip(fields(cls), parts, strict=False)
        return cls(*(_read(f"{cls.family} {field.name}", part) for field, part in named))

    def _check(self, name: str, *limits: Any, **options: Any) -> None:
        value = check_number(f"{self.family} {name}", getattr(self, name), *limits, **options)
        object.__setattr__(self, name, value)


def _at_least_zero(d):
    return np.maximum(np.asarray(d, dtype=float), 0.0)


def _probability(label, p):
    p = np.asarray(p, dtype=float)
    if not np.all((p >= 0.0) & (p <= 1.0)):
        raise ValueError(f"{label}: must be a probability, from 0 to 1")
    return p


def _power_integral(a, b, c):
    """Return the integral of x^(c-1) over (a, b), with b = inf allowed."""
    if np.ndim(b) == 0 and math.isinf(b):
        return -(a**c) / c if c < 0 else np.full_like(a, math.inf)
    from scipy.special import exprel

    span = np.log(b / a)
    return a**c * span * exprel(c * span)


class _PowerLaw(Sizes):
    """Density proportional to x^(-alpha-1) between `low` and `high`; high = inf is the Pareto law."""

    @property
    def _share(self):
        """The probability that a Pareto size is at most `high`."""
        return -math.expm1(-self.alpha * math.log(self.high / self.low)) if self.high < math.inf else 1.0

    def _moment(self, k, a, b):
        scale = self.low**k * self.alpha / self._share
        return scale * _power_integral(a / self.low, b / self.low, k - self.alpha)

    def _above(self, k, x):
        x = np.clip(x, self.low, self.high)
        moment = self._moment(k, x, self.high)
        return np.where(x > self.low, moment, 1.0) if k == 0 else moment

    def _up_to(self, k, x):
        x = np.clip(x, self.low, self.high)
        finite = self._moment(k, self.low, np.where(np.isinf(x), self.low, x))
        return np.where(np.isinf(x), self._moment(k, np.float64(self.low), math.inf), finite)

    def _quantile(self, p, q):
        # exp(E) with E exponential (cut off by the share) is size^alpha; p close to 0 and 1 are both exact.
        with np.errstate(divide="ignore"):
            log_tail = np.where(p < 0.5, np.log1p(-self._share * np.minimum(p, 0.5)), np.log(self._beyond(q)))
        return np.minimum(self.low * np.exp(-log_tail / self.alpha), self.high)

    def _beyond(self, q):
        return q if self.high == math.inf else (1.0 - self._share) + self._share * q

    @property
    def mean(self):
        """E[S]."""
        return float(self._above(1, np.float64(0.0)))

    @property
    def second_moment(self):
        """E[S^2]."""
        return float(self._above(2, np.float64(0.0)))


@dataclass(frozen=True)
class Pareto(_PowerLaw):
    """P[S > t] = (t / x_min)^-alpha for t >= x_min."""

    family: ClassVar[str] = "pareto"
    high: ClassVar[float] = math.inf
    alpha: float
    x_min: float = 1.0

    def __post_init__(self):
        self._check("alpha", 1.0, why=" (the mean is infinite otherwise)")
        self._check("x_min")

    @property
    def low(self):
        """Least size."""
        return self.x_min

    @property
    def tail_index(self):
        """The index alpha of the tail."""
        return self.alpha

    @property
    def mean(self):
        """E[S]."""
        return self.x_min * self.alpha / (self.alpha - 1.0)

    def mean_excess(self, d):
        """Return E[(S - d)^+]; `d` is a number or an array of any shape."""
        d = np.asarray(d, dtype=float)
        above = np.maximum(d, self.x_min)
        excess = self.x_min * (above / self.x_min) ** (1.0 - self.alpha) / (self.alpha - 1.0)
        return (excess + (above - d))[()] if np.all(d < math.inf) else super().mean_excess(d)

    def scaled_to_mean(self, m: float) -> "Pareto":
        """Return the distribution of the same shape with mean `m`."""
        return replace(self, x_min=m * (self.alpha - 1.0) / self.alpha)

    @property
    def kernel(self):
        """Kind and parameters for `fill_sizes`."""
        return PARETO, np.array([self.x_min, 1.0 / self.alpha])


@dataclass(frozen=True)
class BoundedPareto(_PowerLaw):
    """A Pareto size with index alpha and least size low, given that it is at most high."""

    family: ClassVar[str] = "bounded-pareto"
    alpha: float
    low: float
    high: float

    def __post_init__(self):
        self._check("alpha", 0.0)
        self._check("low")
        self._check("high", self.low, why=" (low must be the smaller)")

    def scaled_to_mean(self, m: float) -> "BoundedPareto":
        """Return the distribution of the same shape with mean `m`."""
        factor = check_number(f"{self.family} mean", m) / self.mean
        return replace(self, low=self.low * factor, high=self.high * factor)

    @property
    def kernel(self):
        """Kind and parameters for `fill_sizes`."""
        return BOUNDED_PARETO, np.array([self.low, 1.0 / self.alpha, self._share, self.high])


class _StretchedExponential(Sizes):
    """P[S > t] = exp(-(t / scale)^shape)."""

    @property
    def _scale(self):
        return self.mean / math.gamma(1.0 + 1.0 / self.shape)

    def _moment(self, k):
        return self._scale**k * math.gamma(1.0 + k / self.shape)

    def _above(self, k, x):
        from scipy.special import gammaincc

        return self._moment(k) * gammaincc(1.0 + k / self.shape, (x / self._scale) ** self.shape)

    def _up_to(self, k, x):
        from scipy.special import gammainc

        return self._moment(k) * gammainc(1.0 + k / self.shape, (x / self._scale) ** self.shape)

    def _quantile(self, p, q):
        with np.errstate(divide="ignore"):
            exponent = np.where(p < 0.5, -np.log1p(-np.minimum(p, 0.5)), -np.log(q))
        return self._scale * exponent ** (1.0 / self.shape)

    @property
    def second_moment(self):
        """E[S^2]."""
        return self._moment(2)


@dataclass(frozen=True)
class Exponential(_StretchedExponential):
    """P[S > t] = exp(-t / mean)."""

    family: ClassVar[str] = "exp"
    shape: ClassVar[float] = 1.0
    mean: float = 1.0

    def __post_init__(self):
        self._check("mean")

    @property
    def kernel(self):
        """Kind and parameters for `fill_sizes`."""
        return EXPONENTIAL, np.array([self.mean])


@dataclass(frozen=True)
class Weibull(_StretchedExponential):
    """P[S > t] = exp(-(t / b)^shape), with b such that the mean is as given."""

    family: ClassVar[str] = "weibull"
    shape: float
    mean: float = 1.0

    def __post_init__(self):
        self._check("shape", 0.02, 1000.0)
        self._check("mean")

    @property
    def kernel(self):
        """Kind and parameters for `fill_sizes`."""
        return WEIBULL, np.array([self._scale, 1.0 / self.shape])


@dataclass(frozen=True)
class Lognormal(Sizes):
    """ln S is normal with standard deviation sigma; its mean is such that E[S] is as given."""

    family: ClassVar[str] = "lognormal"
    sigma: float
    mean: float = 1.0

    def __post_init__(self):
        self._check("sigma", 0.0, 20.0)
        self._check("mean")

    @property
    def _location(self):
        return math.log(self.mean) - self.sigma**2 / 2.0

    def _moment(self, k):
        return math.exp(k * self._location + (k * self.sigma) ** 2 / 2.0)

    def _standardized(self, k, x):
        with np.errstate(divide="ignore"):
            return (np.log(x) - self._location) / self.sigma - k * self.sigma

    def _above(self, k, x):
        from scipy.special import ndtr

        return self._moment(k) * ndtr(-self._standardized(k, x))

    def _up_to(self, k, x):
        from scipy.special import ndtr

        return self._moment(k) * ndtr(self._standardized(k, x))

    def _quantile(self, p, q):
        from scipy.special import ndtri

        return np.exp(self._location + self.sigma * np.where(p < 0.5, ndtri(p), -ndtri(q)))

    @property
    def second_moment(self):
        """E[S^2]."""
        return self._moment(2)

    @property
    def kernel(self):
        """Kind and parameters for `fill_sizes`."""
        return LOGNORMAL, np.array([self._location, self.sigma])


class _ErlangMixture(Sizes):
    """An Erlang(k) size of mean 1/mu1 with probability p, else one of mean 1/mu2 (module docstring)."""

    def __post_init__(self):
        self._check("scv", 0.0, 1e12)
        if self.scv < 1.0 / self.k:
            least = _spell(1.0 / self.k)
            raise ValueError(f"{self.family} scv = {self.scv!r}: must be at least {least} for k = {self.k}")
        self._check("f", 0.0, 1.0)
        self._check("mean")

    @cached_property
    def _types(self):
        """(probability, mean of one phase) of the two types."""
        f, g = self.f, 1.0 - self.f
        excess = max(2.0 * (self.scv + 1.0) / (1.0 + 1.0 / self.k) - 2.0, 0.0)  # s - 1
        root = math.sqrt(excess * (excess + 8.0 * f * g))
        mu1 = (excess + 4.0 * f + root) / (2.0 * f * (excess + 2.0))
        mu2 = 4.0 * g / (excess + 4.0 * g + root)
        return (1.0 - g * mu2, self.mean / (self.k * mu1)), (g * mu2, self.mean / (self.k * mu2))

    def _mixed(self, incomplete_gamma, j, x):
        rising = math.prod(self.k + i for i in range(j))
        return sum(p * rising * b**j * incomplete_gamma(self.k + j, x / b) for p, b in self._types)

    def _above(self, k, x):
        from scipy.special import gammaincc

        return self._mixed(gammaincc, k, x)

    def _up_to(self, k, x):
        from scipy.special import gammainc

        return self._mixed(gammainc, k, x)

    def _quantile(self, p, q):
        # Bisection of the logarithm, on the side where the probability is small.
        phases = [b for _, b in self._types]
        low = np.full(p.shape, math.log(1e-40 * min(phases)))
        high = np.full(p.shape, math.log(max(phases) * (1500.0 + 20.0 * self.k)))
        for _ in range(70):
            middle = (low + high) / 2.0
            x = np.exp(middle)
            reached = np.where(p < 0.5, self._up_to(0, x) >= p, self._above(0, x) <= q)
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        return np.where(p == 0.0, 0.0, np.where(q == 0.0, math.inf, np.exp(high)))

    @property
    def second_moment(self):
        """E[S^2]."""
        return (self.scv + 1.0) * self.mean**2

    @property
    def kernel(self):
        """Kind and parameters for `fill_sizes`."""
        (p, first), (_, second) = self._types
        return MIXED_ERLANG, np.array([p, first, second, float(self.k)])


@dataclass(frozen=True)
class Hyperexponential(_ErlangMixture):
    """A mixture of two exponentials; type 1, the shorter, brings the share f of the mean."""

    family: ClassVar[str] = "hexp"
    k: ClassVar[int] = 1
    scv: float
    f: float
    mean: float = 1.0


@dataclass(frozen=True)
class MixedErlang(_ErlangMixture):
    """A mixture of two Erlang(k) laws; type 1, the shorter, brings the share f of the mean."""

    family: ClassVar[str] = "merlang"
    scv: float
    f: float
    k: int
    mean: float = 1.0

    def __post_init__(self):
        object.__setattr__(self, "k", check_count("merlang k", self.k, 1, 1000))
        super().__post_init__()


class _Atoms(Sizes):
    """Finitely many sizes; `_table` gives them in ascending order, with probabilities that sum to 1."""

    continuous: ClassVar[bool] = False

    @cached_property
    def _sums(self):
        values, probabilities = self._table
        terms = np.array([probabilities * values**k for k in range(3)])
        none = np.zeros((3, 1))
        up_to = np.hstack([none, np.cumsum(terms, axis=1)])
        above = np.hstack([np.cumsum(terms[:, ::-1], axis=1)[:, ::-1], none])
        up_to[0, -1] = above[0, 0] = 1.0
        return up_to, above

    def _up_to(self, k, x):
        return self._sums[0][k][np.searchsorted(self._table[0], x, side="right")]

    def _above(self, k, x):
        return self._sums[1][k][np.searchsorted(self._table[0], x, side="right")]

    def _quantile(self, p, q):
        values, _ = self._table
        up_to, above = self._sums[0][0][1:], self._sums[1][0][1:]
        from_below = np.searchsorted(up_to, p, side="left")
        from_above = np.searchsorted(-above, -q, side="left")
        return values[np.where(p <= q, from_below, from_above)]

    @property
    def second_moment(self):
        """E[S^2]."""
        return float(self._sums[1][2][0])

    @property
    def kernel(self):
        """Kind and parameters for `fill_sizes`: the values, then their cumulative probabilities."""
        return DISCRETE, np.concatenate([self._table[0], self._sums[0][0][1:]])


@dataclass(frozen=True)
class Deterministic(_Atoms):
    """Every size is `value`."""

    family: ClassVar[str] = "det"
    value: float = 1.0

    def __post_init__(self):
        self._check("value")

    @cached_property
    def _table(self):
        return np.array([self.value]), np.ones(1)

    @property
    def mean(self):
        """E[S]."""
        return self.value

    def scaled_to_mean(self, m: float) -> "Deterministic":
        """Return the constant `m`."""
        return replace(self, value=m)

    @property
    def kernel(self):
        """Kind and parameters for `fill_sizes`."""
        return DETERMINISTIC, np.array([self.value])


@dataclass(frozen=True)
class Discrete(_Atoms):
    """Size values[i] with probability probabilities[i]; the sum may differ from 1 by 1e-9."""

    family: ClassVar[str] = "discrete"
    values: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self):
        values, probabilities = tuple(self.values), tuple(self.probabilities)
        if len(values) != len(probabilities) or not values:
            count = f"{len(values)} values with {len(probabilities)} probabilities"
            raise ValueError(f"discrete = {count}: must have as many of each, at least one")
        values = [check_number("discrete value", value) for value in values]
        probabilities = [
            check_number("discrete probability", p, 0.0, 1.0, closed=True) for p in probabilities
        ]
        for value in values:
            if values.count(value) > 1:
                raise ValueError(f"discrete value = {value!r}: must be given only once")
        total = math.fsum(probabilities)
        if abs(total - 1.0) > 1e-9:
            raise ValueError(f"discrete probabilities = {total!r} in sum: must sum to 1")
        pairs = sorted(zip(values, probabilities, strict=True))
        object.__setattr__(self, "values", tuple(value for value, _ in pairs))
        object.__setattr__(self, "probabilities", tuple(p for _, p in pairs))

    @cached_property
    def _table(self):
        probabilities = np.array(self.probabilities)
        return np.array(self.values), probabilities / math.fsum(probabilities)

    @property
    def mean(self):
        """E[S]."""
        return float(self._sums[1][1][0])

    def scaled_to_mean(self, m: float) -> "Discrete":
        """Return the distribution of the same shape with mean `m`."""
        factor = check_number(f"{self.family} mean", m) / self.mean
        return replace(self, values=tuple(value * factor for value in self.values))

    @property
    def spec(self) -> str:
        """The text from which `parse_sizes` makes an equal object."""
        pairs = zip(self.values, self.probabilities, strict=True)
        return "discrete:" + ",".join(f"{_spell(value)}@{_spell(p)}" for value, p in pairs)

    @classmethod
    def usage(cls) -> str:
        """Return the form of `spec`."""
        return "discrete:VALUE@PROBABILITY,..."

    @classmethod
    def from_text(cls, text: str) -> "Discrete":
        """Return the distribution with the atoms in `text`, as in ``1@0.9,10@0.1``."""
        pairs = [part.split("@") for part in text.split(",")]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"sizes = {'discrete:' + text!r}: must have the form {cls.usage()}")
        return cls(
            tuple(_read("discrete value", value) for value, _ in pairs),
            tuple(_read("discrete probability", probability) for _, probability in pairs),
        )


@dataclass(frozen=True)
class Empirical(_Atoms):
    """A size drawn uniformly from the lines of a text file.

    One size a line; a first line ``size``, blank lines and what follows a ``#`` are skipped. With `mean`,
    all sizes are multiplied by one factor to have that mean; without it, `mean` is that of the file.
    """

    family: ClassVar[str] = "file"
    path: str
    mean: float | None = None

    def __post_init__(self):
        if not isinstance(self.path, str) or not self.path:
            raise ValueError(f"file path = {self.path!r}: must be the name of a file with one size a line")
        sizes = _read_sizes(self.path)
        own_mean = math.fsum(sizes) / len(sizes)
        if self.mean is None:
            object.__setattr__(self, "mean", own_mean)
        self._check("mean")
        values, counts = np.unique(sizes, return_counts=True)
        object.__setattr__(self, "_own_mean", own_mean)
        object.__setattr__(self, "_table", (values * (self.mean / own_mean), counts / len(sizes)))

    @property
    def spec(self) -> str:
        """The text from which `parse_sizes` makes an equal object."""
        plain = self.mean == self._own_mean and self._split(self.path)[1] is None
        return f"file:{self.path}" if plain else f"file:{self.path},{_spell(self.mean)}"

    @classmethod
    def usage(cls) -> str:
        """Return the form of `spec`."""
        return "file:PATH[,MEAN]"

    @staticmethod
    def _split(text):
        """Split off a number after the last comma, if there is one."""
        path, comma, mean = text.rpartition(",")
        try:
            return (path, float(mean)) if comma else (text, None)
        except ValueError:
            return text, None

    @classmethod
    def from_text(cls, text: str) -> "Empirical":
        """Return the distribution of the sizes in the file named in `text`."""
        return cls(*cls._split(text))


def _read_sizes(path):
    try:
        with open(path, encoding="utf-8") as stream:
            lines = [line.partition("#")[0].strip() for line in stream]
    except OSError as error:
        raise ValueError(f"file path = {path!r}: cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, ValueError):
        raise ValueError(f"file path = {path!r}: cannot be read (not a text file)") from None
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line]
    if numbered and numbered[0][1].lower() == "size":
        del numbered[0]
    if not numbered:
        raise ValueError(f"file path = {path!r}: must hold at least one size")
    sizes = []
    for number, line in numbered:
        label = f"file {path!r}, line {number}: size"
        sizes.append(check_number(label, _read(label, line[:60])))
    return sizes


_FAMILIES = {
    cls.family: cls
    for cls in (
        Pareto,
        BoundedPareto,
        Exponential,
        Deterministic,
        Hyperexponential,
        MixedErlang,
        Weibull,
        Lognormal,
        Discrete,
        Empirical,
    )
}


def parse_sizes(spec: str) -> Sizes:
    """Return the size distribution that `spec` describes.

    Parameters
    ----------
    spec : str
        One of ``pareto:ALPHA[,X_MIN]``, ``bounded-pareto:ALPHA,LOW,HIGH``, ``exp[:MEAN]``, ``det[:VALUE]``,
        ``hexp:SCV,F[,MEAN]``, ``merlang:SCV,F,K[,MEAN]``, ``weibull:SHAPE[,MEAN]``,
        ``lognormal:SIGMA[,MEAN]``, ``discrete:VALUE@PROBABILITY,...``, ``file:PATH[,MEAN]``.
        What is in brackets is 1 if left out; a file keeps its own mean.

    Raises
    ------
    ValueError
        One line with the parameter, its value and what is allowed.
    """
    if not isinstance(spec, str):
        raise ValueError(f"sizes = {spec!r}: must be a text such as 'pareto:1.5'")
    family, colon, text = spec.strip().partition(":")
    if family not in _FAMILIES:
        raise ValueError(f"sizes = {spec!r}: must be of a known family: {', '.join(_FAMILIES)}")
    if colon and not text:
        raise ValueError(f"sizes = {spec!r}: must have the form {_FAMILIES[family].usage()}")
    return _FAMILIES[family].from_text(text)
