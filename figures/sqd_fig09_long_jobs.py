"""Figure 9: the gains of Figure 2 with f = 1/10."""

from tailsched.plotting.dispatch import gain_panel

if __name__ == "__main__":
    gain_panel(__doc__, xlim=(0.3, 1))
