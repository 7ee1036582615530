# Figures: the diagrams and the sample path, which need no curves, and the normalized tails.

STYLE = "src/tailsched/plotting/style.py"
DRAWINGS = {
    "fig01": "fig01_split",
    "fig02": "fig02_reductions",
    "fig03": "fig03_red_work",
    "fig04": "fig04_thresh_split",
    "fig05": "fig05_tags_split",
}
KINDS = ("pdf", "png", "csv")


rule figures:
    input:
        expand(f"{SPLIT}/figures/{{figure}}.{{kind}}", figure=[*DRAWINGS, *config["figures"]], kind=KINDS),


rule drawing:
    input:
        module=lambda wildcards: f"figures/{DRAWINGS[wildcards.figure]}.py",
        style=[STYLE, "src/tailsched/plotting/diagrams.py"],
        simulators=lambda wildcards: SIMULATORS if wildcards.figure == "fig03" else [],
    output:
        multiext(f"{SPLIT}/figures/{{figure}}", ".pdf", ".png", ".csv"),
    log:
        f"{SPLIT}/logs/figures/{{figure}}.log",
    wildcard_constraints:
        figure="|".join(DRAWINGS),
    params:
        stem=stem,
    shell:
        "{PYTHON:q} {input.module:q} -o {params.stem:q} 2>&1 | tee {log:q}"


rule normalized_tail:
    input:
        module=lambda wildcards: f"figures/{config['figures'][wildcards.figure]['module']}.py",
        style=[STYLE, *(f"src/tailsched/plotting/{name}.py" for name in ("normalized_tail", "curve_figures"))],
        curves=lambda wildcards: files_of(curves_in(wildcards.figure), "csv"),
        summaries=lambda wildcards: files_of(curves_in(wildcards.figure), "json"),
    output:
        multiext(f"{SPLIT}/figures/{{figure}}", ".pdf", ".png", ".csv"),
    log:
        f"{SPLIT}/logs/figures/{{figure}}.log",
    wildcard_constraints:
        figure="|".join(config["figures"]),
    params:
        stem=stem,
        mark=config["mark"],
    shell:
        "{PYTHON:q} {input.module:q} --mark={params.mark:q} -o {params.stem:q} {input.curves:q} 2>&1 | tee {log:q}"
