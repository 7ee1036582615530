"""Figure 8: high load on 3 (a) and 10 servers (b), Thresh-SPLIT against SRPT-n and SEK (Section 7.2)."""

from tailsched.plotting.curve_figures import main

if __name__ == "__main__":
    main(__doc__)
