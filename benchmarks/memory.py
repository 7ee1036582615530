"""Peak memory and time per arrival of shards of growing length.

A run of any length is made of shards that keep histograms and the jobs in the system, nothing else, so
memory must not grow with the number of arrivals, and neither must the time per arrival. What may grow is the
backlog: FCFS is also measured with a seed that draws a giant, behind which jobs wait by the million.

Each measurement is one process of ``python -m tailsched shard``, started by a fresh process of its own,
whose only child it is. Short shards are run several to a process, or their time would drown in that of the
start-up (imports, compiled code from the cache), which is measured with a shard of hardly any arrivals and
subtracted. Of several repetitions the largest peak and the least time count.

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

#: A seed that draws a size of 8e6 before the 1.5e7th arrival: of 226 shards of 1e8, one has such a size.
GIANT = 2

#: Arrivals of the shard that stands for the start-up.
START = 1000

#: Arrivals of a process that runs several shards.
LEAST = 20_000_000

#: Bytes in the unit of ``ru_maxrss``.
UNIT = 1 if sys.platform == "darwin" else 1024


class Case(NamedTuple):
    """A policy, the system it is measured on, and the seed."""

    policy: str
    servers: int
    load: float
    seed: int = 1


CASES = (
    Case("srpt", 3, 0.5),
    Case("fcfs", 3, 0.94),
    Case("fcfs", 3, 0.94, seed=GIANT),
    Case("thresh-split:threshold-percentile=99.9,small=fcfs", 3, 0.5),
    Case("tags-split:threshold-percentile=99.9", 3, 0.5),
)

COLUMNS = (
    "policy", "servers", "load", "seed", "arrivals", "shards", "longest_response",
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


def command(case, arrivals, shards, output):
    """Return the command that simulates some shards of a case, of the given arrivals each."""
    return [
        sys.executable, "-m", "tailsched", "shard", "--curve", "memory", "--streams", "memory",
        "--shards", f"0-{shards - 1}",
        "--policy", case.policy, "--servers", str(case.servers), "--load", str(case.load),
        "--sizes", "pareto:1.5", "--arrivals", str(arrivals), "--warm-up", str(arrivals // 10),
        "--seed", str(case.seed), "--times", "10,100,1000,10000,100000,1000000", "-o", str(output),
    ]  # fmt: skip


def measure(case, lengths, repeats, folder):
    """Yield the rows, by `COLUMNS`, of a case; the first is the start-up.

    Parameters
    ----------
    case : Case
    lengths : arrivals of the shards
    repeats : runs of each process
    folder : path of an existing folder for the shards
    """
    from tailsched.tails.shards import load

    output = folder / "shards.npz"
    usage(command(case, START, 1, output))
    start = 0.0
    for arrivals in (START, *lengths):
        count = max(LEAST // arrivals, 1) if arrivals > START else 1
        uses = [usage(command(case, arrivals, count, output)) for _ in range(repeats)]
        peak, cpu = max(use.peak for use in uses), min(use.cpu for use in uses)
        shards = load(output)
        each = (cpu - start) / sum(shard.arrivals for shard in shards) * 1e9 if start else None
        start = start or cpu
        longest = max(shard.totals.longest for shard in shards)
        yield dict(zip(COLUMNS, (*case, arrivals, count, longest, peak, cpu, each), strict=True))


def report(rows):
    """Return the Markdown table of the rows."""
    columns = (
        "policy", "n", "load", "seed", "arrivals of a shard", "shards", "longest response",
        "peak, MB", "processor, s", "ns an arrival",
    )  # fmt: skip
    lines = (
        (
            row["policy"],
            row["servers"],
            f"{row['load']:g}",
            row["seed"],
            f"{row['arrivals']:.0e}".replace("e+0", "e"),
            row["shards"],
            f"{row['longest_response']:.1e}".replace("e+0", "e"),
            f"{row['peak_mb']:.0f}",
            f"{row['cpu_s']:.2f}",
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
    parser.add_argument("--repeats", type=int, default=3, help="runs of each process (default 3)")
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
