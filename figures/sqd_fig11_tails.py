"""Figure 11: tails of the waiting time at lam = 0.8, d = 5, HEXP(10, 1/2), with simulated points."""

from tailsched.plotting.dispatch import (
    PANELS,
    STYLES,
    arguments_of,
    axes,
    draw_dots,
    draw_interval,
    draw_line,
    finish,
    label,
    panel_of,
)

#: Load of the simulated points.
LAM = 0.8


def main(arguments=None):
    """Draw a panel."""
    given, (tails, points) = arguments_of(__doc__, arguments)
    panel = panel_of(given.output)
    fig, ax = axes()
    rows = []
    for policy in ("sq", *PANELS[panel]):
        name = label(policy, 5)
        curve = [(row["w"], row["tail"]) for row in tails if row["policy"] == policy]
        draw_line(ax, *zip(*curve, strict=True), STYLES[policy], name)
        rows += [("cavity", name, w, tail, None, None) for w, tail in curve]
        for p in points:
            if p["policy"] == policy and p["quantity"] == "wait_tail" and p["lam"] == LAM:
                draw_interval(ax, p["t"], p["low"], p["high"], STYLES[policy][0])
                draw_dots(ax, p["t"], p["estimate"], STYLES[policy][0])
                rows.append(("simulated", name, p["t"], p["estimate"], p["low"], p["high"]))
    ax.set_yscale("log")
    ax.set_xlim(0, 20)
    ax.set_xticks(range(0, 21, 5))
    ax.set_ylim(0.004, 0.4)
    ax.set_xlabel("waiting time w")
    ax.set_ylabel(r"$P[W > w]$")
    finish(fig, ax, given, ("kind", "curve", "w", "tail", "low", "high"), rows, f"({panel})")


if __name__ == "__main__":
    main()
