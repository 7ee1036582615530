"""Times of the cavity solver and the dispatching simulator, as Markdown: ``python benchmarks/dispatch.py``.

The paper's construction is that of tests/reference_dispatch.py, with matrices of order m B. Processor time,
one core; the compiler's time is not counted.
"""

import statistics
import sys
import time
from pathlib import Path

import numpy as np
import yaml

from tailsched._jit import njit
from tailsched.dispatch import sweeps
from tailsched.dispatch.cavity import Cavity
from tailsched.dispatch.phase_type import merlang
from tailsched.dispatch.policies import POLICIES
from tailsched.dispatch.simulation import simulate
from tailsched.sampling import draw_size
from tailsched.sizes import parse_sizes

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))


def timed(work, rounds=1):
    """Return the median processor time of some rounds, in seconds, and the last result."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return statistics.median(times), result


@njit
def floor(arrivals, drawer, sampler, kind, params, d, jobs):
    """Draw what a simulation draws, and nothing else."""
    total = 0.0
    for _ in range(jobs):
        total += arrivals.standard_exponential() + draw_size(drawer, kind, params)
        for _ in range(d):
            total += sampler.random()
    return total


def fixed_points():
    """One fixed point from an idle system: HEXP(10, 1/2), d = 5, delta = .1, lam = .9."""
    print("| policy | layers | iterations | first solution, ms | further, ms |")
    print("|---|---|---|---|---|")
    for name in POLICIES:
        Cavity(name, 5, "hexp:10,0.5", cut=1).solve(0.5)
        first, cavity = timed(lambda name=name: Cavity(name, 5, "hexp:10,0.5"))
        more, _ = timed(lambda cavity=cavity: cavity.solve(0.9))
        again, solution = timed(lambda cavity=cavity: cavity.solve(0.9), 9)
        layers = cavity.layers.r + 1
        print(
            f"| {name} | {layers} | {solution.iterations} | {1e3 * (first + more):.1f} | {1e3 * again:.1f} |"
        )


def against_matrices(policy="sq-rtb", cut=2.0, lengths=12):
    """The paper's matrices and this solver: MErlang(10, 1/2, 5), d = 5, delta = .1, lam = .7."""
    from reference_dispatch import fixed_point

    sizes = merlang(10, 0.5, 5)
    edges = list(0.1 * np.arange(round(cut / 0.1) + 1))
    slow, (pi, iterations) = timed(
        lambda: fixed_point(policy, 5, 0.7, sizes.alpha, sizes.generator, edges, 0, lengths, 1e-10)
    )
    cavity = Cavity(policy, 5, sizes, 0.1, 2.0, cut)
    fast, solution = timed(lambda: cavity.solve(0.7), 9)
    wait = float((np.arange(lengths) * pi.sum(axis=(0, 2))).sum() / 0.7)
    print(
        f"{policy}, ages to {cut:g}: matrices of order {10 * lengths}, {iterations} iterations, {slow:.1f} s,"
        f" here {solution.iterations} iterations, {1e3 * fast:.2f} ms: {slow / fast:.0f} times faster. "
        f"E[W] {wait:.12f} and {solution.mean_wait:.12f}"
    )


def curves():
    """All curves of the figures."""
    config = yaml.safe_load((ROOT / "config" / "sqd.yaml").read_text(encoding="utf-8"))
    print("| family | solutions | most iterations | processor, s |\n|---|---|---|---|")
    total = 0.0
    for name, sweep in config["sweeps"].items():
        spent, rows = timed(lambda sweep=sweep: list(sweeps.rows(sweep)))
        total += spent
        print(f"| {name} | {len(rows)} | {max(row[-1] for row in rows)} | {spent:.2f} |", flush=True)
    print(f"| together | | | {total:.1f} |")


def simulator(servers=10_000, d=5, jobs=4_000_000):
    """Nanoseconds a job beside the sampling floor."""
    law = parse_sizes("hexp:10,0.5").kernel
    rngs = [np.random.Generator(np.random.SFC64(seed)) for seed in range(3)]
    floor(*rngs, *law, d, 10)
    least, _ = timed(lambda: floor(*rngs, *law, d, jobs), 5)
    print(f"sampling floor: {1e9 * least / jobs:.1f} ns a job (N = {servers}, d = {d}, lam = .9)\n")
    print("| policy | ns a job | x floor |\n|---|---|---|")
    for name in POLICIES:
        system = (name, servers, d, 0.9, "hexp:10,0.5")
        simulate(*system, 1000, runs=1, times=())
        spent, _ = timed(lambda system=system: simulate(*system, jobs, runs=1, times=()), 3)
        print(f"| {name} | {1e9 * spent / jobs:.1f} | {spent / least:.2f} |", flush=True)


def main():
    """Print all tables."""
    for part in (fixed_points, against_matrices, curves, simulator):
        print(f"\n## {part.__doc__}\n", flush=True)
        part()


if __name__ == "__main__":
    main()
