"""Peak memory and time per arrival of shards of growing length.

A run of any length is made of shards that keep histograms and the jobs in the system, nothing else, so
memory must not grow with the number of arrivals, and neither must the time per arrival. FCFS is measured
where its queue is long: with Pareto sizes of index 1.5 at a high load, jobs wait behind a giant by the
hundred thousand.

Each measurement is one process of ``python -m tailsched shard``, started by a fresh process of its own,
whose only child it is. Of several repetitions the largest peak and the least time count. Start-up (imports,
compiled code from the cache) is measured with a shard of hardly any arrivals, and subtracted from the times
per arrival.

Run it on an idle machine: ``python benchmarks/memory.py [-o FILE.csv]``.
"""

import argparse
import multiprocessing
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tailsched.files import write_csv
from tailsched.plotting.tables import markdown_table

#: Largest resident memory that a shard may need, in units of 10^6 bytes.
LIMIT = 400

#: Arrivals of the shard that stands for the start-up.
START = 1000

#: Bytes in the unit of ``ru_maxrss``.
UNIT = 1 if sys.platform == "darwin" else 1024


class Case(NamedTuple):
    """A policy and the system it is measured on."""

    policy: str
    servers: int
    load: float


CASES = (
    Case("srpt", 3, 0.5),
    Case("fcfs", 3, 0.94),
    Case("thresh-split:threshold-percentile=99.9,small=fcfs", 3, 0.5),
    Case("tags-split:threshold-percentile=99.9", 3, 0.5),
)

COLUMNS = (
    "policy", "servers", "load", "arrivals", "simulated", "longest_response",
    "peak_mb", "cpu_s", "arrival_ns",
)  # fmt: skip


class Usage(NamedTuple):
    """Peak resident memory in 10^6 bytes, processor time in seconds."""

    peak: float
    cpu: float


def _use(command):
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Usage(used.ru_maxrss * UNIT / 1e6, used.ru_utime + used.ru_stime)


def usage(command):
    """Run a command as the only child of a new, small process; return its `Usage`.

    Raises
    ------
    subprocess.CalledProcessError
        If the command fails.
    """
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_use, command).result()


def command(case, arrivals, output):
    """Return the command that simulates one shard of a case."""
    return [
        sys.executable, "-m", "tailsched", "shard", "--curve", "memory", "--shards", "0",
        "--policy", case.policy, "--servers", str(case.servers), "--load", str(case.load),
        "--sizes", "pareto:1.5", "--arrivals", str(arrivals), "--warm-up", str(arrivals // 10),
        "--seed", "1", "--times", "10,100,1000,10000,100000,1000000", "-o", str(output),
    ]  # fmt: skip


def measure(case, lengths, repeats, folder):
    """Yield the rows, by `COLUMNS`, of a case; the first is the start-up.

    Parameters
    ----------
    case : Case
    lengths : arrivals of the shards
    repeats : runs of each shard
    folder : path of an existing folder for the shards
    """
    from tailsched.tails.shards import load

    output = folder / "shard.npz"
    usage(command(case, START, output))
    start = 0.0
    for arrivals in (START, *lengths):
        uses = [usage(command(case, arrivals, output)) for _ in range(repeats)]
        peak, cpu = max(use.peak for use in uses), min(use.cpu for use in uses)
        (shard,) = load(output)
        each = (cpu - start) / shard.arrivals * 1e9 if start else None
        start = start or cpu
        values = *case, arrivals, shard.arrivals, shard.totals.longest, peak, cpu, each
        yield dict(zip(COLUMNS, values, strict=True))


def report(rows):
    """Return the Markdown table of the rows."""
    columns = (
        "policy", "n", "load", "arrivals", "longest response", "peak, MB", "processor, s", "ns an arrival",
    )  # fmt: skip
    lines = (
        (
            row["policy"],
            row["servers"],
            f"{row['load']:g}",
            f"{row['arrivals']:.0e}".replace("e+0", "e"),
            f"{row['longest_response']:.2e}".replace("e+0", "e"),
            f"{row['peak_mb']:.0f}",
            f"{row['cpu_s']:.1f}",
            "(start-up)" if row["arrival_ns"] is None else f"{row['arrival_ns']:.1f}",
        )
        for row in rows
    )
    return markdown_table(columns, lines)


def main():
    """Measure all cases and print the table; exit with 1 if a shard needs more than `LIMIT`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--arrivals", default="1e6,1e7,1e8", help="lengths of the shards (default 1e6,1e7,1e8)"
    )
    parser.add_argument("--repeats", type=int, default=3, help="runs of each shard (default 3)")
    parser.add_argument("-o", "--output", metavar="FILE.csv", help="also write the numbers to a CSV file")
    arguments = parser.parse_args()
    lengths = [int(float(text)) for text in arguments.arrivals.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for case in CASES for row in measure(case, lengths, arguments.repeats, Path(folder))]
    print(report(rows))
    most = max(row["peak_mb"] for row in rows)
    print(f"largest peak: {most:.0f} MB, limit {LIMIT} MB: {'met' if most <= LIMIT else 'exceeded'}")
    if arguments.output:
        write_csv(arguments.output, COLUMNS, rows)
    return int(most > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
