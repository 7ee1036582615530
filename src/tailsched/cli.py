"""The command line: ``tailsched trace | simulate | shard | merge``.

Bad input ends with exit code 2 and one line on standard error; an interrupt ends with exit code 130.
"""

import argparse
import json
import math
import os
import sys
from concurrent.futures import BrokenExecutor
from pathlib import Path

from tailsched.dispatch import cli as dispatch

CONVENTIONS = "Servers have speed 1, lam counts all arrivals, T includes service, rho = lam E[S]/n."

#: Command-line flags of policy options that are plain values; `--no-steal` is steal=no.
POLICY_OPTIONS = ("epsilon", "sek-size", "threshold", "threshold-percentile", "large-load", "small")


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n")


#: The largest number of arrivals, servers and the like: a counter has 64 bits.
MOST = 10**18


def _whole(label, text, least, most=MOST):
    """Return a whole number, also from forms like 1e8; no float stands between the text and an integer."""
    try:
        value = int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        value = math.nan
    if not (least <= value <= most) or value != int(value):
        limit = f"of at least {least}" if value < least or most == math.inf else f"from {least} to {most:.0e}"
        raise ValueError(f"{label} = {text!r}: must be a whole number {limit}")
    return int(value)


def _times(text):
    times = []
    for part in text.split(","):
        try:
            time = float(part)
        except ValueError:
            time = math.nan
        if not 0 < time < math.inf:
            raise ValueError(f"times = {part!r}: must be positive numbers, separated by commas")
        times.append(time)
    return sorted(set(times))


def _policy_arguments(parser):
    group = parser.add_argument_group("policy")
    group.add_argument("--policy", required=True, help="a name, or name:option=value,... in one string")
    group.add_argument("--servers", required=True, metavar="N")
    group.add_argument("--epsilon", metavar="E", help="SEK: the size that separates large from small jobs")
    group.add_argument("--sek-size", metavar="SIZE", help="SEK: remaining (default) or original size")
    group.add_argument("--threshold", metavar="D", help="jobs above this size are large")
    group.add_argument(
        "--threshold-percentile", metavar="P", help="the threshold as a percentile of the sizes"
    )
    group.add_argument("--large-load", metavar="L", help="the threshold by the large-job server's load")
    group.add_argument(
        "--small", metavar="POLICY", help="Thresh-SPLIT: fcfs (default) or srpt on small-job servers"
    )
    group.add_argument("--no-steal", action="store_true", help="Thresh-SPLIT: no work stealing")


def _setting_arguments(parser):
    _policy_arguments(parser)
    parser.add_argument("--load", required=True, metavar="RHO", help="lam E[S]/n, below 1")
    parser.add_argument(
        "--sizes", required=True, metavar="SPEC", help="for example pareto:1.5, exp, file:PATH"
    )


def _policy(arguments):
    from tailsched.settings import Policy

    given = {key: getattr(arguments, key.replace("-", "_")) for key in POLICY_OPTIONS}
    given = {key: value for key, value in given.items() if value is not None}
    if arguments.no_steal:
        given["steal"] = "no"
    if ":" not in arguments.policy:
        return Policy.of(arguments.policy, given)
    if given:
        raise ValueError(
            f"policy = {arguments.policy!r}: has its options in the string, none can be added beside it"
        )
    return Policy.parse(arguments.policy)


def _setting(arguments):
    from tailsched.settings import Setting

    servers = _whole("servers", arguments.servers, 1, 10**5)
    try:
        load = float(arguments.load)
    except ValueError:
        raise ValueError(f"load = {arguments.load!r}: must be a number above 0 and below 1") from None
    return Setting.parse(_policy(arguments), servers, load, arguments.sizes)


def _warn(setting):
    if setting.warning:
        print(f"warning: {setting.warning}", file=sys.stderr)


def trace(arguments):
    """Run a trace of jobs and write their completion times."""
    import numpy as np

    from tailsched import mgn, traces

    servers = _whole("servers", arguments.servers, 1, 10**5)
    policy = _policy(arguments)
    threshold = policy.option("threshold")
    if policy.name in ("thresh-split", "tags-split"):
        if threshold is None:
            raise ValueError("threshold: must be given as a size for a trace, which has no size distribution")
        if not threshold >= 0:
            raise ValueError(f"threshold = {threshold:g}: must be a size of at least 0")
        if servers < 2:
            raise ValueError(f"servers = {servers}: {policy.name} needs at least 2")
    arrivals, sizes = traces.read_jobs(arguments.jobs)
    simulator, parameters = policy.simulator(threshold)
    order = np.argsort(arrivals, kind="stable")
    completions = np.empty_like(arrivals)
    completions[order] = mgn.completions(simulator, servers, arrivals[order], sizes[order], **parameters)
    traces.write_completions(arguments.output, arrivals, sizes, completions)


