# What the rules of the SQ(d) paper share: its configuration, and which job makes what.

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
