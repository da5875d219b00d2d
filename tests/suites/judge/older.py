"""Differences between older versions of asyncio and 3.13, the version that coil follows.

The differences were found by running the judge's programs on CPython 3.11.7, 3.12.1 and 3.13.0, and then comparing
the sources. A program with an instruction that has changed is skipped if the interpreter is older than the change.

Three changes affect instructions of most programs, but have an effect only rarely. reference.py detects
them when they occur, and marks the trace as left out:

- Task.uncancel() that reaches 0 discards an undelivered cancellation.

- An expired timeout counts the requests to cancel that existed before it, and becomes a TimeoutError without a newer
  request (since a 3.11 release later than 3.11.2).

- A TaskGroup that fails cancels its parent again if another request had cancelled the parent.
"""

import program

FILTER = "older"

OLDEST = (3, 11)  # asyncio.timeout, TaskGroup, uncancel

CHANGES = [
    # Queue.shutdown is new.
    ((3, 13), {"shutdown"}),
    # A cancelled waiter of a Condition passes its notification on to another waiter.
    ((3, 13), {"cwait", "cwait_for", "bwait", "breset", "babort"}),
    # A Semaphore wakes as many waiters as its value allows. Before 3.13, some stayed asleep.
    ((3, 13), {"semaphore"}),
    # as_completed() supports asynchronous iteration.
    ((3, 13), {"as_completed"}),
    # gather() of completed futures does not wait.
    ((3, 12), {"gather", "gather_all"}),
    # Eager tasks are new, and wait_for() is implemented with timeout().
    ((3, 12), {"eager", "eager_child", "wait_for", "race"}),
]


def verbs(text):
    """Return the verbs of a program. Instructions on semaphores have the verb `semaphore`."""
    for node in program.walk(program.parse(text)):
        if node.verb in ("acquire", "hold", "release") and node.args[0][0] in "su":
            yield "semaphore"
        elif node.verb not in ("semaphore", "bounded"):  # declarations
            yield node.verb


def comparable(text, version):
    """Return true if an interpreter of this version should produce the same trace as 3.13."""
    used = set(verbs(text))
    return not any(version < since and used & changed for since, changed in CHANGES)
