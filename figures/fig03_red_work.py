"""Figure 3: the work of red jobs, those of original size above sqrt(x), on a simulated path (Section 4.4).

The path is of SPLIT on three servers at load .5 with Pareto(1.5) sizes. Of the stretches in which red work
is present, the first is shown that has three red arrivals and begins while the LJF server is still busy
with a job that is not red: until that job is done, the red work may wait; from then on it falls at rate 1
at least.
"""

from typing import NamedTuple

import numpy as np

from tailsched import mgn
from tailsched.files import write_csv
from tailsched.plotting import style
from tailsched.plotting.tables import output_parser
from tailsched.sampling import fill_arrivals
from tailsched.sizes import Pareto
from tailsched.streams import stream

SERVERS, LOAD, SIZES = 3, 0.5, Pareto(1.5)
ROOT = 20.0
SEED, ARRIVALS = 4, 40_000


class Point(NamedTuple):
    """The path just after an event: red work, red jobs in service, whether the LJF server's job is red."""

    time: float
    work: float
    serving: int
    ljf_red: bool
    red_arrival: bool


def look(engine, red_arrival):
    """Return the `Point` of an engine under SPLIT."""
    split, pool, now = engine.policy, engine.pool, engine.clock
    served, queued, ljf, end = engine.state

    def red(slots):
        return pool.size[slots] > ROOT

    in_service, waiting = red(split.on[1 : served + 1]), red(split.waiting[1 : queued + 1])
    ljf_red = bool(ljf >= 0 and pool.size[ljf] > ROOT)
    work = (split.done[1 : served + 1] - now)[in_service].sum() + split.left[1 : queued + 1][waiting].sum()
    work += end - now if ljf_red else 0.0
    return Point(now, float(work), int(in_service.sum()) + ljf_red, ljf_red, red_arrival)


def path():
    """Yield the points of the path, event by event."""
    streams = [stream(SEED, "figure 3", 0, purpose) for purpose in ("arrivals", "sizes")]
    arrivals = np.empty(ARRIVALS)
    fill_arrivals(streams[0], SERVERS * LOAD / SIZES.mean, 0.0, arrivals)
    sizes = SIZES.sample(streams[1], ARRIVALS)
    engine = mgn.Engine(mgn.Split, SERVERS)
    nothing = np.empty(0)
    for i in range(ARRIVALS):
        while (due := engine.policy.next_event(engine.state)) <= arrivals[i]:
            engine.feed(nothing, nothing, until=due)
            yield look(engine, False)
        engine.feed(arrivals[i : i + 1], sizes[i : i + 1], i)
        yield look(engine, bool(sizes[i] > ROOT))


def stretch():
    """Return the points of the stretch to show, the last of them with no red work."""
    points = []
    for point in path():
        if point.work == 0.0:
            if (
                sum(p.red_arrival for p in points) == 3
                and not points[0].ljf_red
                and next(p.time for p in points if p.ljf_red) - points[0].time > 3.0
            ):
                return [*points, point]
            points = []
        else:
            points.append(point)
    raise RuntimeError("the path has no stretch to show: simulate more arrivals")


def draw(points):
    """Return the figure."""
    fig = style.figure(height=2.0)
    ax = fig.add_subplot()
    origin = points[0].time
    color = style.styles(["split"])[0]["color"]
    times, work = [-6.0, 0.0], [0.0, 0.0]
    for point, following in zip(points, points[1:], strict=False):
        elapsed = following.time - point.time
        times += [point.time - origin, following.time - origin]
        work += [point.work, point.work - point.serving * elapsed]
    end = points[-1].time - origin
    times += [end, end + 6.0]
    work += [0.0, 0.0]
    picked = next(p.time for p in points if p.ljf_red) - origin
    top = 1.18 * max(work)
    ax.axvspan(0, picked, color="0.88", lw=0)
    ax.plot(times, work, color=color, lw=1.3)
    ax.annotate(
        "LJF server busy with\na job that is not red",
        (picked / 2, 0.93 * top),
        (picked + 4, 0.93 * top),
        arrowprops={"arrowstyle": "-", "lw": 0.5, "color": "0.3"},
        va="center",
        fontsize=style.SMALL,
    )
    for point in points:
        if point.red_arrival:
            ax.annotate(
                "",
                (point.time - origin, 0),
                (point.time - origin, -0.11 * top),
                annotation_clip=False,
                arrowprops={"arrowstyle": "-|>", "color": color, "lw": 0.8, "shrinkB": 0},
            )
    ax.set_xlim(-6, end + 6)
    ax.set_ylim(0, top)
    ax.tick_params(axis="x", pad=9)
    ax.set_xlabel("time since the first red arrival (arrows: red arrivals)", labelpad=4)
    ax.set_ylabel(r"red work $W_{\mathrm{red}}$")
    return fig


def main():
    """Write the figure and the points of its path."""
    arguments = output_parser(__doc__, ("pdf", "png", "csv")).parse_args()
    points = stretch()
    style.save(draw(points), arguments.output)
    rows = [(p.time - points[0].time, p.work, p.serving, int(p.ljf_red), int(p.red_arrival)) for p in points]
    write_csv(
        f"{arguments.output}.csv", ("t", "red_work", "red_jobs_in_service", "ljf_red", "red_arrival"), rows
    )


if __name__ == "__main__":
    main()
