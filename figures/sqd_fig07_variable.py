"""Figure 7: the gains of Figure 2 with SCV = 30."""

from tailsched.plotting.dispatch import gain_panel

if __name__ == "__main__":
    gain_panel(__doc__, xlim=(0.3, 1))
