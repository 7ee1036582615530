# What all stages share: the checked configuration and the names of things.

import os
import sys

from tailsched import config as configuration

# The interpreter of the environment that runs the workflow, whatever stands first on the path.
PYTHON = sys.executable

try:
    CURVES = configuration.check(config, workflow.source_path("../schemas/config.schema.yaml"))
except ValueError as error:
    print(f"config: {error}", file=sys.stderr)
    sys.exit(2)

BATCHES = configuration.batches(config)
SPLIT = f"{config['results']}/split"


wildcard_constraints:
    setting="[a-z0-9.-]+",
    curve="[a-z0-9.-]+",
    shards="[0-9]+-[0-9]+|all",
    second="[a-z0-9.-]+",


def curve_of(wildcards):
    return CURVES[f"{wildcards.setting}/{wildcards.curve}"]


def system_flags(policy, setting):
    return [
        "--policy", policy, "--servers", str(setting.servers),
        "--load", repr(setting.load), "--sizes", setting.sizes.spec,
    ]  # fmt: skip


def files_of(curves, kind):
    return [f"{SPLIT}/curves/{name}.{kind}" for name in curves]


def curves_in(figure):
    spec = config["figures"][figure]
    return [f"{spec['setting']}/{curve}" for curve in spec["curves"]]


def stem(wildcards, output):
    return os.path.splitext(output[0])[0]
