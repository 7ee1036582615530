"""Figure 1: the policy SPLIT, n-1 SRPT servers and one LJF server (Section 4.1)."""

from tailsched.plotting import diagrams
from tailsched.plotting.diagrams import LARGE_JOBS, SMALL_JOBS


def draw():
    """Return the diagram."""
    d = diagrams.Diagram(height=2.36)
    small, large = SMALL_JOBS[1], LARGE_JOBS[1]
    jobs = [(0.22, small), (0.3, small), (0.38, small), (0.55, small), (0.95, large)]
    queue = d.queue("queue", 0.93, 1.3, 0.72, 0.4, jobs, "queue")
    srpt = d.group("SRPT servers", 2.52, 1.46, 0.5, 1.32, "SRPT servers", SMALL_JOBS)
    ljf = d.group("LJF server", 2.52, 0.41, 0.5, 0.4, "LJF server, non-preemptive", LARGE_JOBS, below=True)
    servers = [
        d.server(name, 2.52, y, text)
        for name, y, text in (("SRPT 1", 1.92, "1"), ("SRPT 2", 1.56, "2"), ("SRPT n-1", 1.0, "$n{-}1$"))
    ]
    d.dots(2.52, 1.28)
    last = d.server("LJF", 2.52, 0.41, "$n$", LARGE_JOBS)

    d.arrow((0.1, 1.3), (queue, "w"), "arrivals $\\lambda$", names=("arrivals", ""))
    d.note(0.31, 1.345, "$\\lambda$", va="bottom")
    d.note(0.31, 1.25, "arrivals", va="top")
    d.arrow(
        (queue, "e"),
        (srpt, "w"),
        "the $n-1$ smallest\nremaining sizes",
        via=[(1.4, 1.3), (1.4, 1.46)],
        label=(1.78, 1.51),
        va="bottom",
        color=small,
    )
    d.arrow(
        (queue, "s"),
        (ljf, "w"),
        "when idle: fetch the\nlargest original size,\nqueued or on an\nSRPT server",
        via=[(0.93, 0.41)],
        label=(1.0, 0.46),
        ha="left",
        va="bottom",
        color=large,
    )
    d.arrow(
        (srpt, "s"), (ljf, "n"), "largest original size, if it is on an SRPT server", dashed=True, color=large
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
