"""Differences between older versions of asyncio and 3.13, the version that coil follows.

The judge found these differences when its programs ran on CPython 3.11.7, 3.12.1 and 3.13.0; the sources explain them.
Programs with an instruction that has changed are skipped if the interpreter is older than the change.

Three changes concern instructions that most programs contain, but these changes rarely have an effect. If one of them
has an effect, reference.py marks the trace as not comparable:

- Since 3.13, a call of Task.uncancel() that brings the count to 0 discards an undelivered cancellation.

- An expired timeout raises a TimeoutError unless another request to cancel was made since the block began. In early
  releases of 3.11, such as 3.11.2, requests from before the block also prevented the TimeoutError.

- Since 3.13, a TaskGroup that fails cancels its parent even if another request has already cancelled the parent.
"""

import program

FILTER = "older"

OLDEST = (3, 11)  # has timeout(), TaskGroup and uncancel()

CHANGES = [
    # Queue.shutdown is new.
    ((3, 13), {"shutdown"}),
    # If a waiter of a Condition is cancelled after it was notified, another waiter is notified.
    ((3, 13), {"cwait", "cwait_for", "bwait", "breset", "babort"}),
    # A Semaphore wakes as many waiters as its value allows. Before 3.13, some of these waiters were not woken.
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
