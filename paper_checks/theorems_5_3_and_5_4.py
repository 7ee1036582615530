"""Theorems 5.3 and 5.4: the limit of Thresh-SPLIT(d) is (c / (1 - r_{>d}))^alpha, and tends to 1 with d.

For each curve the extrapolated limit, and where the run has it the rate of an endless job, which is the
sharper test: a threshold off by a tenth changes the rate by two percent and the limit by three.
"""

from tailsched.claims import equals, every, exact, falls, within
from tailsched.evidence import main
from tailsched.sizes import parse_sizes
from tailsched.theory.limits import limit_from_rate, tail_limit
from tailsched.theory.thresholds import critical_threshold, thresh_loads

#: Setting -> thresholds in the order in which the limit falls.
THRESHOLDS = {
    "low": ("99", "99.9", "99.99"),
    "high": ("0.6", "0.5", "0.45"),
    "high-ten": ("0.6", "0.5", "0.45"),
}
SIDES = {"fcfs": "FCFS", "srpt": "SRPT-(n-1)"}

#: Relative errors that would be seen: of a limit, of a rate, of a step between two limits.
LIMIT, STEP = 0.3, 0.4
#: That of a rate, by setting: the load of a run varies more where servers and load are high.
RATES = {"low": 0.03, "high": 0.1, "high-ten": 0.15}

#: Distance from the limit at a late time, and the error of it that would be seen.
NEAR, LATE, SEEN = 0.1, 2.0**19, 0.15


def rows(results):
    """Yield the rows."""
    for setting, thresholds in THRESHOLDS.items():
        limits, rates = {side: [] for side in SIDES}, []
        for side, words in SIDES.items():
            for threshold in thresholds:
                curve = results.curve(f"{setting}/thresh-{side}-{threshold}")
                system = curve.sizes, curve.servers, curve.load
                rate = 1.0 - thresh_loads(*system, curve.threshold)[0]
                predicted = limit_from_rate(rate, curve.servers, curve.load, curve.sizes.tail_index)
                name = f"{setting}, {threshold}, {words}"
                limit = curve.limit()
                limits[side].append(curve.limit_from_rate or limit)
                rates.append(curve.rate)
                yield equals(
                    f"{name}: the limit of the normalized tail is (c / (1 - r_>d))^alpha",
                    "Theorem 5.3",
                    limit,
                    predicted,
                    LIMIT * predicted,
                )
                value = curve.at(LATE)
                yield within(
                    f"{name}: the normalized tail is that limit within {NEAR:.0%} at t = 2^19",
                    "Theorem 5.3",
                    value and value.scaled(1 / predicted),
                    1.0,
                    NEAR,
                    SEEN,
                )
                if curve.rate is not None:
                    yield equals(
                        f"{name}: an endless job is served at the rate 1 - r_>d",
                        "Theorem 5.3",
                        curve.rate,
                        rate,
                        RATES[setting] * rate,
                    )
        for side, words in SIDES.items():
            how = "d grows" if setting == "low" else "d grows to d*"
            yield falls(
                f"{setting}, {words}: the measured limits, of the rates where known, fall to 1 as {how}",
                "Theorem 5.4",
                limits[side],
                STEP,
            )
        yield every(
            f"{setting}: for a fixed d Thresh-SPLIT is not strongly optimal, it serves an endless job at "
            "less than c",
            "Section 5",
            rates,
            [curve.benchmark] * len(rates),
            0.2 * curve.benchmark,
            strict=True,
            sense=-1,
        )
    sizes = parse_sizes("pareto:1.5")
    far = tail_limit("thresh-split", 3, 0.5, sizes, 1e12)
    yield exact(
        "n = 3, rho = 0.5: the formula's limit is within 10^-4 of 1 at d = 10^12",
        "Theorem 5.4",
        far,
        "= 1 within 0.0001",
        abs(far - 1) < 1e-4,
        0,
    )
    for servers, load in ((3, 0.8), (10, 0.94)):
        near = critical_threshold(sizes, servers, load) * (1 - 1e-6)
        limit = tail_limit("thresh-split", servers, load, sizes, near)
        yield exact(
            f"n = {servers}, rho = {load:g}: the formula's limit is within 10^-4 of 1 at d = d* (1 - 10^-6)",
            "Theorem 5.4",
            limit,
            "= 1 within 0.0001",
            abs(limit - 1) < 1e-4,
            0,
        )


if __name__ == "__main__":
    main(__doc__, "theorems_5_3_and_5_4", rows)
