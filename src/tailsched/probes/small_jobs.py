r"""What small jobs add to the tail of SPLIT (SPLIT, Lemma 4.4 and the three cases of Theorem 4.2).

The tail is the sum of three parts, by the size x of the job: small, :math:`x \le t/C`; large,
:math:`t/C < x \le t - \sqrt t`; very large. Each is divided by P[S > t]. For the
lemma, of a larger C, the jobs with T > t are counted in each octave of x up to t/C.
"""

import numpy as np

from tailsched.mgn.engine import completions
from tailsched.mgn.registry import Split
from tailsched.probes.harness import draw, entry, jackknife, streams_of
from tailsched.settings import Setting

SERVERS, LOAD, SIZES, SHARDS = 3, 0.5, "pareto:1.5", 96

#: The constant of the lemma, a smaller one for the case of small jobs, and the times.
C, LESS = 8.0, 1.5
TIMES = (32.0, 64.0, 128.0, 256.0, 512.0, 1024.0)

#: Arrivals of a shard in the default run, and those at either end that are not looked at.
JOBS, END = 1_500_000, 20_000


def responses(policy, setting, jobs, streams, **parameters):
    """Return (sizes, responses) of the jobs of one shard, those at its ends left out."""
    arrivals, sizes = draw(streams, setting.lam, setting.sizes, jobs + 2 * END)
    done = completions(policy, setting.servers, arrivals, sizes, **parameters)
    kept = slice(END, jobs + END)
    return sizes[kept], (done - arrivals)[kept]


def parts(x, response, t, c):
    """Return the numbers of jobs with T > t that are small, large and very large."""
    late = x[response > t]
    huge = late > t - t**0.5
    large = (late > t / c) & ~huge
    return [int(np.sum(~large & ~huge)), int(np.sum(large)), int(np.sum(huge))]


def octaves(x, response, times):
    """Return the jobs of each octave of sizes from 1, and those with T > t, for the octaves up to t/C.

    Returns
    -------
    (octaves,) and (times, octaves) integer arrays; octaves above t/C are empty
    """
    octave = np.log2(x).astype(int)
    most = int(np.log2(times[-1] / C))
    whole = np.bincount(octave[octave < most], minlength=most)
    late = np.array([np.bincount(octave[(octave < most) & (response > t)], minlength=most) for t in times])
    for row, t in zip(late, times, strict=True):
        row[int(np.log2(t / C)) :] = 0
    return whole, late


def measure(seed, work=1.0, policy=Split, **parameters):
    """Return the three parts over P[S > t] at each t, and the counts of the lemma's small jobs by octave."""
    setting = Setting.parse("split", SERVERS, LOAD, SIZES)
    jobs = max(20_000, int(JOBS * work))
    cases, whole, late = [], 0, 0
    for i in range(SHARDS):
        x, response = responses(policy, setting, jobs, streams_of(seed, "small_jobs", i), **parameters)
        cases.append([parts(x, response, t, LESS) for t in TIMES])
        counts = octaves(x, response, TIMES)
        whole, late = whole + counts[0], late + counts[1]
    tail = setting.sizes.tail(np.array(TIMES))
    shares, errors = jackknife(lambda count: count / jobs / tail[:, np.newaxis], cases)
    total = jobs * SHARDS
    names = "small", "large", "huge"
    return {
        "servers": SERVERS, "load": LOAD, "sizes": SIZES, "c": C, "less": LESS, "times": list(TIMES),
        "jobs": total, "tail": tail.tolist(),
        "cases": [
            {name: entry(shares[i, j], errors[i, j], SHARDS, total) for j, name in enumerate(names)}
            for i in range(len(TIMES))
        ],
        "octaves": whole.tolist(), "late": late.tolist(),
    }  # fmt: skip
