"""Appendix E and Section 7: the policy of the small-job servers, Figures 10 to 12, and SEK, Figures 13 to 15.

"Similar" and "visibly larger" have one number between them: curves within a factor 1.25 at every time are
similar, and a bump at least that much higher is visibly larger. Curves that coincide asymptotically are
within a tenth at t = 2^19. SEK has stopped improving at eps = 200 if no larger eps lowers the limit of the
normalized tail by more than a hundredth.
"""

import numpy as np

from tailsched.claims import Value, above, below, every, within
from tailsched.evidence import main

FIGURES = {"low": "Figure 10", "high": "Figure 11", "high-ten": "Figure 12"}
THRESHOLDS = {
    "low": ("99", "99.9", "99.99"),
    "high": ("0.6", "0.5", "0.45"),
    "high-ten": ("0.6", "0.5", "0.45"),
}

SIMILAR = 1.25
#: Times at which two curves are compared: four an octave, from the first on.
FIRST, PACE = 2.0, 2**0.25

COINCIDE, LATE = 0.1, 2.0**19

SEK = {
    "low": "Figure 13",
    "high": "Figure 14(a)",
    "high-ten": "Figure 14(b)",
    "heavier": "Figure 15(a)",
    "lighter": "Figure 15(b)",
}
SATURATED, USED, LARGEST = 0.01, 200.0, 1e4

#: Time up to which a bump is looked for.
BUMPS = 2.0**16

#: Time at which SEK-200 is compared with SRPT-n.
ASYMPTOTIC = 16384.0

#: Errors that would be seen: of a ratio of tails, of a bump, of a limit's change.
TAILS, BUMP, CHANGE = 0.3, 0.3, 0.1

#: Entries of docs/claims.md, by what was refuted.
SIDES = "docs/claims.md, the small-job servers at low load"
EPSILON = "docs/claims.md, SEK beyond eps = 200"
IMPROVING = ("low", "heavier", "high", "high-ten")


def ratios(fcfs, srpt):
    """Return the ratio of two curves at times `PACE` apart, as long as both are measured precisely."""
    values, t = [], FIRST
    while fcfs.last and srpt.last and t <= min(fcfs.last, srpt.last):
        one, other = fcfs.at(t), srpt.at(t)
        if one is not None and other is not None:
            values.append(one.over(other))
        t *= PACE
    return values


def bump(curve):
    """Return the normalized tail where the lower end of its interval is the largest; None without one."""
    low = np.where(curve.columns["t"] <= BUMPS, curve.columns["normalized_low"], np.nan)
    return None if np.isnan(low).all() else curve.value(int(np.nanargmax(low)))


def side_rows(results):
    """Yield the rows of Appendix E.1."""
    for setting, figure in FIGURES.items():
        for threshold in THRESHOLDS[setting]:
            fcfs, srpt = (results.curve(f"{setting}/thresh-{side}-{threshold}") for side in ("fcfs", "srpt"))
            source = f"Appendix E.1, {figure}"
            mine, theirs = fcfs.at(LATE), srpt.at(LATE)
            yield within(
                f"{setting}, {threshold}: the tails with FCFS and SRPT-(n-1) coincide asymptotically, their "
                f"ratio is 1 within {COINCIDE:g} at t = 2^19",
                source,
                mine and theirs and mine.over(theirs),
                1.0,
                COINCIDE,
                TAILS,
            )
            if setting == "low":
                values = ratios(fcfs, srpt)
                both = values + [Value(1.0, 0, 0, v.degrees, v.jobs).over(v) for v in values] or [None]
                yield every(
                    f"low, {threshold}: the two are similar, within a factor {SIMILAR:g} at every time",
                    source,
                    both,
                    [SIMILAR] * len(both),
                    TAILS,
                    SIDES,
                    sense=-1,
                )
            else:
                mine, theirs = bump(fcfs), bump(srpt)
                yield below(
                    f"{setting}, {threshold}: the bump with FCFS is visibly larger, {SIMILAR:g} times or "
                    "more, as the ratio of SRPT's to it",
                    f"{source}; Section 7.2",
                    mine and theirs and theirs.over(mine),
                    1 / SIMILAR,
                    BUMP,
                )


def sek_rows(results):
    """Yield the rows of Appendix E.2 and Section 7 on SEK."""
    probe = results.probe("sek")
    for setting, figure in SEK.items():
        entries = [row for row in probe["rows"] if row["setting"] == setting]
        alpha = results.curve(f"{setting}/srpt").sizes.tail_index
        over, steps = (
            {
                row["epsilon"]: (value := Value.of(row[key]))
                and value.stretched(alpha, 1).stretched(alpha, -1)
                for row in entries
            }
            for key in ("over_200", "step")
        )
        improving = [steps[epsilon] for epsilon in sorted(steps) if 0.0 < epsilon <= USED]
        yield every(
            f"{setting}: SEK's limit falls as eps grows to {USED:g}: no step of eps raises it, as ratios",
            f"Appendix E.2, {figure}",
            improving,
            [1.0] * len(improving),
            CHANGE,
            sense=-1,
        )
        yield above(
            f"{setting}: SEK improves on SRPT-n, whose limit is above that of SEK-{USED:g}, as a ratio",
            f"Appendix E.2, {figure}",
            over[0.0],
            1.0,
            2 * CHANGE,
        )
        known = EPSILON if setting in IMPROVING else ""
        yield above(
            f"{setting}: SEK stops improving at eps = {USED:g}, the limit at eps = {LARGEST:g} is more than "
            f"{1 - SATURATED:g} of it",
            f"Section 7, Baselines; Appendix E.2, {figure}",
            over[LARGEST],
            1 - SATURATED,
            CHANGE,
            refuted=known,
        )
        mine, theirs = (results.curve(f"{setting}/{name}").at(ASYMPTOTIC) for name in ("sek-200", "srpt"))
        yield below(
            f"{setting}: SEK-200 has a smaller tail than SRPT-n at t = {ASYMPTOTIC:g}, as a ratio",
            f"Appendix E.2, {figure}",
            mine and theirs and mine.over(theirs),
            1.0,
            TAILS,
        )


def rows(results):
    """Yield the rows."""
    yield from side_rows(results)
    yield from sek_rows(results)


if __name__ == "__main__":
    main(__doc__, "appendix_e", rows)
