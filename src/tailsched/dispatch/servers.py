r"""The compiled simulation of N servers under a dispatching policy.

Nothing happens between arrivals that an arrival could not work out: servers are FCFS, so a job's start and
end are known when it joins. At an arrival d servers are sampled, the jobs that have left them meanwhile are
taken off, and what they report is looked up in the table of xi. A server keeps its first job and the end of
its last beside each other; further jobs are in a linked list in one pool of memory.

A report may be old: with a delay h a server reports what it was at t - h, so jobs are kept until their
departure is older than that.
"""

import numpy as np

from tailsched._jit import njit
from tailsched.sampling import draw_size

#: Columns of a server: end of its last job, start and end of its first job, arrival of its first job.
FREE, START, END, CAME = range(4)

#: Columns of the links of a server: jobs, second job, last job.
COUNT, NEXT, LAST = range(3)

#: What `run` ends with.
DONE, POOL_FULL, TABLE_SHORT = range(3)


@njit
def run(
    rngs, law, system, table, first, servers, links, pool, nexts, state, clock, jobs, times, counts, sums
):  # fmt: skip
    """Simulate up to `jobs` arrivals; stop before if a piece of memory is too small.

    Parameters
    ----------
    rngs : generators of arrivals, of sizes and of the sampled servers
    law : (kind, params) of the sizes, see `tailsched.sampling.draw_size`
    system : (rate of all arrivals, d, 1 / delta or 0, delay)
    table : (lengths, layers) places of xi; with fewer lengths than are met `TABLE_SHORT` is returned
    first : arrivals, of these, that belong to the first half of the measurements
    servers, links : (N, 4) float64 and (N, 3) int64
    pool, nexts : (M, 3) start, end and arrival of a job; (M,) what follows it. nexts[0] heads the free ones
    state : (3 + d,) float64: whether an arrival is under way, its time and size, the sampled servers
    clock : time of the last arrival
    jobs : arrivals to simulate
    times : (q,) ascending times at which P[W > t] and P[R > t] are counted
    counts : (2, q + 1) waits and responses in (t_{i-1}, t_i], added to
    sums : (2, 3) for each half: jobs, their waits, those that waited; added to

    Returns
    -------
    (why, clock, jobs left)
    """
    arrivals, drawer, sampler = rngs
    kind, params = law
    rate, d, per_delta, delay = system
    n, lengths, layers = servers.shape[0], table.shape[0], table.shape[1]
    mean_gap = 1.0 / rate
    left = jobs
    while left > 0:
        if state[0] == 0.0:
            clock += mean_gap * arrivals.standard_exponential()
            state[1] = clock
            state[2] = draw_size(drawer, kind, params)
            for i in range(d):
                new = False
                while not new:
                    pick = float(int(sampler.random() * n))
                    new = True
                    for j in range(i):
                        if state[3 + j] == pick:
                            new = False
                state[3 + i] = pick
            state[0] = 1.0
        seen = clock - delay
        best, choice = np.int64(2147483647), 0
        for i in range(d):
            server = int(state[3 + i])
            while links[server, COUNT] > 0 and servers[server, END] <= seen:
                links[server, COUNT] -= 1
                job = links[server, NEXT]
                if job > 0:
                    servers[server, START] = pool[job, 0]
                    servers[server, END] = pool[job, 1]
                    servers[server, CAME] = pool[job, 2]
                    links[server, NEXT] = nexts[job]
                    nexts[job] = nexts[0]
                    nexts[0] = job
            count = links[server, COUNT]
            if count > 0 and delay > 0.0:
                # Jobs that came after the report was made are not in it.
                if servers[server, START] > seen:
                    count = 0
                else:
                    count, job = 1, links[server, NEXT]
                    while job > 0 and pool[job, 2] <= seen:
                        count += 1
                        job = nexts[job]
            if count == 0:
                choice = server
                break
            if count > lengths:
                return TABLE_SHORT, clock, left
            layer = 0
            if per_delta > 0.0:
                # Layer k holds the ages in (c_{k-1}, c_k].
                layer = min(int(np.ceil((seen - servers[server, START]) * per_delta)), layers) - 1
                layer = max(layer, 0)
            place = np.int64(table[count - 1, layer])
            if place < best:
                best, choice = place, server
        if links[choice, COUNT] > 0 and nexts[0] == 0:
            return POOL_FULL, clock, left
        size = state[2]
        start = max(clock, servers[choice, FREE])
        end = start + size
        servers[choice, FREE] = end
        if links[choice, COUNT] == 0:
            servers[choice, START] = start
            servers[choice, END] = end
            servers[choice, CAME] = clock
            links[choice, NEXT] = 0
        else:
            job = nexts[0]
            nexts[0] = nexts[job]
            pool[job, 0] = start
            pool[job, 1] = end
            pool[job, 2] = clock
            nexts[job] = 0
            if links[choice, NEXT] == 0:
                links[choice, NEXT] = job
            else:
                nexts[links[choice, LAST]] = job
            links[choice, LAST] = job
        links[choice, COUNT] += 1
        state[0] = 0.0
        wait = start - clock
        half = 0 if jobs - left < first else 1
        sums[half, 0] += 1.0
        if wait > 0.0:
            sums[half, 1] += wait
            sums[half, 2] += 1.0
        if times.size:
            counts[0, _bin(times, wait)] += 1
            counts[1, _bin(times, wait + size)] += 1
        left -= 1
    return DONE, clock, 0


@njit
def _bin(times, value):
    """Return the number of times below `value`."""
    low, high = 0, times.size
    while low < high:
        middle = (low + high) // 2
        if times[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def free_list(nexts, first):
    """Chain the places from `first` on into the list of free ones, whose head is nexts[0]."""
    for i in range(first, nexts.size - 1):
        nexts[i] = i + 1
    nexts[nexts.size - 1] = nexts[0]
    nexts[0] = first
