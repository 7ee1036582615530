"""The workflow's configuration: read against its schema, and every setting checked, before anything runs."""

import math
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import jsonschema
import yaml

from tailsched.runs import Natural, divide, why_not_tagged
from tailsched.settings import Policy, Setting


class Curve(NamedTuple):
    """One curve: its name ``setting/curve``, its policy as given and resolved, and its setting."""

    name: str
    given: str
    resolved: str
    setting: Setting


def _explain(error):
    """Return one line for an error of the schema."""
    where = ".".join(str(part) for part in error.absolute_path)
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        extra = ", ".join(sorted(str(key) for key in set(error.instance) - set(known)))
        return f"{where + ': ' if where else ''}unknown key {extra}, allowed are {', '.join(known)}"
    if error.validator == "required":
        return f"{where + ': ' if where else ''}{error.message}"
    rules = {
        "type": "of type {}",
        "minimum": "at least {}",
        "maximum": "at most {}",
        "exclusiveMinimum": "above {}",
        "pattern": "of the form {}",
    }
    rule = rules.get(error.validator, error.validator + " {}").format(error.validator_value)
    return f"{where or 'config'} = {error.instance!r}: must be {rule}"


@contextmanager
def _named(field):
    """Put the name of the field before the message of an error."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{field}: {error}") from None


def check(config: dict, schema: Path) -> dict[str, Curve]:
    """Check a configuration; return its curves by name.

    Raises
    ------
    ValueError
        With one line that names the field, its value and what is allowed.
    """
    rules = yaml.safe_load(Path(schema).read_text(encoding="utf-8"))
    errors = list(jsonschema.Draft202012Validator(rules).iter_errors(config))
    if errors:
        raise ValueError(_explain(jsonschema.exceptions.best_match(errors)))
    for key in ("seed", "arrivals", "shards", "shards_per_job", "warm_up", "paired"):
        config[key] = int(config[key])
    for key in ("precision", "horizon", "far", "until"):
        config[key] = float(config[key])
        if not math.isfinite(config[key]):
            raise ValueError(f"{key} = {config[key]}: must be finite")
    if config["until"] < config["horizon"]:
        raise ValueError(f"until = {config['until']:g}: must be at least horizon = {config['horizon']:g}")
    if not all(math.isfinite(t) for t in config["times"]):
        raise ValueError(f"times = {config['times']}: must be finite")
    with _named("warm_up"):
        divide(config["arrivals"], config["shards"], config["warm_up"])
    if config["method"] == "tagged" and config["shards"] < 2:
        raise ValueError(f"shards = {config['shards']}: method tagged needs at least 2, for the intervals")
    if config["method"] == "natural" and config["arrivals"] % config["shards"]:
        raise ValueError(f"arrivals = {config['arrivals']}: must be a multiple of shards, {config['shards']}")
    curves = {}
    for key, values in config["settings"].items():
        system = values["servers"], values["load"], values["sizes"]
        with _named(f"settings.{key}"):
            Setting.parse("srpt", *system)
        for curve, text in values["curves"].items():
            with _named(f"settings.{key}.curves.{curve}"):
                policy = Policy.parse(text)
                setting = Setting.parse(policy, *system)
                if setting.warning:
                    raise ValueError(f"{setting.warning}, and is in no figure")
                amount = int(values.get("arrivals", config["arrivals"]))
                why = (
                    why_not_tagged(setting, config["until"], amount) if config["method"] == "tagged" else None
                )
                if why:
                    raise ValueError(f"method = 'tagged': {why}, take natural")
            name = f"{key}/{curve}"
            curves[name] = Curve(name, str(policy), setting.resolved, setting)
    for key, pairs in config["comparisons"].items():
        for curve in (curve for pair in pairs for curve in pair):
            if f"{key}/{curve}" not in curves:
                raise ValueError(f"comparisons.{key}: {curve!r} must be a curve of settings.{key}")
    for key, figure in config["figures"].items():
        if figure["setting"] not in config["settings"]:
            known = ", ".join(config["settings"])
            raise ValueError(f"figures.{key}.setting = {figure['setting']!r}: must be one of {known}")
        for curve in figure["curves"]:
            if f"{figure['setting']}/{curve}" not in curves:
                known = ", ".join(config["settings"][figure["setting"]]["curves"])
                raise ValueError(f"figures.{key}.curves: {curve!r} must be one of {known}")
    return curves


def batches(config: dict) -> dict[str, Natural | None]:
    """Return the jobs of a curve: from ``FIRST-LAST``, indexes of shards, to the work of each of them.

    With the method ``tagged`` a curve is one job, ``all``: how much work its shards need is found on the way.
    """
    if config["method"] == "tagged":
        return {"all": None}
    shards, most = config["shards"], config["shards_per_job"]
    work = divide(config["arrivals"], shards, config["warm_up"])[-1]
    starts = range(0, shards, most)
    return {f"{first}-{min(first + most, shards) - 1}": work for first in starts}
