"""Figure 5: the policy TAGS-SPLIT(d), which guesses sizes by serving every job for a time d (Section 6)."""

from tailsched.plotting import diagrams
from tailsched.plotting.diagrams import LARGE_JOBS, SMALL_JOBS


def draw():
    """Return the diagram."""
    d = diagrams.Diagram(height=2.36)
    small, large = SMALL_JOBS[1], LARGE_JOBS[1]
    jobs = [(0.7, "#9a9a9a")] * 5  # the scheduler knows no sizes
    queue = d.queue("queue", 0.93, 1.46, 0.72, 0.4, jobs, "central queue")
    group = d.group("small-job servers", 2.52, 1.46, 0.5, 1.32, "FCFS servers", SMALL_JOBS)
    big = d.group("big-job server", 2.52, 0.41, 0.5, 0.4, "PS server", LARGE_JOBS, below=True)
    servers = [
        d.server(name, 2.52, y, text)
        for name, y, text in (("small 1", 1.92, "1"), ("small 2", 1.56, "2"), ("small n-1", 1.0, "$n{-}1$"))
    ]
    d.dots(2.52, 1.28)
    shades = (large, "#e2685f", "#f0a49d")
    last = d.server("big", 2.52, 0.41, "", LARGE_JOBS, shares=shades)

    d.arrow((0.1, 1.46), (queue, "w"), "arrivals $\\lambda$", names=("arrivals", ""))
    d.note(0.31, 1.505, "$\\lambda$", va="bottom")
    d.note(0.31, 1.41, "arrivals", va="top")
    d.arrow(
        (queue, "e"),
        (group, "w"),
        "every job, for a\ntime $d$ at most",
        label=(1.78, 1.51),
        va="bottom",
        color=small,
    )
    d.arrow((group, "s"), (big, "n"), "age reaches $d$: moves with $S-d$ left", color=large)
    d.note(
        2.2,
        0.68,
        "not done after $d$: moves on\nwith $S-d$ left, no work lost",
        ha="right",
        color=large,
    )
    for server in (*servers, last):
        d.arrow((server, "e"), (3.06, server.y), names=("", "departures"))
    d.note(3.19, 1.16, "departures", rotation=-90)
    return d


def main(arguments=None):
    """Write the figure: ``-o OUT``."""
    diagrams.run(__doc__, draw, arguments)


if __name__ == "__main__":
    main()
