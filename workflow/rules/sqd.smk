# The SQ(d) paper: fixed points, simulated points, figures, tables, checks. Its curves are in config/sqd.yaml.

import yaml

from tailsched._jit import DISPATCH_SOURCES, source_files

SQD = f"{config['results']}/sqd"
SQD_CONFIG = "config/sqd.yaml"

with open(workflow.source_path("../../config/sqd.yaml"), encoding="utf-8") as stream:
    SQD_CURVES = yaml.safe_load(stream)

# Panel -> module, families of solutions, simulated points.
SQD_PANELS = {
    **{f"fig01{panel}": ("sqd_fig01_convergence", [f"fig01{panel}"], []) for panel in "ab"},
    **{f"fig02{panel}": ("sqd_fig02_default", ["fig02"], ["default"]) for panel in "ab"},
    **{f"fig03{panel}": ("sqd_fig03_mixed_erlang", ["fig03"], []) for panel in "ab"},
    "fig03c": ("sqd_fig03c_hazard", [], []),
    **{f"fig04{panel}": ("sqd_fig04_many_choices", ["fig04"], ["many"]) for panel in "ab"},
    **{f"fig05{panel}": ("sqd_fig05_ties", [f"fig05{panel}"], []) for panel in "ab"},
    **{f"fig06{panel}": ("sqd_fig06_choices", ["fig06"], []) for panel in ("a", "a_rtb", "b")},
    **{f"fig07{panel}": ("sqd_fig07_variable", ["fig07"], []) for panel in "ab"},
    **{f"fig08{panel}": ("sqd_fig08_scv", ["fig08"], []) for panel in "ab"},
    **{f"fig09{panel}": ("sqd_fig09_long_jobs", ["fig09"], []) for panel in "ab"},
    **{f"fig10{panel}": ("sqd_fig10_share", ["fig10"], []) for panel in "ab"},
    **{f"fig11{panel}": ("sqd_fig11_tails", ["fig11"], ["default"]) for panel in "ab"},
    **{f"fig12{panel}": ("sqd_fig12_granularity", [f"fig12{panel}"], []) for panel in "ab"},
    **{f"threshold_{panel}": ("sqd_threshold", [f"threshold_{panel}"], []) for panel in "abcd"},
    "bias": ("sqd_bias", [], ["bias"]),
    "stale": ("sqd_stale", [], ["stale"]),
}
SQD_TABLES = {
    "validation": ("sqd_table_validation", ["validation"]),
    "means": ("sqd_table_means", ["default"]),
    "heavy": ("sqd_table_heavy", ["heavy"]),
}
SQD_STYLE = [STYLE, "src/tailsched/plotting/dispatch.py"]
SQD_SOURCES = [os.path.relpath(path) for path in source_files(DISPATCH_SOURCES)]


sqd_files = lambda folder, names: [f"{SQD}/{folder}/{name}.csv" for name in names]


rule sqd:
    input:
        expand(f"{SQD}/figures/{{panel}}.{{kind}}", panel=SQD_PANELS, kind=KINDS),
        expand(f"{SQD}/tables/{{table}}.{{kind}}", table=SQD_TABLES, kind=["csv", "md"]),
        f"{SQD}/checks/verdict.txt",


rule sqd_solve:
    input:
        kernels=SQD_SOURCES,
        module="src/tailsched/dispatch/sweeps.py",
        config=ancient(SQD_CONFIG),
    output:
        f"{SQD}/solved/{{family}}.csv",
    log:
        f"{SQD}/logs/solved/{{family}}.log",
    params:
        family=lambda wildcards: repr(next(SQD_CURVES[kind][wildcards.family] for kind in ("sweeps", "residuals", "tails") if wildcards.family in SQD_CURVES[kind])),
    shell:
        "{PYTHON:q} -m tailsched.dispatch.sweeps {input.config:q} {wildcards.family} -o {output:q} 2>&1 | tee {log:q}"


