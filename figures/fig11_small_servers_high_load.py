"""Figure 11: FCFS and SRPT on the small-job servers of Thresh-SPLIT, high load (Appendix E.1)."""

from tailsched.plotting.curve_figures import main

if __name__ == "__main__":
    main(__doc__, yscale="log")
