"""The house style: sizes, fonts, one colour per policy, and files that are equal byte for byte.

Figures are made without pyplot, so no window system is ever asked. `use_style` starts from matplotlib's
own defaults: a user's matplotlibrc changes nothing. Fonts are the bundled DejaVu Sans, formulas are
mathtext (no LaTeX). The page is a two-column ACM paper, whose column is 3.33 inches wide.

Colour stands for the policy family (the paper draws SPLIT in red), lightness for its parameter, from the
dark base colour of the variant nearest to optimal to lighter ones, and line style for the rest: solid for
the paper's policies, broken for the baselines, and dashed for the SRPT side of a threshold policy
whenever the FCFS side is in the same figure.
"""

import io
import math

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure as _Figure

from tailsched.files import replacing

COLUMN = 3.33  #: width of one column, inches
PAGE = 7.0  #: width of the text block, inches
DPI = 200

SMALL, TEXT = 7.0, 7.5  #: font sizes in points
INK, GREY, PALE = "#1a1a1a", "#6b6b6b", "#d9d9d9"

RC = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": TEXT,
    "mathtext.fontset": "dejavusans",
    "text.usetex": False,
    "axes.titlesize": TEXT + 0.5,
    "axes.labelsize": TEXT,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "axes.linewidth": 0.6,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.titlepad": 5,
    "axes.labelpad": 3,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "lines.linewidth": 1.5,
    "lines.markersize": 3.6,
    "lines.solid_capstyle": "round",
    "lines.dash_capstyle": "butt",
    "legend.frameon": False,
    "legend.borderpad": 0.0,
    "legend.borderaxespad": 0.0,
    "legend.handlelength": 2.0,
    "legend.handletextpad": 0.5,
    "legend.columnspacing": 1.2,
    "legend.labelspacing": 0.35,
    "figure.dpi": DPI,
    "savefig.dpi": DPI,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.hashsalt": "tailsched",
}

#: Family -> (base colour, lightest colour, line style of its first variant).
FAMILIES = {
    "split": ("#cc1f1f", "#f2a093", "-"),
    "srpt": ("#0b62b0", "#8fc1ea", (0, (4.5, 1.3))),
    "sek": ("#00806b", "#86d3bd", (0, (4, 1.1, 1.1, 1.1))),
    "thresh-split": ("#43147c", "#c99be8", "-"),
    "tags-split": ("#7f3300", "#f5ac52", "-"),
    "fcfs": ("#5c5c5c", "#bdbdbd", (0, (6, 1.5))),
    "ps": ("#8a7300", "#dccb62", (0, (4, 1.1, 1.1, 1.1, 1.1, 1.1))),
}
#: For policies that the paper does not have, in the order in which they come.
SPARE = (("#a3195b", "#eb9cc2"), ("#00788c", "#8ad4e0"), ("#4f6b12", "#b9d37c"), ("#1a1a1a", "#a0a0a0"))

#: Line styles of the further variants that differ in something else than the ranked parameter.
DASHES = ((0, (3, 1.2)), (0, (1.2, 1.2)), (0, (5, 1.2, 1.2, 1.2)))

#: Ranked parameters: +1 if the larger value is nearer to optimal.
RANKED = {"threshold-percentile": 1, "threshold": 1, "epsilon": 1, "large-load": -1}
ALIASES = {"percentile": "threshold-percentile", "d": "threshold"}
#: Options that say what holds anyway.
DEFAULTS = {("small", "fcfs"), ("steal", "yes"), ("sek-size", "remaining")}


class Figure(_Figure):
    """A figure that a notebook shows as a PNG under any backend."""

    def _repr_png_(self):
        buffer = io.BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()


def use_style():
    """Set the style for everything drawn from here on, and the Agg backend, whatever the user's settings."""
    matplotlib.rcdefaults()
    matplotlib.use("Agg", force=True)
    matplotlib.rcParams.update(RC)


def figure(width=COLUMN, height=2.6, **options):
    """Return a new figure (inches) in the house style, with constrained layout."""
    use_style()
    fig = Figure(figsize=(width, height), **{"layout": "constrained", **options})
    FigureCanvasAgg(fig)
    return fig


def save(fig, path):
    """Write ``path.pdf`` and ``path.png``, each at once; the bytes depend on the figure only.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
    path : path-like
        Path without a suffix; further dots in the name are kept.

    Returns
    -------
    list of str
        The paths written.
    """
    metadata = {
        "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
        "png": {"Software": None},
    }
    written = []
    for suffix, tags in metadata.items():
        name = f"{path}.{suffix}"
        with replacing(name) as temporary, matplotlib.rc_context({"pdf.fonttype": 42, "text.usetex": False}):
            fig.savefig(temporary, format=suffix, dpi=DPI, metadata=tags)
        written.append(name)
    return written


def parse_policy(policy):
    """Split a policy's one-string form, e.g. ``"sek:epsilon=200"``, into its family and a dict of texts."""
    family, _, rest = policy.partition(":")
    parameters = {}
    for item in filter(None, rest.split(",")):
        key, equals, value = item.partition("=")
        if not equals:
            raise ValueError(f"policy {policy!r}: expected key=value, got {item!r}")
        key = key.strip()
        parameters[ALIASES.get(key, key)] = value.strip()
    return family.strip(), parameters


def _nearness(name, value):
    try:
        number = float(value)
    except ValueError:
        return (1, value)
    return (0, -RANKED[name] * number if not math.isnan(number) else math.inf)


def _variant(policy):
    """Return (family, key of the colour rank, key of the line-style rank)."""
    family, parameters = parse_policy(policy)
    ranked = tuple((k, _nearness(k, v)) for k, v in sorted(parameters.items()) if k in RANKED)
    other = tuple(
        sorted(item for item in parameters.items() if item[0] not in RANKED and item not in DEFAULTS)
    )
    return family, ranked, other


def _mix(base, light, share):
    return to_hex([a + (b - a) * share for a, b in zip(to_rgb(base), to_rgb(light), strict=True)])


def styles(policies):
    """Return the line properties of the curves of one figure.

    Parameters
    ----------
    policies : sequence of str
        One-string forms. A family's variants are ranked among each other: the one nearest to optimal
        (largest ``threshold-percentile``, ``threshold`` or ``epsilon``, smallest ``large-load``) has the base
        colour.

    Returns
    -------
    list of dict
        ``color`` and ``linestyle``, to be passed to ``Axes.plot``.
    """
    variants = [_variant(policy) for policy in policies]
    strangers = [family for family in dict.fromkeys(v[0] for v in variants) if family not in FAMILIES]
    result = []
    for family, ranked, other in variants:
        if family in FAMILIES:
            base, light, line = FAMILIES[family]
        else:
            base, light = SPARE[strangers.index(family) % len(SPARE)]
            line = "-"
        ranks = sorted({v[1] for v in variants if v[0] == family})
        sides = sorted({v[2] for v in variants if v[0] == family})
        share = ranks.index(ranked) / max(len(ranks) - 1, 1)
        side = sides.index(other)
        result.append(
            {
                "color": _mix(base, light, share),
                "linestyle": line if side == 0 else DASHES[(side - 1) % len(DASHES)],
            }
        )
    return result


def policy_style(policy, among=None):
    """Return the line properties of one policy, ranked among its figure's policies if these are given."""
    among = list(among or ())
    return styles([*among, policy])[among.index(policy) if policy in among else -1]


use_style()
