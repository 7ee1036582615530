"""Figure 1: change in L1 from one iteration to the next, from an idle system, lam = 0.8."""

from tailsched.plotting.dispatch import SHADES, STYLES, arguments_of, axes, draw_line, finish, label, panel_of


def main(arguments=None):
    """Draw a panel: the policies (a), or SQ(d)-RTB for d = 2 to 8 (b)."""
    given, (rows,) = arguments_of(__doc__, arguments)
    panel = panel_of(given.output)
    curves = {}
    for row in rows:
        curves.setdefault((row["policy"], row["d"]), []).append((row["iteration"], row["change"]))
    fig, ax = axes()
    for i, (key, points) in enumerate(curves.items()):
        style = STYLES[key[0]] if panel == "a" else (SHADES[i % len(SHADES)], (0, ()))
        name = label(*key) if panel == "a" else f"d = {key[1]}"
        draw_line(ax, *zip(*points, strict=True), style, name)
    ax.set_yscale("log")
    ax.set_xlim(1, 30 if panel == "a" else 60)
    ax.set_ylim(1e-14, 3)
    ax.set_xlabel("iteration n")
    ax.set_ylabel(r"$\|\pi^{(n)} - \pi^{(n-1)}\|_1$")
    columns = ("policy", "d", "iteration", "change")
    finish(fig, ax, given, columns, rows, f"({panel})")


if __name__ == "__main__":
    main()
