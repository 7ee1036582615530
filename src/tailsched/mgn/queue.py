"""First-come-first-served queues: jobs linked by slot, with -1 for "no job".

A queue is the pair (head, tail) of slots and an array `link` that names each job's successor, so it needs
neither a bound of its own nor compaction, and the front takes jobs back as readily as the end.
"""

from tailsched._jit import inlined


@inlined
def append(link, head, tail, slot):
    """Add a job at the end; return (head, tail)."""
    if head < 0:
        head = slot
    else:
        link[tail] = slot
    return head, slot


@inlined
def put_back(link, head, tail, slot):
    """Add a job at the front; return (head, tail)."""
    link[slot] = head
    return slot, (tail if head >= 0 else slot)


@inlined
def behind(link, head, tail):
    """Return the new head once the head has left."""
    return link[head] if head != tail else -1
