"""Figure 3(c): hazard rates of MErlang(10, 1/2, k): decreasing for k = 1 only."""

import numpy as np

from tailsched.dispatch.phase_type import merlang
from tailsched.plotting.dispatch import SHADES, arguments_of, axes, finish

#: The text's list of k is lost.
SHAPES = (1, 2, 5, 10)


def main(arguments=None):
    """Draw the panel."""
    given, _ = arguments_of(__doc__, arguments)
    ages = np.linspace(0.0, 15.0, 301)
    fig, ax = axes()
    rows = []
    for k, colour in zip(SHAPES, SHADES, strict=False):
        hazard = merlang(10, 0.5, k).hazard(ages)
        ax.plot(ages, hazard, color=colour, label=f"k = {k}")
        rows += [(k, float(a), float(h)) for a, h in zip(ages, hazard, strict=True)]
    ax.set_xlim(0, 15)
    ax.set_ylim(0, None)
    ax.set_xlabel("attained service a")
    ax.set_ylabel("hazard rate")
    finish(fig, ax, given, ("k", "age", "hazard"), rows, "(c)")


if __name__ == "__main__":
    main()
