# Checks: each script in paper_checks/ prints its rows, writes them, and fails if one of them fails.


rule checks:
    input:
        SPLIT + "/checks/identities.csv",


rule identities:
    input:
        module="paper_checks/identities.py",
        summaries=[f"{SPLIT}/curves/{name}.json" for name in CURVES],
    output:
        multiext(SPLIT + "/checks/identities", ".csv", ".md"),
    params:
        stem=SPLIT + "/checks/identities",
    shell:
        "python {input.module:q} -o {params.stem:q} {input.summaries:q}"
