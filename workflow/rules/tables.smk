# Tables: what is known (Table 1, Table 2), and beside it what this run measured.


rule tables:
    input:
        expand(SPLIT + "/tables/{table}.{kind}", table=["table1", "table2"], kind=["csv", "md"]),


rule table1:
    input:
        module="figures/table1_single_server.py",
        style="src/tailsched/plotting/tables.py",
    output:
        multiext(SPLIT + "/tables/table1", ".csv", ".md"),
    params:
        stem=SPLIT + "/tables/table1",
    shell:
        "python {input.module:q} -o {params.stem:q}"


rule table2:
    input:
        module="figures/table2_multi_server.py",
        style="src/tailsched/plotting/tables.py",
        curves=[f"{SPLIT}/curves/{name}.csv" for name in CURVES],
        summaries=[f"{SPLIT}/curves/{name}.json" for name in CURVES],
    output:
        multiext(SPLIT + "/tables/table2", ".csv", ".md"),
    params:
        stem=SPLIT + "/tables/table2",
    shell:
        "python {input.module:q} -o {params.stem:q} --curves {input.curves:q}"
