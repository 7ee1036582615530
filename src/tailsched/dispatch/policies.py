r"""Dispatching policies: what a server reports, and how reports are compared.

A job samples d servers. An idle one reports (0, 0), a busy one (k, l): l jobs present, that in service of age
a in the layer :math:`(c_{k-1}, c_k]`, :math:`c_k = k\Delta` for k <= r and :math:`c_{r+1} = \infty`. The job
joins the server of least :math:`\xi(k, l)`, an idle one first; ties are broken at random. A policy *is* its
function xi, which the cavity solver and the simulator both tabulate (Section 3 of arXiv 2011.08250).

===============  =========================================  =====================
name             xi(k, l), compared entry by entry          layers
===============  =========================================  =====================
sq               l                                          one
sq-rtb           l, k                                       of width delta
sq-re            1{a > T}, l                                up to T, beyond T
sq-rtb-re        1{a > T}, l, k                             of width delta
las              k                                          of width delta
las-qtb          k, l                                       of width delta
re               1{a > T}                                   up to T, beyond T
lew              E[X - c | X > c] + l - 1, c = c_{k-1}      of width delta
===============  =========================================  =====================
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tailsched.sizes import check_number

#: Layers of a grid; more would only fill the memory.
MOST_LAYERS = 10**6

#: How much ages beyond the default cut may matter, see `choose_cut`.
CUT_TOLERANCE = 1e-7

#: Keys as close as this, relatively, are equal: rounding hides an exact tie (LEW, exponential sizes).
TIE = 1e-11


@dataclass(frozen=True)
class Layers:
    """The layers of age: r of width delta, and what is beyond.

    Attributes
    ----------
    delta : width, in mean sizes; infinite for a single layer
    r : number of bounded layers
    inside : layers up to the threshold T
    sizes : the job sizes, of which LEW needs the mean residual
    """

    delta: float
    r: int
    inside: int = 0
    sizes: object = None

    @property
    def cut(self):
        """Age c_r from which on the layer is the last."""
        return self.r * self.delta if self.r else 0.0

    def residual(self, k):
        """Return E[X - c | X > c] at the lower end c of layer k."""
        return self.sizes.residuals(self.delta if self.r else 0.0, self.r + 1)[np.asarray(k) - 1]


def sq(k, l, layers):  # noqa: E741
    """Shortest queue."""
    return (l,)


def sq_rtb(k, l, layers):  # noqa: E741
    """Shortest queue, ties by the least age."""
    return l, k


def sq_re(k, l, layers):  # noqa: E741
    """Shortest queue among servers whose job is not older than T, if there is one."""
    return k > layers.inside, l


def sq_rtb_re(k, l, layers):  # noqa: E741
    """Shortest queue, ties by the least age, among servers whose job is not older than T, if there is one."""
    return k > layers.inside, l, k


def las(k, l, layers):  # noqa: E741
    """Least age."""
    return (k,)


def las_qtb(k, l, layers):  # noqa: E741
    """Least age, ties by the queue length."""
    return k, l


def re(k, l, layers):  # noqa: E741
    """A server whose job is not older than T, if there is one."""
    return (k > layers.inside,)


def lew(k, l, layers):  # noqa: E741
    """Least expected work, by the lower end of the layer."""
    return (layers.residual(k) + (l - 1),)


@dataclass(frozen=True)
class Policy:
    """A name, and what it looks at.

    Attributes
    ----------
    xi : function (k, l, layers) of arrays that returns a tuple of arrays
    layering : the layers: "one", "threshold" or "delta"
    uses_threshold : whether there is a threshold T
    ages_first : whether ages are compared before lengths; the default cut depends on it
    """

    name: str
    xi: Callable
    layering: str
    uses_threshold: bool = False
    ages_first: bool = False


POLICIES = {
    policy.name: policy
    for policy in (
        Policy("sq", sq, "one"),
        Policy("sq-rtb", sq_rtb, "delta"),
        Policy("sq-re", sq_re, "threshold", True),
        Policy("sq-rtb-re", sq_rtb_re, "delta", True),
        Policy("las", las, "delta", ages_first=True),
        Policy("las-qtb", las_qtb, "delta", ages_first=True),
        Policy("re", re, "threshold", True),
        Policy("lew", lew, "delta"),
    )
}


def find_policy(policy) -> Policy:
    """Return a policy: itself, one of `POLICIES` by name, or one made of a Python function.

    Parameters
    ----------
    policy : Policy, str, or a function xi(k, l) of whole numbers k >= 1 and l >= 1 that returns a number or
        a tuple of numbers; its layers have width delta
    """
    if isinstance(policy, Policy):
        return policy
    if callable(policy):

        def xi(k, l, layers):  # noqa: E741
            k, l = np.broadcast_arrays(k, l)  # noqa: E741
            rows = [policy(int(a), int(b)) for a, b in zip(k.ravel(), l.ravel(), strict=True)]
            keys = np.array([row if isinstance(row, tuple) else (row,) for row in rows], float)
            return tuple(keys.T.reshape(-1, *k.shape))

        return Policy(getattr(policy, "__name__", "xi"), xi, "delta")
    if policy in POLICIES:
        return POLICIES[policy]
    raise ValueError(f"policy = {policy!r}: must be one of {', '.join(POLICIES)}")


def choose_cut(policy, sizes, d, delta, tolerance=CUT_TOLERANCE):
    """Return the least multiple of delta beyond which ages hardly matter.

    At lam = 1 the age of a job in service has the tail P(a), the integral of P[X > u] beyond a. Ages beyond
    the cut decide if all d servers are there, with probability P^d, under a policy that compares ages first;
    otherwise they break ties of two servers at least, with probability P^2, and as far as the mean residual
    size still changes.
    """

    def matter(age):
        old = sizes.excess_tail(age)
        if policy.ages_first:
            return old**d
        return old ** min(d, 2) * min(abs(old / sizes.tail(age) / sizes.last_residual - 1.0), 1.0)

    low, high = 0, 1
    while matter(high * delta) > tolerance:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if matter(middle * delta) > tolerance else (low, middle)
    return high * delta


def make_layers(policy, sizes, delta=0.1, threshold=2.0, cut=None):
    """Return the layers that a policy looks at.

    Parameters
    ----------
    policy : Policy
    sizes : what knows the mean residual (see `Layers`)
    delta : width of a layer
    threshold : age T beyond which a job is taken for long
    cut : age c_r from which on ages are not told apart; rounded up to a whole number of layers

    Raises
    ------
    ValueError
        Unless delta, T and the cut are positive, and T is a whole number of layers where both matter.
    """
    if policy.layering == "one":
        return Layers(math.inf, 0, 0, sizes)
    if policy.uses_threshold:
        threshold = check_number("threshold", threshold, 0.0)
    if policy.layering == "threshold":
        return Layers(threshold, 1, 1, sizes)
    delta = check_number("delta", delta, 0.0)
    cut = check_number("cut", cut, 0.0)
    inside = 0
    if policy.uses_threshold:
        inside = round(threshold / delta)
        if inside < 1 or abs(inside * delta - threshold) > 1e-9 * threshold:
            raise ValueError(f"threshold = {threshold:g}: must be a multiple of delta = {delta:g}")
    r = max(math.ceil(cut / delta * (1 - 1e-12)), inside, 1)
    if r > MOST_LAYERS:
        raise ValueError(f"cut = {cut:g}: must be at most {MOST_LAYERS} layers of delta = {delta:g}")
    return Layers(delta, r, inside, sizes)


def _codes(key):
    """Return the (integer) order of keys, those equal but for rounding alike."""
    if key.dtype.kind in "bi":
        key = key.astype(np.int64) - int(key.min())
        used = np.zeros(int(key.max()) + 1, bool)
        used[key] = True
        return (np.cumsum(used) - 1)[key]
    if not np.isfinite(key).all():
        raise ValueError("xi: must be finite for every k and l")
    values, inverse = np.unique(key, return_inverse=True)
    gaps = np.diff(values) > TIE * np.maximum(np.abs(values[1:]), 1.0)
    return np.concatenate([[0], np.cumsum(gaps)])[inverse].reshape(key.shape)


def ranks(policy, layers, lengths):
    """Tabulate xi.

    Parameters
    ----------
    policy : Policy
    layers : Layers
    lengths : greatest queue length

    Returns
    -------
    (lengths, r + 1) int32 array
        At [l - 1, k - 1] the place of xi(k, l) in the order of all its values, from 0; equal where tied.
    """
    k, l = np.broadcast_arrays(np.arange(1, layers.r + 2), np.arange(1, lengths + 1)[:, np.newaxis])  # noqa: E741
    total = np.zeros(k.shape, np.int64)
    for key in policy.xi(k, l, layers):
        codes = _codes(np.broadcast_to(key, k.shape))
        total = _codes(total * (codes.max() + 1) + codes)
    return total.astype(np.int32)
