"""The bias of finitely many servers: E[W] at N less the cavity value, and its fit by c/N."""

import math

from tailsched.dispatch.cavity import Cavity
from tailsched.plotting.dispatch import STYLES, arguments_of, axes, draw_dots, draw_interval, finish, label

COLUMNS = (
    "policy",
    "servers",
    "mean_wait",
    "cavity",
    "bias",
    "low",
    "high",
    "fit",
    "c",
    "c_se",
    "chi2",
    "points",
)


def fitted(points):
    """Return c, its standard error and chi^2 of the weighted fit of bias = c / N to (N, bias, se)."""
    weight = sum(1.0 / (n * se) ** 2 for n, _, se in points)
    c = sum(bias / n / se**2 for n, bias, se in points) / weight
    return c, 1.0 / math.sqrt(weight), sum(((bias - c / n) / se) ** 2 for n, bias, se in points)


def main(arguments=None):
    """Draw biases with intervals, and lines of slope -1."""
    given, (points,) = arguments_of(__doc__, arguments)
    means = [row for row in points if row["quantity"] == "mean_wait"]
    fig, ax = axes()
    rows = []
    policies = list(dict.fromkeys(row["policy"] for row in means))
    for shift, policy in enumerate(policies):
        mine = [row for row in means if row["policy"] == policy]
        system = mine[0]
        limit = Cavity(
            policy, system["d"], system["sizes"], system["delta"], system["threshold"], system["cut"]
        ).solve(system["lam"]).mean_wait  # fmt: skip
        data = [(row["servers"], row["estimate"] - limit, row["se"]) for row in mine]
        c, se, chi2 = fitted(data)
        colour, line = STYLES[policy]
        ends = data[0][0], data[-1][0]
        ax.plot(ends, [c / n for n in ends], color=colour, linestyle=line, label=label(policy, system["d"]))
        for row, (n, bias, _) in zip(mine, data, strict=True):
            low, high = row["low"] - limit, row["high"] - limit
            at = n * 1.06 ** (shift - 1.5)
            draw_interval(ax, at, max(low, 1e-7), max(high, 1e-7), colour)
            if bias > 0:
                draw_dots(ax, at, bias, colour)
            rows.append((policy, n, row["estimate"], limit, bias, low, high, c / n, c, se, chi2, len(data)))
    ax.set_xscale("log")
    ax.set_yscale("log")
    least = min(row[7] for row in rows)
    ax.set_ylim(least / 10, 3 * max(row[6] for row in rows))
    counts = sorted({row[1] for row in rows})
    ax.set_xticks(counts, map(str, counts))
    ax.set_xticks([], minor=True)
    ax.set_xlabel("number of servers N")
    ax.set_ylabel("E[W] less its limit")
    finish(fig, ax, given, COLUMNS, rows)


if __name__ == "__main__":
    main()
