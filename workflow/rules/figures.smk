# Figures: the diagrams, the sample path, and the normalized tails from their curves.

STYLE = [f"src/tailsched/plotting/{name}.py" for name in ("style", "normalized_tail", "curve_figures", "diagrams")]
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
        expand(SPLIT + "/figures/{figure}.{kind}", figure=[*DRAWINGS, *config["figures"]], kind=KINDS),


rule drawing:
    input:
        module=lambda wildcards: f"figures/{DRAWINGS[wildcards.figure]}.py",
        style=STYLE,
        kernels=lambda wildcards: rules.shard.input.kernels if wildcards.figure == "fig03" else [],
    output:
        multiext(SPLIT + "/figures/{figure}", ".pdf", ".png", ".csv"),
    wildcard_constraints:
        figure="|".join(DRAWINGS),
    params:
        stem=SPLIT + "/figures/{figure}",
    shell:
        "python {input.module:q} -o {params.stem:q}"


rule normalized_tail:
    input:
        module=lambda wildcards: f"figures/{config['figures'][wildcards.figure]['module']}.py",
        style=STYLE,
        curves=lambda wildcards: curve_files(wildcards.figure),
        summaries=lambda wildcards: [file[:-3] + "json" for file in curve_files(wildcards.figure)],
    output:
        multiext(SPLIT + "/figures/{figure}", ".pdf", ".png", ".csv"),
    wildcard_constraints:
        figure="|".join(config["figures"]),
    params:
        stem=SPLIT + "/figures/{figure}",
        mark=config["mark"],
    shell:
        "python {input.module:q} --mark {params.mark:q} -o {params.stem:q} {input.curves:q}"
