"""Theorem B.1 with Lemmas B.2 and B.3: SRPT-n is not strongly tail optimal for n >= 2.

q is the rate at which an endless job of lowest priority is served. The lemmas are about q, measured in the
curve's own run, and about the response times of very large jobs, from a simulation of its own. That the limit
is not only at least but equal to (c/q)^alpha is expected, not proved.
"""

from tailsched.claims import Value, above, below, equals, falls
from tailsched.evidence import main

SETTINGS = ("low", "heavier", "lighter", "high", "high-ten")

#: Setting -> a policy whose tail is nearer to optimal, and a time at which it is below SRPT-n's.
BETTER = {
    "low": ("split", 16384.0),
    "heavier": ("split", 65536.0),
    "lighter": ("split", 512.0),
    "high": ("thresh-srpt-0.5", 16384.0),
    "high-ten": ("thresh-srpt-0.6", 16384.0),
}

#: Relative errors that would be seen: of a rate, of a limit.
RATE, LIMIT = 0.2, 0.4

#: Probability of T_x >= x/c' at the largest x: "tends to 1" for every c' > q, here c' = 1.1 q.
SLOW, LARGEST = 0.75, 1e5


def rows(results):
    """Yield the rows."""
    for setting in SETTINGS:
        curve = results.curve(f"{setting}/srpt")
        rate, limit, c = curve.rate, curve.limit_from_rate, curve.benchmark
        measured = curve.limit()
        yield above(f"{setting}: q > 0 under SRPT-n", "Lemma B.2", rate, 0.0, RATE * c)
        yield below(f"{setting}: q < min(1, n (1 - rho)) under SRPT-n", "Lemma B.2", rate, c, RATE * c)
        ratio = measured and limit and measured.over(limit)
        yield above(
            f"{setting}: the normalized tail of SRPT-n has a limit of at least (c/q)^alpha, as their ratio",
            "Theorem B.1",
            ratio,
            1.0,
            LIMIT,
            strict=False,
        )
        yield equals(
            f"{setting}: it is (c/q)^alpha, as the ratio of the two",
            "Theorem B.1, expected equality",
            ratio,
            1.0,
            LIMIT,
        )
        name, t = BETTER[setting]
        mine, theirs = curve.at(t), results.curve(f"{setting}/{name}").at(t)
        yield below(
            f"{setting}: SRPT-n is not strongly optimal, {name} has the smaller tail, t = {t:g}, as a ratio",
            "Theorem B.1",
            mine and theirs and theirs.over(mine),
            1.0,
            0.3,
        )
    probe = results.probe("giants")
    for load in sorted({row["load"] for row in probe["rows"]}):
        entries = [row for row in probe["rows"] if row["load"] == load]
        values = [Value.of(row["slow"]) for row in entries]
        slack = probe["slack"]
        name = f"n = {entries[0]['servers']}, rho = {load:g}"
        yield falls(
            f"{name}: P[T_x >= x/c'] rises with x, c' = {slack:g} q", "Lemma B.3", values, 0.25, rises=True
        )
        last = next(v for v, row in zip(values, entries, strict=True) if row["x"] == LARGEST)
        yield above(
            f"{name}: P[T_x >= x/c'] is above {SLOW:g} at x = {LARGEST:g}, c' = {slack:g} q",
            "Lemma B.3",
            last,
            SLOW,
            0.2,
        )
    packing = results.probe("packing")
    for entry in packing["natural"]:
        row = next(r for r in packing["rows"] if r["policy"] == "srpt" and r["load"] == entry["load"])
        values = [Value.of(part).stretched(1.5, -1) for part in (row["rate"], entry["few"])]
        yield equals(
            f"n = 2, rho = {entry['load']:g}: the rate of an endless job is q = P[N <= n - 1] without it",
            "Appendix B, q",
            values[0].minus(values[1]),
            0.0,
            0.1,
        )


if __name__ == "__main__":
    main(__doc__, "theorem_b1", rows)
