"""From which finite t on SPLIT's tail is below SRPT-n's, by servers, load and tail index.

Beyond the paper. The crossing lies between the last time at which SPLIT's tail is shown to be above and the
first after it at which it is shown to be below; times are in mean sizes, eight an octave. Nothing is shown
beyond the last column: too few jobs are left there.
"""

import argparse
import json
from pathlib import Path

from tailsched.files import write_csv, write_text
from tailsched.plotting.tables import markdown_table

COLUMNS = ("servers", "load", "alpha", "last_above", "below_from", "below_until")
HEADER = ("$n$", r"$\rho$", r"$\alpha$", "last shown above", "shown below from", "to")


def rows(probe):
    """Return the rows; times are in units of the mean size, None where nothing is shown."""
    table = []
    for cell in probe["cells"]:
        mean = cell["alpha"] / (cell["alpha"] - 1)
        times = (None if cell[key] is None else cell[key] / mean for key in COLUMNS[3:])
        table.append((cell["servers"], cell["load"], cell["alpha"], *times))
    return table


def main():
    """Write the table of the probe named on the command line: OUT.csv and OUT.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("probe", type=Path, metavar="PROBE.json")
    parser.add_argument("-o", "--output", required=True, help="path without a suffix")
    arguments = parser.parse_args()
    try:
        probe = json.loads(arguments.probe.read_text(encoding="utf-8"))
    except FileNotFoundError:
        parser.exit(
            2, f"{parser.prog}: {arguments.probe} is missing: `snakemake {arguments.probe}` makes it\n"
        )
    table = rows(probe)
    write_csv(f"{arguments.output}.csv", COLUMNS, table)
    shown = [
        [f"{n}", f"{load:g}", f"{alpha:g}", *("" if t is None else f"{t:.3g}" for t in times)]
        for n, load, alpha, *times in table
    ]
    text = "# Where SPLIT's tail passes below SRPT-n's\n\n" + __doc__.partition("\n\n")[2] + "\n"
    write_text(f"{arguments.output}.md", text + markdown_table(HEADER, shown))


if __name__ == "__main__":
    main()
