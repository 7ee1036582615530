"""Section 8.2: the packing identity for two servers, and what P_idle is under each policy."""

from tailsched.claims import Value, equals, every, exact, falls
from tailsched.evidence import main

ALPHA = 1.5

#: Rounding of the identity along a path: a rate of the endless job is known to this.
ROUNDING = 1e-6

#: Near d* the identity is met within this, and P_idle is below this ("close to 0").
NEAR, CLOSE = 0.03, 0.05

#: "P_idle ~ 1" and "almost always": above this. "T* ~ S*/(1 - rho)": within a tenth.
ABOUT, ALMOST, TENTH = 0.9, 0.9, 0.1

#: An error of a rate or a share that would be seen.
SEEN = 0.15

#: The entry of docs/claims.md.
FLUID = "docs/claims.md, P_idle under SRPT-2"


def rows(results):
    """Yield the rows."""
    probe = results.probe("packing")
    of = {
        name: [r for r in probe["rows"] if r["policy"] == name] for name in ("srpt", "split", "thresh-split")
    }
    source = "Section 8.2"

    def values(rows, key, sense):
        return [Value.of(row[key]).stretched(ALPHA, sense) for row in rows]

    for name, label in (("srpt", "SRPT-2"), ("split", "SPLIT")):
        error = max(row["identity_error"] for row in of[name])
        yield exact(
            f"{label}: q = 2 (1 - rho)/(1 + P_idle) on every path, rho and P_idle those of the path",
            source,
            error,
            "= 0 difference",
            error <= ROUNDING,
            sum(row["jobs"] for row in of[name]),
        )
    near = max(of["thresh-split"], key=lambda row: row["small_load"])["small_load"]
    close = [row for row in of["thresh-split"] if row["small_load"] == near]
    error = max(row["identity_error"] for row in close)
    yield exact(
        f"Thresh-SPLIT near d* (small-job load {near:g}): the same within {NEAR:g} on every path",
        source,
        error,
        f"<= {NEAR:g} difference",
        error <= NEAR,
        sum(row["jobs"] for row in close),
    )
    for row in of["split"]:
        rho = row["load"]
        yield equals(
            f"SPLIT: P_idle = 1 - 2 rho at rho = {rho:g}",
            source,
            values([row], "idle", -1)[0],
            1 - 2 * rho,
            SEEN,
        )
    yield every(
        "SPLIT: an endless job is served all the time, T* = S*",
        source,
        values(of["split"], "rate", -1),
        [1.0] * len(of["split"]),
        0.01,
    )
    low = [row for row in of["srpt"] if row["load"] < 0.5]
    yield every(
        "SRPT-2: P_idle is at least 1 - 2 rho, SPLIT's, the best packing of any work-conserving policy",
        source,
        values(low, "idle", -1),
        [1 - 2 * row["load"] for row in low],
        SEEN,
        strict=True,
    )
    for load in sorted({row["load"] for row in of["thresh-split"]}):
        rising = sorted(
            (r for r in of["thresh-split"] if r["load"] == load), key=lambda row: row["small_load"]
        )
        yield falls(
            f"Thresh-SPLIT: P_idle falls as d grows to d*, at rho = {load:g}",
            source,
            values(rising, "idle", -1),
            SEEN,
        )
    yield every(
        f"Thresh-SPLIT: P_idle is below {CLOSE:g} near d*",
        source,
        values(close, "idle", -1),
        [CLOSE] * len(close),
        SEEN,
        strict=True,
        sense=-1,
    )
    yield every(
        "SRPT-2: a giant is not slower than S*/(1 - rho), q >= 1 - rho",
        source,
        values(of["srpt"], "rate", -1),
        [1 - row["load"] for row in of["srpt"]],
        SEEN,
    )
    yield every(
        "SRPT-2: a giant is not faster than S*/(2 (1 - rho)), q <= 2 (1 - rho)",
        source,
        values(of["srpt"], "rate", -1),
        [2 * (1 - row["load"]) for row in of["srpt"]],
        SEEN,
        sense=-1,
    )
    for row in low:
        rho = row["load"]
        yield every(
            f"SRPT-2: P_idle is about 1 (above {ABOUT:g}) at rho = {rho:g}",
            source,
            values([row], "idle", -1),
            [ABOUT],
            SEEN,
            FLUID,
            strict=True,
        )
    natural = probe["natural"]
    two = [Value.of(row["few"]) for row in natural]
    two = [Value(1 - v.estimate, v.above, v.below, v.degrees, v.jobs).stretched(ALPHA, 1) for v in two]
    yield every(
        f"SRPT-2: at least two small jobs are present almost always (P > {ALMOST:g}), rho = 0.1 to 0.4",
        source,
        two,
        [ALMOST] * len(two),
        SEEN,
        FLUID,
        strict=True,
    )
    for row in low:
        rho = row["load"]
        yield every(
            f"SRPT-2: T* is about S*/(1 - rho), q below {1 + TENTH:g} (1 - rho), at rho = {rho:g}",
            source,
            values([row], "rate", -1),
            [(1 + TENTH) * (1 - rho)],
            SEEN,
            FLUID,
            strict=True,
            sense=-1,
        )


if __name__ == "__main__":
    main(__doc__, "section_8_2", rows)
