"""Figure 4: the policy Thresh-SPLIT(d), jobs split by a size threshold d (Section 5)."""

from tailsched.plotting import diagrams
from tailsched.plotting.diagrams import LARGE_JOBS, SMALL_JOBS


def draw():
    """Return the diagram."""
    d = diagrams.Diagram(height=2.36)
    small, large = SMALL_JOBS[1], LARGE_JOBS[1]
    test = d.decision("threshold", 0.62, 1.0, 0.56, 0.44, "size\n> $d$ ?")
    few = [(0.35, small), (0.2, small), (0.45, small), (0.28, small)]
    many = [(0.6, large), (0.95, large)]
    queue = d.queue("small queue", 1.42, 1.46, 0.66, 0.36, few, "central queue")
    big_queue = d.queue("large queue", 1.42, 0.41, 0.66, 0.36, many)
    group = d.group("small-job servers", 2.52, 1.46, 0.5, 1.32, "FCFS servers", SMALL_JOBS)
    big = d.group("large-job server", 2.52, 0.41, 0.5, 0.4, "SRPT server", LARGE_JOBS, below=True)
    servers = [
        d.server(name, 2.52, y, text)
        for name, y, text in (("small 1", 1.92, "1"), ("small 2", 1.56, "2"), ("small n-1", 1.0, "$n{-}1$"))
    ]
    d.dots(2.52, 1.28)
    last = d.server("large", 2.52, 0.41, "$n$", LARGE_JOBS)

    d.arrow((0.04, 1.0), (test, "w"), "arrivals $\\lambda$", names=("arrivals", ""))
    d.note(0.17, 1.045, "$\\lambda$", va="bottom")
    d.arrow(
        (test, "n"),
        (queue, "w"),
        "small: $S\\leq d$",
        via=[(0.62, 1.46)],
        label=(0.68, 1.51),
        ha="center",
        va="bottom",
        color=small,
    )
    d.arrow(
        (test, "s"),
        (big_queue, "w"),
        "big: $S>d$",
        via=[(0.62, 0.41)],
        label=(0.68, 0.36),
        ha="center",
        va="top",
        color=large,
    )
    d.arrow((queue, "e"), (group, "w"), "first come, first served", color=small)
    d.arrow((big_queue, "e"), (big, "w"), "shortest remaining processing time", color=large)
    d.arrow(
        (queue, "se"),
        (big, "nw"),
        "work stealing\nwhile the large\nserver is idle",
        dashed=True,
        bend=0.2,
        label=(1.37, 0.94),
        ha="center",
        color=small,
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
