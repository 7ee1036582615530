"""Figure 8: gains against the squared coefficient of variation, lam = 0.7."""

from tailsched.plotting.dispatch import gain_panel

if __name__ == "__main__":
    gain_panel(__doc__, xlabel="squared coefficient of variation", ylim=(0, 0.5))
