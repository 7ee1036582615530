"""Figure 10: gains against the share f of the work in short jobs, lam = 0.6."""

from tailsched.plotting.dispatch import gain_panel

if __name__ == "__main__":
    gain_panel(__doc__, xlabel="share f of the work in type-1 jobs", ylim=(0, 0.7), xlim=(0, 1))
