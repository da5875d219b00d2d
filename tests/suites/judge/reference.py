"""Run the judge's programs on CPython's asyncio, and print their traces.

    python3 reference.py BATCH > traces

coil_judge.c has a counterpart for each instruction. An instruction is a method `do_VERB`, which returns an int or a
word for the trace, or raises an exception. The method returns a word where C returns an errno but the task continues,
because a queue is full or a future is set twice, for example. The method raises an exception where the errno ends the
task in C, as a failure or a cancellation does.
"""

import asyncio
import contextvars
import functools
import gc
import os
import sys
from asyncio import staggered

import corners
import evened_out
import newer
import older
import program
import sides

IMMEDIATE = {  # instructions that do not wait: their methods are not coroutines
    "spawn", "child", "eager", "eager_child", "gcancel", "setvar", "getvar", "result", "set", "break", "cancel", "uncancel", "cancelling",
    "callback", "uncallback", "soon", "later", "at", "unschedule", "tasks", "unpark",
    "reschedule", "release", "eset", "eclear", "notify", "bstate", "put_nowait",
    "get_nowait", "task_done", "shutdown",
}  # fmt: skip

QUEUES = {
    "queue": asyncio.Queue,
    "lifo": asyncio.LifoQueue,
    "priority": asyncio.PriorityQueue,
}

WATCHDOG = 1000  # ticks after which a program has ended, or its tasks wait for each other
ROUNDS = 400

WAIT_MODES = {
    "all": asyncio.ALL_COMPLETED,
    "first": asyncio.FIRST_COMPLETED,
    "exception": asyncio.FIRST_EXCEPTION,
}


class Fail(Exception):
    """A failure with the name of an errno."""


QueueShutDown = getattr(asyncio, "QueueShutDown", Fail)


def name_of(error):
    if isinstance(error, asyncio.CancelledError):
        return "ECANCELED"
    if isinstance(error, Fail):
        return error.args[0]
    if isinstance(error, TimeoutError):
        return "ETIMEDOUT"
    if isinstance(error, QueueShutDown):
        return "ESHUTDOWN"
    if isinstance(error, asyncio.BrokenBarrierError):
        return "EPIPE"
    if isinstance(error, AssertionError):
        return "EIO"  # a race has failed, so the program is left out
    raise error  # an error in the judge


def state_of(future):
    if not future.done():
        return "EINPROGRESS"
    if future.cancelled():
        return "ECANCELED"
    if future.exception() is not None:
        return name_of(future.exception())
    return str(future.result() or 0)


class Body:
    """A task of the program: its body and, once it has been spawned, its asyncio task."""

    def __init__(self, name, nodes):
        self.name = name
        self.nodes = nodes
        self.task = None
        self.raced = False  # a race spawns it
        self.result = 0
        self.detail = ""
        self.scopes = []
        self.verb = ""  # the verb of the current instruction
        self.started = self.returned = False
        self.handlers = 0  # the number of handlers that are running
        self.parking = None
        self.callbacks = {}  # the keys are the objects to which callbacks were added


