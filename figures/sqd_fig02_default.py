"""Figure 2: gains at d = 5, HEXP(10, 1/2), delta = 0.1, T = 2, with simulated points."""

from tailsched.plotting.dispatch import gain_panel

if __name__ == "__main__":
    gain_panel(__doc__, xlim=(0.3, 1))
