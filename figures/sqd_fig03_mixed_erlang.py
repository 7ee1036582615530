"""Figure 3(a, b): the gains of Figure 2 with MErlang(10, 1/2, 5) sizes."""

from tailsched.plotting.dispatch import gain_panel

if __name__ == "__main__":
    gain_panel(__doc__, xlim=(0.3, 1))
