"""Figure 7: low load with other tail indices, alpha = 1.2 (a) and 2 (b) (Section 7.1)."""

from tailsched.plotting.curve_figures import main

if __name__ == "__main__":
    main(__doc__)
