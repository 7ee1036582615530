"""Simulated points: a list of systems of `config/sqd.yaml`, as rows of estimates with intervals.

The gain of a policy is measured run by run against SQ(d) on the same jobs, which takes out most of the noise.
"""

import argparse
from itertools import product
from pathlib import Path

import yaml

from tailsched.dispatch.simulation import simulate
from tailsched.files import write_csv
from tailsched.tails.estimates import mean_over_shards

SYSTEM = ("policy", "servers", "d", "lam", "sizes", "delta", "threshold", "cut", "delay", "runs", "arrivals")
COLUMNS = (*SYSTEM, "quantity", "t", "estimate", "se", "low", "high")


def _numbers(entry):
    return entry.estimate, entry.se, entry.low, entry.high


def cases(system, most):
    """Return (servers, lam, delay) of the points of a policy; of more than `most` servers there are `most`."""
    counts = dict.fromkeys(min(servers, most) for servers in system["servers"])
    return list(product(counts, system["lams"], system.get("delays", [0.0])))


def rows(spec, arrivals, seed, most=10**7):
    """Yield the rows of a simulation.

    Parameters
    ----------
    spec : the simulation's dictionary
    arrivals : of all simulations together; the points of this one divide `share` of them
    seed : root seed
    most : servers at most
    """
    points = sum(len(system["policies"]) * len(cases(system, most)) for system in spec["systems"])
    each = int(arrivals * spec["share"] / points)
    for system in spec["systems"]:
        for servers, lam, delay in cases(system, most):
            base, name = None, f"{system['sizes']} {servers} {system['d']} {lam}"
            for policy in system["policies"]:
                options = [system[key] for key in ("delta", "threshold")]
                result = simulate(
                    policy, servers, system["d"], lam, system["sizes"], each, *options, system.get("cut"),
                    delay, seed, spec["runs"], times=spec["times"], name=name,
                )  # fmt: skip
                head = (policy, servers, system["d"], lam, system["sizes"], *options, result.cut, delay)
                head += (spec["runs"], each)
                yield *head, "mean_wait", None, *_numbers(result.mean_wait)
                yield *head, "waiting_probability", None, *_numbers(result.waiting_probability)
                yield *head, "drift", None, *_numbers(result.drift)
                if policy == "sq":
                    base = result.run_waits
                elif base is not None:
                    # Gain of the sums, with the interval of its linearization.
                    gain = 1.0 - result.run_waits.mean() / base.mean()
                    parts = gain + ((1.0 - gain) * base - result.run_waits) / base.mean()
                    yield *head, "gain", None, *_numbers(mean_over_shards(parts))
                for t, (estimate, *rest) in zip(result.times, result.wait_tail, strict=True):
                    yield *head, "wait_tail", float(t), estimate, *rest


def main():
    """Simulate one list of systems."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("config", type=Path, help="with the list under `simulations`")
    parser.add_argument("name")
    parser.add_argument("--arrivals", type=int, required=True, help="of all simulations together")
    parser.add_argument("--servers", type=int, default=10**7, help="at most")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="OUT.csv")
    arguments = parser.parse_args()
    spec = yaml.safe_load(arguments.config.read_text(encoding="utf-8"))["simulations"][arguments.name]
    write_csv(arguments.output, COLUMNS, rows(spec, arguments.arrivals, arguments.seed, arguments.servers))


if __name__ == "__main__":
    main()
