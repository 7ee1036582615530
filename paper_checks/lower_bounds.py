"""The two lower bounds of Section 3.2, and work conservation: no policy beats them.

That no response is shorter than its job, and that no tail lies below that of the sizes, is exact. The bound
by one fast server holds as t grows: for the extrapolated limit of each curve and, where the run has it, for
the rate of an endless job, which can nowhere exceed c = min(1, n (1 - rho)).
"""

import numpy as np

from tailsched.claims import Value, equals, every, exact
from tailsched.evidence import main
from tailsched.theory.bounds import fast_server_bound, size_bound

SETTINGS = ("low", "heavier", "lighter", "high", "high-ten")
HIGH = ("high", "high-ten")
WORK_CONSERVING = ("srpt", "sek", "split", "fcfs", "ps")

#: A tail computed from P[S > t] plus an excess may round below it by this, relative to it.
ROUNDING = 1e-12


def rows(results):
    """Yield the rows."""
    for setting in SETTINGS:
        curves = results.curves(setting).values()
        jobs = sum(curve.jobs for curve in curves)
        short = sum(curve.summary["identities"]["responses_below_size"] for curve in curves)
        yield exact(
            f"{setting}: every response is at least the job's size, T >= S",
            "Section 3.2, lower bound 2",
            short,
            "= 0 jobs with T < S",
            short == 0,
            jobs,
        )
        lower = sum(
            int(
                np.sum(
                    curve.columns["estimate"] < size_bound(curve.sizes, curve.columns["t"]) * (1 - ROUNDING)
                )
            )
            for curve in curves
        )
        yield exact(
            f"{setting}: P[T > t] >= P[S > t] at every t of every curve",
            "Section 3.2, lower bound 2",
            lower,
            "= 0 times below",
            lower == 0,
            jobs,
        )
        busy = [curve for curve in curves if curve.summary["policy"].partition(":")[0] in WORK_CONSERVING]
        idle = max(abs(curve.summary["identities"]["idle_with_work"]) for curve in busy)
        yield exact(
            f"{setting}: no server idles while a job waits under SRPT-n, SEK and SPLIT",
            "Sections 1.4, 4.1 and 7",
            idle,
            "= 0 servers",
            idle <= 1e-9,
            sum(c.jobs for c in busy),
        )
        srpt = results.curve(f"{setting}/srpt")
        entry = {**srpt.summary["identities"]["busy"], "shards": srpt.shards}
        value = Value.of(entry, srpt.jobs)
        expected = srpt.servers * srpt.load
        yield equals(
            f"{setting}: n rho servers are busy on average under SRPT-n",
            "Section 3.1, load",
            value and value.stretched(srpt.sizes.tail_index, 1),
            expected,
            0.05 * expected,
        )
        rates = [curve.rate for curve in curves if curve.summary.get("rate")]
        yield every(
            f"{setting}: no policy serves an endless job faster than c = min(1, n (1 - rho))",
            "Section 3.2, lower bounds 1 and 2",
            rates or [None],
            [srpt.benchmark] * (len(rates) or 1),
            0.1 * srpt.benchmark,
            sense=-1,
        )
    for setting in HIGH:
        curves = results.curves(setting).values()
        yield every(
            f"{setting}: the normalized tail of every policy has a limit of at least 1",
            "Section 3.2, lower bound 1",
            [curve.limit() for curve in curves],
            [1.0] * len(curves),
            0.5,
        )
    found = results.probe("reductions")
    yield exact(
        "n servers under SPLIT never have less work than one server of speed n",
        "Section 3.2, lower bound 1",
        found["total"]["violations"],
        "= 0 violations",
        found["total"]["violations"] == 0,
        found["jobs"],
    )
    wrong = 0
    for setting in SETTINGS:
        curve = results.curve(f"{setting}/srpt")
        t = np.logspace(0, 7, 50)
        size = size_bound(curve.sizes, t)
        fast = fast_server_bound(curve.sizes, curve.servers, curve.load, t)
        low = curve.load < (curve.servers - 1) / curve.servers
        wrong += int(np.sum((size < fast * (1 - ROUNDING)) if low else (fast < size * (1 - ROUNDING))))
    yield exact(
        "Lower bound 2 is the tighter one for rho < (n - 1)/n, lower bound 1 for rho > (n - 1)/n",
        "Section 3.2",
        wrong,
        "= 0 times of 250",
        wrong == 0,
        0,
    )


if __name__ == "__main__":
    main(__doc__, "lower_bounds", rows)
