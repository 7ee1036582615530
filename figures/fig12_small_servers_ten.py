"""Figure 12: FCFS and SRPT on the small-job servers of Thresh-SPLIT, ten servers (Appendix E.1)."""

from tailsched.plotting.curve_figures import main

if __name__ == "__main__":
    main(__doc__, yscale="log")
