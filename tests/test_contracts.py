"""The import contracts of pyproject.toml hold, and they catch what they forbid."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LINT = "import sys, importlinter.cli as c; sys.exit(c.lint_imports(sys.argv[1], no_cache=True, no_logo=True))"
FORBIDDEN = [
    ("theory", "tailsched.mgn"),
    ("theory", "tailsched.tails"),
    ("mgn", "tailsched.theory"),
    ("tails", "tailsched.theory"),
    ("mgn", "yaml"),
    ("streams", "snakemake"),
    ("sizes", "tailsched.plotting"),
    ("sizes", "tailsched.cli"),
]


def lint_imports(folder):
    """Run import-linter on folder/tailsched (the linter puts its working directory first on the path)."""
    command = [sys.executable, "-c", LINT, str(ROOT / "pyproject.toml")]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_contracts_hold():
    result = lint_imports(ROOT / "src")
    assert result.returncode == 0, result.stdout + result.stderr


def test_forbidden_imports_are_caught(tmp_path):
    package = tmp_path / "tailsched"
    shutil.copytree(ROOT / "src" / "tailsched", package)
    for number, (name, imported) in enumerate(FORBIDDEN):
        file = (
            package / name / f"newcomer{number}.py" if (package / name).is_dir() else package / f"{name}.py"
        )
        with file.open("a") as stream:
            stream.write(f"\nimport {imported}\n")
    result = lint_imports(tmp_path)
    assert result.returncode == 1, result.stdout + result.stderr
    for name, imported in FORBIDDEN:
        assert f"tailsched.{name} is not allowed to import {imported}" in result.stdout
