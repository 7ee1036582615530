r"""Claims of a paper and their verdicts: statistical decisions with a stated rate of false alarms.

A claim is compared with a measured value that carries a standard error. Three verdicts come of it:

``fails`` or ``refuted``
    the measurement contradicts the claim beyond chance. `fails` stops a run: a theorem, an identity or a
    statement that has held so far is contradicted, so the program is wrong. A statement of the paper that is
    known not to be true, and is explained in docs/claims.md, is `refuted`, which stops nothing.
``holds``
    the measurement does not contradict the claim, and would have, had the claim been off by what is fixed in
    advance as its resolution
``undecided``
    neither: too few jobs, or an interval too wide

False alarms. A whole table has at most `TESTS` tests, each of level `FAMILY` / `TESTS` (Bonferroni), so that
a table of true claims has a false conviction with a probability of at most `FAMILY`, however the claims hang
together, and a script alone decides as it does within the table. A row that makes k comparisons divides its
share by k. Quantiles are Student's with the degrees of freedom of the shards behind the value. Exact rows
(an inequality of every job, an identity of a path) have no chance in them and use no share.

Giants. What follows the realised load (the rate of an endless job, a tail estimated from a natural run) is
an average of jobs whose variance is infinite for alpha < 2: most runs lack a giant, are off to the same side,
and show too small a spread. Student's quantile is then too short on that side by up to the factor `STRETCH`,
which is that of shards that follow the totally skewed stable law (it hardly depends on their number).
Standard errors on that side are multiplied by it.

Power. A violation by `power` is convicted with probability `CATCH`: it is (r + s) times the standard error,
r being Student's quantile of the test and s that of `CATCH`. No claim holds with a power above its
resolution: no claim holds because its interval is wide.
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import special

#: Probability of at least one false conviction in a table whose claims are all true.
FAMILY = 0.01

#: Most tests in a table; every row has a level of `FAMILY` / `TESTS`.
TESTS = 300

#: Probability with which a violation of the size of `power` is convicted.
CATCH = 0.95

#: Tail index, and the ratio of the quantile of the t statistic of totally skewed stable shards to Student's
#: at the level of a test; simulated for 8, 16 and 32 shards, which agree to a tenth.
STRETCH = ((1.2, 4.5), (1.5, 1.9), (2.0, 1.3), (2.5, 1.0))

VERDICTS = ("holds", "undecided", "refuted", "fails")


def reach(degrees, comparisons=1, sides=2):
    """Return the quantile of Student's t that decides one of `comparisons` in a row, on one or two sides."""
    level = FAMILY / TESTS / comparisons / sides
    return -float(special.stdtrit(degrees, level) if math.isfinite(degrees) else special.ndtri(level))


def _catch(degrees):
    return float(special.stdtrit(degrees, CATCH) if math.isfinite(degrees) else special.ndtri(CATCH))


def student(degrees, level=0.95):
    """Return the two-sided quantile of Student's t for an interval of that level."""
    return float(special.stdtrit(degrees, 0.5 + level / 2))


