"""What asyncio has, or will have, in terms of what it has in 3.13.

- TaskGroup.cancel(), of 3.15, with a mistake mended (gh-155418): a child that cancels its group
  in its eager beginning is cancelled, too;
- one task that begins eagerly, while others do not (3.14: create_task(eager_start=True)).
"""

import asyncio
import contextlib


class TaskGroup(asyncio.TaskGroup):
    """With cancel(). `forgets`: that somebody else has cancelled the owner, too."""

    was_cancelled = forgets = False

    def create_task(self, coroutine, **options):
        task = super().create_task(coroutine, **options)
        if self._aborting and not task.done():
            task.cancel()
        return task

    def cancel(self):
        if self._exiting and not self._tasks:
            return
        self.was_cancelled = True
        if not self._aborting:
            self._abort()
        if not self._parent_cancel_requested:
            self._parent_cancel_requested = True
            self._parent_task.cancel()

    async def __aexit__(self, kind, error, traceback):
        """Of the cancellation of its owner nothing is left, if it was its own."""
        await super().__aexit__(kind, error, traceback)
        self.forgets = self.was_cancelled and self._parent_task.cancelling() > 0
        return self._parent_cancel_requested


@contextlib.contextmanager
def eagerly(loop):
    """The next task that the loop creates inside begins at once; a group's, too."""

    def create_once(loop, coroutine, **options):
        loop.set_task_factory(None)
        return asyncio.eager_task_factory(loop, coroutine, **options)

    loop.set_task_factory(create_once)
    try:
        yield
    finally:
        loop.set_task_factory(None)
