"""Even out accidental differences: where CPython does not guarantee an order, make asyncio use a defined order. The
judge does not change asyncio in any other way.

The judge tests that coil and asyncio run everything in the same order, but in five cases, CPython does not guarantee an
order. In these cases, asyncio uses the natural order, which is also coil's. The C accelerator is not changed: Task and
Future are those of _asyncio.

1. Equal deadlines. asyncio stores timers in a heapq, which is not stable: the order of two timers with equal deadlines
   depends on the rest of the heap. Here timers with equal deadlines are first in, first out. (base_events.py: call_at
   pushes, _run_once pops; events.py: TimerHandle.__lt__ compares only _when)

2. Iteration over sets. TaskGroup stores its children in a set, and cancels them in the set's order, which depends on
   their addresses. asyncio.wait() and as_completed() convert their arguments to a set, and add callbacks in the order
   of that set. Here these sets are iterated in the order of insertion. (taskgroups.py: self._tasks = set(), _abort;
   tasks.py: wait, fs = set(fs); _AsCompletedIterator, todo = {...})

3. Floats. In asyncio deadlines are sums of floats, and a timer fires up to one clock resolution before its deadline.
   Here time is an integer number of ticks, and a timer fires if now >= deadline. (base_events.py: _run_once, end_time =
   self.time() + self._clock_resolution)

4. The clock. In asyncio the loop sleeps in select(timeout). Here the loop never sleeps: when no handle is ready, the
   clock jumps to the next deadline.

5. A fixed bug (gh-128550): before 3.13.2, if an eager child failed, the TaskGroup cancelled its owner inside
   create_task(), in the middle of the owner's body. Here the owner is cancelled in the next turn. (taskgroups.py:
   create_task)

asyncio.run() cancels leftover tasks in the arbitrary order of a set. This is not changed, because the judge's programs
leave no tasks behind.
"""

import asyncio
import itertools
import selectors
import sys
from asyncio import events, taskgroups, tasks


class OrderedSet(dict):
    """A set that keeps the order of insertion, with the methods that asyncio uses."""

    def __init__(self, items=()):
        super().__init__((item, None) for item in items)

    def add(self, item):
        self[item] = None

    def discard(self, item):
        self.pop(item, None)

    remove = dict.pop


def even_out_as_completed():
    """Replace the constructor of as_completed()'s iterator, which creates a set without calling set()."""

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
    """A timer that fires after timers with the same deadline that were created earlier."""

    __slots__ = ("_number",)
    _numbers = itertools.count()

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._number = next(self._numbers)

    def __lt__(self, other):
        return (self._when, self._number) < (other._when, other._number)

    __hash__ = events.TimerHandle.__hash__


class JumpingSelector(selectors._BaseSelectorImpl):
    """A selector that advances the clock by the timeout instead of waiting."""

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
    """Replace TaskGroup._on_task_done, to handle a task that is not yet a child: see point 5 above."""
    if task in self._tasks:
        on_task_done(self, task)
    else:
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)


on_task_done = taskgroups.TaskGroup._on_task_done


def install():
    """Replace names in the modules of asyncio: a global `set` in a module hides the builtin, and TimerHandle is looked
    up in its module at each use."""
    tasks.set = OrderedSet
    taskgroups.set = OrderedSet
    if sys.version_info < (3, 13, 2):
        taskgroups.TaskGroup._on_task_done = child_done
    events.TimerHandle = FifoTimerHandle
    if hasattr(tasks, "_AsCompletedIterator"):  # 3.13
        even_out_as_completed()
