"""Figure 12: gains with delta = 0.01, for SCV = 10 and 30."""

from tailsched.plotting.dispatch import gain_panel

if __name__ == "__main__":
    gain_panel(__doc__, xlim=(0.3, 1), policies=("sq-rtb", "sq-rtb-re", "las", "las-qtb", "lew"))
