# Simulation: one job is one shard of one curve; the shards of a curve are merged.

from tailsched._jit import kernel_files


rule shard:
    input:
        kernels=[os.path.relpath(path) for path in kernel_files()],
    output:
        SPLIT + "/shards/{setting}/{curve}/{index}.npz",
    params:
        system=lambda wildcards: system_flags(curve_of(wildcards).resolved, curve_of(wildcards).setting),
        work=lambda wildcards: [
            "--arrivals", str(WORKS[int(wildcards.index)].arrivals),
            "--warm-up", str(WORKS[int(wildcards.index)].warm_up),
            "--seed", str(config["seed"]),
        ],  # fmt: skip
    shell:
        "tailsched shard --curve {wildcards.setting:q}/{wildcards.curve:q} --index {wildcards.index}"
        " {params.system:q} {params.work} -o {output:q}"


rule merge:
    input:
        shards=expand(SPLIT + "/shards/{{setting}}/{{curve}}/{index}.npz", index=range(len(WORKS))),
    output:
        csv=SPLIT + "/curves/{setting}/{curve}.csv",
        json=SPLIT + "/curves/{setting}/{curve}.json",
    params:
        system=lambda wildcards: system_flags(curve_of(wildcards).given, curve_of(wildcards).setting),
    shell:
        "tailsched merge {params.system:q} {input.shards:q} -o {output.csv:q}"