@dataclass(frozen=True)
class Value:
    """A measured number.

    Attributes
    ----------
    estimate : the number
    below, above : standard errors towards smaller and larger values
    degrees : degrees of freedom of the standard errors
    jobs : jobs behind it
    bias : what a method (an extrapolation) may be off by besides chance
    """

    estimate: float
    below: float
    above: float
    degrees: float
    jobs: int = 0
    bias: float = 0.0

    @classmethod
    def of(cls, entry, jobs=0):
        """Make a value of a dict with ``estimate``, ``se``, ``shards``; None without a standard error."""
        if entry is None or entry.get("se") is None or entry.get("estimate") is None:
            return None
        return cls(entry["estimate"], entry["se"], entry["se"], entry["shards"] - 1, entry.get("jobs", jobs))

    @classmethod
    def of_interval(cls, estimate, low, high, shards, jobs=0):
        """Make a value of a 95 % interval over `shards`; None if the interval is not whole."""
        numbers = [math.nan if x is None else float(x) for x in (estimate, low, high)]
        if shards < 2 or not all(map(math.isfinite, numbers)):
            return None
        unit = student(shards - 1)
        estimate, low, high = numbers
        return cls(estimate, (estimate - low) / unit, (high - estimate) / unit, shards - 1, jobs)

    @classmethod
    def of_count(cls, count, scale, jobs):
        """Make a value of a Poisson count times `scale`, whose errors reach its exact limits in a test."""
        level, quantile = FAMILY / TESTS / 2, reach(math.inf)
        low = float(special.gammaincinv(count, level)) if count else 0.0
        high = float(special.gammainccinv(count + 1, level))
        errors = [scale * (count - low) / quantile, scale * (high - count) / quantile]
        return cls(scale * count, *errors, math.inf, jobs)

    def stretched(self, alpha, sense):
        """Return the value with its error stretched to one side, for sizes of tail index `alpha`.

        Parameters
        ----------
        sense : 1 if a run that lacks a giant reads low (tails), -1 if it reads high (rates)
        """
        factor = float(np.interp(alpha, *zip(*STRETCH, strict=True)))
        if sense > 0:
            return replace(self, above=self.above * factor)
        return replace(self, below=self.below * factor)

    def interval(self):
        """Return the 95 % interval, the bias and the stretch included."""
        unit = student(self.degrees) if math.isfinite(self.degrees) else 1.96
        return self.estimate - unit * self.below - self.bias, self.estimate + unit * self.above + self.bias

    def scaled(self, factor):
        """Return factor times the value, for a factor of 0 or more."""
        numbers = {key: getattr(self, key) * factor for key in ("estimate", "below", "above", "bias")}
        return replace(self, **numbers)

    def raised(self, exponent):
        """Return the value to a power, to first order in its errors."""
        slope = exponent * self.estimate ** (exponent - 1)
        errors = (self.below, self.above) if slope >= 0 else (self.above, self.below)
        return replace(
            self, estimate=self.estimate**exponent, below=abs(slope) * errors[0],
            above=abs(slope) * errors[1], bias=abs(slope) * self.bias,
        )  # fmt: skip

    def minus(self, other):
        """Return the difference of two values that are independent or positively correlated.

        Under common random numbers the true error is smaller: the test errs on the side of no conviction.
        """
        return Value(
            self.estimate - other.estimate, math.hypot(self.below, other.above),
            math.hypot(self.above, other.below), min(self.degrees, other.degrees),
            self.jobs + other.jobs, self.bias + other.bias,
        )  # fmt: skip

    def over(self, other):
        """Return the ratio of two positive values that are independent or positively correlated."""
        ratio = self.estimate / other.estimate
        relative = [
            math.hypot(mine / self.estimate, theirs / other.estimate)
            for mine, theirs in ((self.below, other.above), (self.above, other.below))
        ]
        return Value(
            ratio, ratio * relative[0], ratio * relative[1], min(self.degrees, other.degrees),
            self.jobs + other.jobs, ratio * (self.bias / self.estimate + other.bias / other.estimate),
        )  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """One row of the table.

    Attributes
    ----------
    claim : the statement, in words, with the number that it is given
    source : where in the paper
    measured : the value, None if it was not measured
    predicted : the predicted value or inequality, as text
    verdict : one of `VERDICTS`
    power : smallest violation that would have been convicted (0 for exact rows), None if nothing was measured
    resolution : the largest power with which the claim may hold, fixed in advance
    jobs : jobs behind the measurement
    tests : statistical tests used, of the `TESTS` of a table
    note : what else there is to say: the entry of docs/claims.md for a refuted claim
    group : the script that made the row
    """

    claim: str
    source: str
    measured: Value | None
    predicted: str
    verdict: str
    power: float | None
    resolution: float
    jobs: int
    tests: int = 1
    note: str = ""
    group: str = ""

    def as_dict(self):
        """Return the row for JSON; `measured` has the estimate and its 95 % interval."""
        measured = None
        if self.measured is not None:
            low, high = self.measured.interval()
            measured = {"estimate": self.measured.estimate, "low": low, "high": high}
        numbers = {
            "claim": self.claim, "source": self.source, "measured": measured, "predicted": self.predicted,
            "verdict": self.verdict, "power": self.power, "resolution": self.resolution, "jobs": self.jobs,
            "tests": self.tests, "note": self.note, "group": self.group,
        }  # fmt: skip
        return _finite(numbers)


