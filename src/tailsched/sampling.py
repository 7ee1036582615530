r"""Drawing arrival times and job sizes inside compiled code, from numpy Generators.

The numbers are the same when compilation is switched off. A Pareto size is :math:`a\,e^{E/\alpha}` with E a
standard exponential: it needs no uniform number, hence no power of an exact 0, and since E stays below 45 it
is never infinite. Every size is finite and positive.
"""

import math

from tailsched._jit import KERNEL, inlined, njit
from tailsched.sizes import (
    BOUNDED_PARETO,
    DETERMINISTIC,
    EXPONENTIAL,
    LOGNORMAL,
    MIXED_ERLANG,
    PARETO,
    WEIBULL,
)

#: A draw that rounds to 0 is raised to this size.
TINY = 1e-300


@njit
def fill_arrivals(rng, rate, clock, out):
    """Fill `out` with the next arrival times of a Poisson process of the given rate, after `clock`."""
    mean = 1.0 / rate
    for i in range(out.size):
        clock += mean * rng.standard_exponential()
        out[i] = clock


@inlined
def _positive(size):
    return size if size > TINY else TINY


@inlined
def _draw_pareto(rng, params):
    return params[0] * math.exp(params[1] * rng.standard_exponential())


@inlined
def _draw_bounded_pareto(rng, params):
    excess = -math.log1p(-params[2] * rng.random())
    return min(params[0] * math.exp(params[1] * excess), params[3])


@inlined
def _draw_exponential(rng, params):
    return _positive(params[0] * rng.standard_exponential())


@inlined
def _draw_deterministic(rng, params):
    return params[0]


@inlined
def _draw_mixed_erlang(rng, params):
    scale = params[1] if rng.random() < params[0] else params[2]
    total = 0.0
    for _ in range(int(params[3])):
        total += rng.standard_exponential()
    return _positive(scale * total)


@inlined
def _draw_weibull(rng, params):
    return _positive(params[0] * rng.standard_exponential() ** params[1])


@inlined
def _draw_lognormal(rng, params):
    return _positive(math.exp(params[0] + params[1] * rng.standard_normal()))


@inlined
def _draw_discrete(rng, params):
    u = rng.random()
    atoms = params.size // 2
    low, high = 0, atoms - 1
    while low < high:
        middle = (low + high) // 2
        if u < params[atoms + middle]:
            high = middle
        else:
            low = middle + 1
    return params[low]


@inlined
def _fill(draw, rng, params, out):
    for i in range(out.size):
        out[i] = draw(rng, params)


@inlined
def draw_size(rng, kind, params):
    """Draw one size.

    Parameters
    ----------
    rng : numpy.random.Generator
    kind, params : int, (m,) float64 array
        The distribution, as given by `Sizes.kernel`.

    Returns
    -------
    float
    """
    if kind == PARETO:
        return _draw_pareto(rng, params)
    if kind == BOUNDED_PARETO:
        return _draw_bounded_pareto(rng, params)
    if kind == EXPONENTIAL:
        return _draw_exponential(rng, params)
    if kind == DETERMINISTIC:
        return _draw_deterministic(rng, params)
    if kind == MIXED_ERLANG:
        return _draw_mixed_erlang(rng, params)
    if kind == WEIBULL:
        return _draw_weibull(rng, params)
    if kind == LOGNORMAL:
        return _draw_lognormal(rng, params)
    return _draw_discrete(rng, params)


@njit(**KERNEL)
def fill_sizes(rng, kind, params, out):
    """Fill `out` with independent sizes; the stream is that of repeated calls of `draw_size`.

    Parameters
    ----------
    rng : numpy.random.Generator
    kind, params : int, (m,) float64 array
        The distribution, as given by `Sizes.kernel`.
    out : (m,) float64 array
        Overwritten.
    """
    if kind == PARETO:
        _fill(_draw_pareto, rng, params, out)
    elif kind == BOUNDED_PARETO:
        _fill(_draw_bounded_pareto, rng, params, out)
    elif kind == EXPONENTIAL:
        _fill(_draw_exponential, rng, params, out)
    elif kind == DETERMINISTIC:
        _fill(_draw_deterministic, rng, params, out)
    elif kind == MIXED_ERLANG:
        _fill(_draw_mixed_erlang, rng, params, out)
    elif kind == WEIBULL:
        _fill(_draw_weibull, rng, params, out)
    elif kind == LOGNORMAL:
        _fill(_draw_lognormal, rng, params, out)
    else:
        _fill(_draw_discrete, rng, params, out)
