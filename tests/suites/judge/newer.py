"""Features of newer asyncio versions, implemented on top of 3.13.

- TaskGroup.cancel() from 3.15, with two fixes. A child that cancels its group in its eager first step is cancelled,
too (gh-155418). Another task's request to cancel the owner is still delivered after the group has cancelled the owner
(gh-155433).

- A Barrier that returns each index once, even if tasks are cancelled (gh-155233, still open).

- A single task that begins eagerly (3.14: create_task(eager_start=True)).
"""

import asyncio
import contextlib


class TaskGroup(asyncio.TaskGroup):
    """A TaskGroup with cancel()."""

    def create_task(self, coroutine, **options):
        task = super().create_task(coroutine, **options)
        if self._aborting and not task.done():
            task.cancel()
        return task

    def cancel(self):
        if self._aborting or self._exiting and not self._tasks:
            return
        self._abort()
        self._parent_cancel_requested = True
        self._parent_task.cancel()

    async def __aexit__(self, kind, error, traceback):
        self._exiting = True
        was_cancelled = isinstance(error, asyncio.CancelledError)
        cancellation, late = error if was_cancelled else None, None
        if error is not None and not self._aborting:
            self._abort()
        while self._tasks:
            self._on_completed_fut = self._loop.create_future()
            try:
                await self._on_completed_fut
            except asyncio.CancelledError as in_exit:
                late = in_exit
                if not self._aborting:
                    cancellation = in_exit
                    self._abort()
            self._on_completed_fut = None
        if self._parent_cancel_requested:
            left = self._parent_task.uncancel() > 0
            cancellation = (cancellation or late) if left else None
        if cancellation is not None and not self._errors:
            raise cancellation
        if error is not None and not was_cancelled:
            self._errors.append(error)
        if not self._errors:
            return True
        if self._parent_task.cancelling():
            self._parent_task.uncancel()
            self._parent_task.cancel()
        raise BaseExceptionGroup("failures in a TaskGroup", self._errors) from None


class Barrier(asyncio.Barrier):
    """A Barrier that returns each index once, even if tasks are cancelled: the task that arrives last gets the last
    index, and the others get theirs in the order in which they leave."""

    passed = 0

    async def _release(self):
        self.passed = 0
        await super()._release()

    async def wait(self):
        place = await super().wait()
        if place < self.parties - 1:
            place = self.passed
            self.passed += 1
        return place


@contextlib.contextmanager
def eagerly(loop):
    """Make the next task that is created in the `with` block begin eagerly, even in a group."""

    def create_once(loop, coroutine, **options):
        loop.set_task_factory(None)
        return asyncio.eager_task_factory(loop, coroutine, **options)

    loop.set_task_factory(create_once)
    try:
        yield
    finally:
        loop.set_task_factory(None)
