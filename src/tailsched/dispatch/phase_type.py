r"""Phase-type job sizes of mean 1: absorption times of a Markov chain on m phases.

A size starts in phase j with probability :math:`\alpha_j` and moves by the rates A; it ends from phase j at
rate :math:`\mu_j`, :math:`\mu = -A\mathbf{1}`. With :math:`v(a) = \alpha e^{Aa}`,

.. math::

    P[X > a] = v(a)\mathbf{1}, \qquad \text{density } v(a)\mu, \qquad
    E[X - a \mid X > a] = \frac{v(a)(-A)^{-1}\mathbf{1}}{v(a)\mathbf{1}} .

Families: exponential; Erlang(k); MErlang(SCV, f, k), two Erlang(k) types of which the shorter brings the
share f of the work (Section 5 of arXiv 2011.08250), and HEXP(SCV, f), its case k = 1.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tailsched.sizes import (
    Exponential,
    Hyperexponential,
    MixedErlang,
    Sizes,
    check_count,
    check_number,
    parse_sizes,
)

#: How far probabilities may be from summing to 1, and row sums of A from being 0 at most.
SLACK = 1e-9

#: Phases beyond which matrices of phases cost more than they tell.
MOST_PHASES = 400


@dataclass(frozen=True, eq=False)
class PhaseType:
    """A phase-type size, scaled to mean 1.

    Parameters
    ----------
    alpha : (m,) probabilities of the first phase, without mass at size 0
    generator : (m, m) rates between phases, the matrix A
    name : what the size is called in reports

    Raises
    ------
    ValueError
        If alpha is no distribution, or A no transient generator.
    """

    alpha: np.ndarray
    generator: np.ndarray
    name: str = "phase type"

    def __post_init__(self):
        alpha, generator = np.array(self.alpha, float), np.array(self.generator, float)
        phases = alpha.size
        if alpha.shape != (phases,) or generator.shape != (phases, phases) or not 1 <= phases <= MOST_PHASES:
            shapes = f"{alpha.shape} and {generator.shape}"
            raise ValueError(
                f"phase type of shapes {shapes}: must be (m,) and (m, m), m from 1 to {MOST_PHASES}"
            )
        if not (np.isfinite(alpha).all() and np.isfinite(generator).all()):
            raise ValueError("phase type: must hold finite numbers only")
        if (alpha < 0).any() or abs(alpha.sum() - 1.0) > SLACK:
            raise ValueError(f"phase type alpha = {alpha.tolist()}: must be probabilities that sum to 1")
        scale = np.abs(np.diag(generator))
        inside = generator - np.diag(np.diag(generator))
        exits = -generator.sum(axis=1)
        if (inside < 0).any() or (np.diag(generator) >= 0).any() or (exits < -SLACK * scale).any():
            raise ValueError(
                "phase type A: must have a negative diagonal, no other negative entry, and no row sum above 0"
            )
        try:
            means = np.linalg.solve(-generator, np.ones(phases))
        except np.linalg.LinAlgError:
            means = np.full(phases, np.nan)
        if not (np.isfinite(means).all() and (means > 0).all()):
            raise ValueError("phase type A: must let every phase end")
        alpha = alpha / alpha.sum()
        object.__setattr__(self, "alpha", alpha)
        object.__setattr__(self, "generator", generator * (alpha @ means))

    @property
    def phases(self) -> int:
        """Number of phases m."""
        return self.alpha.size

    @cached_property
    def exits(self) -> np.ndarray:
        """Rates mu at which the phases end the job."""
        return np.maximum(-self.generator.sum(axis=1), 0.0)

    @cached_property
    def means(self) -> np.ndarray:
        """Mean time to the end of the job from each phase."""
        return np.linalg.solve(-self.generator, np.ones(self.phases))

    @property
    def second_moment(self) -> float:
        """E[X^2]."""
        return float(2.0 * self.alpha @ np.linalg.solve(-self.generator, self.means))

    @property
    def scv(self) -> float:
        """Squared coefficient of variation."""
        return self.second_moment - 1.0

    def phase_at(self, age):
        """Return v(a), the (..., m) probabilities of the phases and of X > a; `age` is an array."""
        from scipy.linalg import expm

        ages = np.asarray(age, float)
        return np.array([self.alpha @ expm(self.generator * a) for a in ages.ravel()]).reshape(
            *ages.shape, self.phases
        )

    def tail(self, age):
        """Return P[X > a]; `age` is a number or an array."""
        return self.phase_at(age).sum(axis=-1)

    def excess_tail(self, age):
        """Return the integral of P[X > a] beyond `age`: the law of the age of a job in service."""
        return self.phase_at(age) @ self.means

    @cached_property
    def last_residual(self) -> float:
        """Limit of E[X - a | X > a] at great ages."""
        return -1.0 / float(np.linalg.eigvals(self.generator).real.max())

    def hazard(self, age):
        """Return the rate at which a job of that age ends."""
        phases = self.phase_at(age)
        return phases @ self.exits / phases.sum(axis=-1)

    def residuals(self, step, count):
        """Return E[X - a | X > a] at the ages 0, step, ..., (count - 1) step."""
        from scipy.linalg import expm

        move = expm(self.generator * step)
        out, phase = np.empty(count), self.alpha
        for i in range(count):
            out[i] = phase @ self.means
            phase = phase @ move
            phase = phase / phase.sum()
        return out


def exponential() -> PhaseType:
    """Return the exponential size of mean 1."""
    return PhaseType(np.ones(1), -np.ones((1, 1)), "exp")


def erlang(k) -> PhaseType:
    """Return the Erlang(k) size of mean 1: SCV 1/k."""
    k = check_count("erlang k", k, 1, MOST_PHASES)
    generator = k * (np.eye(k, k=1) - np.eye(k))
    return PhaseType(np.eye(1, k)[0], generator, f"erlang:{k}")


def merlang(scv, f, k) -> PhaseType:
    """Return MErlang(SCV, f, k): SCV at least 1/k, f in (0, 1)."""
    k = check_count("merlang k", k, 1, MOST_PHASES // 2)
    return _of_mixture(MixedErlang(scv, f, k))


def hexp(scv, f) -> PhaseType:
    """Return HEXP(SCV, f): SCV at least 1, f in (0, 1)."""
    return _of_mixture(Hyperexponential(scv, f))


def _of_mixture(sizes):
    k = sizes.k
    if k > MOST_PHASES // 2:
        raise ValueError(f"{sizes.family} k = {k}: must be a whole number from 1 to {MOST_PHASES // 2}")
    alpha, generator = np.zeros(2 * k), np.zeros((2 * k, 2 * k))
    for start, (probability, mean) in zip((0, k), sizes._types, strict=True):
        alpha[start] = probability
        block = slice(start, start + k)
        generator[block, block] = (np.eye(k, k=1) - np.eye(k)) / mean
    return PhaseType(alpha, generator, sizes.spec)


def phase_type(sizes) -> PhaseType:
    """Return the phase-type size of mean 1 that `sizes` stands for.

    Parameters
    ----------
    sizes : PhaseType, Sizes, or a text: ``exp``, ``erlang:K``, ``hexp:SCV,F``, ``merlang:SCV,F,K``

    Raises
    ------
    ValueError
        For parameters outside the family's domain, and for sizes that are of no phase type.
    """
    if isinstance(sizes, PhaseType):
        return sizes
    if isinstance(sizes, str) and sizes.partition(":")[0] == "erlang":
        return erlang(_number("erlang k", sizes.partition(":")[2]))
    parsed = sizes if isinstance(sizes, Sizes) else parse_sizes(sizes)
    if isinstance(parsed, Exponential):
        return exponential()
    if isinstance(parsed, Hyperexponential | MixedErlang):
        return _of_mixture(parsed.scaled_to_mean(1.0))
    raise ValueError(
        f"sizes = {parsed.spec!r}: must be of phase type: exp, erlang:K, hexp:SCV,F or merlang:SCV,F,K"
    )


def _number(label, text):
    try:
        return check_number(label, float(text), 0.0)
    except ValueError:
        raise ValueError(f"{label} = {text!r}: must be a positive number") from None