rule sqd_simulate:
    input:
        kernels=SQD_SOURCES,
        module="src/tailsched/dispatch/points.py",
        config=ancient(SQD_CONFIG),
    output:
        f"{SQD}/simulated/{{points}}.csv",
    log:
        f"{SQD}/logs/simulated/{{points}}.log",
    params:
        points=lambda wildcards: repr(SQD_CURVES["simulations"][wildcards.points]),
        work=["--arrivals", str(config["arrivals"]), "--seed", str(config["seed"])],
    shell:
        "{PYTHON:q} -m tailsched.dispatch.points {input.config:q} {wildcards.points} {params.work} -o {output:q} 2>&1 | tee {log:q}"


rule sqd_figure:
    input:
        module=lambda wildcards: f"figures/{SQD_PANELS[wildcards.panel][0]}.py",
        kernels=lambda wildcards: SQD_SOURCES if wildcards.panel in ("bias", "fig03c") else [],
        style=SQD_STYLE,
        solved=lambda wildcards: sqd_files("solved", SQD_PANELS[wildcards.panel][1]),
        simulated=lambda wildcards: sqd_files("simulated", SQD_PANELS[wildcards.panel][2]),
    output:
        multiext(f"{SQD}/figures/{{panel}}", ".pdf", ".png", ".csv"),
    log:
        f"{SQD}/logs/figures/{{panel}}.log",
    wildcard_constraints:
        panel="|".join(SQD_PANELS),
    params:
        stem=stem,
        mark=config["mark"],
    shell:
        "{PYTHON:q} {input.module:q} --mark={params.mark:q} -o {params.stem:q} {input.solved:q} {input.simulated:q} 2>&1 | tee {log:q}"


rule sqd_table:
    input:
        module=lambda wildcards: f"figures/{SQD_TABLES[wildcards.table][0]}.py",
        kernels=[*SQD_SOURCES, "src/tailsched/dispatch/fits.py"],
        style=["src/tailsched/plotting/tables.py", "src/tailsched/plotting/dispatch.py"],
        simulated=lambda wildcards: sqd_files("simulated", SQD_TABLES[wildcards.table][1]),
    output:
        multiext(f"{SQD}/tables/{{table}}", ".csv", ".md"),
    log:
        f"{SQD}/logs/tables/{{table}}.log",
    wildcard_constraints:
        table="|".join(SQD_TABLES),
    params:
        stem=stem,
    shell:
        "{PYTHON:q} {input.module:q} -o {params.stem:q} {input.simulated:q} 2>&1 | tee {log:q}"


rule sqd_statements:
    input:
        module="paper_checks/sqd_statements.py",
        solved=sqd_files("solved", [*SQD_CURVES["sweeps"], *SQD_CURVES["residuals"], *SQD_CURVES["tails"]]),
    output:
        multiext(f"{SQD}/checks/statements", ".csv", ".md"),
    log:
        f"{SQD}/logs/checks/statements.log",
    params:
        stem=stem,
    shell:
        "{{ {PYTHON:q} {input.module:q} -o {params.stem:q} {input.solved:q} || [ $? -eq 1 ]; }} 2>&1 | tee {log:q}"


rule sqd_agreement:
    input:
        module="paper_checks/sqd_agreement.py",
        kernels=SQD_SOURCES,
        simulated=sqd_files("simulated", ["default", "many"]),
    output:
        multiext(f"{SQD}/checks/agreement", ".csv", ".md"),
    log:
        f"{SQD}/logs/checks/agreement.log",
    params:
        stem=stem,
    shell:
        "{{ {PYTHON:q} {input.module:q} -o {params.stem:q} {input.simulated:q} || [ $? -eq 1 ]; }} 2>&1 | tee {log:q}"


rule sqd_verdict:
    input:
        module="paper_checks/verdict.py",
        checks=expand(f"{SQD}/checks/{{check}}.csv", check=["statements", "agreement"]),
    output:
        f"{SQD}/checks/verdict.txt",
    log:
        f"{SQD}/logs/checks/verdict.log",
    shell:
        "{PYTHON:q} {input.module:q} -o {output:q} {input.checks:q} 2>&1 | tee {log:q}"
