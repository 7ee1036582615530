"""The code in docs/ runs as it is printed."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def blocks(name):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / name).read_text(), re.M | re.S)


def test_a_policy_of_ones_own(tmp_path):
    """The example policy: by hand, compiled, and estimated, with fewer jobs than on the page."""
    policy, by_hand, estimates = blocks("new_policy.md")[:3]
    assert "class LCFS" in policy and "jobs=1_000_000" in estimates
    study = tmp_path / "study.py"
    study.write_text(policy + by_hand)
    done = subprocess.run([sys.executable, study], capture_output=True, text=True)
    assert done.stdout == "[10.0, 7.0, 5.0, 4.0, 6.0]\n", done.stderr
    study.write_text(
        policy + estimates.replace("jobs=1_000_000, warm_up=100_000", "jobs=20_000, warm_up=2000")
    )
    done = subprocess.run([sys.executable, study], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = [[float(number) for number in line.strip("[]").split()] for line in done.stdout.splitlines()]
    assert len(rows) == 3 and all(low <= middle <= high for middle, low, high in zip(*rows, strict=True))
