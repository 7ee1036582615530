"""Which class simulates a policy: one line for each."""

from tailsched.mgn.fcfs import FCFS
from tailsched.mgn.ps import PS
from tailsched.mgn.sek import SEK
from tailsched.mgn.split import Split
from tailsched.mgn.srpt import SRPT
from tailsched.mgn.tags_split import TagsSplit
from tailsched.mgn.thresh_split import ThreshSplitFCFS, ThreshSplitSRPT

#: From a policy's name to a function from its options, as `tailsched.settings` has them, and its threshold
#: to (class, parameters).
POLICIES = {
    "fcfs": lambda options, threshold: (FCFS, {}),
    "srpt": lambda options, threshold: (SRPT, {}),
    "ps": lambda options, threshold: (PS, {}),
    "split": lambda options, threshold: (Split, {}),
    "sek": lambda options, threshold: (
        SEK, {"epsilon": options["epsilon"], "original": options["sek-size"] == "original"},
    ),
    "thresh-split": lambda options, threshold: (
        {"fcfs": ThreshSplitFCFS, "srpt": ThreshSplitSRPT}[options["small"]],
        {"threshold": float(threshold), "steal": options["steal"] == "yes"},
    ),
    "tags-split": lambda options, threshold: (TagsSplit, {"threshold": float(threshold)}),
}  # fmt: skip
