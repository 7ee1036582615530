"""Figure 4: the gains of Figure 2 with d = 20, with simulated points."""

from tailsched.plotting.dispatch import gain_panel

if __name__ == "__main__":
    gain_panel(__doc__, d=20, xlim=(0.3, 1))
