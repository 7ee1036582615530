"""Figure 14: SEK for several eps at high load, as Figure 8(a, b) (Appendix E.2)."""

from tailsched.plotting.curve_figures import main

if __name__ == "__main__":
    main(__doc__)
