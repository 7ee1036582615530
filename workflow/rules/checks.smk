# Checks: each script in paper_checks/ writes its rows with their verdicts, and ends with 1 if one of them is a
# fail. The rows are kept all the same; the last rule reads them all and stops the run.

REFERENCE = "reference/split/figures"


rule checks:
    input:
        f"{SPLIT}/checks/verdict.txt",


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
        "{{ {PYTHON:q} {input.module:q} -o {params.stem:q} {input.summaries:q} || [ $? -eq 1 ]; }} 2>&1 | tee {log:q}"


rule reference:
    input:
        module="paper_checks/reference.py",
        figures=expand(f"{SPLIT}/figures/{{figure}}.csv", figure=config["figures"]),
        reference=[file for file in expand(f"{REFERENCE}/{{figure}}.csv", figure=config["figures"]) if os.path.exists(file)],
    output:
        multiext(f"{SPLIT}/checks/reference", ".csv", ".md"),
    log:
        f"{SPLIT}/logs/checks/reference.log",
    params:
        stem=stem,
        folder=REFERENCE,
    shell:
        "{{ {PYTHON:q} {input.module:q} --reference {params.folder:q} -o {params.stem:q} {input.figures:q} || [ $? -eq 1 ]; }} 2>&1 | tee {log:q}"


rule verdict:
    input:
        module="paper_checks/verdict.py",
        checks=[f"{SPLIT}/checks/identities.csv", f"{SPLIT}/checks/reference.csv", *([f"{CLAIMS}.json"] if GROUPS else [])],
    output:
        f"{SPLIT}/checks/verdict.txt",
    log:
        f"{SPLIT}/logs/checks/verdict.log",
    shell:
        "{PYTHON:q} {input.module:q} -o {output:q} {input.checks:q} 2>&1 | tee {log:q}"
