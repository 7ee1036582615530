"""Results as they would be if every claim were true: curves from formulas, probes of a default run.

The curves are smooth, have 16 shards and a standard error of half a percent; the files in tests/data/probes
are those of `python -m tailsched.probes NAME` at its default seed and work.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import yaml

from tailsched.claims import student
from tailsched.curves import COLUMNS
from tailsched.files import write_csv, write_json
from tailsched.settings import Setting

ROOT = Path(__file__).parent.parent
PROBES = Path(__file__).parent / "data" / "probes"
SHARDS, ERROR, JOBS = 16, 0.005, 10**9

#: Limits that theory does not give, by setting: of SRPT-n, and of SEK by eps.
SRPT = {"low": 1.45, "heavier": 1.45, "lighter": 1.65, "high": 1.95, "high-ten": 3.5}
SEK = {10.0: 0.9, 50.0: 0.87, 100.0: 0.86, 200.0: 0.85}

#: Percentiles of T by setting and policy, where the paper compares them.
PERCENTILES = {
    "low": {"split": (25.7, 116.0, 512.0), "srpt": (24.6, 120.7, 578.0)},
    "heavier": {"split": (52.4, 325.0, 2200.0), "srpt": (48.9, 347.0, 2460.0)},
    "lighter": {"split": (11.86, 35.1, 104.6), "srpt": (12.16, 40.0, 127.7)},
}

T = 2.0 ** (np.arange(97) / 4)


def limit_of(name, setting):
    """Return the limit of a curve's normalized tail."""
    if setting.limit is not None:
        return setting.limit
    eps = setting.policy.option("epsilon")
    return SRPT[name.partition("/")[0]] * (SEK[eps] if eps is not None else 1.0)


def tail(name, setting):
    """Return the normalized tail at `T`: its limit, reached like t^(1 - alpha), and its bump."""
    limit, alpha = limit_of(name, setting), setting.sizes.tail_index
    policy, side = setting.policy.name, setting.policy.option("small")
    late = T ** (1 - alpha)
    if policy == "split":
        return 1.0 + 1.5 * late * (1 - np.exp(-T / 4))
    values = limit * (1 - 0.1 * late)
    if name.startswith("high") and side is not None:
        values += (6.0 if side == "fcfs" else 1.0) * np.exp(-(np.log2(T / 16) ** 2))
    return np.maximum(values, 1.0) if setting.rate == 1.0 else values


def write_one(folder, name, setting, values=None, rate=True):
    """Write the two files of one curve."""
    values = tail(name, setting) if values is None else values
    alpha, unit = setting.sizes.tail_index, student(SHARDS - 1)
    benchmark = setting.sizes.tail(setting.rate * T)
    se = ERROR * values if setting.policy.name != "split" else 0.03 * (values - 1.0) + 1e-4
    normalized = values, se, np.maximum(values - unit * se, 0), values + unit * se
    tails = [part * benchmark for part in normalized]
    rows = [[float(t), *map(float, row), 10**6, JOBS] for t, *row in zip(T, *tails, *normalized, strict=True)]
    path = folder / "curves" / f"{name}.csv"
    write_csv(path, COLUMNS, rows)
    q = setting.rate * limit_of(name, setting) ** (-1 / alpha)
    width = unit * 0.001 * q
    measured = {"estimate": q, "se": 0.001 * q, "low": q - width, "high": q + width}
    busy = setting.servers * setting.load
    marks = PERCENTILES.get(name.partition("/")[0], {}).get(name.partition("/")[2], ())
    summary = {
        "curve": name, "policy": str(setting.policy), "servers": setting.servers, "load": setting.load,
        "sizes": setting.sizes.spec, "benchmark_rate": setting.rate, "threshold": setting.threshold,
        "limit": setting.limit, "shards": SHARDS, "counted_jobs": JOBS,
        **({"rate": measured} if rate else {}),
        "quantiles": [
            {"p": p, "estimate": t, "low": 0.998 * t, "high": 1.002 * t}
            for p, t in zip((99.0, 99.9, 99.99), marks, strict=False)
        ],
        "identities": {
            "responses_below_size": 0, "idle_with_work": 0.0,
            "busy": {"estimate": busy, "se": 1e-4 * busy, "low": 0.9998 * busy, "high": 1.0002 * busy},
        },
    }  # fmt: skip
    write_json(path.with_suffix(".json"), summary)


def settings():
    """Return the settings of config/split.yaml, by the name of the curve."""
    config = yaml.safe_load((ROOT / "config" / "split.yaml").read_text())["settings"]
    return {
        f"{key}/{curve}": Setting.parse(policy, values["servers"], values["load"], values["sizes"])
        for key, values in config.items()
        for curve, policy in values["curves"].items()
    }


def write(folder, rate=True):
    """Write all curves and probes into `folder`."""
    for name, setting in settings().items():
        write_one(folder, name, setting, rate=rate)
    shutil.copytree(PROBES, folder / "probes")


class World:
    """A folder of such results, with what a mutant needs to spoil it."""

    def __init__(self, folder):
        self.folder, self.settings = folder, settings()

    def scale(self, name, factor):
        """Multiply a normalized tail by `factor`, a number or a function of the times."""
        setting = self.settings[name]
        write_one(
            self.folder, name, setting, tail(name, setting) * (factor(T) if callable(factor) else factor)
        )

    def edit(self, name, change):
        """Apply `change` to the JSON of a curve."""
        self._edit(self.folder / "curves" / f"{name}.json", change)

    def probe(self, name, change):
        """Apply `change` to the JSON of a probe."""
        self._edit(self.folder / "probes" / f"{name}.json", change)

    def _edit(self, path, change):
        content = json.loads(path.read_text())
        change(content)
        write_json(path, content)
