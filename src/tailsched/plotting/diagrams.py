"""Schematic figures: boxes, servers, queues and arrows, placed in inches, with a table of what is drawn.

A `Diagram` draws each node and edge at once and records it, so that the CSV beside the figure lists
exactly what the figure shows.
"""

import math
from dataclasses import dataclass

from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Polygon, Rectangle, Wedge

from tailsched.files import write_csv
from tailsched.plotting import style
from tailsched.plotting.tables import output_parser, plain

COLUMNS = ("kind", "name", "from", "to", "text")

#: Fill and edge of what belongs to small jobs, to large jobs, and to neither.
SMALL_JOBS = ("#e3eefa", "#0b62b0")
LARGE_JOBS = ("#fbe4e1", "#cc1f1f")
NEUTRAL = ("#f4f4f4", "#6b6b6b")


@dataclass(frozen=True)
class Node:
    """A drawn node: name, centre, half width and half height in inches."""

    name: str
    x: float
    y: float
    a: float
    b: float
    round: bool = False

    def side(self, where):
        """Return a point of the outline: a compass letter pair such as ``"e"`` or ``"nw"``."""
        dx = ("e" in where) - ("w" in where)
        dy = ("n" in where) - ("s" in where)
        shrink = math.sqrt(0.5) if self.round and dx and dy else 1.0
        return self.x + dx * self.a * shrink, self.y + dy * self.b * shrink


