"""The command line: ``tailsched trace | simulate | limit | compare``, and what the workflow calls.

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
    return Setting.parse(_policy(arguments), servers, _load(arguments.load), arguments.sizes)


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


def _real(label, text, low=0.0):
    """Return a finite number above `low`."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not low < value < math.inf:
        raise ValueError(f"{label} = {text!r}: must be a number above {low:g}")
    return value


def _cores(arguments, arrivals):
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    few = arrivals < 5_000_000
    return (1 if few else available) if arguments.cores is None else _whole("cores", arguments.cores, 1)


def _amount(arguments):
    """Return (arrivals, shards, warm-up or None)."""
    arrivals = _whole("arrivals", arguments.arrivals, 1)
    shards = min(20, arrivals) if arguments.shards is None else _whole("shards", arguments.shards, 1, 10**4)
    if shards > arrivals:
        raise ValueError(f"shards = {shards}: must be at most the number of arrivals, {arrivals}")
    return arrivals, shards, None if arguments.warm_up is None else _whole("warm-up", arguments.warm_up, 0)


#: Arrivals from which `--method auto` takes the tagged-job estimator.
MANY = 10_000_000


def _method(arguments, setting, arrivals, shards):
    """Return the method, ``tagged`` or ``natural``."""
    from tailsched import runs

    if arguments.method not in ("auto", "tagged", "natural"):
        raise ValueError(f"method = {arguments.method!r}: must be auto, tagged or natural")
    why = runs.why_not_tagged(setting, max(_until(arguments, setting)), arrivals)
    if shards < 2:
        why = "needs at least 2 shards, for the intervals"
    if arguments.method == "tagged" and why:
        raise ValueError(f"method = 'tagged': {why}, take natural")
    if arguments.method == "auto":
        return "natural" if why or arrivals < MANY else "tagged"
    return arguments.method


def _until(arguments, setting):
    decades = [setting.sizes.mean * 10**k for k in range(7)]
    return decades if arguments.times is None else _times(arguments.times)


