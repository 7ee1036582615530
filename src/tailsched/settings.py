"""A setting: one policy on n servers at a load with given sizes, checked before anything runs.

A policy is written in one string, ``name:option=value,...``, the same on the command line and in a config:

``fcfs`` ``srpt`` ``ps`` ``split``
    no options
``sek:epsilon=E[,sek-size=remaining|original]``
    E >= 0
``thresh-split:THRESHOLD[,small=fcfs|srpt][,steal=yes|no]``, ``tags-split:THRESHOLD``
    THRESHOLD is one of ``threshold=D``, ``threshold-percentile=P`` (of the sizes, in percent) and
    ``large-load=L`` (of the large-job server, without work stealing)
"""

from dataclasses import dataclass
from functools import cached_property

from tailsched.sizes import Sizes, check_number, parse_sizes
from tailsched.theory import limits, thresholds
from tailsched.theory.bounds import arrival_rate, benchmark_rate, check_system

THRESHOLDS = ("threshold", "threshold-percentile", "large-load")

#: The options of each policy: the choices, or None for a number.
OPTIONS = {
    "fcfs": {},
    "srpt": {},
    "ps": {},
    "sek": {"epsilon": None, "sek-size": ("remaining", "original")},
    "split": {},
    "thresh-split": {**dict.fromkeys(THRESHOLDS), "small": ("fcfs", "srpt"), "steal": ("yes", "no")},
    "tags-split": dict.fromkeys(THRESHOLDS),
}

_NAMES = {"fcfs": "FCFS", "srpt": "SRPT", "ps": "PS", "split": "SPLIT"}


def _number(label, text):
    try:
        return float(text)
    except (TypeError, ValueError):
        raise ValueError(f"{label} = {text!r}: must be a number") from None


