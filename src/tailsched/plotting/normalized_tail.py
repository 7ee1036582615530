"""The paper's main picture: the normalized tail P[T > t] / P[S > c t] against t, c = min(1, n (1 - rho)).

A curve at 1 is as good as the lower bound of Section 3.2 allows; strong tail optimality is convergence
to 1.
"""

import math

import numpy as np
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from matplotlib.transforms import ScaledTranslation

from tailsched.plotting import style

MARKERS = {99.0: "o", 99.9: "s", 99.99: "^"}
MAX_RELATIVE_HALF_WIDTH = 0.5  #: estimates less certain than this are not drawn
FIRM = 0.1  #: estimates at least this certain decide the range of the axis


def _series(curve):
    """Return t, estimate, low, high as floats, and the relative half widths (infinite where no data)."""
    t, estimate, low, high = (
        np.atleast_1d(np.asarray(curve.get(key, ()), dtype=float)) for key in ("t", "estimate", "low", "high")
    )
    if not t.shape == estimate.shape == low.shape == high.shape:
        raise ValueError(f"curve {curve.get('label')!r}: t, estimate, low and high differ in length")
    relative = np.full(t.shape, math.inf)
    known = np.isfinite(t) & (t > 0) & np.isfinite(estimate) & (estimate > 0)
    known &= np.isfinite(low) & np.isfinite(high)
    np.divide(high - low, 2 * estimate, out=relative, where=known)
    return t, estimate, low, high, relative


def visible(curve):
    """Return t, estimate, low and high of a curve, with NaN where it is not to be drawn.

    Left out are points without exceedances (estimate or interval missing, estimate 0), and those whose
    95 % interval has a half width above half the estimate.
    """
    t, estimate, low, high, relative = _series(curve)
    show = relative <= MAX_RELATIVE_HALF_WIDTH
    return t, *(np.where(show, values, math.nan) for values in (estimate, low, high))


def y_range(curves, xlim):
    """Return y limits that hold what is known well, and are not moved by noise or by one huge curve.

    A curve whose limit is infinite may leave the axis; it counts only if there is no other.
    """
    tops, bottoms = [], []
    for curve in [c for c in curves if c.get("limit") != math.inf] or curves:
        t, estimate, _, _, relative = _series(curve)
        inside = (t >= xlim[0]) & (t <= xlim[1])
        firm = inside & (relative <= FIRM)
        if not firm.any():
            firm = inside & (relative <= MAX_RELATIVE_HALF_WIDTH)
        if firm.any():
            tops.append(float(estimate[firm].max()))
            bottoms.append(float(estimate[firm].min()))
    typical = float(np.median(tops)) if tops else 1.0
    limits = [curve["limit"] for curve in curves if curve.get("limit") is not None]
    top = max([1.0, *tops, *(limit for limit in limits if math.isfinite(limit))])
    top = min(top, 3 * max(typical, 1.0))
    bottom = max(0.0, min([0.9, *(math.floor(10 * (value - 0.02)) / 10 for value in bottoms)]))
    return bottom, max(top + 0.08 * (top - bottom), 1.25)


def _at(curve, time):
    """Return the drawn curve's value at a time, linear in log t; NaN where it is not drawn."""
    t, estimate, _, _ = visible(curve)
    if time is None or not time > 0 or not np.isfinite(estimate).any():
        return math.nan
    return float(np.interp(math.log(time), np.log(t), estimate, left=math.nan, right=math.nan))


def shared_title(labels):
    """Split what all labels have before their first comma, if there are several, from the labels."""
    heads, _, tails = zip(*(label.partition(", ") for label in labels), strict=True)
    if len(labels) > 1 and len(set(heads)) == 1 and all(tails):
        return heads[0], list(tails)
    return None, list(labels)


def bound_label(n, rho):
    """Return the axis label: which lower bound the tail is divided by depends on the load (Section 3.2)."""
    rate = "" if n * (1 - rho) > 1 + 1e-9 else r"n(1-\rho)\,"
    return rf"$\mathbf{{P}}[T>t]\;/\;\mathbf{{P}}[S>{rate}t]$"