def simulate(arguments):
    """Simulate a setting and print estimates with intervals."""
    from tailsched import curves, runs
    from tailsched.report import report
    from tailsched.tails.precision import Goal

    setting = _setting(arguments)
    seed = _whole("seed", arguments.seed, 0, math.inf)
    arrivals, shards, warm_up = _amount(arguments)
    times = _until(arguments, setting)
    method = _method(arguments, setting, arrivals, shards)
    precision = None if arguments.precision is None else _real("precision", arguments.precision)
    cores = _cores(arguments, arrivals)
    _warn(setting)
    if method == "tagged":
        if warm_up is None:
            warm_up = runs.default_warm_up(arrivals // (4 * shards), setting.servers, setting.load)
        runs.divide(arrivals, shards, warm_up)
        # Without a precision the budget is spent whatever is reached.
        wanted, settle = precision or 1e-6, precision is not None
        goal = Goal(wanted, max(times), wanted, max(times), arrivals, settle)
        names = "simulate", f"simulate/{setting.resolved}"
        results = runs.sample(setting, names, seed, goal, shards, warm_up, times, cores)
    else:
        if precision is not None:
            raise ValueError(f"precision = {arguments.precision}: is for method tagged, this is natural")
        plan = runs.divide(arrivals, shards, warm_up, setting)
        warm_up = plan[0].warm_up
        results = runs.run_shards(setting, "simulate", seed, plan, times, cores)
    summary, _ = curves.summarize(setting, results)
    summary.update(seed=seed, warm_up=warm_up)
    if arguments.json:
        print(json.dumps(summary, indent=1, allow_nan=False))
    else:
        print(report(summary))


def limit(arguments):
    """Measure the rate q at which an endless job is served, and the limit (c/q)^alpha of the normalized tail."""
    from tailsched import curves, runs

    setting = _setting(arguments)
    seed = _whole("seed", arguments.seed, 0, math.inf)
    arrivals, shards, warm_up = _amount(arguments)
    if setting.policy.name == "fcfs":
        raise ValueError(
            "policy = 'fcfs': the tail of fcfs is made by other jobs, an endless one says nothing"
        )
    works = runs.divide(arrivals, shards, warm_up, setting)
    _warn(setting)
    rate = curves.rate_of(
        setting, runs.run_endless_shards(setting, "limit", seed, works, _cores(arguments, arrivals))
    )
    expected = curves.limit_estimate(setting, rate)
    theory = "inf" if setting.limit == math.inf else setting.limit
    answer = {
        "policy": str(setting.policy), "servers": setting.servers, "load": setting.load,
        "sizes": setting.sizes.spec, "benchmark_rate": setting.rate,
        "rate": rate.as_dict(), "limit": expected.as_dict(), "theory": theory,
        "arrivals": arrivals, "shards": shards, "warm_up": works[0].warm_up, "seed": seed,
    }  # fmt: skip
    if arguments.json:
        print(json.dumps(answer, indent=1, allow_nan=False))
        return
    from tailsched.report import show

    print(f"{setting.label}: {setting.servers} servers, load {setting.load:g}, sizes {setting.sizes.spec}")
    print(f"rate q of an endless job    {show(answer['rate'])}")
    print(f"limit (c/q)^alpha           {show(answer['limit'])}")
    if theory is not None:
        print(f"theory                      {theory}")


def compare(arguments):
    """Compare two policies on the same arrivals and sizes: percentiles of T, and their differences."""
    from tailsched import comparison, runs
    from tailsched.files import write_json
    from tailsched.settings import Setting

    texts = arguments.policies
    if len(texts) != 2:
        raise ValueError(f"policy: must be given twice, not {len(texts)} times")
    servers = _whole("servers", arguments.servers, 1, 10**5)
    load = _load(arguments.load)
    settings = [Setting.parse(text, servers, load, arguments.sizes) for text in texts]
    seed = _whole("seed", arguments.seed, 0, math.inf)
    arrivals, shards, warm_up = _amount(arguments)
    if shards < 2:
        raise ValueError(f"shards = {shards}: must be at least 2, for the intervals")
    levels = [_percentile(part) for part in arguments.percentiles.split(",")]
    precision = None if arguments.precision is None else _real("precision", arguments.precision)
    plan = runs.divide(arrivals, shards, warm_up, settings[0])
    for setting in settings:
        _warn(setting)
    cores = _cores(arguments, arrivals)
    answer = comparison.compare(settings, arguments.streams, seed, plan, levels, precision, cores)
    if arguments.output:
        write_json(arguments.output, answer)
    elif arguments.json:
        print(json.dumps(answer, indent=1, allow_nan=False))
    else:
        print(comparison.report(answer))


def _percentile(text):
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 100:
        raise ValueError(
            f"percentiles = {text!r}: must be numbers above 0 and below 100, separated by commas"
        )
    return value


def _load(text):
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"load = {text!r}: must be a number above 0 and below 1") from None


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
    runs.divide(arrivals, 1, warm_up)
    works = [runs.Natural(index, arrivals, warm_up) for index in _indexes(arguments.shards)]
    seed = _whole("seed", arguments.seed, 0, math.inf)
    times = [] if arguments.times is None else _times(arguments.times)
    shards.save(
        arguments.output, runs.run_shards(setting, arguments.streams, seed, works, times, 1, arguments.curve)
    )


def sample(arguments):
    """Simulate a curve until it is as precise as demanded, or its budget is spent, and write its shards."""
    from tailsched import runs
    from tailsched.tails import shards
    from tailsched.tails.precision import Goal

    setting = _setting(arguments)
    amount = {
        key: _whole(key.replace("_", "-"), getattr(arguments, key), 1) for key in ("arrivals", "shards")
    }
    warm_up = _whole("warm-up", arguments.warm_up, 0)
    numbers = (_real(key, getattr(arguments, key)) for key in ("precision", "horizon", "far", "until"))
    goal = Goal(*numbers, amount["arrivals"])
    runs.divide(amount["arrivals"], amount["shards"], warm_up)
    seed = _whole("seed", arguments.seed, 0, math.inf)
    times = [] if arguments.times is None else _times(arguments.times)
    names = arguments.streams, arguments.curve
    if amount["shards"] < 2:
        raise ValueError("shards = 1: must be at least 2, for the intervals")
    shards.save(arguments.output, runs.sample(setting, names, seed, goal, amount["shards"], warm_up, times))


