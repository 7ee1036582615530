"""Figure 9: TAGS-SPLIT at low (a) and high load (b) (Section 7.3)."""

from tailsched.plotting.curve_figures import main

if __name__ == "__main__":
    main(__doc__, yscale="log")
