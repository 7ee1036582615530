"""The central-queue M/G/n: one event loop, one file a policy."""

from tailsched.mgn.engine import Engine, Run, Totals, completions, simulate
from tailsched.mgn.fcfs import FCFS
from tailsched.mgn.ps import PS
from tailsched.mgn.sek import SEK
from tailsched.mgn.split import Split
from tailsched.mgn.srpt import SRPT
from tailsched.mgn.tags_split import TagsSplit
from tailsched.mgn.thresh_split import ThreshSplitFCFS, ThreshSplitSRPT

__all__ = [
    "FCFS",
    "PS",
    "SEK",
    "SRPT",
    "Engine",
    "Run",
    "Split",
    "TagsSplit",
    "ThreshSplitFCFS",
    "ThreshSplitSRPT",
    "Totals",
    "completions",
    "simulate",
]
