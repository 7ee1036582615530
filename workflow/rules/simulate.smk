# Simulation: one job is some shards of one curve, or with the method "tagged" all that it needs; the shards of
# a curve are merged.

from tailsched._jit import ESTIMATOR_SOURCES, SIMULATION_SOURCES, source_files

SIMULATORS = [os.path.relpath(path) for path in source_files(SIMULATION_SOURCES)]
ESTIMATORS = [os.path.relpath(path) for path in source_files(ESTIMATOR_SOURCES)]


rule shard:
    input:
        simulators=SIMULATORS,
        sizes=lambda wildcards: getattr(curve_of(wildcards).setting.sizes, "path", []),
    output:
        f"{SPLIT}/shards/{{setting}}/{{curve}}/{{shards}}.npz",
    log:
        f"{SPLIT}/logs/shards/{{setting}}/{{curve}}/{{shards}}.log",
    params:
        simulation=simulation,
        system=lambda wildcards: system_flags(curve_of(wildcards).resolved, curve_of(wildcards).setting),
    shell:
        "{PYTHON:q} -m tailsched {params.simulation} {params.system:q} -o {output:q} 2>&1 | tee {log:q}"


rule merge:
    input:
        estimators=ESTIMATORS,
        shards=expand(f"{SPLIT}/shards/{{{{setting}}}}/{{{{curve}}}}/{{shards}}.npz", shards=BATCHES),
    output:
        csv=f"{SPLIT}/curves/{{setting}}/{{curve}}.csv",
        json=f"{SPLIT}/curves/{{setting}}/{{curve}}.json",
    log:
        f"{SPLIT}/logs/curves/{{setting}}/{{curve}}.log",
    params:
        system=lambda wildcards: system_flags(curve_of(wildcards).given, curve_of(wildcards).setting),
    shell:
        "{PYTHON:q} -m tailsched merge --curve {wildcards.setting}/{wildcards.curve}"
        " {params.system:q} {input.shards:q} -o {output.csv:q} 2>&1 | tee {log:q}"


rule comparison:
    input:
        simulators=SIMULATORS,
        estimators=[*ESTIMATORS, "src/tailsched/comparison.py"],
        sizes=lambda wildcards: getattr(curve_of(wildcards).setting.sizes, "path", []),
    output:
        f"{SPLIT}/comparisons/{{setting}}/{{curve}}-and-{{second}}.json",
    log:
        f"{SPLIT}/logs/comparisons/{{setting}}/{{curve}}-and-{{second}}.log",
    params:
        system=lambda wildcards: system_flags(curve_of(wildcards).resolved, curve_of(wildcards).setting),
        second=lambda wildcards: CURVES[f"{wildcards.setting}/{wildcards.second}"].resolved,
        work=["--arrivals", str(config["paired"]), "--warm-up", str(min(config["warm_up"], config["paired"] // 100))]
        + ["--seed", str(config["seed"]), "--percentiles", "99,99.9,99.99", "--cores", "1"],
    shell:
        "{PYTHON:q} -m tailsched compare --streams {wildcards.setting}/comparison {params.system:q}"
        " --policy {params.second:q} {params.work} -o {output:q} 2>&1 | tee {log:q}"
