"""What the text of the SQ(d) paper says of its figures, tested on the fixed points: one row a statement.

The fixed points have no sampling error: each statement is a comparison of numbers, with the margin that its
words allow. A statement that does not hold ends with exit code 1; on coarse grids it is undecided.
"""

import argparse
import math
from pathlib import Path

from tailsched.files import write_csv, write_text
from tailsched.plotting.dispatch import gains, read_rows
from tailsched.plotting.tables import markdown_table

COLUMNS = ("figure", "statement", "measured", "verdict")

#: Points of a curve of Figure 2 from which on its shape is seen.
FINE = 100

#: Policies that look at the age only.
AGE_ONLY = ("las", "las-qtb", "re")


def at(curve, x):
    """Return the gain of a curve at x, interpolated."""
    for (a, low, _), (b, high, _) in zip(curve, curve[1:], strict=False):
        if a <= x <= b:
            return low + (high - low) * (x - a) / (b - a)
    raise ValueError(f"{x} is beyond the curve")


def last_gain(curve):
    """Return the load up to which a curve gains, from the left."""
    for (a, low, _), (b, high, _) in zip(curve, curve[1:], strict=False):
        if low > 0 >= high:
            return a + (b - a) * low / (low - high)
    return curve[-1][0]


def crossings(first, second, least=1e-6):
    """Return the places where the difference of two curves changes sign, both sides being clear."""
    places, sign = [], 0
    for (x, a, _), (_, b, _) in zip(first, second, strict=True):
        if abs(a - b) < least:
            continue
        new = 1 if a > b else -1
        if sign and new != sign:
            places.append(x)
        sign = new
    return places


def turns(values, least):
    """Return the number of local maxima inside a sequence that stand out by `least` on both sides."""
    count, low, high, rising = 0, values[0], values[0], False
    for value in values[1:]:
        if rising:
            high = max(high, value)
            if value < high - least:
                count, rising, low = count + 1, False, value
        else:
            low = min(low, value)
            if value > low + least:
                rising, high = True, value
    return count


def convergence(found):
    """Figure 1."""
    for name in ("fig01a", "fig01b"):
        curves = {}
        for row in found[name]:
            curves.setdefault((row["policy"], row["d"]), []).append(row["change"])
        needed = [next(i for i, x in enumerate(c, 1) if x < 1e-10) for c in curves.values()]
        below = sum(n < 50 for n in needed)
        yield (
            name,
            f"usually fewer than 50 iterations to 1e-10 ({below} of {len(needed)} curves)",
            max(needed),
            below > len(needed) / 2,
        )
        spread = 0.0
        for c in curves.values():
            logs = [math.log(x) for x in c if 1e-11 < x < 1e-3]
            steps = [b - a for a, b in zip(logs, logs[1:], strict=False)]
            if len(steps) > 2:
                spread = max(spread, (max(steps) - min(steps)) / abs(sum(steps) / len(steps)))
        yield (
            name,
            "the change falls geometrically: steps of its logarithm differ by less than half",
            spread,
            spread < 0.5,
        )


