"""Figure 6: gains of one policy for d = 2, 5, 10, 15 and 20."""

from tailsched.plotting.dispatch import (
    GAIN_COLUMNS,
    SHADES,
    arguments_of,
    axes,
    draw_gains,
    finish,
    gains,
    label,
)

#: The text has SQ(d)-RE(2) in (a), the authors' figure SQ(d)-RTB-RE(2); both are drawn.
POLICY = {"fig06a": "sq-re", "fig06a_rtb": "sq-rtb-re", "fig06b": "re"}


def main(arguments=None):
    """Draw a panel."""
    given, (sweep,) = arguments_of(__doc__, arguments)
    policy = POLICY[given.output.name]
    curves = gains(sweep)
    keys = sorted(key for key in curves if key[0] == policy)
    fig, ax = axes()
    names = {key: f"d = {key[1]}" for key in keys}
    styles = {key: (colour, (0, ())) for key, colour in zip(keys, SHADES, strict=False)}
    rows = draw_gains(ax, curves, names, styles)
    ax.set_xlim(0.3, 1)
    ax.set_ylim(0, 1)
    ax.set_xlabel(r"arrival rate $\lambda$")
    ax.set_ylabel(r"gain in $E[W]$ over SQ(d)")
    panel = given.output.name[5:].partition("_")[0]
    finish(fig, ax, given, GAIN_COLUMNS, rows, f"({panel}) {label(policy, 'd')}")


if __name__ == "__main__":
    main()
