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
TIMES = ["--times", ",".join(map(str, config["times"]))] if config["times"] else []


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


def simulation(wildcards):
    """The command that makes some shards, but for the system and the output."""
    work = BATCHES[wildcards.shards]
    common = ["--curve", f"{wildcards.setting}/{wildcards.curve}", "--streams", wildcards.setting, *TIMES]
    if work is None:
        names = ["shards", "arrivals", "warm_up", "precision", "horizon", "far", "until", "seed"]
        chosen = {**config, **{key: config["settings"][wildcards.setting].get(key, config[key]) for key in names[:2]}}
        amounts = [word for name in names for word in (f"--{name.replace('_', '-')}", str(chosen[name]))]
        return ["sample", *common, *amounts]
    amounts = ["--arrivals", str(work.arrivals), "--warm-up", str(work.warm_up), "--seed", str(config["seed"])]
    return ["shard", *common, "--shards", wildcards.shards, *amounts]
