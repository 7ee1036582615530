r"""Families of fixed points: the curves of the figures, as rows of numbers.

A sweep is a dictionary, as in `config/sqd.yaml`: ``x`` is what varies (``lam``, ``scv``, ``f`` or
``threshold``), on ``points`` points from ``from`` to ``to``, on a logarithmic scale if ``log`` is true; the
rest describes the system: ``policies``, ``d`` (one or a list), ``sizes`` (with ``{x}`` where scv or f goes),
``lam``, ``delta``, ``threshold``. Along ``lam`` a solution starts from the two before it.

:math:`\mathcal T_d` is the mean number of sampled servers tied for the shortest queue, given that all d are
busy (equation (21) of arXiv 2011.08250).
"""

import argparse
import math
from pathlib import Path

import numpy as np
import yaml

from tailsched.dispatch.cavity import Cavity
from tailsched.dispatch.policies import POLICIES
from tailsched.files import write_csv

#: Points of a sweep at least.
FEWEST = 5

COLUMNS = ("policy", "d", "x", "mean_wait", "ties", "iterations")


def mean_ties(queue_tail, d):
    """Return T_d from u_1, u_2, ...: P[Q >= l]."""
    u = np.append(queue_tail, 0.0)
    here, above = u[:-1] - u[1:], u[1:]
    # The sum over k of k C(d, k) p^k q^(d-k) is d p (p + q)^(d-1).
    return float(d * (here * (here + above) ** (d - 1)).sum() / u[0] ** d)


def grid(sweep):
    """Return the points of a sweep."""
    space = np.geomspace if sweep.get("log") else np.linspace
    return [float(x) for x in space(sweep["from"], sweep["to"], sweep["points"])]


def whole_layers(threshold, delta):
    """Return the greatest width of at most delta of which the threshold is a multiple."""
    return threshold / math.ceil(threshold / delta * (1 - 1e-12))


def _along_load(sweep, policy, d):
    cavity = Cavity(policy, d, sweep["sizes"], sweep["delta"], sweep["threshold"])
    return cavity.curve(grid(sweep))


def _one_by_one(sweep, policy, d):
    for x in grid(sweep):
        sizes = sweep["sizes"].replace("{x}", repr(x))
        threshold = x if sweep["x"] == "threshold" else sweep["threshold"]
        delta = sweep["delta"]
        if sweep["x"] == "threshold" and POLICIES[policy].uses_threshold:
            delta = whole_layers(threshold, delta)
        yield Cavity(policy, d, sizes, delta, threshold).solve(sweep["lam"])


def rows(sweep):
    """Yield the rows of a sweep, see `COLUMNS`; `ties` are given for SQ(d) only."""
    choices = sweep["d"] if isinstance(sweep["d"], list) else [sweep["d"]]
    solve = _along_load if sweep["x"] == "lam" else _one_by_one
    for d in choices:
        for policy in sweep["policies"]:
            points = grid(sweep)
            solutions = solve(sweep, policy, d)
            if sweep["x"] == "threshold" and not POLICIES[policy].uses_threshold:
                solutions = [next(solutions)] * len(points)
            for x, solution in zip(points, solutions, strict=True):
                ties = mean_ties(solution.queue_tail, d) if policy == "sq" else None
                yield policy, d, x, solution.mean_wait, ties, solution.iterations


def residual_rows(spec):
    """Yield (policy, d, iteration, change in L1) of the paper's iteration."""
    for policy in spec["policies"]:
        for d in spec["d"]:
            cavity = Cavity(policy, d, spec["sizes"], spec["delta"], spec["threshold"], spec["cut"])
            solution = cavity.solve(spec["lam"], tolerance=spec["tolerance"], accelerate=False)
            for i, change in enumerate(solution.residuals, 1):
                yield policy, d, i, change


def tail_rows(spec):
    """Yield (policy, w, P[W > w])."""
    times = np.linspace(0.0, spec["to"], spec["points"])
    for policy in spec["policies"]:
        cavity = Cavity(policy, spec["d"], spec["sizes"], spec["delta"], spec["threshold"])
        for w, tail in zip(times, cavity.solve(spec["lam"]).wait_tail(times), strict=True):
            yield policy, float(w), float(tail)


KINDS = {
    "sweeps": (COLUMNS, rows),
    "residuals": (("policy", "d", "iteration", "change"), residual_rows),
    "tails": (("policy", "w", "tail"), tail_rows),
}


def main():
    """Write the rows of families of solutions, each into a file NAME.csv."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("config", type=Path, help="with the family under one of: " + ", ".join(KINDS))
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--points", type=float, default=1.0, help="share of the points of a sweep")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    arguments = parser.parse_args()
    config = yaml.safe_load(arguments.config.read_text(encoding="utf-8"))
    for name in arguments.names:
        kind = next((kind for kind in KINDS if name in config[kind]), None)
        if kind is None:
            parser.error(f"no family {name} in {arguments.config}")
        columns, make = KINDS[kind]
        family = config[kind][name]
        if kind == "sweeps":
            family = {**family, "points": max(round(arguments.points * family["points"]), FEWEST)}
        write_csv(arguments.output / f"{name}.csv", columns, make(family))


if __name__ == "__main__":
    main()
