"""How much less work the tagged-job estimator needs than counting what happens.

A curve is sampled with tagged jobs up to t = 1e5, and its relative standard error there and its processor time are
taken. Beside it, a natural run of the same policy gives the processor time of an arrival, and what is known of its
error: of N jobs, the number with S <= t < T has at least the variance of independent events, so that the relative
standard error of P[T > t] = P[S > t] + e is at least sqrt(e / N) / P[T > t]. The work for the same error follows;
since responses beyond t come in clumps, the true ratio is larger than the one given.

Run it on an idle machine: ``python benchmarks/efficiency.py [-o FILE.csv]``.
"""

import argparse
import time

import numpy as np

from tailsched import runs
from tailsched.files import write_csv
from tailsched.plotting.tables import markdown_table
from tailsched.settings import Setting
from tailsched.tails.estimates import Tails
from tailsched.tails.precision import Goal

CASES = (
    ("SRPT-3", "srpt", 3, 0.5),
    ("SRPT-3", "srpt", 3, 0.8),
    ("SRPT-10", "srpt", 10, 0.94),
    ("SEK-200", "sek:epsilon=200", 3, 0.5),
    ("SPLIT", "split", 3, 0.5),
    ("Thresh-SPLIT, 99.9 %, FCFS", "thresh-split:threshold-percentile=99.9,small=fcfs", 3, 0.5),
    ("Thresh-SPLIT, L = .45, SRPT", "thresh-split:large-load=0.45,small=srpt", 10, 0.94),
    ("TAGS-SPLIT, 99.9 %", "tags-split:threshold-percentile=99.9", 3, 0.5),
)

TIME = 1e5

COLUMNS = (
    "policy", "servers", "load", "tagged_arrivals", "tagged_cpu_s", "tail", "relative_se", "excess_share",
    "arrival_ns", "natural_arrivals", "natural_cpu_s", "ratio",
)  # fmt: skip


def measure(label, policy, servers, load, arrivals, budget):
    """Return a row of `COLUMNS`."""
    setting = Setting.parse(policy, servers, load, "pareto:1.5")
    goal = Goal(0.015, TIME, 0.015, 2 * TIME, budget)
    warm_up = runs.default_warm_up(10**6, servers, load)
    for amount in (10**5, budget):  # the first compiles
        start = time.process_time()
        names = "efficiency", f"efficiency/{policy}"
        shards = runs.sample(setting, names, 1, goal._replace(budget=amount), 16, warm_up, (TIME,))
        cpu = time.process_time() - start
    tail = Tails.of(shards, setting.sizes).at_times()
    estimate, se = float(tail.estimate[0]), float(tail.se[0])
    excess = estimate - float(setting.sizes.tail(TIME))
    start = time.process_time()
    runs.run_shards(setting, "efficiency", 1, runs.divide(arrivals, 1, warm_up))
    per_arrival = (time.process_time() - start) / arrivals
    needed = excess / se**2
    spent = sum(shard.arrivals for shard in shards)
    return (
        label, servers, load, spent, cpu, estimate, se / estimate, excess / estimate, 1e9 * per_arrival, needed,
        needed * per_arrival, needed * per_arrival / cpu,
    )  # fmt: skip


def report(rows):
    """Return the Markdown table of the rows."""
    columns = (
        "policy", "n", "load", "tagged: arrivals", "processor, s", "relative se at 1e5",
        "natural: arrivals for the same", "processor, s", "ratio",
    )  # fmt: skip
    lines = (
        (row[0], row[1], f"{row[2]:g}", f"{row[3]:.2g}", f"{row[4]:.1f}", f"{row[6]:.2%}", f"{row[9]:.2g}",
         f"{row[10]:.0f}", f"{row[11]:.0f}")
        for row in rows
    )  # fmt: skip
    return markdown_table(columns, lines)


def main():
    """Measure all cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arrivals", type=float, default=2e7, help="of the natural runs (default 2e7)")
    parser.add_argument("--budget", type=float, default=4e8, help="of the tagged ones (default 4e8)")
    parser.add_argument("-o", "--output", metavar="FILE.csv", help="also write the numbers to a CSV file")
    arguments = parser.parse_args()
    rows = [measure(*case, int(arguments.arrivals), int(arguments.budget)) for case in CASES]
    print(report(rows))
    print(f"median of the ratios: {np.median([row[-1] for row in rows]):.0f}")
    if arguments.output:
        write_csv(arguments.output, COLUMNS, rows)


if __name__ == "__main__":
    main()
