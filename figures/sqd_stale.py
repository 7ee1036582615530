"""Beyond the paper: mean waits when servers' reports are old, N = 1000, simulated."""

from tailsched.plotting.dispatch import STYLES, arguments_of, axes, draw_interval, finish, label


def main(arguments=None):
    """Draw E[W] against the age of the reports."""
    given, (points,) = arguments_of(__doc__, arguments)
    means = [row for row in points if row["quantity"] == "mean_wait"]
    fig, ax = axes()
    rows = []
    for policy in dict.fromkeys(row["policy"] for row in means):
        mine = [row for row in means if row["policy"] == policy]
        colour, line = STYLES[policy]
        x, y = zip(*((row["delay"], row["estimate"]) for row in mine), strict=True)
        ax.plot(x, y, marker="o", color=colour, linestyle=line, label=label(policy, mine[0]["d"]))
        for row in mine:
            draw_interval(ax, row["delay"], row["low"], row["high"], colour)
            rows.append((policy, row["delay"], row["estimate"], row["low"], row["high"]))
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("age of the reports, in mean sizes")
    ax.set_ylabel("mean wait E[W]")
    finish(fig, ax, given, ("policy", "delay", "mean_wait", "low", "high"), rows)


if __name__ == "__main__":
    main()
