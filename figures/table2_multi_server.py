"""Table 2: tail optimality of multi-server policies, and what a run measured beside each predicted limit.

The limit is that of the normalized tail P[T > t] / P[S > c t] with c = min(1, n (1 - rho)), for
Pareto-like sizes of index -alpha. r_{>d} and rho_large(d) are the loads of the large server, q is the
long-run rate at which the policy serves one endless job of lowest priority.
"""

from pathlib import Path

import numpy as np

from tailsched.curves import read_curve
from tailsched.files import write_csv, write_text
from tailsched.plotting.tables import (
    MEASURED,
    markdown_table,
    measured_markdown,
    output_parser,
    plain,
)

THEORY = ("policy", "sizes", "regime", "optimality", "theorem", "limit", "source")
HEADER = ("Policy", "Sizes", "Regime", "Tail optimality", "Theorem", "Limit of the normalized tail", "Source")

#: Times at which a curve is quoted; they lie on the curves' grid.
TIMES = (1024.0, 16384.0)

HEAVY, LIGHT = "heavy-tailed", "light-tailed"
_LOW = r"$\rho<(n-1)/n$"
_LOW_D = r"$\rho\leq (n-1)/n$, $d\to\infty$"
_HIGH_D = r"$\rho>(n-1)/n$, $d\uparrow d^\ast$"
_CLOSE = "arbitrarily close to strongly optimal; not strongly optimal for a fixed d"
_FCFS = r"$n\rho$ not an integer, $k=\lfloor n\rho\rfloor$, "
_DERIVED = "derived for this artifact"
_FCFS_SOURCE = _DERIVED + ": the waiting time has tail index $-(n-k)(\\alpha-1)$; no result of the paper"

ROWS = (
    (
        "FCFS-n",
        HEAVY,
        _FCFS + r"$(n-k)(\alpha-1)<\alpha$",
        "not weakly optimal",
        "",
        r"$\infty$",
        _FCFS_SOURCE,
    ),
    (
        "FCFS-n",
        HEAVY,
        _FCFS + r"$(n-k)(\alpha-1)>\alpha$",
        "strongly optimal",
        "",
        "$1$",
        _FCFS_SOURCE,
    ),
    (
        "SRPT-n",
        HEAVY,
        r"$\rho<1$, $n\geq 2$",
        "weakly, not strongly, optimal",
        "A.1, B.1",
        r"$\geq (c/q)^\alpha>1$, finite; expected $(c/q)^\alpha$",
        "Section 1.3, Appendices A and B; equality is expected, not proved",
    ),
    (
        "SEK-eps",
        HEAVY,
        r"$\rho<1$",
        "no theorem; above 1 in simulation",
        "",
        r"expected $(c/q)^\alpha$ with the $q$ of SEK",
        "Section 7, policy of Grosof and Hurtado-Lange (2025); limit " + _DERIVED,
    ),
    (
        "SPLIT",
        HEAVY,
        _LOW,
        "strongly optimal",
        "4.2 and its corollary",
        "$1$",
        "Section 4",
    ),
    (
        "SPLIT",
        HEAVY,
        r"$\rho\geq (n-1)/n$",
        "does not apply",
        "",
        "",
        "Sections 1.4 and 7.2",
    ),
    (
        "Thresh-SPLIT(d)",
        HEAVY,
        _LOW_D,
        _CLOSE,
        "5.3, 5.4",
        r"$(c/(1-r_{>d}))^\alpha$, tends to $1$",
        "Section 5; limit written out for this artifact",
    ),
    (
        "Thresh-SPLIT(d)",
        HEAVY,
        _HIGH_D,
        _CLOSE,
        "5.3, 5.4",
        r"$(c/(1-r_{>d}))^\alpha$, tends to $1$",
        "Section 5; limit written out for this artifact",
    ),
    (
        "TAGS-SPLIT(d)",
        HEAVY,
        _LOW_D,
        _CLOSE + " (under Approximation 1)",
        "6.2, 6.3",
        r"$(c/(1-\rho_{large}(d)))^\alpha$, tends to $1$",
        "Section 6; limit written out for this artifact",
    ),
    (
        "TAGS-SPLIT(d)",
        HEAVY,
        _HIGH_D,
        _CLOSE + " (under Approximation 1)",
        "6.2, 6.3",
        r"$(c/(1-\rho_{large}(d)))^\alpha$, tends to $1$",
        "Section 6; limit written out for this artifact",
    ),
    (
        "Boost",
        LIGHT,
        "heavy traffic",
        "strongly optimal",
        "",
        "",
        "Sections 1.3, 2.3: Yu et al. (2025)",
    ),
    (
        "Boost",
        LIGHT,
        "outside heavy traffic",
        "nothing is known; degrades",
        "",
        "",
        "Sections 1.3, 2.3 and 9: Yu et al. (2025)",
    ),
    (
        "CombinedBoost",
        LIGHT,
        "all loads",
        "no theorem; strong numerically",
        "",
        "",
        "Section 2.3: Yu et al. (2025)",
    ),
)

