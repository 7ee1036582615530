"""Figure 5: mean number of servers tied for the shortest queue under SQ(d), given that all d are busy."""

from tailsched.plotting.dispatch import SHADES, arguments_of, axes, finish, panel_of


def main(arguments=None):
    """Draw a panel: f = 1/2 (a) or f = 1/10 (b), SCV = 10."""
    given, (sweep,) = arguments_of(__doc__, arguments)
    rows = [(row["d"], row["x"], row["ties"]) for row in sweep if row["policy"] == "sq"]
    fig, ax = axes()
    for d, colour in zip(sorted({row[0] for row in rows}), SHADES, strict=False):
        curve = [row[1:] for row in rows if row[0] == d]
        ax.plot(*zip(*curve, strict=True), color=colour, label=f"d = {d}")
    ax.set_xlim(0.3, 1)
    ax.set_ylim(0, 23)
    ax.set_xlabel(r"arrival rate $\lambda$")
    ax.set_ylabel(r"ties $\mathcal{T}_d(\lambda)$")
    finish(fig, ax, given, ("d", "lam", "ties"), rows, f"({panel_of(given.output)})",
           loc="upper center", ncols=5, columnspacing=0.8, handlelength=1.2)  # fmt: skip


if __name__ == "__main__":
    main()
