"""Theorem A.1: SRPT-n is weakly tail optimal for rho < 1.

Weak optimality is a bounded normalized tail: it stays below its expected limit times 1.2 at all measured
times, and the tail falls with the index alpha of the sizes.
"""

import math

from tailsched.claims import Value, every, within
from tailsched.evidence import main

SETTINGS = ("low", "heavier", "lighter", "high", "high-ten")

#: Factor on (c/q)^alpha that bounds the normalized tail, and the times at which it is tried, a factor apart.
FACTOR, FIRST, STEP = 1.2, 64.0, 4.0

#: Distance of the tail's local index from alpha over the last factor 16 of time: the normalized tail still
#: rises there, by less than half in four octaves.
INDEX, SPAN = 0.2, 16.0


def index(curve):
    """Return the local index of the tail over the last `SPAN` of its measured times; None if too short."""
    if curve.last is None:
        return None
    late, early = curve.index(curve.last), curve.index(curve.last / SPAN)
    if late is None or early is None or curve.at(curve.last / SPAN) is None:
        return None
    tails = [curve.value(i, "estimate") for i in (early, late)]
    factor = math.log(curve.columns["t"][late] / curve.columns["t"][early])
    # The relative errors of the two normalized tails, which are those of the tails.
    relative = [curve.value(i) for i in (early, late)]
    ratio = relative[0].over(relative[1])
    errors = (ratio.below / ratio.estimate / factor, ratio.above / ratio.estimate / factor)
    slope = math.log(tails[0].estimate / tails[1].estimate) / factor
    return Value(slope, *errors, ratio.degrees, curve.jobs)


def rows(results):
    """Yield the rows."""
    for setting in SETTINGS:
        curve = results.curve(f"{setting}/srpt")
        limit, alpha = curve.limit_from_rate, curve.sizes.tail_index
        times, t = [], FIRST
        while curve.last is not None and t <= curve.last:
            times.append(t)
            t *= STEP
        values = [None if limit is None else curve.at(t).over(limit) for t in times] or [None]
        yield every(
            f"{setting}: the normalized tail of SRPT-n stays below {FACTOR:g} (c/q)^alpha",
            "Theorem A.1",
            values,
            [FACTOR] * len(values),
            0.5,
            sense=-1,
        )
        yield within(
            f"{setting}: the tail of SRPT-n has the index alpha of the sizes, within {INDEX:g}",
            "Theorem A.1",
            index(curve),
            alpha,
            INDEX,
            0.2,
        )


if __name__ == "__main__":
    main(__doc__, "theorem_a1", rows)
