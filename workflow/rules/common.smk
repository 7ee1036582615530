# What all stages share: the checked configuration and the names of things.

import os
import sys

from tailsched import config as configuration

# The commands below are those of the environment that runs the workflow; figures need no display.
os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]

try:
    CURVES = configuration.check(config, workflow.source_path("../schemas/config.schema.yaml"))
except ValueError as error:
    print(f"config: {error}", file=sys.stderr)
    sys.exit(2)

WORKS = configuration.works(config)
SPLIT = config["results"] + "/split"


wildcard_constraints:
    setting="[a-z0-9.-]+",
    curve="[a-z0-9.-]+",
    index="[0-9]+",


def curve_of(wildcards):
    return CURVES[f"{wildcards.setting}/{wildcards.curve}"]


def system_flags(policy, setting):
    return [
        "--policy", policy, "--servers", str(setting.servers),
        "--load", repr(setting.load), "--sizes", setting.sizes.spec,
    ]  # fmt: skip


def curve_files(figure):
    spec = config["figures"][figure]
    return [f"{SPLIT}/curves/{spec['setting']}/{curve}.csv" for curve in spec["curves"]]
