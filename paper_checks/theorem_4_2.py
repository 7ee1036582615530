"""Theorem 4.2: SPLIT is strongly tail optimal for rho < (n - 1)/n.

The normalized tail tends to 1: its extrapolated limit, its fall from a time on, and its distance from 1 at a
large time, each a number fixed here; and the three cases of the proof, by the size x of the job, from a
simulation of its own.
"""

from tailsched.claims import Value, below, equals, falls, within
from tailsched.evidence import main

#: Setting -> time from which the tail falls (the excess first grows while giants are few), time at which its
#: distance from 1 is judged, and that distance.
TIMES = {"low": (256.0, 65536.0, 0.1), "heavier": (4096.0, 65536.0, 0.25), "lighter": (32.0, 1024.0, 0.05)}

#: The times of the fall are this factor apart.
STEP = 4.0

LIMIT = 0.2  #: an error of the limit that would be seen
FALL = 0.15  #: a rise that would be seen
CASES = ((1, "small"), (2, "large"))


def steps(curve, first):
    """Return the normalized tail at `first`, `STEP` times it, and so on while it is measured precisely."""
    values, t = [], first
    while curve.last is not None and t <= curve.last:
        values.append(curve.at(t))
        t *= STEP
    return values


def rows(results):
    """Yield the rows."""
    source = "Theorem 4.2"
    for setting, (first, late, distance) in TIMES.items():
        curve = results.curve(f"{setting}/split")
        name = f"{setting} (alpha = {curve.sizes.tail_index:g})"
        yield equals(f"{name}: the limit of SPLIT's normalized tail is 1", source, curve.limit(), 1.0, LIMIT)
        yield falls(
            f"{name}: SPLIT's normalized tail falls from t = {first:g} on", source, steps(curve, first), FALL
        )
        yield below(
            f"{name}: SPLIT's normalized tail is within {distance:g} of 1 at t = {late:g}",
            source,
            curve.at(late),
            1.0 + distance,
            0.15,
        )
    probe = results.probe("small_jobs")
    alpha = 1.5
    start = probe["times"].index(64.0)

    def values(part):
        return [Value.of(case[part]).stretched(alpha, 1) for case in probe["cases"][start:]]

    for number, part in CASES:
        text = {"small": f"x <= t/{probe['less']:g}", "large": f"t/{probe['less']:g} < x <= t - sqrt t"}[part]
        yield falls(
            f"Case {number}, {text}: its part of P[T > t] / P[S > t] falls to 0, from t = 64 to 1024",
            f"{source}, case {number} of the proof",
            values(part),
            0.1,
        )
    yield within(
        "Case 3, x > t - sqrt t: its part of P[T > t] / P[S > t] is 1 within 0.2 at t = 1024",
        f"{source}, case 3 of the proof",
        values("huge")[-1],
        1.0,
        0.2,
        0.3,
    )


if __name__ == "__main__":
    main(__doc__, "theorem_4_2", rows)
