"""Lemma 5.2: the small-job servers of Thresh-SPLIT have an exponential tail, here with its decay rate."""

from tailsched.claims import Value, equals, within
from tailsched.evidence import main

#: Relative error of a decay rate that would be seen, and the difference of two successive rates.
RATE, LINE = 0.25, 0.25


def rows(results):
    """Yield the rows."""
    for row in results.probe("small_servers")["rows"]:
        name = f"n = {row['servers']}, rho = {row['load']:g}, d = {row['threshold']:.4g}"
        first, second = (Value.of(entry) for entry in row["rates"])
        theta = row["theta"]
        yield equals(
            f"{name}: P[W > t] of small jobs falls like exp(-theta t), theta from the Laplace transform",
            "Lemma 5.2",
            second,
            theta,
            RATE * theta,
        )
        yield within(
            f"{name}: its logarithm is a line, the slopes of two successive stretches agree within 20 %",
            "Lemma 5.2",
            first and second and second.over(first),
            1.0,
            0.2,
            LINE,
        )


if __name__ == "__main__":
    main(__doc__, "lemma_5_2", rows)
