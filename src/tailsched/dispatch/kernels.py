r"""The cavity solver's compiled parts: see `tailsched.dispatch.cavity` for what they compute.

Ages up to the cut are divided into steps of equal width w, some to a layer. On a step that starts at age c
the density of a queue length, over the probability that the service lasts, is

.. math:: x(c + w s) = e^{-q w s} \sum_i x_i s^i, \qquad 0 \le s \le 1,

with q no less than any arrival rate. All :math:`x_i` are then sums of positive terms: nothing cancels.
"""

import math

import numpy as np

from tailsched._jit import njit

#: Change of a ratio of probabilities that is none: close to 1 it only shakes in its last digits.
ROUNDING = 1e-14

#: Steps that are worked on together, so that their coefficients stay near the processor.
BLOCK = 64


@njit
def moments(alpha, panel, moves, weights, places, out):
    """Fill `out` with moments of functions of the phase over the steps, by quadrature.

    Parameters
    ----------
    alpha : (m,) first phase
    panel : (m, m) move of the phase over a panel, of which a step has several
    moves : (nodes, m, J) move of the phase from a panel's start to a node, times the functions
    weights : (panels, nodes) weight, with w exp(-q w s), of the nodes s
    places : (panels, nodes) the nodes s in (0, 1) of a step
    out : (J, n, steps) the integrals of s^i exp(-q w s) times the function over a step, overwritten

    Returns
    -------
    (m,) phase at the end of the last step
    """
    m, nodes, functions = alpha.size, moves.shape[0], moves.shape[2]
    n, steps = out.shape[1], out.shape[2]
    phase, moved = alpha.copy(), np.empty(m)
    out[:] = 0.0
    for s in range(steps):
        for p in range(weights.shape[0]):
            for q in range(nodes):
                for j in range(functions):
                    value = 0.0
                    for i in range(m):
                        value += phase[i] * moves[q, i, j]
                    value *= weights[p, q]
                    for i in range(n):
                        out[j, i, s] += value
                        value *= places[p, q]
            for i in range(m):
                moved[i] = 0.0
            for i in range(m):
                for j in range(m):
                    moved[j] += phase[i] * panel[i, j]
            phase[:] = moved
    return phase


@njit
def mean_power_sum(upper, lower, d):
    """Return the sum of upper^i lower^(d-1-i) over i = 0, ..., d-1, by doubling."""
    total, high, low = 1.0, upper, lower
    bit = 1
    while 2 * bit <= d:
        bit *= 2
    bit //= 2
    while bit:
        total *= high + low
        high *= high
        low *= low
        if d & bit:
            total = total * upper + low
            high *= upper
            low *= lower
        bit //= 2
    return total


@njit
def arrival_rates(mass, rank, groups, beyond, lam, d, rates):
    """Fill `rates` with the arrival rates that servers see, from the law of one server (Proposition 4.1).

    Parameters
    ----------
    mass : (B, K) probabilities of (l, k)
    rank : (B, K) places of xi, from 0
    groups : number of places
    beyond : (K,) probability of queues beyond B, which share the place of l = B
    lam, d : arrival rate per server, servers sampled
    rates : (B, K), overwritten
    """
    total = np.zeros(groups)
    for b in range(mass.shape[0]):
        for k in range(mass.shape[1]):
            total[rank[b, k]] += mass[b, k]
    for k in range(mass.shape[1]):
        total[rank[mass.shape[0] - 1, k]] += beyond[k]
    above = 0.0
    for g in range(groups - 1, -1, -1):
        least = above + total[g]
        total[g] = lam * mean_power_sum(least, above, d)
        above = least
    for b in range(mass.shape[0]):
        for k in range(mass.shape[1]):
            rates[b, k] = total[rank[b, k]]


@njit
def _below(total, sums, more, place):
    """Return the sum of total[:place] from sums over 64 and 4096 places."""
    value = 0.0
    for i in range(place >> 12):
        value += more[i]
    for i in range((place >> 12) << 6, place >> 6):
        value += sums[i]
    for i in range((place >> 6) << 6, place):
        value += total[i]
    return value


@njit
def _live_rates(rank, total, sums, more, idle, lam, d, row):
    """Fill `row` with the rates at one length, from the probabilities `total` of the places of xi."""
    place, below = 0, 0.0
    for k in range(row.size):
        goal = rank[k]
        if place <= goal <= place + 64:
            for i in range(place, goal):
                below += total[i]
        else:
            below = _below(total, sums, more, goal)
        place = goal
        least = max(1.0 - idle - below, 0.0)
        row[k] = lam * mean_power_sum(least, max(least - total[goal], 0.0), d)


