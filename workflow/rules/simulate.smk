# Simulation: one job is some shards of one curve, or with the method "tagged" all that it needs; the shards of
# a curve are merged.

from tailsched._jit import ESTIMATOR_SOURCES, SIMULATION_SOURCES, source_files

SIMULATORS = [os.path.relpath(path) for path in source_files(SIMULATION_SOURCES)]
ESTIMATORS = [os.path.relpath(path) for path in source_files(ESTIMATOR_SOURCES)]
TIMES = ["--times", ",".join(map(str, config["times"]))] if config["times"] else []


def simulation(wildcards):
    """The command that makes some shards, but for the system and the output."""
    work = BATCHES[wildcards.shards]
    common = ["--curve", f"{wildcards.setting}/{wildcards.curve}", "--streams", wildcards.setting, *TIMES]
    if work is None:
        names = ["shards", "arrivals", "warm_up", "precision", "horizon", "far", "until", "seed"]
        chosen = {**config, **{key: config["settings"][wildcards.setting].get(key, config[key]) for key in names[:2]}}
        amounts = [word for name in names for word in (f"--{name.replace('_', '-')}", str(chosen[name]))]
        return ["sample", *common, *amounts]
    amounts = ["--arrivals", str(work.arrivals), "--warm-up", str(work.warm_up), "--seed", str(config["seed"])]
    return ["shard", *common, "--shards", wildcards.shards, *amounts]


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
