# Checks: each script in paper_checks/ writes its rows with their verdicts, and fails if one of them fails.


rule checks:
    input:
        multiext(f"{SPLIT}/checks/identities", ".csv", ".md"),


rule identities:
    input:
        module="paper_checks/identities.py",
        summaries=files_of(CURVES, "json"),
    output:
        multiext(f"{SPLIT}/checks/identities", ".csv", ".md"),
    log:
        f"{SPLIT}/logs/checks/identities.log",
    params:
        stem=stem,
    shell:
        "{PYTHON:q} {input.module:q} -o {params.stem:q} {input.summaries:q} > {log:q} 2>&1"