def orders(found):
    """Figures 2 to 4: orders of the policies, and what d and k do."""
    two, three, four = (gains(found[name]) for name in ("fig02", "fig03", "fig04"))
    low = {key[0]: at(curve, 0.31) for key, curve in two.items() if key[0] != "sq"}
    yield "fig02", "at low load every policy gains", min(low.values()), min(low.values()) > 0
    fine = [low[policy] for policy in ("sq-rtb", "sq-rtb-re", "las", "las-qtb", "lew")]
    yield (
        "fig02",
        "at low load policies with the age in layers are alike",
        max(fine) - min(fine),
        max(fine) - min(fine) < 0.01,
    )
    coarse = max(low["sq-re"], low["re"])
    yield "fig02", "and gain more than those with one threshold", min(fine) - coarse, min(fine) > coarse
    best = min(
        at(two["lew", 5], x) - max(at(two[policy, 5], x) for policy in low if policy != "lew")
        for x in [0.31 + 0.02 * i for i in range(34)]
    )
    yield "fig02", "LEW is the best at every load", best, best > -1e-9
    ends = [last_gain(two[policy, 5]) for policy in AGE_ONLY]
    yield (
        "fig02",
        "near lam = 1 policies that look at the age only lose to SQ(d)",
        max(ends),
        max(ends) < 0.95,
    )
    kept = min(curve[-1][1] for key, curve in two.items() if key[0] not in (*AGE_ONLY, "sq"))
    yield "fig02", "the others gain at every load", kept, kept > 0
    for policy in ("sq-rtb", "sq-rtb-re", "las", "las-qtb", "lew"):
        more = min(at(three[policy, 5], x) - at(two[policy, 5], x) for x in (0.31, 0.5, 0.6, 0.7))
        yield "fig03", f"{policy}: the gain is greater for k = 5 than for k = 1 (lam to 0.7)", more, more > 0
    gap = at(three["lew", 5], 0.8) - at(three["sq-rtb-re", 5], 0.8)
    old = at(two["lew", 5], 0.8) - at(two["sq-rtb-re", 5], 0.8)
    yield "fig03", "the gap between LEW and SQ-RTB-RE grows", gap - old, gap > old
    for policy in low:
        rise = at(four[policy, 20], 0.31) - low[policy]
        yield "fig04", f"{policy}: the gain at low load rises with d", rise, rise > 0
        kept = at(four[policy, 20], 0.7) / at(four[policy, 20], 0.31)
        yield (
            "fig04",
            f"{policy}: it is kept up to a higher load (lam = 0.7)",
            kept,
            kept > at(two[policy, 5], 0.7) / low[policy],
        )
    for policy in AGE_ONLY:
        later = last_gain(four[policy, 20]) - last_gain(two[policy, 5])
        yield "fig04", f"{policy}: lam_max rises with d", later, later > 0
    gap = max(abs(a[1] - b[1]) for a, b in zip(four["lew", 20], four["sq-rtb-re", 20], strict=True))
    old = max(abs(a[1] - b[1]) for a, b in zip(two["lew", 5], two["sq-rtb-re", 5], strict=True))
    yield "fig04", "the gap between SQ-RTB-RE and LEW becomes negligible", gap, gap < 0.012 and gap < old
    waves = turns([gain for x, gain, _ in four["sq-re", 20] if x > 0.8], 0.01)
    yield "fig04", "SQ-RE is irregular as lam approaches 1: inner maxima of its gain", waves, waves >= 1


