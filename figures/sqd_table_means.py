"""E[W] of all policies at d = 5, HEXP(10, 1/2): the cavity value, and the simulated one beside it."""

from tailsched.dispatch.cavity import Cavity
from tailsched.files import write_csv, write_text
from tailsched.plotting.dispatch import arguments_of, label
from tailsched.plotting.tables import markdown_table

COLUMNS = ("policy", "d", "lam", "servers", "cavity", "iterations", "mean_wait", "low", "high", "half_widths")


def main(arguments=None):
    """Write the table; the last column is the distance in half widths of the interval."""
    given, (points,) = arguments_of(__doc__, arguments)
    rows = []
    for row in points:
        if row["quantity"] != "mean_wait":
            continue
        system = [row[name] for name in ("policy", "d", "sizes", "delta", "threshold")]
        solution = Cavity(*system, row["cut"] or None).solve(row["lam"])
        half = (row["high"] - row["low"]) / 2
        distance = (row["estimate"] - solution.mean_wait) / half
        head = row["policy"], row["d"], row["lam"], row["servers"], solution.mean_wait, solution.iterations
        rows.append((*head, row["estimate"], row["low"], row["high"], distance))
    rows.sort(key=lambda row: row[2])
    heads = ["lam", "Policy", "Cavity", "Iterations", f"Simulation, N = {rows[0][3]}", "Distance"]
    body = [
        [
            f"{lam:g}",
            label(policy, d),
            f"{cavity:.7f}",
            count,
            f"{mean:.5f} ± {(high - low) / 2:.5f}",
            f"{away:+.2f}",
        ]
        for policy, d, lam, _, cavity, count, mean, low, high, away in rows
    ]
    write_text(f"{given.output}.md", markdown_table(heads, body))
    write_csv(f"{given.output}.csv", COLUMNS, rows)


if __name__ == "__main__":
    main()
