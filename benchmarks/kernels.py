"""Speed of the kernels on one core, in multiples of the cost of drawing the random numbers.

A simulation has to draw an exponential and a Pareto variate for each arrival, and no machine-independent
number says more about a kernel than how many times that floor it costs. Two floors are measured in the same
run, both in a compiled loop that does nothing else, with the generators (SFC64) that the project uses:

``generator``
    the Generator's own methods, ``standard_exponential`` and ``pareto``; the targets refer to this one
``cheapest``
    ``exp(standard_exponential() / alpha)`` for the Pareto variate, which is how the project draws it

Every measurement of a kernel is preceded by one of each floor, and a ratio is taken within such a group, so
that a machine whose speed drifts does not distort it. Compilation is not measured.

Run it on an idle machine: ``python benchmarks/kernels.py [-o FILE.csv]``.
"""

import argparse
import math
import time
from statistics import median
from typing import NamedTuple

import numpy as np

from tailsched import mgn
from tailsched._jit import KERNEL, njit
from tailsched.files import write_csv
from tailsched.mgn.engine import BLOCK
from tailsched.plotting.tables import markdown_table
from tailsched.runs import default_warm_up
from tailsched.sampling import fill_arrivals, fill_sizes
from tailsched.settings import Setting
from tailsched.streams import PURPOSES, stream

ALPHA = 1.5

#: The times at which the full run counts exactly; they belong to the cost of a response.
TIMES = tuple(10.0**k for k in range(1, 7))


class Case(NamedTuple):
    """A kernel, the system it is measured on, and the largest ratio to the floor that is aimed at."""

    label: str
    policy: str
    servers: int
    load: float
    target: float | None


CASES = (
    Case("SRPT-3", "srpt", 3, 0.5, 2.5),
    Case("SRPT-10", "srpt", 10, 0.94, 3.5),
    Case("SEK-200", "sek:epsilon=200", 3, 0.5, 3.5),
    Case("SPLIT", "split", 3, 0.5, 3.5),
    Case("Thresh-SPLIT, small FCFS", "thresh-split:threshold-percentile=99.9,small=fcfs", 3, 0.5, 3.5),
    Case("Thresh-SPLIT, small SRPT", "thresh-split:threshold-percentile=99.9,small=srpt", 3, 0.5, 3.5),
    Case("TAGS-SPLIT", "tags-split:threshold-percentile=99.9", 3, 0.5, 3.5),
    Case("FCFS-3", "fcfs", 3, 0.5, 3.5),
    Case("PS-3", "ps", 3, 0.5, 3.5),
)

COLUMNS = (
    "kernel", "policy", "servers", "load", "rounds", "arrivals",
    "floor_ns", "cheapest_ns", "sampling_ns", "simulate_ns",
    "ratio", "ratio_low", "ratio_high", "cheapest_ratio", "cheapest_ratio_low", "cheapest_ratio_high",
    "target", "met",
)  # fmt: skip


@njit(**KERNEL)
def generator_floor(first, second, alpha, arrivals):
    """Draw an exponential and a Pareto variate for each arrival; return their sum."""
    total = 0.0
    for _ in range(arrivals):
        total += first.standard_exponential() + second.pareto(alpha)
    return total


@njit(**KERNEL)
def cheapest_floor(first, second, alpha, arrivals):
    """Draw the same variates as `generator_floor`, the Pareto one as the exponential of an exponential."""
    total = 0.0
    share = 1.0 / alpha
    for _ in range(arrivals):
        total += first.standard_exponential() + math.exp(share * second.standard_exponential())
    return total


def streams(label, shard):
    """Return the generators of arrivals and of sizes."""
    return tuple(stream(1, label, shard, purpose) for purpose in PURPOSES)


def nanoseconds(function, *arguments):
    """Return the wall time of a call, and what it returns."""
    start = time.perf_counter_ns()
    result = function(*arguments)
    return time.perf_counter_ns() - start, result


def sample(setting, generators, arrivals):
    """Draw what a simulation of `arrivals` jobs draws, in the same blocks; return the last arrival time."""
    kind, constants = setting.sizes.kernel
    times, work = np.empty(BLOCK), np.empty(BLOCK)
    clock = 0.0
    for start in range(0, arrivals, BLOCK):
        length = min(BLOCK, arrivals - start)
        fill_arrivals(generators[0], setting.lam, clock, times[:length])
        fill_sizes(generators[1], kind, constants, work[:length])
        clock = times[length - 1]
    return clock


