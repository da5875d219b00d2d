"""CPython's accidents, evened out: everything the judge changes about asyncio.

Order is the claim, so where CPython itself promises none, this file picks the natural
one, and coil does the same. There are five such places, and none of them is in the C
accelerator: _asyncio's Task and Future are used as they are.

1. Equal deadlines. Timers lie in a heapq, which is not stable: two timers of one deadline
   fire in an order that depends on what else is in the heap. Here: first in, first out.
   (base_events.py: call_at pushes, _run_once pops; events.py: TimerHandle.__lt__ compares
   _when alone)

2. Iteration over sets. TaskGroup keeps its children in a set and cancels them in the
   set's order, that of their addresses; asyncio.wait() makes a set of what it is given and
   subscribes in that order, and so does as_completed(). Here: in the order of insertion.
   (taskgroups.py: self._tasks = set(), _abort; tasks.py: wait, fs = set(fs);
   _AsCompletedIterator, todo = {...})

3. Floats. Deadlines are sums of floats there, and a timer is due within a clock resolution
   of its deadline. Here time is an integer number of ticks, and due means now >= deadline.
   (base_events.py: _run_once, end_time = self.time() + self._clock_resolution)

4. The clock. Nothing sleeps: when nothing is ready, the clock jumps to the next deadline.
   (the selector, whose select(timeout) is what waits)

5. A mistake that was mended (gh-128550): before 3.13.2 a TaskGroup whose eager child has
   failed cancels its owner inside create_task(), in the middle of its body. Here: in the
   next turn, always.
   (taskgroups.py: create_task)

That asyncio.run() cancels what is left at the end in the order of a set needs nothing
here: the driver of the judge's programs leaves nothing.
"""

import asyncio
import itertools
import selectors
import sys
from asyncio import events, taskgroups, tasks


class OrderedSet(dict):
    """As much of a set as asyncio uses, in the order of insertion."""

    def __init__(self, items=()):
        super().__init__((item, None) for item in items)

    def add(self, item):
        self[item] = None

    def discard(self, item):
        self.pop(item, None)

    remove = dict.pop


def even_out_as_completed():
    """Its set is no call of set(), so what its constructor does is done again here."""

    class AsCompleted(tasks._AsCompletedIterator):
        def __init__(self, futures, timeout):
            super().__init__((), None)
            self._todo = OrderedSet(map(asyncio.ensure_future, futures))
            self._todo_left = len(self._todo)
            for future in self._todo:
                future.add_done_callback(self._handle_completion)
            if self._todo and timeout is not None:
                loop = asyncio.get_running_loop()
                self._timeout_handle = loop.call_later(timeout, self._handle_timeout)

    tasks._AsCompletedIterator = AsCompleted


class FifoTimerHandle(events.TimerHandle):
    """A timer that comes after those of the same deadline that were there before it."""

    __slots__ = ("_number",)
    _numbers = itertools.count()

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._number = next(self._numbers)

    def __lt__(self, other):
        return (self._when, self._number) < (other._when, other._number)

    __hash__ = events.TimerHandle.__hash__


class JumpingSelector(selectors._BaseSelectorImpl):
    """Selects nothing, ever; the time it would have waited has simply passed."""

    now = 0

    def select(self, timeout=None):
        if timeout is None:
            raise RuntimeError("nothing is ready and nothing is scheduled")
        self.now += timeout
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self):
        self._judge_selector = JumpingSelector()
        super().__init__(self._judge_selector)
        self._clock_resolution = 1

    def time(self):
        return self._judge_selector.now


def child_done(self, task):
    """TaskGroup._on_task_done; create_task() calls it for one that is no child yet: see 5."""
    if task in self._tasks:
        on_task_done(self, task)
    else:
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)


on_task_done = taskgroups.TaskGroup._on_task_done


def install():
    """A module's global `set` hides the builtin; TimerHandle is looked up when used."""
    tasks.set = OrderedSet
    taskgroups.set = OrderedSet
    if sys.version_info < (3, 13, 2):
        taskgroups.TaskGroup._on_task_done = child_done
    events.TimerHandle = FifoTimerHandle
    if hasattr(tasks, "_AsCompletedIterator"):  # 3.13
        even_out_as_completed()
