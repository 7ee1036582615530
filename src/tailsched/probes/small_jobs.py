r"""What small jobs add to the tail of SPLIT (SPLIT, Lemma 4.4 and the three cases of Theorem 4.2).

The tail is the sum of three parts, by the size x of the job: small, :math:`x \le t/C`; large,
:math:`t/C < x \le t - \sqrt t`; very large. Each is divided by P[S > t]. For the lemma, the worst of the small
jobs: the largest P[T > t | x in an octave] over the octaves up to t/C.
"""

import numpy as np

from tailsched.mgn.engine import completions
from tailsched.mgn.registry import Split
from tailsched.probes.harness import draw, entry, jackknife, streams_of
from tailsched.settings import Setting

SERVERS, LOAD, SIZES, SHARDS = 3, 0.5, "pareto:1.5", 32

#: The constant of the lemma, and the times.
C = 8.0
TIMES = (32.0, 64.0, 128.0, 256.0, 512.0, 1024.0)

#: Arrivals of a shard in the default run, and those at either end that are not looked at.
JOBS, END = 1_000_000, 20_000

#: Jobs of an octave over all shards from which it counts for the worst.
FEWEST = 2000


def responses(policy, setting, jobs, streams, **parameters):
    """Return (sizes, responses) of the jobs of one shard, those at its ends left out."""
    arrivals, sizes = draw(streams, setting.lam, setting.sizes, jobs + 2 * END)
    done = completions(policy, setting.servers, arrivals, sizes, **parameters)
    kept = slice(END, jobs + END)
    return sizes[kept], (done - arrivals)[kept]


def parts(sizes, times):
    """Return for each t the number of jobs with T > t that are small, large and very large; (times, 3)."""
    x, response = sizes
    counts = []
    for t in times:
        late = x[response > t]
        large = late > t / C
        huge = late > t - np.sqrt(t)
        counts.append([np.sum(~large), np.sum(large & ~huge), np.sum(huge)])
    return np.array(counts)


def octaves(x, response, times):
    """Return the jobs of each octave of sizes from 1, and those with T > t, for the octaves up to t/C."""
    octave = np.log2(x).astype(int)
    most = int(np.log2(times[-1] / C))
    whole = np.bincount(octave[octave < most], minlength=most)
    late = [np.bincount(octave[(octave < most) & (response > t)], minlength=most) for t in times]
    for row, t in zip(late, times, strict=True):
        row[int(np.log2(t / C)) :] = 0
    return whole, np.array(late)


def measure(seed, work=1.0, policy=Split):
    """Return the three parts over P[S > t] at each t, the worst small jobs, and how fast they fall."""
    setting = Setting.parse("split", SERVERS, LOAD, SIZES)
    jobs = max(20_000, int(JOBS * work))
    times = np.array(TIMES)
    cases, wholes, lates = [], [], []
    for i in range(SHARDS):
        x, response = responses(policy, setting, jobs, streams_of(seed, "small_jobs", i))
        cases.append(parts((x, response), times))
        whole, late = octaves(x, response, times)
        wholes.append(whole)
        lates.append(late)
    tail = setting.sizes.tail(times)[:, np.newaxis]
    shares, errors = jackknife(lambda count: count / jobs / tail, cases)
    wholes, lates = np.array(wholes), np.array(lates)
    enough = wholes.sum(axis=0) >= FEWEST

    def worst(whole, late):
        return (late[:, enough] / whole[enough]).max(axis=1)

    def slope(whole, late):
        return np.log(worst(whole, late)[1:] / worst(whole, late)[:-1]) / np.log(times[1:] / times[:-1])

    with np.errstate(divide="ignore", invalid="ignore"):
        worst_of, worst_error = jackknife(worst, wholes, lates)
        slopes, slope_error = jackknife(slope, wholes, lates)
    total = jobs * SHARDS
    return {
        "servers": SERVERS, "load": LOAD, "sizes": SIZES, "c": C, "times": list(TIMES),
        "cases": [
            {name: entry(shares[i, j], errors[i, j], SHARDS, total) for j, name in enumerate(("small", "large", "huge"))}
            for i in range(times.size)
        ],
        "worst": [entry(v, e, SHARDS, total) for v, e in zip(worst_of, worst_error, strict=True)],
        "slopes": [entry(v, e, SHARDS, total) for v, e in zip(slopes, slope_error, strict=True)],
    }  # fmt: skip
