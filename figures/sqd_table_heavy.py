"""Beyond the paper: heavy-tailed sizes, simulated, and by the cavity method with fitted phase-type sizes."""

from tailsched.dispatch.cavity import Cavity
from tailsched.dispatch.fits import fit
from tailsched.files import write_csv, write_text
from tailsched.plotting.dispatch import arguments_of, label
from tailsched.plotting.tables import markdown_table
from tailsched.sizes import parse_sizes

COLUMNS = ("sizes", "policy", "d", "lam", "servers", "mean_wait", "low", "high", "fitted_cavity", "phases")


def main(arguments=None):
    """Write the table."""
    given, (points,) = arguments_of(__doc__, arguments)
    rows, fits = [], {}
    for row in points:
        if row["quantity"] != "mean_wait":
            continue
        spec = row["sizes"]
        if spec not in fits:
            fits[spec] = fit(parse_sizes(spec))
        system = [row[name] for name in ("delta", "threshold")]
        cut = row["cut"] if row["cut"] and row["policy"] not in ("sq-re", "re") else None
        cavity = Cavity(row["policy"], row["d"], fits[spec].sizes, *system, cut).solve(row["lam"])
        head = (
            spec,
            row["policy"],
            row["d"],
            row["lam"],
            row["servers"],
            row["estimate"],
            row["low"],
            row["high"],
        )
        rows.append((*head, cavity.mean_wait, fits[spec].sizes.phases))
    heads = ["Sizes", "Policy", "Simulation", "Cavity, fitted sizes", "Difference"]
    body = [
        [row[0], label(row[1], row[2]), f"{row[5]:.4f} ± {(row[7] - row[6]) / 2:.4f}", f"{row[8]:.4f}",
         f"{100 * (row[8] / row[5] - 1):+.1f} %"]
        for row in rows
    ]  # fmt: skip
    note = "".join(
        f"\nFit of {spec}: {made.sizes.phases} phases, E[W] is compared at one load only.\n"
        for spec, made in fits.items()
    )
    write_text(f"{given.output}.md", markdown_table(heads, body) + note)
    write_csv(f"{given.output}.csv", COLUMNS, rows)


if __name__ == "__main__":
    main()