@dataclass(frozen=True)
class Policy:
    """A policy's name and its options, as given; `Policy.parse` reads the one-string form."""

    name: str
    options: tuple[tuple[str, str | float], ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Policy":
        """Read the one-string form; raise ValueError with one line if it is malformed."""
        name, colon, rest = str(text).strip().partition(":")
        given = {}
        for part in rest.split(",") if colon else []:
            key, equals, value = part.strip().partition("=")
            if not (key and equals and value):
                raise ValueError(f"policy = {text!r}: options must have the form name=value, not {part!r}")
            if key in given:
                raise ValueError(f"policy = {text!r}: option {key} is given twice")
            given[key] = value
        return cls.of(name, given)

    @classmethod
    def of(cls, name: str, given: dict) -> "Policy":
        """Check a name and a mapping of options."""
        if name not in OPTIONS:
            raise ValueError(f"policy = {name!r}: must be one of {', '.join(OPTIONS)}")
        allowed = OPTIONS[name]
        options = {}
        for key, value in given.items():
            if key not in allowed:
                takes = f"{name} takes {', '.join(allowed)}" if allowed else f"{name} takes no options"
                raise ValueError(f"policy option {key} = {value!r}: is not known here, {takes}")
            if allowed[key] is None:
                options[key] = _number(key, value)
            elif value not in allowed[key]:
                raise ValueError(f"policy option {key} = {value!r}: must be {' or '.join(allowed[key])}")
            elif value != allowed[key][0]:
                options[key] = value
        if name == "sek":
            if "epsilon" not in options:
                raise ValueError("policy sek: needs epsilon, a size of at least 0")
            if not options["epsilon"] >= 0:
                raise ValueError(f"epsilon = {options['epsilon']:g}: must be a size of at least 0")
        if "threshold" in allowed and sum(key in options for key in THRESHOLDS) != 1:
            raise ValueError(f"policy {name}: needs exactly one of {', '.join(THRESHOLDS)}")
        return cls(name, tuple((key, options[key]) for key in allowed if key in options))

    def __str__(self):
        options = ",".join(
            f"{key}={value:g}"
            if isinstance(value, float) and float(f"{value:g}") == value
            else f"{key}={value}"
            for key, value in self.options
        )
        return f"{self.name}:{options}" if options else self.name

    def option(self, key):
        """Return an option's value, the default of a choice if it was not given, or None."""
        choices = OPTIONS[self.name].get(key)
        return dict(self.options).get(key, choices[0] if choices else None)

    def simulator(self, threshold=None):
        """Return the policy's class in `tailsched.mgn` and its parameters, given a resolved threshold."""
        from tailsched.mgn.registry import POLICIES

        options = {key: self.option(key) for key in OPTIONS[self.name]}
        return POLICIES[self.name](options, threshold)


@dataclass(frozen=True)
class Setting:
    """A checked setting.

    Attributes
    ----------
    policy, servers, load, sizes : what was given; `load` is rho = lam E[S] / n
    lam : arrival rate of all jobs
    rate : c = min{1, n(1 - rho)}, the benchmark of the normalized tail is P[S > c t]
    threshold : d in the units of the sizes, None if the policy has none
    """

    policy: Policy
    servers: int
    load: float
    sizes: Sizes

    @classmethod
    def parse(cls, policy, servers, load, sizes) -> "Setting":
        """Make a setting from a policy's one-string form and a size specification, and check it.

        Raises
        ------
        ValueError
            With one line that names the field, its value and what is allowed: an unstable load, an infinite
            mean size, a threshold that overloads a side, an unknown policy or family, NaN.
        """
        policy = policy if isinstance(policy, Policy) else Policy.parse(policy)
        setting = cls(policy, *_check_system(servers, load), parse_sizes(sizes))
        _ = setting.threshold
        return setting

    @cached_property
    def lam(self):
        return arrival_rate(self.sizes, self.servers, self.load)

    @cached_property
    def rate(self):
        return benchmark_rate(self.servers, self.load)

    @cached_property
    def threshold(self):
        system = self.sizes, self.servers, self.load
        given = dict(self.policy.options)
        thresh = self.policy.name == "thresh-split"
        if not thresh and self.policy.name != "tags-split":
            return None
        if self.servers < 2:
            raise ValueError(f"servers = {self.servers}: {self.policy.name} needs at least 2")
        if "threshold" in given:
            check = thresholds.check_thresh if thresh else thresholds.check_tags
            check(*system, given["threshold"])
            return given["threshold"]
        choose = thresholds.thresh_threshold if thresh else thresholds.tags_threshold
        if "large-load" in given:
            return choose(*system, large_load=given["large-load"])
        percent = check_number("threshold-percentile", given["threshold-percentile"], 0.0, 100.0)
        return choose(*system, percentile=percent)

    @property
    def beside_large(self):
        """What the server of the large jobs does, None for a policy without one.

        A function from the (m,) sizes of jobs to the work of each on that server, and its load.
        """
        if self.threshold is None:
            return None
        thresh = self.policy.name == "thresh-split"
        work = thresholds.thresh_work if thresh else thresholds.tags_work
        loads = thresholds.thresh_loads if thresh else thresholds.tags_loads
        load, _ = loads(self.sizes, self.servers, self.load, self.threshold)
        return lambda sizes: work(sizes, self.threshold), load

    @cached_property
    def resolved(self):
        """The policy in one string with its threshold as a size: what a simulation depends on."""
        if self.threshold is None:
            return str(self.policy)
        kept = {key: value for key, value in self.policy.options if key in ("small", "steal")}
        return str(Policy.of(self.policy.name, {"threshold": self.threshold, **kept}))

    @property
    def identity(self):
        """What a simulation depends on, for its files."""
        return {
            "policy": self.resolved, "servers": self.servers, "load": self.load, "sizes": self.sizes.spec,
        }  # fmt: skip

    @property
    def warning(self):
        """One line on what to keep in mind, or None."""
        edge = (self.servers - 1) / self.servers
        if self.policy.name == "split" and self.load >= edge:
            return f"load = {self.load:g}: SPLIT is not meant for loads from (n-1)/n = {edge:g} on"
        return None

    @cached_property
    def limit(self):
        """The limit of the normalized tail, None where theory gives none."""
        return limits.tail_limit(self.policy.name, self.servers, self.load, self.sizes, self.threshold)

    @cached_property
    def tail_index(self):
        """Index of the response-time tail, inf if all moments are finite."""
        return limits.response_tail_index(self.policy.name, self.servers, self.load, self.sizes)

    @cached_property
    def jobs_moments(self):
        """Whether the number of jobs present has a finite mean, and a finite variance."""
        return limits.number_moments_finite(self.policy.name, self.servers, self.load, self.sizes)

    def simulator(self):
        """Return the policy's class in `tailsched.mgn` and its parameters."""
        return self.policy.simulator(self.threshold)

    @property
    def label(self):
        """A short name for legends, in mathtext."""
        policy, n = self.policy, self.servers
        if policy.name == "sek":
            kind = " (original)" if policy.option("sek-size") == "original" else ""
            return f"SEK-{policy.option('epsilon'):g}{kind}"
        if self.threshold is None:
            return _NAMES[policy.name] + ("" if policy.name == "split" else f"-{n}")
        given = dict(policy.options)
        if "threshold-percentile" in given:
            at = f"{given['threshold-percentile']:g}%-tile"
        elif "large-load" in given:
            at = f"$L={given['large-load']:g}$"
        else:
            at = f"$d={self.threshold:g}$"
        if policy.name == "tags-split":
            return f"TAGS-SPLIT, {at}"
        small = {"fcfs": "FCFS", "srpt": f"SRPT-{n - 1}"}[policy.option("small")]
        return f"Thresh-SPLIT, {at}, {small}" + ("" if policy.option("steal") == "yes" else ", no stealing")


def _check_system(servers, load):
    try:
        return check_system(servers, load)
    except ValueError as error:
        message = str(error)
        if message.startswith("rho"):
            raise ValueError(
                f"load{message[3:]} (rho = lam E[S]/n; the system is unstable from 1 on)"
            ) from None
        raise ValueError(f"servers{message[1:]}") from None