def draw_normalized_tails(
    ax,
    curves,
    *,
    n,
    rho,
    alpha,
    title=None,
    mark=None,
    xlim=(1.0, 1e7),
    ylim=None,
    yscale="linear",
    legend=True,
    reach=None,
):
    """Draw normalized tails with 95 % bands, percentile marks and predicted limits.

    A line is thin where its relative half width exceeds `FIRM`, and ends where it exceeds
    `MAX_RELATIVE_HALF_WIDTH`.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    curves : sequence of dict
        ``policy`` (one-string form, decides the style), ``label`` (what all labels share before their first
        comma becomes the legend's title), arrays ``t``, ``estimate``, ``low``, ``high`` of the normalized
        tail, ``limit`` (float or None) and ``percentiles``, a dict from 99, 99.9, 99.99 to the response time
        at which to mark the curve.
    n, rho, alpha : int, float, float
        Servers, load and tail index, for the title and the name of the bound.
    title : str, optional
        Stands before the parameters, e.g. ``"(a)"``.
    mark : str, optional
        A note in the upper right corner, e.g. ``"smoke run"``.
    xlim, ylim : pair of float, optional
        ``ylim=None`` chooses a range by `y_range`.
    yscale : {"linear", "log"}
    legend : bool
        Below the axes: the curves, then what bands, dotted lines and marks mean.

    reach : float, optional
        The largest t that the paper's simulations reach; what lies beyond is shaded.

    Returns
    -------
    list of matplotlib.legend.Legend
        From top to bottom; empty without a legend.
    """
    curves = list(curves)
    looks = style.styles([curve["policy"] for curve in curves])
    bottom, top = y_range(curves, xlim) if ylim is None else ylim
    if yscale == "log" and ylim is None:
        top *= 2  # a logarithmic axis has room for the bumps
    if yscale == "log" and bottom <= 0:
        bottom = min(0.5, top / 10)
    ax.set_xscale("log")
    ax.set_yscale(yscale)
    ax.set_xlim(*xlim)
    ax.set_ylim(bottom, top)
    ax.set_autoscale_on(False)

    ax.axhline(1.0, color=style.GREY, linewidth=0.7, zorder=1)
    shaded = reach is not None and reach < xlim[1]
    if shaded:
        ax.axvspan(max(reach, xlim[0]), xlim[1], **BEYOND)
    half = math.sqrt(xlim[0] * xlim[1])
    handles, limits, any_mark = [], set(), False
    for rank, (curve, look) in enumerate(zip(curves, looks, strict=True)):
        t, estimate, low, high = visible(curve)
        order = 3 + (len(curves) - rank) / len(curves)
        label = curve["label"]
        if not np.isfinite(estimate).any():
            label += " (no data)"
        handles.append(Line2D([], [], label=label, **look))
        ax.fill_between(
            t,
            np.clip(low, bottom, top),
            np.clip(high, bottom, top),
            color=look["color"],
            alpha=0.18,
            linewidth=0,
            zorder=2,
        )
        firm = _series(curve)[4] <= FIRM
        unsure = ~firm
        unsure[:-1] |= ~firm[1:]
        unsure[1:] |= ~firm[:-1]
        ax.plot(t, np.where(firm, estimate, math.nan), zorder=order, **look)
        thin = {**look, "linestyle": "-", "linewidth": 0.5, "alpha": 0.8}
        ax.plot(t, np.where(unsure, estimate, math.nan), zorder=2.5, **thin)
        limit = curve.get("limit")
        if limit is not None and math.isfinite(limit) and (look["color"], limit) not in limits:
            limits.add((look["color"], limit))
            ax.plot([half, xlim[1]], [limit, limit], color=look["color"], **LIMIT, zorder=order - 1)
        times = {float(level): time for level, time in (curve.get("percentiles") or {}).items()}
        for level, marker in MARKERS.items():
            value = _at(curve, times.get(level))
            if math.isfinite(value) and bottom <= value <= top and xlim[0] <= times[level] <= xlim[1]:
                any_mark = True
                ax.plot(times[level], value, marker=marker, zorder=5, **_hollow(look["color"]))

    ax.set_xlabel("response time $t$")
    ax.set_ylabel(bound_label(n, rho))
    ax.xaxis.set_major_locator(LogLocator(base=10, numticks=12))
    ax.xaxis.set_minor_locator(LogLocator(base=10, subs=range(2, 10), numticks=12))
    ax.xaxis.set_minor_formatter(NullFormatter())
    if yscale == "linear":
        ax.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    else:
        ax.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=12))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.yaxis.set_minor_formatter(NullFormatter())
    parameters = rf"$n={n},\ \rho={rho:g},\ \alpha={alpha:g}$"
    ax.set_title(f"{title}  {parameters}" if title else parameters, loc="left")
    if mark:
        ax.set_title(mark, loc="right", fontsize=style.SMALL, color=style.GREY, style="italic")
    if not legend:
        return []

    notes = [(Patch(facecolor=style.GREY, alpha=0.3, linewidth=0), "95 % interval")]
    if shaded:
        notes.append((Patch(**BEYOND), "beyond the paper's reach"))
    if limits:
        notes.append((Line2D([], [], color=style.INK, **LIMIT), "predicted limit"))
    if any_mark:
        marks = tuple(Line2D([], [], marker=marker, **_hollow(style.INK)) for marker in MARKERS.values())
        notes.append((marks, "99, 99.9, 99.99 % of $T$"))
    title, labels = shared_title([handle.get_label() for handle in handles])
    first = _legend_below(ax, handles, labels, LABEL_SPACE, title=title)
    below = LABEL_SPACE + _height(first) + 0.06
    second = _legend_below(ax, *zip(*notes, strict=True), below, sizes=(style.SMALL - 0.5,), handlelength=2.4)
    ax.add_artist(first)
    return [first, second]