def simulate(arguments):
    """Simulate a setting and print estimates with intervals."""
    from tailsched import curves, runs
    from tailsched.report import report

    setting = _setting(arguments)
    seed = _whole("seed", arguments.seed, 0, math.inf)
    arrivals = _whole("arrivals", arguments.arrivals, 1)
    shards = min(20, arrivals) if arguments.shards is None else _whole("shards", arguments.shards, 1, 10**4)
    if shards > arrivals:
        raise ValueError(f"shards = {shards}: must be at most the number of arrivals, {arrivals}")
    warm_up = None if arguments.warm_up is None else _whole("warm-up", arguments.warm_up, 0)
    decades = [setting.sizes.mean * 10**k for k in range(7)]
    times = decades if arguments.times is None else _times(arguments.times)
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    few = arrivals < 5_000_000
    cores = (1 if few else available) if arguments.cores is None else _whole("cores", arguments.cores, 1)
    plan = runs.plan(arrivals, shards, warm_up, setting)
    _warn(setting)
    results = runs.run_shards(setting, "simulate", seed, plan, times, cores)
    summary, _ = curves.summarize(setting, results)
    summary.update(seed=seed, warm_up=plan[0].warm_up)
    if arguments.json:
        print(json.dumps(summary, indent=1, allow_nan=False))
    else:
        print(report(summary))


def _indexes(text):
    """Return the range of shards that ``FIRST-LAST``, or one index, stands for."""
    first, _, last = text.partition("-")
    first = _whole("shards", first, 0)
    return range(first, _whole("shards", last or str(first), first) + 1)


def shard(arguments):
    """Simulate some of the shards of a curve and write them to a file."""
    from tailsched import runs
    from tailsched.tails import shards

    setting = _setting(arguments)
    arrivals, warm_up = _whole("arrivals", arguments.arrivals, 1), _whole("warm-up", arguments.warm_up, 0)
    runs.plan(arrivals, 1, warm_up)
    works = [runs.Work(index, arrivals, warm_up) for index in _indexes(arguments.shards)]
    seed = _whole("seed", arguments.seed, 0, math.inf)
    times = [] if arguments.times is None else _times(arguments.times)
    shards.save(arguments.output, runs.run_shards(setting, arguments.curve, seed, works, times))


def merge(arguments):
    """Merge the shards of a curve into its CSV and JSON files."""
    from tailsched import curves
    from tailsched.tails import shards

    setting = _setting(arguments)
    loaded = [shard for path in arguments.shards for shard in shards.load(path)]
    shards.check_same(loaded, {"curve": arguments.curve, **setting.identity})
    curves.write_curve(Path(arguments.output), arguments.curve, setting, loaded)


def make_parser():
    """Return the command line's parser."""
    parser = Parser(prog="tailsched", description="Tail-optimal scheduling in the M/G/n. " + CONVENTIONS)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)

    command = commands.add_parser("trace", help=trace.__doc__, description=trace.__doc__)
    _policy_arguments(command)
    command.add_argument("jobs", metavar="JOBS.csv", help="with the header arrival,size")
    command.add_argument("-o", "--output", required=True, metavar="OUT.csv")
    command.set_defaults(run=trace)

    command = commands.add_parser(
        "simulate", help=simulate.__doc__, description=f"{simulate.__doc__} {CONVENTIONS}"
    )
    _setting_arguments(command)
    command.add_argument("--arrivals", required=True, help="in all shards together, warm-up included")
    command.add_argument("--seed", default="1")
    command.add_argument("--times", help="times t at which P[T > t] is estimated (default: decades of E[S])")
    command.add_argument("--warm-up", metavar="JOBS", help="a shard (default: a tenth of it, at most 1e6)")
    command.add_argument("--shards", metavar="K", help="independent shards, for the intervals (default 20)")
    command.add_argument("--cores", metavar="K", help="processes; the results do not depend on it")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=simulate)

    command = commands.add_parser("shard", help=shard.__doc__, description=shard.__doc__)
    _setting_arguments(command)
    command.add_argument("--curve", required=True, help="the curve's name, which chooses the random streams")
    command.add_argument("--shards", required=True, metavar="FIRST-LAST", help="indexes, from 0")
    command.add_argument("--arrivals", required=True, help="of each shard, warm-up included")
    command.add_argument("--warm-up", required=True, metavar="JOBS")
    command.add_argument("--seed", required=True)
    command.add_argument("--times")
    command.add_argument("-o", "--output", required=True, metavar="SHARD.npz")
    command.set_defaults(run=shard)

    command = commands.add_parser("merge", help=merge.__doc__, description=merge.__doc__)
    _setting_arguments(command)
    command.add_argument("--curve", required=True, help="the curve's name, kept in its JSON file")
    command.add_argument("shards", nargs="+", metavar="SHARD.npz")
    command.add_argument("-o", "--output", required=True, metavar="CURVE.csv")
    command.set_defaults(run=merge)

    dispatch.add_commands(commands)
    return parser


def main(argv=None):
    """Run the command line; exit with 2 after one line on bad input."""
    arguments = make_parser().parse_args(argv)
    try:
        if getattr(arguments, "output", None) == "":
            raise ValueError("output = '': must be the path of a file")
        arguments.run(arguments)
    except BrokenPipeError:
        sys.stderr.close()  # what reads our output has gone: nothing is left to say
        sys.exit(141)
    except (ValueError, OSError, OverflowError, MemoryError, BrokenExecutor) as error:
        message = " ".join(str(error).split()) or type(error).__name__
        print(f"tailsched {arguments.command}: {message}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print(f"tailsched {arguments.command}: interrupted, nothing was written", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
