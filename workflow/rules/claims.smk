# Claims: their own simulations, one script a group, and the table of them all in results/claims.*.

from tailsched._jit import KERNEL_SOURCES, source_files

PROBES = "src/tailsched/probes"
DECIDING = [f"src/tailsched/{name}.py" for name in ("claims", "evidence", "curves", "files", "sizes")]

# The settings that the claims are about; a configuration without them decides none.
PAPER = {"low", "heavier", "lighter", "high", "high-ten"}

# Group -> its own simulations.
GROUPS = {
    "lower_bounds": ["reductions"],
    "theorem_4_2": ["small_jobs"],
    "lemmas_4_4_and_4_11": ["small_jobs", "reductions", "pick", "giants"],
    "lemma_5_2": ["small_servers"],
    "theorems_5_3_and_5_4": [],
    "theorems_6_2_and_6_3": ["approximation"],
    "theorem_a1": [],
    "theorem_b1": ["giants", "packing"],
    "section_7_1": [],
    "section_7_2": ["overload", "stealing"],
    "section_7_3": [],
    "section_8_2": ["packing"],
    "appendix_e": ["sek"],
}
if not config["settings"].keys() >= PAPER:
    GROUPS = {}
CLAIMS = f"{config['results']}/claims"


rule claims:
    input:
        multiext(CLAIMS, ".json", ".md", ".html") if GROUPS else [],
        multiext(f"{SPLIT}/figures/packing", ".pdf", ".png", ".csv"),
        multiext(f"{SPLIT}/figures/map", ".pdf", ".png", ".csv"),
        multiext(f"{SPLIT}/figures/price", ".pdf", ".png", ".csv"),
        multiext(f"{SPLIT}/tables/crossing", ".csv", ".md"),


rule probe:
    input:
        modules=[f"{PROBES}/{{probe}}.py", f"{PROBES}/harness.py"],
        simulators=[os.path.relpath(path) for path in source_files((*KERNEL_SOURCES, "streams.py"))],
    output:
        f"{SPLIT}/probes/{{probe}}.json",
    log:
        f"{SPLIT}/logs/probes/{{probe}}.log",
    wildcard_constraints:
        probe="[a-z_]+",
    params:
        seed=config["seed"],
        work=repr(float(config["claims"]["work"])),
    shell:
        "{PYTHON:q} -m tailsched.probes {wildcards.probe} --seed {params.seed} --work {params.work} -o {output:q}"
        " 2>&1 | tee {log:q}"


rule claims_group:
    input:
        module="paper_checks/{group}.py",
        deciding=DECIDING,
        curves=files_of(CURVES, "csv"),
        summaries=files_of(CURVES, "json"),
        probes=lambda wildcards: [f"{SPLIT}/probes/{probe}.json" for probe in GROUPS[wildcards.group]],
    output:
        f"{SPLIT}/checks/claims/{{group}}.json",
    log:
        f"{SPLIT}/logs/checks/{{group}}.log",
    wildcard_constraints:
        group="|".join(GROUPS),
    params:
        folder=lambda wildcards, output: os.path.normpath(os.path.join(output[0], *3 * [os.pardir])),
    shell:
        "{{ {PYTHON:q} {input.module:q} --results {params.folder:q} -o {output:q} || [ $? -eq 1 ]; }} > {log:q} 2>&1"
        " || {{ cat {log:q}; exit 1; }}"


rule claims_table:
    input:
        module="paper_checks/claims_table.py",
        groups=expand(f"{SPLIT}/checks/claims/{{group}}.json", group=GROUPS),
    output:
        multiext(CLAIMS, ".json", ".md", ".html"),
    log:
        f"{SPLIT}/logs/checks/claims.log",
    params:
        stem=stem,
        mark=config["mark"],
    shell:
        "{PYTHON:q} {input.module:q} --mark={params.mark:q} -o {params.stem:q} {input.groups:q} 2>&1 | tee {log:q}"


rule packing:
    input:
        module="figures/packing.py",
        style=STYLE,
        probe=f"{SPLIT}/probes/packing.json",
    output:
        multiext(f"{SPLIT}/figures/packing", ".pdf", ".png", ".csv"),
    log:
        f"{SPLIT}/logs/figures/packing.log",
    params:
        stem=stem,
        mark=config["mark"],
    shell:
        "{PYTHON:q} {input.module:q} --mark={params.mark:q} -o {params.stem:q} {input.probe:q} 2>&1 | tee {log:q}"


rule atlas:
    input:
        module="figures/map.py",
        style=STYLE,
        probe=f"{SPLIT}/probes/map.json",
    output:
        multiext(f"{SPLIT}/figures/{{kind}}", ".pdf", ".png", ".csv"),
    log:
        f"{SPLIT}/logs/figures/{{kind}}.log",
    wildcard_constraints:
        kind="map|price",
    params:
        stem=stem,
        mark=config["mark"],
    shell:
        "{PYTHON:q} {input.module:q} {wildcards.kind} --mark={params.mark:q} -o {params.stem:q} {input.probe:q} 2>&1 | tee {log:q}"


rule crossing:
    input:
        module="figures/table_crossing.py",
        style="src/tailsched/plotting/tables.py",
        probe=f"{SPLIT}/probes/map.json",
    output:
        multiext(f"{SPLIT}/tables/crossing", ".csv", ".md"),
    log:
        f"{SPLIT}/logs/tables/crossing.log",
    params:
        stem=stem,
    shell:
        "{PYTHON:q} {input.module:q} -o {params.stem:q} {input.probe:q} 2>&1 | tee {log:q}"