@njit
def _solve_row(generator, rate, triangular, work, row):
    """Overwrite `row` with row (rate I - A)^{-1}; (rate I - A) is an M-matrix, which needs no pivots."""
    m = row.size
    if triangular:
        for j in range(m):
            value = row[j]
            for i in range(j):
                value += row[i] * generator[i, j]
            row[j] = value / (rate - generator[j, j])
        return
    for i in range(m):
        for j in range(m):
            work[i, j] = -generator[i, j]
        work[i, i] += rate
    # Elimination of columns: row work' = row, as the transpose of the usual one.
    for j in range(m):
        for i in range(j + 1, m):
            if work[j, i] != 0.0:
                factor = work[j, i] / work[j, j]
                for h in range(j, m):
                    work[h, i] -= factor * work[h, j]
                row[i] -= factor * row[j]
    for j in range(m - 1, -1, -1):
        value = row[j]
        for i in range(j + 1, m):
            value -= row[i] * work[i, j]
        row[j] = value / work[j, j]


@njit
def sweep(
    rates,
    live,
    closed,
    splits,
    width,
    q,
    g,
    wanted,
    size,
    lam,
    d,
    settled,
    mass,
    beyond,
    queue,
    found,
    joined,
):
    """The law of one server, for given arrival rates: the map T, in one pass over the queue lengths.

    Queue length l is entered from l - 1 and at starts of services; the density over the ages is a particular
    part, fed from l - 1, plus y_l times the one that starts at age 0. What leaves l upwards must come back
    as starts at l, which gives y_l.

    Parameters
    ----------
    rates : (B, K) arrival rates by (l, k), the last row also for longer queues; overwritten if `live`
    live : (old, rank, total, sums, more): work out the rates on the way, from the new probabilities of
        shorter queues and the old ones, (B, K), of the others. rank is (B, K), the rest is work space, of the
        number of places, of that over 64, and over 4096, plus 1 each. With an empty `old`, the rates are as
        given
    closed : no arrivals at length B
    splits, width : steps of a layer, their width w
    q : rate of the representation
    g : (2, n, steps) moments of the tail and of the density of the size
    wanted : (J, n, steps) moments of further functions of the phase, J = 0 for none
    size : phase at the cut (m,), A, mu, whether A is upper triangular, the further functions (m, J)
    lam, d : arrival rate per server, servers sampled
    settled : change of the starts' ratio, over its distance from 1, below which the tail is taken for
        geometric; 0 for never
    mass : (B, K) probabilities of (l, k), overwritten
    beyond : (K,) probabilities of queues longer than B by layer, overwritten
    queue : (L,) probabilities of the lengths up to L >= B, overwritten
    found : (L, J) means of the functions over the states of length l, overwritten
    joined : (L, J) the same, weighted by the rates of arrivals, overwritten

    Returns
    -------
    levels : number of lengths worked out; the others hold nothing
    ratio : ratio of the geometric tail beyond them, or 0
    """
    stored, layers = mass.shape
    lengths = queue.size
    here_mass = np.empty(layers)
    old, rank, sum_0, sum_6, sum_12 = live
    alive = old.shape[0] > 0
    source = -lam * math.expm1(d * math.log(lam))
    if alive:
        sum_0[:] = 0.0
        sum_6[:] = 0.0
        sum_12[:] = 0.0
        for l in range(stored):  # noqa: E741
            for k in range(layers):
                sum_0[rank[l, k]] += old[l, k]
        for i in range(sum_0.size):
            sum_6[i >> 6] += sum_0[i]
            sum_12[i >> 12] += sum_0[i]
    phase, generator, exits, triangular, functions = size
    n, steps, m = g.shape[1], g.shape[2], phase.size
    extra = wanted.shape[0]
    shrink = math.exp(-q * width)
    part = np.zeros((n, steps))
    entry, old_entry = np.empty(steps), np.zeros(steps)
    alone, alone_end, fed, fed_end = np.empty(steps), np.empty(steps), np.empty(steps), np.empty(steps)
    over, old_over, old_end = np.empty(steps), np.zeros(steps), 0.0
    last, last_fed, work = np.zeros(m), np.empty(m), np.empty((m, m))
    density, power, old_power = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    here, came, before = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    x, y, z = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    mass[:] = 0.0
    beyond[:] = 0.0
    queue[:] = 0.0
    begun = 0.0
    found[:] = 0.0
    joined[:] = 0.0
    ratio, steady = 0.0, 0
    for l in range(lengths):  # noqa: E741
        row = rates[min(l, rates.shape[0] - 1)]
        if alive:
            _live_rates(rank[l], sum_0, sum_6, sum_12, 1.0 - lam, lam, d, row)
        shut = closed and l == lengths - 1
        for s in range(steps):
            over[s] = 0.0 if shut else row[s // splits]
        end = 0.0 if shut else row[layers - 1]
        completed = 0.0  # by a service that starts here and sees no arrival
        survive = 1.0
        for first in range(0, steps, BLOCK):
            count = min(BLOCK, steps - first)
            for i in range(count):
                s = first + i
                x[i] = (q - over[s]) * width
                y[i] = (q - old_over[s]) * width
                z[i] = old_over[s] * width
                power[i] = 1.0
                old_power[i] = old_entry[s]
                came[i] = 0.0
                here[i] = 1.0
                before[i] = 0.0
                density[i] = g[1, 0, s]
                alone[s] = g[0, 0, s]
                fed[s] = 0.0
            for j in range(n - 1):
                inverse = 1.0 / (j + 1)
                for i in range(count):
                    s = first + i
                    flow = z[i] * (part[j, s] + old_power[i])
                    part[j, s] = came[i]
                    came[i] = (x[i] * came[i] + flow) * inverse
                    power[i] *= x[i] * inverse
                    old_power[i] *= y[i] * inverse
                    here[i] += power[i]
                    before[i] += came[i]
                    density[i] += power[i] * g[1, j + 1, s]
                    alone[s] += power[i] * g[0, j + 1, s]
                    fed[s] += came[i] * g[0, j + 1, s]
            for i in range(count):
                s = first + i
                part[n - 1, s] = came[i]
                alone_end[s] = here[i] * shrink
                fed_end[s] = before[i] * shrink
                completed += survive * density[i]
                survive *= alone_end[s]
        through, inflow = 0.0, 0.0
        for s in range(steps):
            entry[s] = through
            inflow += over[s] * (fed[s] + through * alone[s])
            through = through * alone_end[s] + fed_end[s]
        for i in range(m):
            last_fed[i] = through * phase[i] + old_end * last[i]
            last[i] = survive * phase[i]
        _solve_row(generator, end, triangular, work, last)
        _solve_row(generator, end, triangular, work, last_fed)
        for i in range(m):
            completed += last[i] * exits[i]
            inflow += end * last_fed[i]
        if l == 0:
            inflow = source
        was = begun
        begun = inflow / completed
        survive = 1.0
        here_mass[:] = 0.0
        for s in range(steps):
            entry[s] += begun * survive
            survive *= alone_end[s]
            here_mass[s // splits] += fed[s] + entry[s] * alone[s]
            old_entry[s] = entry[s]
            old_over[s] = over[s]
        if extra:
            for s in range(steps):
                power_of_s = entry[s]
                for j in range(n):
                    coefficient = part[j, s] + power_of_s
                    for e in range(extra):
                        value = coefficient * wanted[e, j, s]
                        found[l, e] += value
                        joined[l, e] += over[s] * value
                    power_of_s *= (q - over[s]) * width / (j + 1)
        total = 0.0
        for i in range(m):
            last[i] = last_fed[i] + begun * last[i]
            here_mass[layers - 1] += last[i]
            for e in range(extra):
                found[l, e] += last[i] * functions[i, e]
                joined[l, e] += end * last[i] * functions[i, e]
        for k in range(layers):
            total += here_mass[k]
            if l < stored:
                mass[l, k] = here_mass[k]
            else:
                beyond[k] += here_mass[k]
        queue[l] = total
        old_end = end
        if alive:
            for k in range(layers):
                i, change = rank[l, k], mass[l, k] - old[l, k]
                sum_0[i] += change
                sum_6[i >> 6] += change
                sum_12[i >> 12] += change
        if l > 0 and settled > 0.0:
            new = begun / was
            steady = steady + 1 if abs(new - ratio) <= max(settled * (1.0 - new), ROUNDING) else 0
            ratio = new
            if steady >= 8 and new < 1.0 and l >= stored:
                for k in range(layers):
                    beyond[k] += here_mass[k] * ratio / (1.0 - ratio)
                return l + 1, ratio
        if total < 1e-40:
            return l + 1, 0.0
    return lengths, 0.0


@njit
def drain(joined, alpha, generator, exits, rate, out):
    """Fill `out` with the probabilities that the work found is not done after 0, 1, ... steps.

    Parameters
    ----------
    joined : (B, m) probabilities of the length found and the phase in service; overwritten
    alpha, generator, exits : the size
    rate : of the steps of uniformization, at least every rate out of a phase
    out : (steps,) overwritten
    """
    lengths, m = joined.shape
    new = np.empty(m)
    ended = np.empty(lengths + 1)
    used = lengths
    for step in range(out.size):
        total = 0.0
        for l in range(used - 1, -1, -1):  # noqa: E741
            for i in range(m):
                total += joined[l, i]
        out[step] = total
        while used > 0 and joined[used - 1].sum() < 1e-300:
            used -= 1
        ended[used] = 0.0
        for l in range(used):  # noqa: E741
            gone = 0.0
            for i in range(m):
                gone += joined[l, i] * exits[i]
            ended[l] = gone / rate
        for l in range(used):  # noqa: E741
            for j in range(m):
                value = joined[l, j]
                for i in range(m):
                    if generator[i, j] != 0.0:
                        value += joined[l, i] * generator[i, j] / rate
                new[j] = value + ended[l + 1] * alpha[j]
            for j in range(m):
                joined[l, j] = new[j]
