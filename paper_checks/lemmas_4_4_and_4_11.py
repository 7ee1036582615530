"""Lemmas 4.4, 4.7, 4.9 and 4.11: small jobs under SPLIT, and the pick of large ones.

Lemma 4.4 is about some constant C: it is tried with C = 8. Lemmas 4.7 and 4.9 hold on every path and are
exact. Lemma 4.11 has a bound at every x and a limit.
"""

from tailsched.claims import Value, above, below, every, exact, falls
from tailsched.evidence import main

ALPHA = 1.5

#: Times at which the small jobs are looked at, and the largest P[T_x > t] / P[S > t] for any x <= t / C.
TIMES, SHARE = (64.0, 128.0, 256.0), 0.2

#: Part of the small jobs in P[T > t] / P[S > t] at the last time.
PART = 0.02

#: The probability of a pick at x = 10^6: "converges to 1".
PICK, LARGEST = 0.9, 1e6

#: An error of a probability that would be seen.
SEEN = 0.2


def rows(results):
    """Yield the rows."""
    probe = results.probe("small_jobs")
    c = probe["c"]
    for t in TIMES:
        i = probe["times"].index(t)
        values = []
        for octave, (jobs, late) in enumerate(zip(probe["octaves"], probe["late"][i], strict=True)):
            if 2 ** (octave + 1) <= t / c:
                values.append(Value.of_count(late, 1 / (max(jobs, 1) * probe["tail"][i]), jobs))
        yield every(
            f"P[T_x > t] is below {SHARE:g} P[S > t] for every octave of x <= t/{c:g}, at t = {t:g}",
            "Lemma 4.4",
            values,
            [SHARE] * len(values),
            SHARE,
            strict=True,
            sense=-1,
        )
    late = sum(probe["late"][-1])
    yield below(
        f"Jobs of x <= t/{c:g} make less than {PART:g} of P[T > t] / P[S > t] at t = {probe['times'][-1]:g}",
        "Lemma 4.4",
        Value.of_count(late, 1 / (probe["jobs"] * probe["tail"][-1]), probe["jobs"]),
        PART,
        PART,
    )
    probe = results.probe("reductions")
    found = probe["ljf"]
    for key, text in (
        ("idle", "the LJF server is never idle while a job is in the system"),
        ("ignored", "a job larger than r in the system is ignored by the LJF server for no longer than r"),
        ("dropped", "the LJF server is non-preemptive, it keeps a job until the job leaves"),
    ):
        yield exact(
            f"SPLIT: {text}",
            "Lemma 4.11, p_1(x)" if key == "ignored" else "Section 4.1",
            found[key],
            "= 0 violations",
            found[key] == 0,
            probe["jobs"],
        )
    for lemma, key, text in (
        ("4.7", "response", "T_x is at most the first s with x + (W_x + A_x(s))/(n - 1) <= s"),
        ("4.9", "work", "W_x of SPLIT is at most that of the fast SRPT server plus (n - 1) x, at all times"),
    ):
        found = probe[key]
        yield exact(
            f"{text} ({found['checks']} comparisons)",
            f"Lemma {lemma}",
            found["violations"],
            "= 0 violations",
            found["violations"] == 0 and found["checks"] > 0,
            probe["jobs"],
        )
    probe = results.probe("pick")
    picked, alone = (
        [Value.of(row[key]).stretched(ALPHA, -1) for row in probe["rows"]] for key in ("picked", "alone")
    )
    # A share that was never other than 1 has no spread: it counts as one miss.
    yield every(
        "The LJF server picks a job of size x within sqrt x with probability p(x) of at least its bound",
        "Lemma 4.11",
        picked,
        [row["bound"] for row in probe["rows"]],
        SEEN,
    )
    yield every(
        "A job of size x finds no job larger than sqrt x with a probability of at least 1 - 2 r_{>sqrt x}",
        "Lemma 4.11, p_1(x)",
        alone,
        [row["alone_bound"] for row in probe["rows"]],
        SEEN,
    )
    chosen = [
        value for value, row in zip(picked, probe["rows"], strict=True) if row["x"] in (100.0, 1e4, 1e6)
    ]
    yield falls("p(x) rises from x = 100 over 10^4 to 10^6", "Lemma 4.11", chosen, SEEN, rises=True)
    last = next(v for v, row in zip(picked, probe["rows"], strict=True) if row["x"] == LARGEST)
    yield above(f"p(x) is above {PICK:g} at x = {LARGEST:g}: it tends to 1", "Lemma 4.11", last, PICK, SEEN)
    giants = [row for row in results.probe("giants")["rows"] if "quick" in row]
    bounds = {row["x"]: row["bound"] for row in probe["rows"]}
    known = [row for row in giants if row["x"] in bounds]
    yield every(
        "A job of size x is done by x + sqrt x with a probability of at least the bound of p(x)",
        "Theorem 4.2, case 2 of the proof",
        [Value.of(row["quick"]).stretched(ALPHA, -1) for row in known],
        [bounds[row["x"]] for row in known],
        SEEN,
    )


if __name__ == "__main__":
    main(__doc__, "lemmas_4_4_and_4_11", rows)
