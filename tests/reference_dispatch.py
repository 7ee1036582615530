"""The paper's construction, word for word: matrices of order m B, powers instead of sums, plain iteration.

Slow and simple, and with nothing from `tailsched.dispatch`: the solver must agree with it.
"""

import numpy as np
from scipy.linalg import expm


def order(name, k, length, inside, residual):
    """xi of a policy as a tuple; residual[k] is the mean residual at the lower end of layer k."""
    return {
        "sq": (length,),
        "sq-rtb": (length, k),
        "sq-re": (k > inside, length),
        "sq-rtb-re": (k > inside, length, k),
        "las": (k,),
        "las-qtb": (k, length),
        "re": (k > inside,),
        "lew": (round(residual[k] + length - 1, 9),),
    }[name]


def arrival_rates(law, keys, lam, d):
    """H: from the probabilities of (k, l) to the rates, from Proposition 4.1 as it is."""
    rates = {}
    for state, key in keys.items():
        worse = sum(law[other] for other in keys if keys[other] > key)
        tied = sum(law[other] for other in keys if keys[other] == key)
        if tied == 0.0:
            rates[state] = lam * d * worse ** (d - 1)
        else:
            rates[state] = lam * ((worse + tied) ** d - worse**d) / tied
    return rates


def equilibrium(rates, alpha, generator, edges, lengths, lam):
    """T: from the rates to pi[k - 1, l - 1, j], by the matrices of Section 4.2."""
    m = alpha.size
    exits = -generator @ np.ones(m)
    layers = len(edges)  # r + 1, the last without an end
    down = np.zeros((lengths, lengths))
    for length in range(1, lengths + 1):
        down[length - 1, max(length - 1, 1) - 1] = 1.0
    leave = np.kron(down, np.outer(exits, alpha))
    stay, spent = [], []
    for k in range(1, layers + 1):
        grow = np.zeros((lengths, lengths))
        for length in range(1, lengths):
            grow[length - 1, length - 1] = -rates[k, length]
            grow[length - 1, length] = rates[k, length]
        change = np.kron(grow, np.eye(m)) + np.kron(np.eye(lengths), generator)
        kept = expm(change * (edges[k] - edges[k - 1])) if k < layers else np.zeros_like(change)
        stay.append(kept)
        spent.append(np.linalg.solve(change, kept - np.eye(m * lengths)))
    cycle = spent[-1] @ leave
    for kept, time in zip(stay[-2::-1], spent[-2::-1], strict=True):
        cycle = time @ leave + kept @ cycle
    system = (cycle - np.eye(m * lengths)).T
    system[-1] = 1.0
    seen = np.linalg.solve(system, np.eye(m * lengths)[-1])
    law = np.empty((layers, lengths, m))
    for k in range(layers):
        law[k] = (seen @ spent[k]).reshape(lengths, m)
        seen = seen @ stay[k]
    return law * (lam / law.sum())


def fixed_point(name, d, lam, alpha, generator, edges, inside, lengths, tolerance=1e-12):
    """Return pi[k - 1, l - 1, j] and the number of iterations, from an idle system."""
    means = np.linalg.solve(-generator, np.ones(alpha.size))
    residual = [None]
    for edge in edges:
        phase = alpha @ expm(generator * edge)
        residual.append(phase @ means / phase.sum())
    layers = len(edges)
    states = [(k, length) for k in range(1, layers + 1) for length in range(1, lengths + 1)]
    keys = {state: order(name, *state, inside, residual) for state in states}
    pi = np.zeros((layers, lengths, alpha.size))
    for iteration in range(1, 1000):
        law = {(k, length): pi[k - 1, length - 1].sum() for k, length in states}
        new = equilibrium(arrival_rates(law, keys, lam, d), alpha, generator, edges, lengths, lam)
        moved = np.abs(new - pi).sum()
        pi = new
        if moved < tolerance:
            return pi, iteration
    raise AssertionError("the plain iteration did not converge")
