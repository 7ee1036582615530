"""Run one of the claims' own simulations: ``python -m tailsched.probes NAME -o OUT.json``."""

import argparse
import importlib
import math

from tailsched.files import write_json
from tailsched.probes import PROBES


def main():
    """Run the probe named on the command line and write its result."""
    parser = argparse.ArgumentParser(prog="python -m tailsched.probes", description=__doc__)
    parser.add_argument("name", choices=sorted(PROBES), metavar="NAME", help=", ".join(sorted(PROBES)))
    parser.add_argument("--seed", type=int, default=20260513, help="root seed (default 20260513)")
    parser.add_argument("--work", type=float, default=1.0, help="amount of work, 1 in the default run")
    parser.add_argument("-o", "--output", required=True, metavar="OUT.json")
    options = parser.parse_args()
    if options.seed < 0:
        parser.exit(2, f"{parser.prog}: seed = {options.seed}: must be a whole number of at least 0\n")
    if not 0 < options.work < math.inf:
        parser.exit(2, f"{parser.prog}: work = {options.work}: must be a number above 0\n")
    module = importlib.import_module(f"tailsched.probes.{options.name}")
    result = module.measure(options.seed, options.work)
    write_json(options.output, {"seed": options.seed, "amount": options.work, **result})


if __name__ == "__main__":
    main()