NOTE = r"""
$c=\min\{1,n(1-\rho)\}$; $r_{>d}=\lambda\mathbf{E}[S;S>d]$ and
$\rho_{large}(d)=\lambda\mathbf{E}[(S-d)^+]$ are the loads of the large server, and $d^\ast$ is the threshold
at which the $n-1$ small servers are saturated; $q$ is the long-run rate at which the policy serves one
endless job of lowest priority, for SRPT-n $q=\mathbf{P}[N\leq n-1]$. Sections and theorems are those of the
paper.
"""


def measured_rows(paths):
    """Return what the curves say at `TIMES`, as dicts with the keys `tailsched.plotting.tables.MEASURED`."""
    rows = []
    for path in paths:
        summary, columns = read_curve(Path(path))
        limit = summary["limit"]
        for time in TIMES:
            numbers = {"normalized_tail": None, "low": None, "high": None}
            for index in np.flatnonzero(columns["t"] == time):
                for name, column in zip(
                    numbers, ("normalized", "normalized_low", "normalized_high"), strict=True
                ):
                    value = float(columns[column][index])
                    numbers[name] = None if np.isnan(value) else value
            rows.append(
                {
                    "setting": f"n={summary['servers']}, rho={summary['load']:g}, {summary['sizes']}",
                    "policy": summary["label"],
                    "predicted_limit": None if limit is None else float(limit),
                    "t": time,
                    **numbers,
                }
            )
    return rows


def write(output, measured=()):
    """Write OUT.csv and OUT.md.

    Parameters
    ----------
    output : path-like
        Without a suffix.
    measured : sequence of dict, optional
        Rows with the keys `tailsched.plotting.tables.MEASURED`. They follow the theory in the CSV, told
        apart by its column ``part``, and make a second table in the Markdown.
    """
    columns = ("part", *THEORY, *(name for name in MEASURED if name not in THEORY))
    rows = [{"part": "theory", **dict(zip(THEORY, map(plain, row), strict=True))} for row in ROWS] + [
        {"part": "measured", **row, "policy": plain(row["policy"])} for row in measured
    ]
    write_csv(f"{output}.csv", columns, rows)
    text = "# Table 2. Tail optimality in the M/G/n\n\n" + markdown_table(HEADER, ROWS) + NOTE
    if measured:
        text += "\n## Measured in this run\n\n" + measured_markdown(measured)
    write_text(f"{output}.md", text)


def main(arguments=None):
    """Write the table: ``-o OUT`` gives OUT.csv and OUT.md; ``--curves`` adds what was measured."""
    parser = output_parser(__doc__, ("csv", "md"))
    parser.add_argument(
        "--curves",
        nargs="+",
        default=[],
        metavar="CURVE.csv",
        help="curves, each with its JSON beside it",
    )
    options = parser.parse_args(arguments)
    try:
        measured = measured_rows(options.curves)
    except ValueError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    write(options.output, measured)


if __name__ == "__main__":
    main()
