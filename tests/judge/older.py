"""What differs in asyncio before 3.13, which is what coil follows.

Each entry was found by comparing CPython with CPython: the judge's programs on 3.11.7,
3.12.1 and 3.13.0, and then the sources. A program that uses such an instruction is left
out where the interpreter is older than the change.

Three changes show in rare moments only, and would cost most programs; reference.py sees
them when they come, and marks the trace as left out:
- Task.uncancel() that reaches 0 drops a cancellation not yet delivered;
- a timeout that expires counts the requests to cancel that were there before it, and is a
  TimeoutError if no other has come (3.11.2 has not got that, later 3.11s have);
- a TaskGroup that fails cancels its parent again, if somebody else had cancelled it.
"""

import program

FILTER = "older"

OLDEST = (3, 11)  # asyncio.timeout, TaskGroup, uncancel

CHANGES = [
    # Queue.shutdown is new.
    ((3, 13), {"shutdown"}),
    # A Condition's waiter that is cancelled hands its notification on to another.
    ((3, 13), {"cwait", "cwait_for", "bwait", "breset", "babort"}),
    # A Semaphore serves all that its value allows; before, some stayed asleep.
    ((3, 13), {"semaphore"}),
    # as_completed() can be iterated over asynchronously.
    ((3, 13), {"as_completed"}),
    # gather() of futures that are done already does not wait.
    ((3, 12), {"gather", "gather_all"}),
    # Eager tasks are new; wait_for() is made of timeout().
    ((3, 12), {"eager", "eager_child", "wait_for", "race"}),
]


def verbs(text):
    """The instructions of a program; those on semaphores count as `semaphore`."""
    for node in program.walk(program.parse(text)):
        if node.verb in ("acquire", "hold", "release") and node.args[0][0] in "su":
            yield "semaphore"
        elif node.verb not in ("semaphore", "bounded"):  # declarations
            yield node.verb


def comparable(text, version):
    """Whether an interpreter of this version should give the trace of 3.13."""
    used = set(verbs(text))
    return not any(version < since and used & changed for since, changed in CHANGES)
