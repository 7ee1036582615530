"""Scripts one after another in one process: to start Python and its libraries takes longer than to draw a panel.

``python -m tailsched.plotting.batch "SCRIPT ARGUMENT ..." ...`` ends at the first script that fails.
"""

import runpy
import shlex
import sys


def main(commands):
    """Run each command line."""
    for command in commands:
        sys.argv = shlex.split(command)
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
