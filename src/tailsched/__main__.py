"""`python -m tailsched` is the command line."""

from tailsched.cli import main

main()
