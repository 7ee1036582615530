"""Figure 2: the chain of reductions that bounds the response time of small jobs (Lemma 4.4, Section 4.3)."""

from tailsched.plotting import diagrams
from tailsched.plotting.diagrams import LARGE_JOBS, NEUTRAL, SMALL_JOBS

WIDTH, HEIGHT, STEP, TOP = 2.62, 0.42, 0.69, 3.28
ICON, BOX = 0.3, 1.98

STAGES = (
    ("SPLIT", "SPLIT, tagged job of size $x\\leq t/C$\n$T_x^{\\mathrm{SPLIT}}$"),
    (
        "relevant work",
        "relevant work: $T_x^{\\mathrm{SPLIT}}\\leq$ the first $s$ with\n"
        "$x+(W_x^{\\mathrm{SPLIT}}+W_{A_x}(s))\\,/\\,(n-1)\\leq s$",
    ),
    (
        "SRPT-super",
        "super-server of speed $n-1$, SRPT\n$W_x^{\\mathrm{SPLIT}}\\leq W_x^{\\mathrm{super}}+(n-1)\\,x$",
    ),
    ("SRPT-1", "SRPT-1, one server of speed 1\nload $n\\rho/(n-1)<1$"),
    (
        "tail bound",
        "Lemma 4.4: $\\mathbf{P}[T_x^{\\mathrm{SPLIT}}>t]=o(t^{-\\beta})$\n"
        "for some $\\beta>\\alpha$, uniformly in $x\\leq t/C$",
    ),
)
REASONS = (
    "work that is done before the job leaves",
    "same arrivals; few- and many-jobs intervals",
    "divide all sizes by $n-1$",
    "$\\sup_{y\\leq x}\\,\\mathbf{P}[T_y^{\\mathrm{SRPT\\!-\\!1}}>Cx]=o(x^{-\\beta})$  (Lemma 4.10)",
)


def draw():
    """Return the diagram."""
    d = diagrams.Diagram(height=3.56)
    small, large = SMALL_JOBS[1], LARGE_JOBS[1]
    heights = [TOP - STEP * number for number in range(len(STAGES))]
    boxes = []
    for (name, text), y in zip(STAGES, heights, strict=True):
        last = name == STAGES[-1][0]
        boxes.append(d.box(name, BOX, y, WIDTH, HEIGHT, text, SMALL_JOBS if last else NEUTRAL))
    for upper, lower, reason in zip(boxes, boxes[1:], REASONS, strict=False):
        middle = (upper.y + lower.y) / 2
        x = BOX - WIDTH / 2 + 0.14
        d.arrow(
            (x, upper.y - HEIGHT / 2),
            (x, lower.y + HEIGHT / 2),
            reason,
            label=(x + 0.1, middle),
            ha="left",
            names=(upper.name, lower.name),
            style="normal",
        )

    for x, y, color in (
        (ICON - 0.12, heights[0] + 0.1, SMALL_JOBS),
        (ICON + 0.12, heights[0] + 0.1, SMALL_JOBS),
        (ICON - 0.12, heights[0] - 0.12, SMALL_JOBS),
        (ICON + 0.12, heights[0] - 0.12, LARGE_JOBS),
    ):
        d.server("LJF server" if color is LARGE_JOBS else "SRPT server", x, y, "", color, radius=0.085)
    jobs = [(0.3, small), (0.45, small), (0.65, small)]
    d.queue("relevant jobs", ICON, heights[1], 0.42, 0.32, jobs)
    d.server("super-server", ICON, heights[2], "$n{-}1$", radius=0.21)
    d.server("server of speed 1", ICON, heights[3], "1", radius=0.12)
    d.decay(
        "tail bound",
        ICON,
        heights[4],
        0.44,
        0.36,
        colors=(small, large),
        labels=("$t^{-\\beta}$", "$t^{-\\alpha}$"),
    )
    return d


def main(arguments=None):
    """Write the figure: ``-o OUT``."""
    diagrams.run(__doc__, draw, arguments)


if __name__ == "__main__":
    main()
