"""The claims' own simulations: what the lemmas say of a system's inside, which no curve shows.

Each module has a function `measure(seed, work)` that returns a dict for JSON; `PROBES` names them. `work` is
the amount of work, 1 in the default run. A number with an interval is a dict with ``estimate``, ``se``,
``shards`` and ``jobs``; shards are independent, and their streams are addressed by the root seed, the probe's
name and the shard's index. `python -m tailsched.probes NAME -o OUT.json` runs one.
"""

#: Name -> what it measures.
PROBES = {
    "approximation": "the migrations of TAGS-SPLIT against a Poisson process",
    "giants": "the response times of very large jobs under SRPT-n and SPLIT",
    "map": "SPLIT against SRPT-n over loads, tail indexes and numbers of servers",
    "overload": "SPLIT where a giant on its LJF server overloads the others",
    "packing": "two servers and one endless job: its rate, and idle servers beside it",
    "pick": "whether the LJF server of SPLIT picks a large job in time",
    "reductions": "relevant work under SPLIT and in a fast server, along one path",
    "sek": "the rate of an endless job under SEK, over eps",
    "stealing": "the backlog of Thresh-SPLIT beyond d*, with and without work stealing",
    "small_jobs": "what small jobs add to the tail of SPLIT",
    "small_servers": "the tail of the small-job servers of Thresh-SPLIT",
}
