# Every figure and table of the papers: `snakemake --cores all`.
# Another amount of work over the same DAG: `snakemake --cores all --configfile config/smoke.yaml`.

from snakemake.utils import min_version

min_version("9.0")


configfile: "config/split.yaml"
configfile: "config/paper.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/checks.smk"
include: "workflow/rules/sqd_common.smk"
include: "workflow/rules/sqd.smk"


rule all:
    default_target: True
    input:
        rules.figures.input,
        rules.tables.input,
        rules.claims.input,
        rules.checks.input,
        rules.sqd.input,