def _finite(value):
    """Return `value` with numbers that JSON lacks as text or None."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def _verdict(convicted, shown, power, resolution, refuted):
    if convicted:
        return "refuted" if refuted else "fails"
    return "holds" if shown and power <= resolution else "undecided"


def _missing(claim, source, predicted, resolution, note):
    return Claim(claim, source, None, predicted, "undecided", None, resolution, 0, 1, note)


#: The note of a claim that nothing was measured for.
NOT_MEASURED = "not measured in this run"


def equals(claim, source, value, predicted, resolution, refuted=""):
    """Decide that a value is the predicted number; an error of `resolution` would be convicted.

    Parameters
    ----------
    claim, source : texts
    value : Value or None
    predicted : float
    resolution : float, in the units of the value
    refuted : the entry of docs/claims.md that explains a conviction; without one, a conviction is a failure

    Returns
    -------
    Claim
    """
    text = f"= {predicted:.6g}"
    if value is None:
        return _missing(claim, source, text, resolution, NOT_MEASURED)
    quantile = reach(value.degrees)
    low = value.estimate - quantile * value.below - value.bias
    high = value.estimate + quantile * value.above + value.bias
    power = (quantile + _catch(value.degrees)) * max(value.below, value.above) + 2 * value.bias
    verdict = _verdict(not low <= predicted <= high, True, power, resolution, refuted)
    return Claim(claim, source, value, text, verdict, power, resolution, value.jobs, 1, refuted)


def above(claim, source, value, bound, resolution, refuted="", strict=True, sense=1):
    """Decide that a value is above a bound.

    A strict inequality holds only if it is shown: if the value less its error at the test's level is above
    the bound. One that is not strict holds if it is not contradicted.

    Parameters
    ----------
    as in `equals`; `sense` = -1 turns the inequality round, see `below`.
    """
    text = f"{'>' if sense > 0 else '<'}{'' if strict else '='} {bound:.6g}"
    if value is None:
        return _missing(claim, source, text, resolution, NOT_MEASURED)
    quantile = reach(value.degrees, sides=1)
    towards, away = (value.above, value.below) if sense > 0 else (value.below, value.above)
    distance = sense * (value.estimate - bound)
    convicted = distance + quantile * towards + value.bias < 0
    shown = not strict or distance - quantile * away - value.bias > 0
    power = (quantile + _catch(value.degrees)) * towards + value.bias
    verdict = _verdict(convicted, shown, power, resolution, refuted)
    return Claim(claim, source, value, text, verdict, power, resolution, value.jobs, 1, refuted)


def below(claim, source, value, bound, resolution, refuted="", strict=True):
    """Decide that a value is below a bound; see `above`."""
    return above(claim, source, value, bound, resolution, refuted, strict, sense=-1)


def within(claim, source, value, target, tolerance, resolution, refuted=""):
    """Decide that a value is within a tolerance of a target: that two things coincide, or are similar.

    It holds only if it is shown, as an equivalence test has it: the interval at the test's level lies within
    the tolerance.
    """
    text = f"= {target:.6g} within {tolerance:.6g}"
    if value is None:
        return _missing(claim, source, text, resolution, NOT_MEASURED)
    quantile = reach(value.degrees)
    low = value.estimate - quantile * value.below - value.bias
    high = value.estimate + quantile * value.above + value.bias
    convicted = low > target + tolerance or high < target - tolerance
    shown = target - tolerance <= low and high <= target + tolerance
    power = (quantile + _catch(value.degrees)) * max(value.below, value.above) + value.bias
    verdict = _verdict(convicted, shown, power, resolution, refuted)
    return Claim(claim, source, value, text, verdict, power, resolution, value.jobs, 1, refuted)


def every(claim, source, values, bounds, resolution, refuted="", strict=False, sense=1):
    """Decide that each of several values is above (`sense` = 1) or below its bound; the worst one is quoted.

    Parameters
    ----------
    values : sequence of Value or None
        One that is missing leaves the claim undecided, unless another one convicts it.
    bounds : a number for each
    other parameters as in `above`
    """
    sign = (">" if sense > 0 else "<") + ("" if strict else "=")
    bounds = [float(bound) for bound in bounds]
    text = f"{sign} {bounds[0]:.6g}" if len(set(bounds)) == 1 else f"each {sign} its bound"
    known = [(value, bound) for value, bound in zip(values, bounds, strict=True) if value is not None]
    if not known:
        return _missing(claim, source, text, resolution, NOT_MEASURED)
    results = []
    for value, bound in known:
        quantile = reach(value.degrees, len(bounds), sides=1)
        towards, away = (value.above, value.below) if sense > 0 else (value.below, value.above)
        distance = sense * (value.estimate - bound)
        convicted = distance + quantile * towards + value.bias < 0
        shown = not strict or distance - quantile * away - value.bias > 0
        power = (quantile + _catch(value.degrees)) * towards + value.bias
        margin = distance / away if away > 0 else math.copysign(math.inf, distance)
        results.append((not convicted, shown, margin, power, value))
    worst = min(results, key=lambda entry: entry[:3])
    power = max(entry[3] for entry in results)
    convicted = not all(entry[0] for entry in results)
    shown = all(entry[1] for entry in results) and len(known) == len(bounds)
    verdict = _verdict(convicted, shown, power, resolution, refuted)
    jobs = max(entry[4].jobs for entry in results)
    return Claim(claim, source, worst[4], text, verdict, power, resolution, jobs, 1, refuted)


def falls(claim, source, values, resolution, refuted="", rises=False):
    """Decide a trend: that each of several values is below the one before it, to within chance.

    It holds only if the fall from the first to the last is shown and no step up is. `rises` turns it round.
    The row quotes the change from the first to the last.
    """
    sense = -1 if rises else 1
    text = "rises" if rises else "falls"
    if len(values) < 2 or any(value is None for value in values):
        return _missing(claim, source, text, resolution, NOT_MEASURED)
    steps = [later.minus(earlier) for earlier, later in zip(values[:-1], values[1:], strict=True)]
    whole = values[-1].minus(values[0])
    results = []
    for step in (*steps, whole):
        quantile = reach(step.degrees, len(steps) + 1, sides=1)
        towards, away = (step.below, step.above) if sense > 0 else (step.above, step.below)
        change = sense * step.estimate
        convicted = change - quantile * towards - step.bias > 0
        shown = change + quantile * away + step.bias < 0
        results.append((convicted, shown, (quantile + _catch(step.degrees)) * towards + step.bias))
    power = max(entry[2] for entry in results)
    convicted = any(entry[0] for entry in results)
    verdict = _verdict(convicted, results[-1][1], power, resolution, refuted)
    return Claim(claim, source, whole, text, verdict, power, resolution, values[-1].jobs, 1, refuted)


def exact(claim, source, measured, predicted, true, jobs, refuted=""):
    """Decide what has no chance in it: an inequality of every job, an identity of every path.

    Parameters
    ----------
    measured : the number that was found, e.g. of violations; None if it was not measured
    predicted : text
    true : whether the claim is true of what was found
    """
    if measured is None:
        return _missing(claim, source, predicted, 0.0, NOT_MEASURED)
    value = Value(float(measured), 0.0, 0.0, math.inf, jobs)
    verdict = _verdict(not true, True, 0.0, 0.0, refuted)
    return Claim(claim, source, value, predicted, verdict, 0.0, 0.0, jobs, 0, refuted)


@dataclass
class Group:
    """The rows of one script, gathered with ``group += row``."""

    name: str
    rows: list = field(default_factory=list)

    def __iadd__(self, row):
        self.rows.append(replace(row, group=self.name))
        return self
