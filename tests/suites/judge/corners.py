"""Define corner cases of order and cancellation, and count the programs that reach each of them.

While reference.py runs a program on asyncio, it detects these cases. After the trace, reference.py writes a line with
`#` for each of them, and `run` counts these lines.
"""

import collections
import statistics

ENOUGH = 1000  # after so many programs, each corner case must have been reached

CANCELLED = "cancelled "
CORNERS = [
    CANCELLED + "before its first step",
    CANCELLED + "when just woken",
    CANCELLED + "after a yield",
    CANCELLED + "by itself",
    CANCELLED + "twice",
    CANCELLED + "in its cleanup",
    CANCELLED + "as it ended",
    CANCELLED + "when done",
    CANCELLED + "through another task",
    "a timeout",
    "a timeout that came too late",
    "a failure caught",
    "a cancellation caught",
    "a group that failed",
    "a group with several failures",
    "a group that was cancelled",
    "a child refused",
]

# Instructions that wait. A run should cancel at least one task in each of these instructions.
WAITS = ["sleep", "await", "shield", "gather", "gather_all", "wait", "acquire", "ewait",
         "cwait", "cwait_for", "bwait", "put", "get", "join", "group", "park", "wait_for",
         "as_completed"]  # fmt: skip

CORNERS += [f"{CANCELLED}in {verb}" for verb in WAITS]


class Watch:
    """The corner cases that one program reaches."""

    def __init__(self):
        self.reached = {}  # an ordered set

    def reach(self, corner):
        self.reached[corner] = None

    def cancels(self, victim, canceller):
        """Record the state of the task of `victim`, which is about to be cancelled, as a corner case. `canceller` is
        None if the driver cancels the task."""
        task = victim.task
        waits_for = task._fut_waiter
        if task.done():
            self.reach(CANCELLED + "when done")
            return
        if victim is canceller:
            self.reach(CANCELLED + "by itself")
        elif not victim.started:
            self.reach(CANCELLED + "before its first step")
        elif waits_for is None:
            self.reach(CANCELLED + "after a yield")
        elif waits_for.done():
            self.reach(CANCELLED + "when just woken")
        else:
            self.suspended(victim, hasattr(waits_for, "get_coro"))
        if task.cancelling() > 0:
            self.reach(CANCELLED + "twice")
        if victim.handlers > 0:
            self.reach(CANCELLED + "in its cleanup")

    def suspended(self, victim, in_task):
        self.reach(f"{CANCELLED}in {victim.verb}")
        if in_task:
            self.reach(CANCELLED + "through another task")

    def ends(self, body):
        if body.task.cancelled() and body.returned:
            self.reach(CANCELLED + "as it ended")

    def group_ends(self, errors, cancelled):
        if errors:
            self.reach("a group that failed")
        if len(errors) > 1:
            self.reach("a group with several failures")
        if cancelled:
            self.reach("a group that was cancelled")

    def scope_ends(self, expired, error):
        if expired:
            late = not isinstance(error, TimeoutError)
            self.reach("a timeout that came too late" if late else "a timeout")


class Summary:
    """Counts of the programs that reached each corner case."""

    def __init__(self):
        self.lengths, self.counts = [], collections.Counter()

    def add(self, verdict):
        self.lengths.append(len(verdict.python))
        self.counts.update(verdict.corners)

    def merge(self, other):
        self.lengths += other.lengths
        self.counts += other.counts

    def missed(self):
        """Return the corner cases that no program reached, or an empty list if too few programs ran."""
        if len(self.lengths) < ENOUGH:
            return []
        return [corner for corner in CORNERS if not self.counts[corner]]

    def lines(self):
        yield "a median of %d events" % statistics.median(self.lengths or [0])
        waits = [f"{verb} {self.counts[f'{CANCELLED}in {verb}']}" for verb in WAITS]
        others = [f"{corner} {self.counts[corner]}" for corner in CORNERS
                  if not corner.startswith(CANCELLED + "in ") or "cleanup" in corner]  # fmt: skip
        yield "programs that had a task " + ", ".join(
            other.removeprefix(CANCELLED) for other in others if other.startswith(CANCELLED)
        )
        yield "waiting in " + ", ".join(waits)
        yield "and " + ", ".join(o for o in others if not o.startswith(CANCELLED))
