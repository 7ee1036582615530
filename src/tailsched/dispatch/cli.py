"""The commands of load balancing: ``tailsched solve | simulate-dispatch``. They print, and write no file."""

import json
import math
import sys

UNITS = (
    "lam is per server, sizes are scaled to mean 1. An option that the policy does not look at is ignored."
)


def _number(label, text):
    """Return the positive number that `text` spells."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise ValueError(f"{label} = {text!r}: must be a positive number")
    return value


def _optional(label, text):
    return None if text is None else _number(label, text)


def _load(text):
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 1:
        raise ValueError(f"lam = {text!r}: must be a number above 0 and below 1")
    return value


def _times(text):
    try:
        times = sorted({float(part) for part in text.split(",")})
    except ValueError:
        times = [math.nan]
    if not all(0 <= time < math.inf for time in times):
        raise ValueError(f"times = {text!r}: must be numbers of at least 0, separated by commas")
    return times


def _system(arguments):
    """Return d and the options of the layers."""
    from tailsched.cli import _whole

    return _whole("d", arguments.d, 1, 10**6), {
        "delta": _number("delta", arguments.delta),
        "threshold": _number("threshold", arguments.threshold),
        "cut": _optional("cut", arguments.cut),
    }


def _layers(layers):
    """Return what a reader needs to know of the layers."""
    if not layers.r:
        return {"layers": 1, "delta": None, "cut": None}
    return {"layers": layers.r + 1, "delta": layers.delta, "cut": layers.cut}


def solve(arguments):
    """Solve SQ(d) with attained service for infinitely many servers, by the cavity method."""
    from tailsched.cli import _whole
    from tailsched.dispatch.cavity import MOST_ITERATIONS, TOLERANCE, Cavity

    d, options = _system(arguments)
    lam, times = _load(arguments.lam), _times(arguments.times)
    most = MOST_ITERATIONS
    if arguments.max_iterations is not None:
        most = _whole("max-iterations", arguments.max_iterations, 1)
    tolerance = _optional("tolerance", arguments.tolerance) or TOLERANCE
    cavity = Cavity(arguments.policy, d, arguments.sizes, **options)
    solution = cavity.solve(
        lam, tolerance=tolerance, max_iterations=most, accelerate=not arguments.plain_iteration
    )
    waits, responses = solution.wait_tail(times), solution.response_tail(times)
    summary = {
        "policy": cavity.policy.name,
        "d": d,
        "lam": lam,
        "sizes": cavity.sizes.name,
        "scv": cavity.sizes.scv,
        **_layers(cavity.layers),
        "threshold": options["threshold"] if cavity.policy.uses_threshold else None,
        "mean_wait": solution.mean_wait,
        "mean_wait_by_arrivals": solution.mean_wait_by_arrivals,
        "mean_response": solution.mean_response,
        "mean_queue": solution.mean_queue,
        "waiting_probability": solution.waiting_probability,
        "iterations": solution.iterations,
        "residual": solution.residuals[-1],
        "residuals": solution.residuals,
        "queue_lengths": len(solution.queue),
        "lost": solution.lost,
        "tail": [
            {"t": t, "estimate": float(wait), "response": float(response)}
            for t, wait, response in zip(times, waits, responses, strict=True)
        ],
    }
    if arguments.json:
        print(json.dumps(summary, indent=1, allow_nan=False))
        return
    print(_heading(summary, "infinitely many servers"))
    print(f"E[W] {summary['mean_wait']:.10g}   E[R] {summary['mean_response']:.10g}   "
          f"E[Q] {summary['mean_queue']:.10g}   P[W > 0] {summary['waiting_probability']:.10g}")  # fmt: skip
    print(f"{'t':>8} {'P[W > t]':>14} {'P[R > t]':>14}")
    for row in summary["tail"]:
        print(f"{row['t']:>8g} {row['estimate']:>14.6e} {row['response']:>14.6e}")
    print(
        f"{summary['iterations']} iterations, the last moved by {summary['residual']:.1e}; "
        f"{summary['queue_lengths']} queue lengths, {summary['lost']:.0e} of probability at the last; "
        f"E[W] by the states that jobs join {summary['mean_wait_by_arrivals']:.10g}"
    )


def _heading(summary, servers):
    text = f"{summary['policy']}, {servers}, d = {summary['d']}, lam = {summary['lam']:g}"
    text += f", sizes {summary['sizes']}"
    if summary["delta"] is not None:
        text += f", layers of {summary['delta']:g} up to {summary['cut']:g}"
    return text + (f", threshold {summary['threshold']:g}" if summary["threshold"] is not None else "")


def simulate(arguments):
    """Simulate SQ(d) with attained service on N servers."""
    from tailsched.cli import _whole
    from tailsched.dispatch import simulation
    from tailsched.dispatch.policies import find_policy

    d, options = _system(arguments)
    servers = _whole("servers", arguments.servers, 1, 10**7)
    lam, times = _load(arguments.lam), _times(arguments.times)
    runs = _whole("runs", arguments.runs, 1, 10**4)
    arrivals = _whole("arrivals", arguments.arrivals, 2 * runs)
    seed = _whole("seed", arguments.seed, 0, math.inf)
    warm_up = None if arguments.warm_up is None else _whole("warm-up", arguments.warm_up, 0)
    delay = 0.0 if arguments.delay in ("0", "0.0") else _number("delay", arguments.delay)
    policy = find_policy(arguments.policy)
    sizes = simulation.size_law(arguments.sizes)
    result = simulation.simulate(
        policy, servers, d, lam, sizes, arrivals,
        delay=delay, seed=seed, runs=runs, warm_up=warm_up, times=times, **options,
    )  # fmt: skip
    layered = policy.layering == "delta"
    summary = {
        "policy": policy.name,
        "servers": servers,
        "d": d,
        "lam": lam,
        "sizes": arguments.sizes,
        "delta": options["delta"] if layered else None,
        "cut": result.cut if layered else None,
        "threshold": options["threshold"] if policy.uses_threshold else None,
        "delay": delay,
        "arrivals": arrivals,
        "runs": runs,
        "warm_up": result.warm_up,
        "seed": seed,
        "mean_wait": result.mean_wait.as_dict(),
        "mean_response": result.mean_response.as_dict(),
        "waiting_probability": result.waiting_probability.as_dict(),
        "tail": [
            _row(t, *rows) for t, *rows in zip(times, result.wait_tail, result.response_tail, strict=True)
        ],
        "drift": result.drift.as_dict(),
        "stationary": result.stationary,
    }
    if not result.stationary:
        print("warning: the second half of the measurements waits otherwise than the first; "
              "simulate longer runs and warm-ups", file=sys.stderr)  # fmt: skip
    if arguments.json:
        print(json.dumps(summary, indent=1, allow_nan=False))
        return
    print(_heading(summary, f"{servers} servers") + (f", reports {delay:g} old" if delay else ""))
    print(f"{arrivals} arrivals in {runs} runs, {result.warm_up} of each dropped as warm-up; seed {seed}")
    for label, entry in (("E[W]", result.mean_wait), ("E[R]", result.mean_response),
                         ("P[W > 0]", result.waiting_probability)):  # fmt: skip
        interval = "" if entry.low is None else f"  [{entry.low:.6g}, {entry.high:.6g}]"
        print(f"{label:<9} {entry.estimate:.6g}{interval}")
    print(f"{'t':>8} {'P[W > t]':>12} {'low':>12} {'high':>12}")
    for row in summary["tail"]:
        numbers = (row[key] for key in ("estimate", "low", "high"))
        print(f"{row['t']:>8g} " + " ".join("-".rjust(12) if x is None else f"{x:>12.4e}" for x in numbers))


def _row(t, wait, response):
    keys = "estimate", "se", "low", "high"
    plain = [[None if math.isnan(x) else float(x) for x in values] for values in (wait, response)]
    return {
        "t": t,
        **dict(zip(keys, plain[0], strict=True)),
        "response": dict(zip(keys, plain[1], strict=True)),
    }


def _common(command, sizes):
    command.add_argument(
        "--policy", required=True, help="sq, sq-rtb, sq-re, sq-rtb-re, las, las-qtb, re or lew"
    )
    command.add_argument("--d", required=True, metavar="D", help="servers sampled by a job")
    command.add_argument(
        "--lam", required=True, metavar="LAM", help="arrivals per server and mean size, below 1"
    )
    command.add_argument("--sizes", required=True, metavar="SPEC", help=sizes)
    command.add_argument("--delta", default="0.1", help="width of a layer of ages (default 0.1)")
    command.add_argument(
        "--threshold", default="2", metavar="T", help="age from which a job is long (default 2)"
    )
    command.add_argument(
        "--cut", metavar="C", help="age from which ages are not told apart (default: far out)"
    )
    command.add_argument("--times", default="0,1,2,5,10,20", help="times t at which P[W > t] is given")
    command.add_argument("--json", action="store_true", help="print JSON")


def add_commands(commands):
    """Add the commands to the subparsers of the command line."""
    command = commands.add_parser("solve", help=solve.__doc__, description=f"{solve.__doc__} {UNITS}")
    _common(command, "exp, erlang:K, hexp:SCV,F or merlang:SCV,F,K")
    command.add_argument("--tolerance", help="change in L1 at which the iteration ends (default 1e-10)")
    command.add_argument("--max-iterations", metavar="K", help="iterations before giving up (default 2000)")
    command.add_argument(
        "--plain-iteration", action="store_true", help="the paper's iteration, without short cuts"
    )
    command.set_defaults(run=solve)

    command = commands.add_parser(
        "simulate-dispatch", help=simulate.__doc__, description=f"{simulate.__doc__} {UNITS}"
    )
    _common(command, "for example hexp:10,0.5, pareto:1.5, file:PATH")
    command.add_argument("--servers", required=True, metavar="N")
    command.add_argument("--arrivals", required=True, help="in all runs together, warm-up included")
    command.add_argument(
        "--runs", default="10", metavar="K", help="independent runs, for the intervals (default 10)"
    )
    command.add_argument(
        "--warm-up", metavar="JOBS", help="a run (default: time 10 E[S^2]/E[S], at most half)"
    )
    command.add_argument("--delay", default="0", metavar="H", help="age of what servers report (default 0)")
    command.add_argument("--seed", default="1")
    command.set_defaults(run=simulate)