def waves(found):
    """Figures 5 and 6."""
    heights = {}
    for name in ("fig05a", "fig05b"):
        curves = {}
        for row in found[name]:
            curves.setdefault(row["d"], []).append(row["ties"])
        counts = {d: turns(curve[len(curve) // 2 :], 0.02) for d, curve in curves.items()}
        yield (
            name,
            "T_d has waves close to lam = 1 for d = 20, none for d = 2",
            counts[20],
            counts[20] > 0 == counts[2],
        )
        yield (
            name,
            "T_d begins at d (d = 10, 15, 20)",
            curves[20][0],
            all(abs(curves[d][0] - d) < 0.01 * d for d in (10, 15, 20)),
        )
        late = curves[20][2 * len(curves[20]) // 3 :]
        pairs = zip(late, late[1:], strict=False)
        heights[name] = max((b for a, b in pairs if b > a), default=0.0)
    yield (
        "fig05b",
        "f = 1/10 has lower waves than f = 1/2",
        heights["fig05a"] - heights["fig05b"],
        heights["fig05b"] < heights["fig05a"],
    )
    six = gains(found["fig06"])
    for policy in ("sq-re", "sq-rtb-re"):
        places = crossings(six[policy, 15], six[policy, 20], 1e-3)
        yield "fig06a", f"{policy}: d = 15 and d = 20 cross", places[0] if places else None, bool(places)
    heights = [turns([gain for x, gain, _ in six["sq-re", d] if x > 0.8], 0.005) for d in (2, 10, 20)]
    yield (
        "fig06a",
        "sq-re: waves for d = 10 and 20, none for d = 2",
        heights[1],
        heights[0] == 0 < min(heights[1:]),
    )
    limits = [last_gain(six["re", d]) for d in (2, 5, 10, 15, 20)]
    rise = min(b - a for a, b in zip(limits, limits[1:], strict=False))
    yield "fig06b", "the load up to which RE gains rises with d", rise, rise > 0


def shapes(found):
    """Figures 7 to 12: the sizes, the tails, the granularity."""
    two, seven, nine = (gains(found[name]) for name in ("fig02", "fig07", "fig09"))
    policies = [key[0] for key in two if key[0] != "sq"]
    more = min(at(seven[policy, 5], 0.31) - at(two[policy, 5], 0.31) for policy in policies)
    yield "fig07", "SCV = 30 gains more than SCV = 10 at low load", more, more > 0
    eight, ten = gains(found["fig08"]), gains(found["fig10"])
    for policy in policies:
        curve = eight[policy, 5]
        steep, flat = at(curve, 15) - at(curve, 1.01), abs(at(curve, 39.9) - at(curve, 15))
        yield (
            "fig08",
            f"{policy}: strong rise to SCV = 15, then flat or falling (change beyond, over the rise)",
            flat / steep,
            flat < 0.25 * steep,
        )
    for policy in policies:
        peak = max(ten[policy, 5], key=lambda point: point[1])
        yield "fig10", f"{policy}: the peak is near f = 2/3", peak[0], abs(peak[0] - 2 / 3) < 0.1
        ends = max(ten[policy, 5][0][1], ten[policy, 5][-1][1])
        yield (
            "fig10",
            f"{policy}: the gain drops sharply at both ends (greater end, over the peak)",
            ends / peak[1],
            ends < 0.2 * peak[1],
        )
    less = min(
        at(two[policy, 5], x) - at(nine[policy, 5], x)
        for policy in ("sq-rtb", "sq-re", "sq-rtb-re", "lew")
        for x in (0.31, 0.5, 0.7, 0.9)
    )
    yield "fig09", "f = 1/10 gains less than f = 1/2", less, less > 0
    yield "fig09", "all d = 5 servers at a long job: (9/10)^5 is 59 %", 0.9**5, abs(0.9**5 - 0.59) < 0.005
    tails = {}
    for row in found["fig11"]:
        tails.setdefault(row["policy"], {})[row["w"]] = row["tail"]
    slopes = [math.log(tail[10.0] / tail[20.0]) / 10 for tail in tails.values()]
    yield (
        "fig11",
        "the tails decay alike: spread of the slope over (10, 20), relative",
        max(slopes) / min(slopes) - 1,
        max(slopes) < 1.05 * min(slopes),
    )
    for name, coarse in (("fig12a", two), ("fig12b", seven)):
        fine = gains(found[name])
        moved = {}
        for policy in ("sq-rtb", "sq-rtb-re", "las", "las-qtb", "lew"):
            pairs = zip(fine[policy, 5], coarse[policy, 5], strict=True)
            moved[policy] = max(abs(a[1] - b[1]) for a, b in pairs if a[0] <= 0.9)
        others = max(value for policy, value in moved.items() if policy != "las-qtb")
        yield (
            name,
            "only LAS-QTB moves visibly with delta = 0.01 (greatest move of the others, lam to 0.9)",
            others,
            others < 0.02 < moved["las-qtb"],
        )
        nearer = at(coarse["las-qtb", 5], 0.9) - at(fine["las-qtb", 5], 0.9)
        rest = at(fine["las-qtb", 5], 0.9) - at(fine["las", 5], 0.9)
        yield (
            name,
            "it moves towards LAS (what is left of the way, lam = 0.9)",
            rest / (nearer + rest),
            0 < rest < nearer,
        )


def main():
    """Check the files of fixed points named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("solved", nargs="+", type=Path, metavar="SOLVED.csv")
    parser.add_argument("-o", "--output", type=Path, required=True, help="path without a suffix")
    arguments = parser.parse_args()
    for path in arguments.solved:
        if not path.exists():
            parser.exit(2, f"{parser.prog}: {path} is missing: `snakemake {path}` makes it\n")
    found = {path.stem: read_rows(path) for path in arguments.solved}
    fine = len(gains(found["fig02"])["sq", 5]) >= FINE
    table = [
        (figure, statement, measured, "pass" if holds else "fail" if fine else "undecided")
        for group in (convergence, orders, waves, shapes)
        for figure, statement, measured, holds in group(found)
    ]
    failed = [row for row in table if row[-1] == "fail"]
    verdicts = [row[-1] for row in table]
    counts = ", ".join(f"{verdicts.count(word)} {word}" for word in ("pass", "fail", "undecided"))
    print(f"statements: {counts}")
    for row in failed:
        print("FAIL", *row[:-1])
    write_text(f"{arguments.output}.md", f"{counts}\n\n" + markdown_table(COLUMNS, table))
    write_csv(f"{arguments.output}.csv", COLUMNS, table)
    if failed:
        parser.exit(1, f"{parser.prog}: {len(failed)} statements do not hold\n")


if __name__ == "__main__":
    main()
