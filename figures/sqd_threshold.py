"""Beyond the text: gains against the threshold T at lam = 0.8, and against lam with T = 2 E[type-1 job]."""

from pathlib import Path

from tailsched.dispatch.phase_type import hexp
from tailsched.plotting.dispatch import gain_panel, parser

POLICIES = ("sq-re", "sq-rtb-re", "re", "lew")


def main():
    """Draw a panel: (a, c) have f = 1/2, (b, d) f = 1/10."""
    name = Path(parser(__doc__).parse_args().output).name
    short = 2.0 / -hexp(10, 0.5 if name[-1] in "ac" else 0.1).generator[0, 0]
    if name[-1] in "ab":
        gain_panel(
            __doc__,
            threshold="T",
            policies=POLICIES,
            xlabel="threshold T",
            log=True,
            xlim=(0.01, 10),
            ylim=(-0.5, 0.7),
            mark_x=(short, "2 E[type-1 job]"),
        )
    else:
        gain_panel(__doc__, threshold=round(short, 3), policies=POLICIES, xlim=(0.3, 1), ylim=(-0.2, 1))


if __name__ == "__main__":
    main()
