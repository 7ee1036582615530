# The SQ(d) paper: fixed points, simulated points, figures, tables, checks. Its curves are in config/sqd.yaml.

import shlex

import yaml

from tailsched._jit import DISPATCH_SOURCES, source_files

SQD = f"{config['results']}/sqd"
SQD_CONFIG = "config/sqd.yaml"

with open(workflow.source_path("../../config/sqd.yaml"), encoding="utf-8") as stream:
    SQD_CURVES = yaml.safe_load(stream)

# The families of solutions that one job solves. Most take a second or two: to start Python would cost as much.
SQD_FAMILIES = {family: spec for kind in ("sweeps", "residuals", "tails") for family, spec in SQD_CURVES[kind].items()}
SQD_LONG = ["fig12a", "fig12b"]
SQD_JOBS = {**{family: [family] for family in SQD_LONG}, "others": [family for family in SQD_FAMILIES if family not in SQD_LONG]}

# Job -> module -> panel -> families of solutions, simulated points. A job draws all its panels, for the same reason.
SQD_FIGURES = {
    "curves": {
        "sqd_fig01_convergence": {f"fig01{panel}": ([f"fig01{panel}"], []) for panel in "ab"},
        "sqd_fig03_mixed_erlang": {f"fig03{panel}": (["fig03"], []) for panel in "ab"},
        "sqd_fig03c_hazard": {"fig03c": ([], [])},
        "sqd_fig05_ties": {f"fig05{panel}": ([f"fig05{panel}"], []) for panel in "ab"},
        "sqd_fig06_choices": {f"fig06{panel}": (["fig06"], []) for panel in ("a", "a_rtb", "b")},
        "sqd_fig07_variable": {f"fig07{panel}": (["fig07"], []) for panel in "ab"},
        "sqd_fig08_scv": {f"fig08{panel}": (["fig08"], []) for panel in "ab"},
        "sqd_fig09_long_jobs": {f"fig09{panel}": (["fig09"], []) for panel in "ab"},
        "sqd_fig10_share": {f"fig10{panel}": (["fig10"], []) for panel in "ab"},
        "sqd_fig12_granularity": {f"fig12{panel}": ([f"fig12{panel}"], []) for panel in "ab"},
        "sqd_threshold": {f"threshold_{panel}": ([f"threshold_{panel}"], []) for panel in "abcd"},
    },
    "default": {
        "sqd_fig02_default": {f"fig02{panel}": (["fig02"], ["default"]) for panel in "ab"},
        "sqd_fig11_tails": {f"fig11{panel}": (["fig11"], ["default"]) for panel in "ab"},
    },
    "many": {"sqd_fig04_many_choices": {f"fig04{panel}": (["fig04"], ["many"]) for panel in "ab"}},
    "bias": {"sqd_bias": {"bias": ([], ["bias"])}},
    "stale": {"sqd_stale": {"stale": ([], ["stale"])}},
}
SQD_TABLES = {
    "validation": ("sqd_table_validation", ["validation"]),
    "means": ("sqd_table_means", ["default"]),
    "heavy": ("sqd_table_heavy", ["heavy"]),
}
SQD_STYLE = ["src/tailsched/plotting/style.py", "src/tailsched/plotting/dispatch.py", "src/tailsched/plotting/batch.py"]
SQD_SOURCES = [os.path.relpath(path) for path in source_files(DISPATCH_SOURCES)]


def sqd_files(folder, names):
    return [f"{SQD}/{folder}/{name}.csv" for name in names]


def sqd_specs(wildcards, output):
    """Return what the families of the files are, for a changed one to be solved anew."""
    return repr([SQD_FAMILIES[os.path.basename(file).removesuffix(".csv")] for file in output])


def sqd_inputs(solved, simulated):
    return [*sqd_files("solved", solved), *sqd_files("simulated", simulated)]


def sqd_panels(modules):
    """Yield the module, the panel and the files of numbers of each panel of a job."""
    for module, panels in modules.items():
        for panel, numbers in panels.items():
            yield f"figures/{module}.py", panel, sqd_inputs(*numbers)


def sqd_command(module, panel, numbers):
    """Return the command line that draws a panel."""
    return shlex.join([module, f"--mark={config['mark']}", "-o", f"{SQD}/figures/{panel}", *numbers])


rule sqd:
    input:
        [f"{SQD}/figures/{panel}.{kind}" for modules in SQD_FIGURES.values() for _, panel, _ in sqd_panels(modules) for kind in KINDS],
        expand(f"{SQD}/tables/{{table}}.{{kind}}", table=SQD_TABLES, kind=["csv", "md"]),
        f"{SQD}/checks/verdict.txt",


for job, families in SQD_JOBS.items():

    rule:
        name:
            f"sqd_solve_{job}"
        input:
            kernels=SQD_SOURCES,
            module="src/tailsched/dispatch/sweeps.py",
            config=ancient(SQD_CONFIG),
        output:
            sqd_files("solved", families),
        log:
            f"{SQD}/logs/solved/{job}.log",
        params:
            families=families,
            specs=sqd_specs,
            points=config["sqd"]["points"],
            folder=f"{SQD}/solved",
        shell:
            "{PYTHON:q} -m tailsched.dispatch.sweeps {input.config:q} {params.families:q} --points {params.points} -o {params.folder:q} 2>&1 | tee {log:q}"


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
        work=["--arrivals", config["sqd"]["arrivals"], "--servers", config["sqd"]["servers"], "--seed", config["seed"]],
    shell:
        "{PYTHON:q} -m tailsched.dispatch.points {input.config:q} {wildcards.points} {params.work} -o {output:q} 2>&1 | tee {log:q}"


for job, modules in SQD_FIGURES.items():

    rule:
        name:
            f"sqd_draw_{job}"
        input:
            modules=[f"figures/{module}.py" for module in modules],
            kernels=SQD_SOURCES,
            style=SQD_STYLE,
            numbers=sorted({file for _, _, numbers in sqd_panels(modules) for file in numbers}),
        output:
            [f"{SQD}/figures/{panel}.{kind}" for _, panel, _ in sqd_panels(modules) for kind in KINDS],
        log:
            f"{SQD}/logs/figures/{job}.log",
        params:
            commands=[sqd_command(*panel) for panel in sqd_panels(modules)],
        shell:
            "{PYTHON:q} -m tailsched.plotting.batch {params.commands:q} 2>&1 | tee {log:q}"


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
        solved=sqd_files("solved", SQD_FAMILIES),
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
