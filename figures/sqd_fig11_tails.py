"""Figure 11: tails of the waiting time at lam = 0.8, d = 5, HEXP(10, 1/2), with simulated points."""

from tailsched.plotting.dispatch import PANELS, STYLES, arguments_of, axes, finish, label, panel_of

#: Load of the simulated points.
LAM = 0.8


def main(arguments=None):
    """Draw a panel."""
    given, (tails, points) = arguments_of(__doc__, arguments)
    panel = panel_of(given.output)
    fig, ax = axes()
    rows = []
    for policy in ("sq", *PANELS[panel]):
        colour, line = STYLES[policy]
        name = label(policy, 5)
        curve = [(row["w"], row["tail"]) for row in tails if row["policy"] == policy]
        ax.plot(*zip(*curve, strict=True), color=colour, linestyle=line, label=name)
        rows += [("cavity", name, w, tail, None, None) for w, tail in curve]
        for p in points:
            if p["policy"] == policy and p["quantity"] == "wait_tail" and p["lam"] == LAM:
                ax.plot([p["t"]] * 2, [p["low"], p["high"]], color=colour, linewidth=1.0)
                ax.plot(p["t"], p["estimate"], "o", color=colour, markerfacecolor="white", markersize=2.6,
                        markeredgewidth=0.8)  # fmt: skip
                rows.append(("simulated", name, p["t"], p["estimate"], p["low"], p["high"]))
    ax.set_yscale("log")
    ax.set_xlim(0, 20)
    ax.set_ylim(0.004, 0.4)
    ax.set_xlabel("waiting time w")
    ax.set_ylabel(r"$P[W > w]$")
    finish(fig, ax, given, ("kind", "curve", "w", "tail", "low", "high"), rows, f"({panel})")


if __name__ == "__main__":
    main()
