"""Time and memory against the number of arrivals, of servers, the load, and the cores.

Each measurement is one ``python -m tailsched simulate`` in a process of its own, natural runs of SRPT-n with Pareto
sizes, alpha = 1.5. Short runs are mostly start-up, which the first row shows. With several shards on two cores the
time is that of the wall clock.

Run it on an idle machine: ``python benchmarks/scaling.py [-o STEM]`` writes STEM.csv and STEM.png.
"""

import argparse
import os
import subprocess
import sys
import time

from tailsched.files import write_csv
from tailsched.plotting.tables import markdown_table

COLUMNS = (
    "against",
    "arrivals",
    "servers",
    "load",
    "shards",
    "cores",
    "wall_s",
    "cpu_s",
    "arrival_ns",
    "peak_mb",
)

BASE = {"arrivals": 10**7, "servers": 3, "load": 0.5, "shards": 1, "cores": 1}

SWEEPS = {
    "arrivals": [10**6, 10**7, 10**8, 10**9],
    "servers": [2, 4, 8, 16, 32, 64],
    "load": [0.5, 0.7, 0.9, 0.95, 0.99],
    "shards": [(1, 1), (2, 1), (2, 2), (8, 1), (8, 2)],
}


def measure(arrivals, servers, load, shards, cores):
    """Return wall time, processor time, and peak memory of the largest process, in seconds and 10^6 bytes."""
    command = [
        sys.executable, "-m", "tailsched", "simulate", "--policy", "srpt", "--sizes", "pareto:1.5",
        "--method", "natural", "--json", "--seed", "1",
    ]  # fmt: skip
    values = {"arrivals": arrivals, "servers": servers, "load": load, "shards": shards, "cores": cores}
    command += [word for key, value in values.items() for word in (f"--{key}", str(value))]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed")
    unit = 1 if sys.platform == "darwin" else 1024
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 1e6


def sweep(against):
    """Yield the rows of one sweep."""
    idle = measure(1000, 3, 0.5, 1, 1)[0]
    for value in SWEEPS[against]:
        case = dict(BASE)
        if against == "shards":
            case |= {"arrivals": 4 * 10**7, "shards": value[0], "cores": value[1]}
        else:
            case[against] = value
        wall, cpu, peak = measure(**case)
        per_arrival = 1e9 * max(wall - idle, 0.0) / case["arrivals"]
        yield (against, *case.values(), wall, cpu, per_arrival, peak)


def draw(rows, path):
    """Draw nanoseconds an arrival, and memory, against each of the three numbers."""
    from tailsched.plotting import style

    fig = style.figure(2 * style.COLUMN, 2.4)
    for ax, (against, label) in zip(
        fig.subplots(1, 3),
        [("arrivals", "arrivals"), ("servers", "servers $n$"), ("load", r"load $\rho$")],
        strict=True,
    ):
        mine = [row for row in rows if row[0] == against]
        at = COLUMNS.index(against)
        x = [row[at] for row in mine]
        ax.plot(x, [row[8] for row in mine], "o-", color="C0", label="ns an arrival")
        ax.plot(x, [row[9] for row in mine], "s--", color="C1", label="peak, MB")
        ax.set_xlabel(label)
        ax.set_ylim(0, None)
        if against != "load":
            ax.set_xscale("log", base=10 if against == "arrivals" else 2)
        if against == "arrivals":
            ax.legend(fontsize=style.SMALL)
    fig.savefig(path, dpi=150)


def report(rows):
    """Return the Markdown table of the rows."""
    columns = (
        "against",
        "arrivals",
        "n",
        "load",
        "shards",
        "cores",
        "wall, s",
        "processor, s",
        "ns an arrival",
        "peak, MB",
    )
    lines = (
        (row[0], f"{row[1]:.0e}", row[2], f"{row[3]:g}", *row[4:6], f"{row[6]:.1f}", f"{row[7]:.1f}", f"{row[8]:.1f}",
         f"{row[9]:.0f}")
        for row in rows
    )  # fmt: skip
    return markdown_table(columns, lines)


def main():
    """Measure all sweeps, print the table, draw the plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", metavar="STEM", help="write STEM.csv and STEM.png")
    arguments = parser.parse_args()
    measure(10**5, 3, 0.5, 2, 2)  # compiles
    rows = [row for against in SWEEPS for row in sweep(against)]
    print(report(rows))
    if arguments.output:
        write_csv(f"{arguments.output}.csv", COLUMNS, rows)
        draw(rows, f"{arguments.output}.png")


if __name__ == "__main__":
    main()