def merge(arguments):
    """Merge the shards of a curve into its CSV and JSON files."""
    from tailsched import curves
    from tailsched.tails import shards

    setting = _setting(arguments)
    loaded = [shard for path in arguments.shards for shard in shards.load(path)]
    shards.check_same(loaded, {"curve": arguments.curve, **setting.identity})
    curves.write_curve(Path(arguments.output), arguments.curve, setting, loaded)


def _amount_arguments(command):
    command.add_argument("--arrivals", required=True, help="in all shards together, warm-up included")
    command.add_argument("--seed", default="1")
    command.add_argument("--warm-up", metavar="JOBS", help="a shard (default: a tenth of it, at most 1e6)")
    command.add_argument("--shards", metavar="K", help="independent shards, for the intervals (default 20)")
    command.add_argument("--cores", metavar="K", help="processes; the results do not depend on it")
    command.add_argument("--json", action="store_true", help="print JSON")


def _curve_arguments(command):
    command.add_argument("--curve", required=True, help="the curve's name, which chooses the tagged jobs")
    command.add_argument("--streams", required=True, metavar="NAME", help="chooses arrivals and sizes")
    command.add_argument("--seed", required=True)
    command.add_argument("--times")
    command.add_argument("-o", "--output", required=True, metavar="SHARD.npz")


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
    _amount_arguments(command)
    command.add_argument("--times", help="times t at which P[T > t] is estimated (default: decades of E[S])")
    command.add_argument(
        "--method", default="auto", metavar="METHOD",
        help="natural: count what happens; tagged: follow tagged jobs of chosen sizes, too; "
        f"auto (default): tagged from {MANY:.0e} arrivals on, where it applies",
    )  # fmt: skip
    command.add_argument(
        "--precision", metavar="R",
        help="tagged: stop when the standard error of P[T > t] is R P[T > t] or less at all t up to the last "
        "of the times; --arrivals is the most that may be spent",
    )  # fmt: skip
    command.set_defaults(run=simulate)

    command = commands.add_parser("limit", help=limit.__doc__, description=f"{limit.__doc__} {CONVENTIONS}")
    _setting_arguments(command)
    _amount_arguments(command)
    command.set_defaults(run=limit)

    command = commands.add_parser(
        "compare", help=compare.__doc__, description=f"{compare.__doc__} {CONVENTIONS}"
    )
    command.add_argument(
        "--policy", required=True, action="append", dest="policies", metavar="POLICY",
        help="twice: name or name:option=value,...; differences are the first less the second",
    )  # fmt: skip
    command.add_argument("--servers", required=True, metavar="N")
    command.add_argument("--load", required=True, metavar="RHO", help="lam E[S]/n, below 1")
    command.add_argument("--sizes", required=True, metavar="SPEC")
    _amount_arguments(command)
    command.add_argument("--percentiles", default="99,99.9,99.99", help="in percent (default %(default)s)")
    command.add_argument(
        "--precision", metavar="R",
        help="add shards until the standard error of each difference is R times the first percentile or less; "
        "--arrivals is the most that may be spent on each policy",
    )  # fmt: skip
    command.add_argument("--streams", default="compare", metavar="NAME", help="of the random numbers")
    command.add_argument("-o", "--output", metavar="OUT.json", help="write the JSON to a file")
    command.set_defaults(run=compare)

    command = commands.add_parser("shard", help=shard.__doc__, description=shard.__doc__)
    _setting_arguments(command)
    _curve_arguments(command)
    command.add_argument("--shards", required=True, metavar="FIRST-LAST", help="indexes, from 0")
    command.add_argument("--arrivals", required=True, help="of each shard, warm-up included")
    command.add_argument("--warm-up", required=True, metavar="JOBS")
    command.set_defaults(run=shard)

    command = commands.add_parser("sample", help=sample.__doc__, description=sample.__doc__)
    _setting_arguments(command)
    _curve_arguments(command)
    command.add_argument("--shards", required=True, metavar="K")
    command.add_argument("--arrivals", required=True, help="the most that may be spent on the curve")
    command.add_argument("--warm-up", required=True, metavar="JOBS", help="of each run of a shard")
    command.add_argument("--precision", required=True, metavar="R", help="up to the horizon")
    command.add_argument("--horizon", required=True, metavar="T")
    command.add_argument("--far", required=True, metavar="R", help="precision beyond the horizon")
    command.add_argument("--until", required=True, metavar="T", help="the largest t")
    command.set_defaults(run=sample)

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
