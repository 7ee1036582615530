"""The pins of pyproject.toml, environment.yml and the running environment agree."""

import importlib.metadata
import importlib.util
import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from rattler import MatchSpec

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ENVIRONMENT = (ROOT / "environment.yml").read_text()
PINS = [Requirement(line) for line in PYPROJECT["tool"]["uv"]["constraint-dependencies"]]
DIRECT = {
    Requirement(line).name
    for lines in [PYPROJECT["project"]["dependencies"], *PYPROJECT["dependency-groups"].values()]
    for line in lines
}

#: Conda's names that differ from the distribution's.
DISTRIBUTION = {"matplotlib-base": "matplotlib", "snakemake-minimal": "snakemake"}
#: Names that stand in environment.yml alone, and direct dependencies that stand in pyproject.toml alone.
CONDA_ONLY = {"python", "pip"}
PYPROJECT_ONLY = set()


def read_environment(text):
    """Return the version of each conda package, under conda's name, and the lines of the pip section."""
    lines = yaml.safe_load(text)["dependencies"]
    specs = [MatchSpec(line) for line in lines if isinstance(line, str)]
    pip = [requirement for line in lines if isinstance(line, dict) for requirement in line["pip"]]
    return {spec.name.normalized: str(spec.version) for spec in specs}, pip


def disagreements(text):
    """Return a line for each direct dependency that environment.yml's text pins otherwise than pyproject."""
    conda, pip = read_environment(text)
    python = conda["python"].removesuffix(".*")
    here = {"python_version": python, "python_full_version": f"{python}.0"}
    pinned = {p.name: str(p.specifier) for p in PINS if not p.marker or p.marker.evaluate(here)}
    theirs = {DISTRIBUTION.get(name, name): conda[name] for name in conda.keys() - CONDA_ONLY}
    ours = {name: pinned.get(name) for name in DIRECT - PYPROJECT_ONLY}
    differ = [name for name in sorted(ours.keys() | theirs.keys()) if ours.get(name) != theirs.get(name)]
    found = [f"{name}: pyproject {ours.get(name)}, environment.yml {theirs.get(name)}" for name in differ]
    return found + [f"pip section: {line}" for line in pip if line != "-e ."]


def test_every_pin_is_exact():
    assert PINS
    for pin in PINS:
        assert re.fullmatch(r"==[^*,]+", str(pin.specifier)), str(pin)
        assert not pin.url


def test_every_direct_dependency_is_pinned():
    assert DIRECT - {pin.name for pin in PINS} == set()


def test_environment_yml_agrees_with_the_pins():
    assert disagreements(ENVIRONMENT) == []


def test_environment_yml_has_a_python_that_the_project_supports():
    python = read_environment(ENVIRONMENT)[0]["python"].removesuffix(".*")
    assert python in SpecifierSet(PYPROJECT["project"]["requires-python"])


def test_names_of_one_side_are_used():
    conda = read_environment(ENVIRONMENT)[0].keys()
    assert CONDA_ONLY | DISTRIBUTION.keys() <= conda
    assert PYPROJECT_ONLY <= DIRECT


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        (r"numpy==.*", "numpy==1.0.0"),
        (r"numpy==", "numpy>="),
        (r"snakemake-minimal==.*", "snakemake-minimal==1.0.0"),
        (r"  - scipy==.*\n", ""),
        (r"  - pip\n", "  - pip\n  - pandas==3.0.0\n"),
        (r"-e \.", "numpy"),
    ],
)
def test_a_changed_environment_yml_is_caught(pattern, replacement):
    changed, count = re.subn(pattern, replacement, ENVIRONMENT)
    assert count == 1
    assert len(disagreements(changed)) == 1


def test_environment_yml_is_what_the_script_writes():
    spec = importlib.util.spec_from_file_location("pin", ROOT / ".ci" / "pin.py")
    pin = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pin)
    assert pin.environment_yml(PYPROJECT) == ENVIRONMENT


def test_the_running_environment_has_the_pinned_versions():
    # environment.yml pins the direct dependencies only, so conda chooses the others.
    conda = (Path(sys.prefix) / "conda-meta").exists()
    wrong = []
    for pin in PINS:
        if (pin.marker and not pin.marker.evaluate()) or (conda and pin.name not in DIRECT):
            continue
        try:
            installed = importlib.metadata.version(pin.name)
        except importlib.metadata.PackageNotFoundError:
            continue
        if not pin.specifier.contains(installed, prereleases=True):
            wrong.append(f"{pin}, but {installed} is installed")
    assert wrong == []
