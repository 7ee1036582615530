"""Compiled code: the cache never goes stale, needs no home, and compiling changes no digit."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tailsched
from tailsched._jit import DISPATCH_SOURCES, KERNEL_SOURCES, source_files

PACKAGE = Path(tailsched.__file__).parent
SETTING = "--servers 3 --load 0.5 --sizes pareto:1.5 --seed 5 --json".split()


def simulate(policy="srpt", arrivals=2000, source=None, **environment):
    """Run `tailsched simulate` in a new process, on the package in `source`; return its JSON."""
    command = [
        sys.executable,
        "-m",
        "tailsched",
        "simulate",
        "--policy",
        policy,
        *SETTING,
        "--arrivals",
        str(arrivals),
    ]
    path = {} if source is None else {"PYTHONPATH": str(source)}
    done = subprocess.run(
        command, env={**os.environ, **path, **environment}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_edited_helper_gives_the_new_value(tmp_path):
    """A helper in another file than the function that is called: numba's own cache would not see the edit."""
    copy = tmp_path / "src"
    shutil.copytree(PACKAGE, copy / "tailsched", ignore=shutil.ignore_patterns("__pycache__"))
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    before = simulate("split", source=copy, **cache)
    assert simulate("split", source=copy, **cache) == before
    helper = copy / "tailsched" / "mgn" / "tally.py"
    text = helper.read_text()
    assert "exceed[i] += 1" in text
    helper.write_text(text.replace("exceed[i] += 1", "exceed[i] += 2"))
    after = simulate("split", source=copy, **cache)
    assert after["tail"][0]["samples"] == 2 * before["tail"][0]["samples"] > 0
    assert len(list((tmp_path / "cache").iterdir())) == 2
    assert not list(copy.rglob("*.nbi"))


def test_an_edited_policy_of_another_module_gives_the_new_value(tmp_path):
    """A policy of the user's own is compiled anew in each process, and leaves nothing in the cache."""
    module = tmp_path / "mine.py"
    text = (PACKAGE / "mgn" / "fcfs.py").read_text()
    script = (
        "import mine; from tailsched import mgn; print(mgn.completions(mine.FCFS, 1, [0.0, 0.0], [1.0, 2.0]))"
    )
    cache = tmp_path / "cache"
    places = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(cache)}
    places["PYTHONDONTWRITEBYTECODE"] = "1"
    for factor, expected in (("1.0", "[1. 3.]"), ("2.0", "[2. 6.]")):
        module.write_text(text.replace("now + pool", f"now + {factor} * pool"))
        done = subprocess.run(
            [sys.executable, "-c", script], env=places, capture_output=True, text=True, timeout=120
        )
        assert done.stdout.strip() == expected, done.stderr
    assert not list(cache.rglob("*run_block*"))


def test_the_hash_covers_every_file_with_compiled_code():
    holding = {
        path for path in PACKAGE.rglob("*.py") if {"@njit", "@inlined"} & set(path.read_text().split())
    }
    assert holding and holding <= set(source_files((*KERNEL_SOURCES, *DISPATCH_SOURCES)))


POLICIES = (
    "fcfs", "srpt", "ps", "sek:epsilon=20", "sek:epsilon=20,sek-size=original", "split",
    "thresh-split:threshold=20", "thresh-split:threshold=20,small=srpt", "tags-split:threshold=20",
)  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES)
def test_without_compilation_every_digit_is_the_same(policy):
    assert simulate(policy, NUMBA_DISABLE_JIT="1") == simulate(policy)


def test_without_a_place_for_the_cache(tmp_path):
    """No home, nowhere to write: it runs uncached, and help needs no compiler at all."""
    nowhere = tmp_path / "file"
    nowhere.write_text("")
    places = {
        "HOME": str(nowhere),
        "XDG_CACHE_HOME": str(nowhere),
        "TMPDIR": str(nowhere),
        "NUMBA_CACHE_DIR": "",
    }
    help_command = [sys.executable, "-m", "tailsched", "--help"]
    assert subprocess.run(help_command, env={**os.environ, **places}, capture_output=True).returncode == 0
    assert simulate(**places) == simulate()
