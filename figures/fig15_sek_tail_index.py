"""Figure 15: SEK for several eps with other tail indices, as Figure 7(a, b) (Appendix E.2)."""

from tailsched.plotting.curve_figures import main

if __name__ == "__main__":
    main(__doc__)
