"""Section 7.2 and Section 1.4: high load, Figure 8, and why SPLIT is not for it."""

from tailsched.claims import Value, above, below, exact, falls
from tailsched.evidence import main
from tailsched.theory.bounds import benchmark_rate

SETTINGS = {"high": "Figure 8(a)", "high-ten": "Figure 8(b)"}
BASELINES = ("srpt", "sek-200")

#: Time at which the asymptotic order is judged, and the error of a ratio of tails that would be seen.
LATE, TAILS = 2.0**18, 0.4
ALPHA = 1.5

#: "Inflates the response time of all small jobs": the tail is at least this many times that of SRPT-n.
INFLATED = 2.0

#: "Keeping the small-job system stable requires": below, this share of the arrivals is never served.
GROWS = 0.001

#: The entry of docs/claims.md.
STEALING = "docs/claims.md, the load that the large-job server has to carry"


def rows(results):
    """Yield the rows."""
    for setting, figure in SETTINGS.items():
        curve = results.curve(f"{setting}/srpt")
        least = curve.servers * curve.load - (curve.servers - 1)
        yield exact(
            f"{setting}: the large-job server has to carry more than 0.4",
            f"Section 7.2, {figure}",
            least,
            "= 0.4",
            abs(least - 0.4) < 1e-9 and abs(1 - benchmark_rate(curve.servers, curve.load) - 0.4) < 1e-9,
            0,
        )
        best = results.curve(f"{setting}/thresh-srpt-0.45")
        for name in BASELINES:
            mine, theirs = best.at(LATE), results.curve(f"{setting}/{name}").at(LATE)
            yield below(
                f"{setting}: Thresh-SPLIT with load 0.45 outperforms {name} asymptotically, as a ratio of "
                f"the tails at t = {LATE:g}",
                f"Section 7.2, {figure}",
                mine and theirs and mine.over(theirs),
                1.0,
                TAILS,
            )
        values = [results.curve(f"{setting}/thresh-srpt-{load}").at(LATE) for load in ("0.6", "0.5", "0.45")]
        yield falls(
            f"{setting}: Thresh-SPLIT approaches strong optimality as its load falls to 0.4, at t = {LATE:g}",
            f"Section 7.2, {figure}",
            values,
            TAILS,
        )
    for row in results.probe("stealing")["rows"]:
        name = f"n = {row['servers']}, rho = {row['load']:g}, large jobs' load {row['large_load']:g}"
        alone, helped = Value.of(row["alone"]), Value.of(row["stealing"])
        yield above(
            f"{name}: without work stealing the backlog grows, by more than {GROWS:g} jobs an arrival",
            "Section 7.2",
            alone,
            GROWS,
            GROWS,
        )
        yield above(
            f"{name}: with the stealing of the simulations it grows, too, to more than half of that",
            "Section 7.2, with Section 7 on work stealing",
            helped.over(alone),
            0.5,
            0.3,
            STEALING,
        )
    probe = results.probe("overload")
    first, last = probe["times"][0], probe["times"][-1]
    for row in probe["rows"]:
        ratios = [Value.of(entry) for entry in row["ratios"]]
        inverse = [v and Value(1.0, 0.0, 0.0, v.degrees, v.jobs).over(v.stretched(ALPHA, 1)) for v in ratios]
        name = f"n = {row['servers']}, rho = {row['load']:g}"
        what = {
            1: "sympathy for large jobs is harmful in a single-server system",
        }.get(row["servers"], "a giant on the LJF server inflates response times")
        yield falls(
            f"{name}: SRPT-n's tail over SPLIT's falls from t = {first:g} to {last:g}",
            "Section 1.4",
            inverse,
            TAILS,
        )
        yield below(
            f"{name}: {what}, SPLIT's tail is more than {INFLATED:g} times SRPT-n's at t = {last:g}, as the "
            "ratio of SRPT-n's to it",
            "Section 1.4",
            inverse[-1],
            1 / INFLATED,
            TAILS,
        )


if __name__ == "__main__":
    main(__doc__, "section_7_2", rows)
