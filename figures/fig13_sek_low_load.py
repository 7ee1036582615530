"""Figure 13: SEK for several eps at low load, as Figure 6(a) (Appendix E.2)."""

from tailsched.plotting.curve_figures import main

if __name__ == "__main__":
    main(__doc__)
