"""Section 7.3: TAGS-SPLIT, Figure 9; its limits are in theorems_6_2_and_6_3.py."""

from tailsched.claims import falls, within
from tailsched.evidence import main

CURVES = {
    "low": ("Figure 9(a)", "d grows", ("99", "99.9", "99.99")),
    "high": ("Figure 9(b)", "its load falls to 0.4", ("0.6", "0.5", "0.45")),
}

#: Time at which the thresholds are compared, and the error of a step that would be seen.
LATE, STEP = 16384.0, 0.5

#: "The results match Theorem 6.3": the tail is within this of its limit at that time.
MATCH, SEEN = 0.2, 0.3


def rows(results):
    """Yield the rows."""
    for setting, (figure, how, thresholds) in CURVES.items():
        curves = [results.curve(f"{setting}/tags-{threshold}") for threshold in thresholds]
        values = [curve.at(LATE) for curve in curves]
        yield falls(
            f"{setting}: the normalized tail of TAGS-SPLIT approaches 1 as {how}, at t = {LATE:g}",
            f"Section 7.3, {figure}",
            values,
            STEP,
        )
        for threshold, curve, value in zip(thresholds, curves, values, strict=True):
            yield within(
                f"{setting}, {threshold}: the normalized tail is its limit within {MATCH:.0%}, t = {LATE:g}",
                f"Section 7.3, {figure}",
                value and value.scaled(1 / curve.summary["limit"]),
                1.0,
                MATCH,
                SEEN,
            )


if __name__ == "__main__":
    main(__doc__, "section_7_3", rows)
