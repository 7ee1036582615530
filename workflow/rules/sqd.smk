# The SQ(d) paper: fixed points, simulated points, figures, tables, checks. Its curves are in config/sqd.yaml.

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
            folder=lambda wildcards, output: os.path.dirname(output[0]),
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
