# Tables: what is known (Table 1, Table 2), and beside it what this run measured.


rule tables:
    input:
        expand(f"{SPLIT}/tables/{{table}}.{{kind}}", table=["table1", "table2", "limits", "comparisons", "precision"], kind=["csv", "md"]),


rule table1:
    input:
        module="figures/table1_single_server.py",
        style="src/tailsched/plotting/tables.py",
    output:
        multiext(f"{SPLIT}/tables/table1", ".csv", ".md"),
    log:
        f"{SPLIT}/logs/tables/table1.log",
    params:
        stem=stem,
    shell:
        "{PYTHON:q} {input.module:q} -o {params.stem:q} 2>&1 | tee {log:q}"


rule table2:
    input:
        module="figures/table2_multi_server.py",
        style="src/tailsched/plotting/tables.py",
        curves=files_of(CURVES, "csv"),
        summaries=files_of(CURVES, "json"),
    output:
        multiext(f"{SPLIT}/tables/table2", ".csv", ".md"),
    log:
        f"{SPLIT}/logs/tables/table2.log",
    params:
        stem=stem,
    shell:
        "{PYTHON:q} {input.module:q} -o {params.stem:q} --curves {input.curves:q} 2>&1 | tee {log:q}"


rule limits:
    input:
        module="figures/limits.py",
        style="src/tailsched/plotting/tables.py",
        curves=files_of(CURVES, "csv"),
        summaries=files_of(CURVES, "json"),
    output:
        multiext(f"{SPLIT}/tables/limits", ".csv", ".md"),
        multiext(f"{SPLIT}/tables/precision", ".csv", ".md"),
    log:
        f"{SPLIT}/logs/tables/limits.log",
    params:
        stem=stem,
        precision=lambda wildcards, output: os.path.splitext(output[2])[0],
    shell:
        "{PYTHON:q} {input.module:q} -o {params.stem:q} --precision {params.precision:q} {input.curves:q} 2>&1 | tee {log:q}"


rule comparisons:
    input:
        module="figures/comparisons.py",
        style="src/tailsched/plotting/tables.py",
        comparisons=[
            f"{SPLIT}/comparisons/{setting}/{first}-and-{second}.json"
            for setting, pairs in config["comparisons"].items()
            for first, second in pairs
        ],
    output:
        multiext(f"{SPLIT}/tables/comparisons", ".csv", ".md"),
    log:
        f"{SPLIT}/logs/tables/comparisons.log",
    params:
        stem=stem,
    shell:
        "{PYTHON:q} {input.module:q} -o {params.stem:q} {input.comparisons:q} 2>&1 | tee {log:q}"