BEYOND = {"facecolor": style.GREY, "alpha": 0.13, "linewidth": 0, "zorder": 0}
LIMIT = {"linewidth": 0.9, "linestyle": (0, (1, 1.4))}
LEFT, RIGHT, TOP, LABEL_SPACE = 0.5, 0.09, 0.22, 0.4  #: room around the axes, inches


def _hollow(color):
    return {
        "color": color,
        "markerfacecolor": "white",
        "markeredgecolor": color,
        "markeredgewidth": 0.9,
        "linestyle": "none",
    }


def _extent(legend):
    figure = legend.get_figure(root=True)
    return legend.get_window_extent(figure.canvas.get_renderer()), figure.dpi


def _height(legend):
    box, dpi = _extent(legend)
    return box.height / dpi


def _legend_below(ax, handles, labels, below, sizes=(style.SMALL, style.SMALL - 0.5), **options):
    """Put a legend `below` inches under the axes, as compact as it must be to fit the axes' column."""
    scale = ax.get_figure(root=True).dpi_scale_trans
    place = ax.transAxes + ScaledTranslation((RIGHT - LEFT) / 2, -below, scale)
    room = ax.get_window_extent().width / ax.get_figure(root=True).dpi + LEFT + RIGHT - 0.04
    columns = 3 if len(labels) <= 3 else 2
    for size, ncols in [(size, columns) for size in sizes] + [(sizes[0], 2), (sizes[0], 1)]:
        legend = ax.legend(
            handles,
            labels,
            handler_map={tuple: HandlerTuple(ndivide=None, pad=0.7)},
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            bbox_transform=place,
            ncols=ncols,
            fontsize=size,
            title_fontsize=style.SMALL,
            **options,
        )
        box, dpi = _extent(legend)
        if box.width / dpi <= room:
            break
    return legend


def normalized_tail_figure(curves, *, width=style.COLUMN, axes_height=1.75, **options):
    """Return a one-panel figure of `draw_normalized_tails`, whose options it takes.

    The axes have the same size (inches) in every figure; the page grows with the legend.
    """
    fig = style.figure(width, 3.0, layout="none")
    ax = fig.add_axes((LEFT / width, 0.3, 1 - (LEFT + RIGHT) / width, 0.5))
    legends = draw_normalized_tails(ax, curves, **options)
    below = LABEL_SPACE + sum(_height(legend) for legend in legends) + 0.06 * max(len(legends) - 1, 0) + 0.04
    height = TOP + axes_height + below
    fig.set_size_inches(width, height)
    ax.set_position((LEFT / width, below / height, 1 - (LEFT + RIGHT) / width, axes_height / height))
    return fig