class Diagram:
    """A drawing surface of `width` by `height` inches, origin at the lower left."""

    def __init__(self, width=style.COLUMN, height=2.0):
        self.fig = style.figure(width, height, layout="none")
        self.ax = self.fig.add_axes((0, 0, 1, 1))
        self.ax.set_axis_off()
        self.ax.set_xlim(0, width)
        self.ax.set_ylim(0, height)
        self.rows = []

    def _record(self, kind, name="", start="", end="", text=""):
        self.rows.append((kind, name, start, end, plain(text)))

    def _text(self, x, y, text, **options):
        options = {"ha": "center", "va": "center", "fontsize": style.SMALL, "linespacing": 1.25} | options
        self.ax.text(x, y, text, zorder=6, **options)

    def box(self, name, x, y, width, height, text="", colors=NEUTRAL, fontsize=style.SMALL, dashed=False):
        """Draw a rounded box with centred text."""
        fill, edge = colors
        pad = 0.04
        self.ax.add_patch(
            FancyBboxPatch(
                (x - width / 2 + pad, y - height / 2 + pad),
                width - 2 * pad,
                height - 2 * pad,
                boxstyle=f"round,pad={pad},rounding_size=0.05",
                facecolor=fill,
                edgecolor=edge,
                linewidth=0.8,
                linestyle=(0, (3, 2)) if dashed else "-",
                zorder=2,
            )
        )
        self._text(x, y, text, fontsize=fontsize)
        self._record("box", name, text=text)
        return Node(name, x, y, width / 2, height / 2)

    def group(self, name, x, y, width, height, title, colors=NEUTRAL, below=False):
        """Draw a tinted frame with a title above (or below) it; servers go on top of it."""
        fill, edge = colors
        self.ax.add_patch(
            FancyBboxPatch(
                (x - width / 2 + 0.05, y - height / 2 + 0.05),
                width - 0.1,
                height - 0.1,
                boxstyle="round,pad=0.05,rounding_size=0.07",
                facecolor=fill,
                edgecolor=edge,
                linewidth=0.7,
                zorder=1,
            )
        )
        offset = height / 2 + 0.05
        self._text(
            x,
            y - offset if below else y + offset,
            title,
            color=edge,
            va="top" if below else "bottom",
            fontweight="bold",
        )
        self._record("group", name, text=title)
        return Node(name, x, y, width / 2, height / 2)

    def server(self, name, x, y, text="", colors=SMALL_JOBS, radius=0.15, shares=()):
        """Draw a server, a circle; `shares` colours equal slices of a processor-sharing server."""
        edge = colors[1]
        self.ax.add_patch(Circle((x, y), radius, facecolor="white", edgecolor=edge, linewidth=1.0, zorder=3))
        for number, color in enumerate(shares):
            turn = 360 / len(shares)
            start = 90 + number * turn
            wedge = Wedge((x, y), radius * 0.86, start, start + turn, facecolor=color, edgecolor="white")
            wedge.set(linewidth=0.8, zorder=4)
            self.ax.add_patch(wedge)
        self._text(x, y, text, color=edge)
        self._record("server", name, text=text)
        return Node(name, x, y, radius, radius, round=True)

    def dots(self, x, y):
        """Draw a vertical ellipsis, for the servers that are left out."""
        for step in (-0.055, 0, 0.055):
            self.ax.add_patch(Circle((x, y + step), 0.013, facecolor=style.GREY, linewidth=0, zorder=3))

    def queue(self, name, x, y, width, height, jobs, text="", above=True):
        """Draw a queue that is open at its left end; the head is at the right.

        Parameters
        ----------
        jobs : sequence of (float, str)
            Height as a share of the queue's and colour of each waiting job, head first.
        """
        left, right, low, high = x - width / 2, x + width / 2, y - height / 2, y + height / 2
        style_ = {"color": style.INK, "linewidth": 0.9, "zorder": 3, "solid_joinstyle": "miter"}
        self.ax.plot([left, right, right, left], [high, high, low, low], **style_)
        bar = 0.085
        for place, (share, color) in enumerate(jobs):
            x0 = right - 0.035 - bar - place * (bar + 0.03)
            tall = share * (height - 0.07)
            self.ax.add_patch(
                Rectangle((x0, low + 0.035), bar, tall, facecolor=color, linewidth=0, alpha=0.9, zorder=2)
            )
        if text:
            self._text(x, high + 0.05 if above else low - 0.05, text, va="bottom" if above else "top")
        self._record("queue", name, text=text)
        return Node(name, x, y, width / 2, height / 2)

    def decision(self, name, x, y, width, height, text):
        """Draw a decision, a diamond."""
        a, b = width / 2, height / 2
        corners = [(x - a, y), (x, y + b), (x + a, y), (x, y - b)]
        fill, edge = NEUTRAL
        self.ax.add_patch(Polygon(corners, facecolor=fill, edgecolor=edge, linewidth=0.8, zorder=2))
        self._text(x, y, text)
        self._record("decision", name, text=text)
        return Node(name, x, y, a, b)

    def decay(self, name, x, y, width, height, colors, labels):
        """Draw two power laws on small log-log axes, the faster decay first."""
        left, right, low, high = x - width / 2, x + width / 2, y - height / 2, y + height / 2
        self.ax.plot([left, left, right], [high, low, low], color=style.INK, linewidth=0.7, zorder=3)
        for color, reach in zip(colors, (0.6, 1.0), strict=True):
            end = (left + reach * (width - 0.12), low + 0.03)
            self.ax.plot([left + 0.03, end[0]], [high - 0.03, end[1]], color=color, linewidth=1.1, zorder=3)
        self._record("sketch", name, text=", ".join(labels))
        return Node(name, x, y, width / 2, height / 2)

    def note(self, x, y, text, name="", **options):
        """Write a remark that belongs to no node."""
        self._text(x, y, text, **options)
        self._record("note", name, text=text)

    def arrow(
        self,
        start,
        end,
        text="",
        *,
        via=(),
        label=None,
        dashed=False,
        color=style.INK,
        bend=0.0,
        names=("", ""),
        **options,
    ):
        """Draw an arrow along straight pieces, or an arc, and record it as an edge.

        Parameters
        ----------
        start, end : (Node, str) or (float, float)
            A node and the side of it, or a bare point.
        text : str
            Written at `label` (x, y), or into the table only; `options` go to the text.
        via : sequence of (float, float)
            Corners on the way.
        bend : float
            Curvature of an arc from start to end; excludes `via`.
        names : pair of str
            What the edge's ends are called in the table where they are bare points.
        """
        points, ends = [], []
        for what, fallback in ((start, names[0]), (end, names[1])):
            node = isinstance(what[0], Node)
            points.append(what[0].side(what[1]) if node else what)
            ends.append(what[0].name if node else fallback)
        points[1:1] = list(via)
        line = {"color": color, "linewidth": 0.9, "zorder": 3.5}
        dash = (0, (3.2, 1.8)) if dashed else "-"
        if len(points) > 2:
            self.ax.plot(*zip(*points[:-1], strict=True), linestyle=dash, solid_joinstyle="round", **line)
        if dashed:  # the head is drawn by a short solid arrow, lest a gap falls on it
            self.ax.add_patch(
                FancyArrowPatch(
                    points[-2],
                    points[-1],
                    arrowstyle="-",
                    connectionstyle=f"arc3,rad={bend}",
                    shrinkA=0,
                    shrinkB=3,
                    linestyle=dash,
                    **line,
                )
            )
        self.ax.add_patch(
            FancyArrowPatch(
                points[-2],
                points[-1],
                arrowstyle="-|>,head_length=3.6,head_width=1.7",
                connectionstyle=f"arc3,rad={bend}",
                shrinkA=0,
                shrinkB=0,
                mutation_scale=1,
                linestyle="-",
                joinstyle="miter",
                capstyle="butt",
                **(line | ({"linewidth": 0} if dashed else {})),
            )
        )
        if label is not None:
            self._text(*label, text, **({"color": color} | options))
        self._record("edge", "", *ends, text)

    def write(self, path):
        """Write ``path.pdf``, ``path.png`` and ``path.csv``."""
        style.save(self.fig, path)
        write_csv(f"{path}.csv", COLUMNS, self.rows)


def run(doc, draw, arguments=None):
    """Serve as the ``main`` of a diagram script: parse ``-o OUT``, draw, write three files."""
    options = output_parser(doc, ("pdf", "png", "csv")).parse_args(arguments)
    draw().write(options.output)
