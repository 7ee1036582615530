"""Figure 6: low load, (a) SPLIT, SRPT-n and SEK, (b) Thresh-SPLIT at three thresholds (Section 7.1)."""

from tailsched.plotting.curve_figures import main

if __name__ == "__main__":
    main(__doc__)
