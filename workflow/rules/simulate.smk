# Simulation: one job is some shards of one curve; the shards of a curve are merged.

from tailsched._jit import estimator_files, kernel_files


rule shard:
    input:
        kernels=[os.path.relpath(path) for path in kernel_files()],
        sizes=lambda wildcards: getattr(curve_of(wildcards).setting.sizes, "path", []),
    output:
        f"{SPLIT}/shards/{{setting}}/{{curve}}/{{shards}}.npz",
    log:
        f"{SPLIT}/logs/shards/{{setting}}/{{curve}}/{{shards}}.log",
    params:
        system=lambda wildcards: system_flags(curve_of(wildcards).resolved, curve_of(wildcards).setting),
        work=lambda wildcards: [
            "--arrivals", str(BATCHES[wildcards.shards].arrivals),
            "--warm-up", str(BATCHES[wildcards.shards].warm_up),
            "--seed", str(config["seed"]),
            *(["--times", ",".join(map(str, config["times"]))] if config["times"] else []),
        ],  # fmt: skip
    shell:
        "{PYTHON:q} -m tailsched shard --curve {wildcards.setting}/{wildcards.curve} --shards {wildcards.shards}"
        " {params.system:q} {params.work} -o {output:q} 2>&1 | tee {log:q}"


rule merge:
    input:
        estimators=[os.path.relpath(path) for path in estimator_files()],
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