def simulate(setting, generators, arrivals):
    """Simulate as a shard of a run does; return the number of arrivals it took."""
    policy, parameters = setting.simulator()
    warm_up = default_warm_up(arrivals)
    run = mgn.simulate(
        policy, setting.servers, setting.lam, setting.sizes, arrivals - warm_up, warm_up, generators,
        TIMES, **parameters,
    )  # fmt: skip
    return run.arrivals


def measure(case, shard, arrivals):
    """Measure both floors, the sampling and the simulation.

    Parameters
    ----------
    case : Case
    shard : index of the random streams
    arrivals : jobs of each of the four measurements

    Returns
    -------
    (4,) tuple of nanoseconds per arrival
    """
    setting = Setting.parse(case.policy, case.servers, case.load, f"pareto:{ALPHA:g}")
    generator, _ = nanoseconds(generator_floor, *streams("floor", shard), ALPHA, arrivals)
    cheapest, _ = nanoseconds(cheapest_floor, *streams("floor", shard), ALPHA, arrivals)
    sampling, _ = nanoseconds(sample, setting, streams(case.label, shard), arrivals)
    simulation, taken = nanoseconds(simulate, setting, streams(case.label, shard), arrivals)
    return generator / arrivals, cheapest / arrivals, sampling / arrivals, simulation / taken


def row(case, rounds, arrivals):
    """Return the row, by `COLUMNS`, of a case.

    Parameters
    ----------
    case : Case
    rounds : (k, 4) array, what `measure` returned in k rounds
    arrivals : jobs of each measurement
    """
    floor, cheapest, _, simulation = rounds.T
    ratio = median(simulation / floor)
    met = None if case.target is None else "yes" if ratio <= case.target else "no"
    values = [case.label, case.policy, case.servers, case.load, len(rounds), arrivals]
    values += [median(column) for column in rounds.T]
    for ratios in (simulation / floor, simulation / cheapest):
        values += [median(ratios), min(ratios), max(ratios)]
    return dict(zip(COLUMNS, (*values, case.target, met), strict=True))


def report(rows):
    """Return the Markdown table of the rows."""
    columns = (
        "kernel", "n", "load", "sampling, ns", "simulation, ns",
        "x generator floor", "target", "met", "x cheapest floor",
    )  # fmt: skip

    def spread(row, name):
        return f"{row[name]:.2f} ({row[name + '_low']:.2f} to {row[name + '_high']:.2f})"

    lines = (
        (
            row["kernel"],
            row["servers"],
            f"{row['load']:g}",
            f"{row['sampling_ns']:.1f}",
            f"{row['simulate_ns']:.1f}",
            spread(row, "ratio"),
            None if row["target"] is None else f"{row['target']:g}",
            row["met"],
            spread(row, "cheapest_ratio"),
        )
        for row in rows
    )
    return markdown_table(columns, lines)


def main():
    """Measure all cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arrivals", type=float, default=2e7, help="of each measurement (default 2e7)")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each kernel (default 5)")
    parser.add_argument("-o", "--output", metavar="FILE.csv", help="also write the numbers to a CSV file")
    arguments = parser.parse_args()
    count, repeats = int(arguments.arrivals), arguments.rounds
    if count < 10 or repeats < 1:
        parser.error("arrivals must be at least 10, and rounds at least 1")

    for case in CASES:
        measure(case, 0, 10)
    rounds = np.array([[measure(case, shard, count) for case in CASES] for shard in range(1, repeats + 1)])

    print(f"{repeats} rounds of {count:.0e} arrivals; medians, and in brackets the range over the rounds\n")
    for name, floor in zip(("generator", "cheapest"), rounds[..., :2].T, strict=True):
        print(
            f"- {name} floor: {np.median(floor):.2f} ns an arrival ({floor.min():.2f} to {floor.max():.2f})"
        )
    rows = [row(case, rounds[:, i], count) for i, case in enumerate(CASES)]
    print("\n" + report(rows))
    if arguments.output:
        write_csv(arguments.output, COLUMNS, rows)


if __name__ == "__main__":
    main()
