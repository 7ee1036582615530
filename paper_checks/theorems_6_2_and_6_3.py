"""Theorems 6.2 and 6.3, and Approximation 1: TAGS-SPLIT(d), and its migrations taken as a Poisson process.

The approximation is judged by what it is for, the tail of the sojourn on the PS server, which the true
migrations may change by no more than a tenth; and by its long windows. That the migrations are not Poisson
is a statement of the paper, too.
"""

from tailsched.claims import Value, below, equals, every, falls, within
from tailsched.evidence import main
from tailsched.theory.limits import limit_from_rate
from tailsched.theory.thresholds import tags_loads

THRESHOLDS = {"low": ("99", "99.9", "99.99"), "high": ("0.6", "0.5", "0.45")}

#: Relative errors that would be seen, as in theorems_5_3_and_5_4.py.
LIMIT, STEP = 0.3, 0.4
#: That of a rate, by setting: the load of a run varies more where servers and load are high.
RATES = {"low": 0.03, "high": 0.1, "high-ten": 0.15}

#: Distance from the limit at a late time, and the error of it that would be seen.
NEAR, LATE, SEEN = 0.1, 2.0**19, 0.15

#: "Empirical experiments support the accuracy of this approximation": the tail it gives is within a tenth.
ACCURATE = 0.1

#: Distance of the dispersion over long windows from that of a Poisson process.
LONG = 0.15


def rows(results):
    """Yield the rows."""
    for setting, thresholds in THRESHOLDS.items():
        limits, rates = [], []
        for threshold in thresholds:
            curve = results.curve(f"{setting}/tags-{threshold}")
            rate = 1.0 - tags_loads(curve.sizes, curve.servers, curve.load, curve.threshold)[0]
            predicted = limit_from_rate(rate, curve.servers, curve.load, curve.sizes.tail_index)
            name = f"{setting}, {threshold}"
            limit = curve.limit()
            limits.append(curve.limit_from_rate or limit)
            rates.append(curve.rate)
            yield equals(
                f"{name}: the limit of the normalized tail is (c / (1 - rho_large(d)))^alpha",
                "Theorem 6.2",
                limit,
                predicted,
                LIMIT * predicted,
            )
            value = curve.at(LATE)
            yield within(
                f"{name}: the normalized tail is that limit within {NEAR:.0%} at t = 2^19",
                "Theorem 6.2",
                value and value.scaled(1 / predicted),
                1.0,
                NEAR,
                SEEN,
            )
            if curve.rate is not None:
                yield equals(
                    f"{name}: an endless job is served at the rate 1 - rho_large(d)",
                    "Theorem 6.2",
                    curve.rate,
                    rate,
                    RATES[setting] * rate,
                )
        how = "d grows" if setting == "low" else "d grows to its critical value"
        yield falls(
            f"{setting}: the measured limits, of the rates where known, fall to 1 as {how}",
            "Theorem 6.3",
            limits,
            STEP,
        )
        yield every(
            f"{setting}: for a fixed d TAGS-SPLIT is not strongly optimal, it serves an endless job at less "
            "than c",
            "Section 6",
            rates,
            [curve.benchmark] * len(rates),
            0.2 * curve.benchmark,
            strict=True,
            sense=-1,
        )
    for row in results.probe("approximation")["rows"]:
        name = f"n = {row['servers']}, rho = {row['load']:g}, d = {row['threshold']:.4g}"
        yield equals(
            f"{name}: jobs migrate at the rate lam P[S > d]",
            "Section 6, Approximation 1",
            Value.of(row["rate"]),
            row["expected_rate"],
            0.05 * row["expected_rate"],
        )
        dispersion = dict(zip(row["windows"], map(Value.of, row["dispersion"]), strict=True))
        yield below(
            f"{name}: migrations are no Poisson process, their variance over mean in windows of d is below 1",
            "Section 6, before Approximation 1",
            dispersion[1.0],
            1.0,
            0.05,
        )
        yield within(
            f"{name}: over windows of 100 d they are nearly one, variance over mean is 1 within 0.15",
            "Section 6, Approximation 1",
            dispersion[100.0],
            1.0,
            LONG,
            0.15,
        )
        for level, entry in zip(row["levels"], row["sojourn"], strict=True):
            yield within(
                f"{name}: at P = {level:g} the tail of the PS sojourn is Poisson migrations' within 10 %",
                "Section 6, Approximation 1",
                Value.of(entry),
                1.0,
                ACCURATE,
                0.15,
            )


if __name__ == "__main__":
    main(__doc__, "theorems_6_2_and_6_3", rows)