class Interpreter:
    def __init__(self, text, out):
        self.out = out
        self.bodies, self.queues, self.locks, self.semaphores = {}, {}, {}, {}
        self.events, self.conditions, self.futures = {}, {}, {}
        self.groups, self.known_groups = {}, {}  # open groups; all groups, open and closed
        self.barriers = {}
        self.spawned = []
        self.handles = {}  # the keys are marks
        self.variables = {name: contextvars.ContextVar(name, default=0)
                          for name in ("v0", "v1")}  # fmt: skip
        self.watch = corners.Watch()
        self.declarations = program.parse(text)

    def declare(self):
        """Create the objects that the program uses, inside the loop."""
        for node in self.declarations:
            name, size = node.args[0], node.args[1] if len(node.args) > 1 else None
            if node.verb == "task":
                self.bodies[name] = Body(name, node.body)
            elif node.verb == "future":
                self.futures[name] = self.loop.create_future()
            elif node.verb in QUEUES:
                self.queues[name] = QUEUES[node.verb](int(size))
            elif node.verb == "lock":
                self.locks[name] = asyncio.Lock()
            elif node.verb == "semaphore":
                self.semaphores[name] = asyncio.Semaphore(int(size))
            elif node.verb == "bounded":
                self.semaphores[name] = asyncio.BoundedSemaphore(int(size))
            elif node.verb == "barrier":
                self.barriers[name] = newer.Barrier(int(size))
            elif node.verb == "event":
                self.events[name] = asyncio.Event()
            elif node.verb == "condition":
                self.conditions[name] = asyncio.Condition(self.locks[size])

    def trace(self, who, what):
        self.out.append(f"{self.loop.time()} {who} {what}")

    def look_for_changes(self, body, differs=False):
        """Mark the trace as not comparable if this interpreter behaved differently from 3.13. See older.py."""
        forgotten = body.task.cancelling() == 0 and body.task._must_cancel
        if sys.version_info < (3, 13) and (differs or forgotten):
            self.out.append(sides.LEFT_OUT + older.FILTER)

    # ---- the driver -----------------------------------------------------------------

    async def drive(self):
        self.loop = asyncio.get_running_loop()
        self.declare()
        self.start(self.bodies["t0"], self.loop.create_task)
        for _ in range(ROUNDS):
            await asyncio.sleep(WATCHDOG)
            left = [body for body in self.spawned if not body.task.done()]
            if not left:
                break
            self.break_up(left)
        else:
            self.give_up()
        for body in self.spawned:
            self.watch.ends(body)
        for name, body in self.bodies.items():
            self.trace(name, "ended " + (state_of(body.task) if body.task else "absent"))
        for name, future in self.futures.items():
            self.trace(name, "ended " + state_of(future))
            future.cancel()
        await asyncio.sleep(0)

    def break_up(self, left):
        """Cancel the remaining tasks, and unlock all locks."""
        self.trace("driver", "cancels " + " ".join(body.name for body in left))
        for body in left:
            self.watch.cancels(body, None)
            body.task.cancel()
        for lock in self.locks.values():
            if lock.locked():
                lock.release()

    def give_up(self):
        """End the process, because the loop would wait forever for tasks that cannot end."""
        self.trace("driver", "gives up")
        print("\n".join(self.out), flush=True)
        os._exit(3)

    def start(self, body, create_task):
        body.task = create_task(self.run_body(body))
        self.spawned.append(body)

    def bindings(self):
        """Return the variables of the current context that are not 0, for the trace."""
        values = ((name, variable.get()) for name, variable in self.variables.items())
        return "".join(f" {name}={value}" for name, value in values if value)

    def trace_callback(self, who, what):
        """Write the line of a callback to the trace."""
        self.trace(who, what + self.bindings())

    # ---- blocks ---------------------------------------------------------------------

    async def run_body(self, body):
        if body.raced:
            self.spawned.append(body)
        body.task, body.started = asyncio.current_task(), True
        self.trace(body.name, "starts" + self.bindings())
        try:
            await self.run_block(body, body.nodes)
        except BaseException as error:
            self.trace(body.name, "leaves " + name_of(error))
            raise
        body.returned = True
        self.trace(body.name, f"leaves {body.result}")
        return body.result

    async def run_block(self, body, nodes):
        for node in nodes:
            self.trace(body.name, node.text)
            do = getattr(self, "do_" + node.verb)
            body.detail, body.verb = "", node.verb
            try:
                if node.verb in IMMEDIATE:
                    outcome = do(body, *node.args)
                elif node.body is None:
                    outcome = await do(body, *node.args)
                else:
                    outcome = await do(body, node)
            except (Exception, asyncio.CancelledError) as error:
                self.trace(body.name, f"{node.text}: {name_of(error)}{body.detail}")
                if isinstance(error, (Fail, asyncio.CancelledError)):
                    raise
                raise Fail(name_of(error)) from None
            outcome = 0 if outcome is None else outcome
            self.trace(body.name, f"{node.text}: {outcome}{body.detail}")

    async def do_try(self, body, node):
        kind = node.handler_words[-1]
        caught = {"cancelled": asyncio.CancelledError, "error": Fail}.get(kind, ())
        try:
            await self.run_block(body, node.body)
        except caught as error:
            name = "cancellation" if kind == "cancelled" else "failure"
            self.watch.reach(f"a {name} caught")
            self.trace(body.name, "caught " + name_of(error))
            await self.run_handler(body, node)
        finally:
            try:
                if kind in ("finally", "cleanup"):
                    await self.run_handler(body, node)
            finally:
                body.detail = ""

    async def run_handler(self, body, node):
        body.handlers += 1
        try:
            await self.run_block(body, node.handler)
        finally:
            body.handlers -= 1

    async def do_group(self, body, node):
        name = node.args[0]
        if name in self.groups:
            return "busy"
        group, errors, cancelled = newer.TaskGroup(), [], False
        self.groups[name] = self.known_groups[name] = group
        try:
            async with group:
                await self.run_block(body, node.body)
                body.verb = "group"
        except asyncio.CancelledError:
            cancelled = True
            raise
        except BaseExceptionGroup as several:
            errors = [name_of(error) for error in several.exceptions]
            self.look_for_changes(body, body.task.cancelling() > 0)
            raise Fail(errors[0]) from None
        finally:
            del self.groups[name]
            self.look_for_changes(body)
            self.watch.group_ends(errors, cancelled)
            body.detail = f" [{len(errors)}: {' '.join(errors[:8])}]"

    async def do_scope(self, body, node):
        delay = None if node.args[0] == "never" else int(node.args[0])
        await self.run_scope(body, node, asyncio.timeout(delay))

    async def do_scope_at(self, body, node):
        await self.run_scope(body, node, asyncio.timeout_at(int(node.args[0])))

    async def run_scope(self, body, node, scope):
        failure = None
        cancelling = body.task.cancelling()
        try:
            async with scope:
                body.scopes.append(scope)
                try:
                    await self.run_block(body, node.body)
                finally:
                    body.scopes.pop()
        except BaseException as error:
            failure = error
            raise
        finally:
            self.watch.scope_ends(scope.expired(), failure)
            self.look_for_changes(body, differs=scope.expired() and cancelling > 0)
            body.detail = " expired" if scope.expired() else ""

    async def do_hold(self, body, node):
        """Do the same as `async with lock`, but allow that another task has already released the lock."""
        await self.do_acquire(body, node.args[0])
        try:
            await self.run_block(body, node.body)
        finally:
            body.detail = " EPERM" if self.do_release(body, node.args[0]) else ""

    # ---- tasks and futures ----------------------------------------------------------

    def future(self, body, name):
        """Return the future or the task with this name, or None if it cannot be awaited."""
        if name in self.futures:
            return self.futures[name]
        other = self.bodies.get(name)
        return None if other is None or other is body else other.task

    def several(self, body, names):
        return [f for f in (self.future(body, name) for name in names) if f is not None]

    def do_spawn(self, body, name, create_task=None):
        if name not in self.bodies or self.bodies[name].task or self.bodies[name].raced:
            return "absent"
        self.start(self.bodies[name], create_task or self.loop.create_task)

    def do_eager(self, body, name):
        return self.do_spawn(body, name, self.create_eagerly)

    def create_eagerly(self, coroutine):
        return asyncio.eager_task_factory(self.loop, coroutine)

    def do_child(self, body, name, group):
        other = self.bodies.get(name)
        if group not in self.groups or other is None or other.task or other.raced:
            return "absent"
        coroutine = self.run_body(other)
        try:
            task = self.groups[group].create_task(coroutine)
        except RuntimeError:
            coroutine.close()  # 3.11 and 3.12 do not close it
            self.watch.reach("a child refused")
            return "ESHUTDOWN"
        other.task = task
        self.spawned.append(other)

    def do_eager_child(self, body, name, group):
        with newer.eagerly(self.loop):
            return self.do_child(body, name, group)

    def do_gcancel(self, body, group):
        if group not in self.known_groups:
            return "absent"
        self.known_groups[group].cancel()

    async def do_sleep(self, body, ticks):
        await asyncio.sleep(int(ticks))

    async def do_yield(self, body):
        await asyncio.sleep(0)

    def do_result(self, body, value):
        body.result = int(value)

    async def do_fail(self, body, error):
        raise Fail(error)

    async def do_await(self, body, name):
        future = self.future(body, name)
        return "absent" if future is None else await future

    async def do_shield(self, body, name):
        future = self.future(body, name)
        return "absent" if future is None else await asyncio.shield(future)

    def do_set(self, body, name, value):
        try:
            self.futures[name].set_result(int(value))
        except asyncio.InvalidStateError:
            return "EALREADY"

    def do_break(self, body, name, error):
        try:
            self.futures[name].set_exception(Fail(error))
        except asyncio.InvalidStateError:
            return "EALREADY"

    def do_cancel(self, body, name):
        other = self.bodies.get(name)
        if other is not None and other.task is not None:
            self.watch.cancels(other, body)
        future = body.task if name == body.name else self.future(body, name)
        return "absent" if future is None else int(future.cancel())

    def do_uncancel(self, body):
        count = body.task.uncancel()
        self.look_for_changes(body)
        return count

    def do_cancelling(self, body):
        return body.task.cancelling()

    async def gather(self, body, names, everything):
        futures = self.several(body, names)
        try:
            await asyncio.gather(*futures, return_exceptions=everything)
        finally:
            body.detail = f" [{' '.join(map(state_of, futures))}]"

    async def do_gather(self, body, *names):
        await self.gather(body, names, False)

    async def do_gather_all(self, body, *names):
        await self.gather(body, names, True)

    async def do_wait(self, body, mode, ticks, *names):
        futures = self.several(body, names)
        if not futures:
            return "absent"
        timeout = None if ticks == "never" else int(ticks)
        try:
            done, _ = await asyncio.wait(
                futures, timeout=timeout, return_when=WAIT_MODES[mode])
        finally:
            body.detail = f" [{' '.join(map(state_of, futures))}]"
        return len(done)

    async def do_wait_for(self, body, ticks, name):
        future = self.future(body, name)
        if future is None:
            return "absent"
        return await asyncio.wait_for(future, None if ticks == "never" else int(ticks))

    async def do_as_completed(self, body, ticks, *names):
        timeout, count = None if ticks == "never" else int(ticks), 0
        async for future in asyncio.as_completed(self.several(body, names), timeout=timeout):
            self.trace(body.name, "gets " + state_of(future))
            count += 1
        return count

    async def do_race(self, body, ticks, *names):
        """Run a staggered_race(). If all tasks fail, the outcome is the first failure."""
        works = [other for other in map(self.bodies.get, names)
                 if other and not other.task and not other.raced]  # fmt: skip
        if not works:
            return "absent"
        failures = []

        async def run(other):
            try:
                return await self.run_body(other)
            except BaseException as error:
                failures.append(error)
                raise

        for other in works:
            other.raced = True
        delay = None if ticks == "never" else int(ticks)
        runs = [functools.partial(run, other) for other in works]
        try:
            result, winner, errors = await staggered.staggered_race(runs, delay)
        except (asyncio.CancelledError, AssertionError) as error:
            self.out.append(sides.LEFT_OUT + "race")
            raise Fail("EIO") from error
        states = [name_of(error) if error else str(result) for error in errors]
        states += ["EINPROGRESS"] * (len(works) - len(states))
        body.detail = f" [{' '.join(states)}]"
        if winner is None:
            raise failures[0]
        return result

    def do_reschedule(self, body, ticks):
        if not body.scopes:
            return "absent"
        try:
            when = None if ticks == "never" else self.loop.time() + int(ticks)
            body.scopes[-1].reschedule(when)
        except RuntimeError:
            return "ETIMEDOUT"

    # ---- callbacks ------------------------------------------------------------------

    def do_callback(self, body, name):
        future = self.future(body, name)
        if future is None:
            return "absent"

        def trace_state(future):
            self.trace_callback("callback", f"{body.name} {name} {state_of(future)}")

        future.add_done_callback(body.callbacks.setdefault(name, trace_state))

    def do_uncallback(self, body, name):
        future = self.future(body, name)
        if future is None:
            return "absent"
        return future.remove_done_callback(body.callbacks.get(name))

    def do_soon(self, body, mark):
        self.handles[mark] = self.loop.call_soon(self.trace_callback, "soon", mark)

    def do_later(self, body, ticks, mark):
        self.handles[mark] = self.loop.call_later(int(ticks), self.trace_callback, "later", mark)

    def do_at(self, body, when, mark):
        self.handles[mark] = self.loop.call_at(int(when), self.trace_callback, "at", mark)

    def do_unschedule(self, body, mark):
        if mark not in self.handles:
            return "absent"
        self.handles[mark].cancel()

    # ---- parking, introspection -----------------------------------------------------

    async def do_park(self, body):
        """Do what coil_park() does: asyncio programs create a future and await it."""
        body.parking = self.loop.create_future()
        try:
            return await body.parking
        finally:
            body.parking = None

    def do_unpark(self, body, name, value):
        other = self.bodies.get(name)
        if other is None or other.task is None:
            return "absent"
        if other.parking is None or other.parking.done():
            return "EALREADY"
        other.parking.set_result(int(value))

    def do_tasks(self, body):
        living = asyncio.all_tasks()
        names = [name for name, other in self.bodies.items() if other.task in living]
        body.detail = f" [{' '.join(names)}]"

    # ---- variables ------------------------------------------------------------------

    def do_setvar(self, body, name, value):
        self.variables[name].set(int(value))

    def do_getvar(self, body, name):
        return self.variables[name].get()

    async def do_bind(self, body, node):
        name, value = node.args
        token = self.variables[name].set(int(value))
        try:
            await self.run_block(body, node.body)
        finally:
            self.variables[name].reset(token)
            body.detail = ""

    # ---- sync -----------------------------------------------------------------------

    def lockable(self, name):
        return self.locks[name] if name in self.locks else self.semaphores[name]

    async def do_acquire(self, body, name):
        await self.lockable(name).acquire()

    def do_release(self, body, name):
        try:
            self.lockable(name).release()
        except RuntimeError:
            return "EPERM"
        except ValueError:
            return "EOVERFLOW"

    async def do_ewait(self, body, name):
        await self.events[name].wait()

    def do_eset(self, body, name):
        self.events[name].set()

    def do_eclear(self, body, name):
        self.events[name].clear()

    async def do_cwait(self, body, name):
        condition = self.conditions[name]
        if not condition.locked():
            return "EPERM"
        await condition.wait()

    async def do_cwait_for(self, body, name, event):
        condition, event = self.conditions[name], self.events[event]
        if not event.is_set() and not condition.locked():
            return "EPERM"
        return int(await condition.wait_for(event.is_set))

    def do_notify(self, body, name, count):
        condition = self.conditions[name]
        if not condition.locked():
            return "EPERM"
        condition.notify_all() if count == "all" else condition.notify(int(count))

    async def do_bwait(self, body, name):
        return await self.barriers[name].wait()

    async def do_breset(self, body, name):
        await self.barriers[name].reset()

    async def do_babort(self, body, name):
        await self.barriers[name].abort()

    def do_bstate(self, body, name):
        barrier = self.barriers[name]
        return "EPIPE" if barrier.broken else barrier.n_waiting

    # ---- queues ---------------------------------------------------------------------

    async def do_put(self, body, name, value):
        await self.queues[name].put(int(value))

    async def do_get(self, body, name):
        return await self.queues[name].get()

    def do_put_nowait(self, body, name, value):
        try:
            self.queues[name].put_nowait(int(value))
        except asyncio.QueueFull:
            return "EAGAIN"
        except QueueShutDown:
            return "ESHUTDOWN"

    def do_get_nowait(self, body, name):
        try:
            return self.queues[name].get_nowait()
        except asyncio.QueueEmpty:
            return "EAGAIN"
        except QueueShutDown:
            return "ESHUTDOWN"

    def do_task_done(self, body, name):
        try:
            self.queues[name].task_done()
        except ValueError:
            return "EINVAL"

    async def do_join(self, body, name):
        await self.queues[name].join()

    def do_shutdown(self, body, name, how):
        self.queues[name].shutdown(immediate=how == "now")


def run_program(text):
    """Run one program, and return its trace as a list of lines, with the corner cases that it reached."""
    out = []
    interpreter = Interpreter(text, out)
    loop = evened_out.VirtualLoop()
    loop.set_exception_handler(lambda loop, context: None)
    try:
        loop.run_until_complete(interpreter.drive())
    finally:
        loop.close()
    return out + ["# " + corner for corner in interpreter.watch.reached]


def main():
    evened_out.install()
    gc.disable()  # the trace must not depend on when a cycle is collected
    with open(sys.argv[1]) as file:
        batch = file.read()
    for name, text in program.read_many(batch):
        print(f"program {name}", flush=True)
        print("\n".join(run_program(text)), flush=True)


if __name__ == "__main__":
    main()
