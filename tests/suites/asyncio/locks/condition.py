"""Conditions."""

from scenario import *

changed = asyncio.Condition()
ready = False


async def cancelled_waiter():
    async with changed:
        try:
            await changed.wait_for(lambda: ready)
        except asyncio.CancelledError as error:
            trace("cancelled: %s, locked %d", error.args[0], changed.locked())
            raise


@scenario
async def condition_cancelled_while_taking_the_lock_keeps_the_reason():
    """A notified task that is cancelled while it reacquires the lock gets the reason of the cancellation.

    Since: 3.13
    """
    global ready
    task = asyncio.create_task(cancelled_waiter())
    await turns(1)
    await changed.acquire()
    ready = True
    changed.notify()
    await turns(1)
    trace("it wants the lock")
    task.cancel("tired")
    changed.release()
    trace("waiter: %s", await outcome(task))
    trace("locked %d", changed.locked())


async def block():
    async with changed:
        trace("inside: locked %d", changed.locked())
        await changed.wait()
        trace("woken: locked %d", changed.locked())
    trace("after: locked %d", changed.locked())


@scenario
async def condition_held_for_a_block():
    """Inside a block that uses a condition, its lock is held except during waits. After the block, the lock is free.
    """
    trace("locked %d", changed.locked())
    task = asyncio.create_task(block())
    await asyncio.sleep(1)
    trace("it waits: locked %d", changed.locked())
    async with changed:
        trace("ours: locked %d", changed.locked())
        changed.notify()
    trace("released: locked %d", changed.locked())
    trace("block: %s", await outcome(task))


async def waiter(name):
    async with changed:
        await changed.wait()
        trace("%s goes on", name)


@scenario
async def condition_notify_all_wakes_everybody():
    """notify_all() wakes all tasks that are waiting, but not those that begin to wait later."""
    a = asyncio.create_task(waiter("a"))
    b = asyncio.create_task(waiter("b"))
    await turns(1)
    async with changed:
        changed.notify_all()
        changed.notify_all()
    c = asyncio.create_task(waiter("c"))
    await turns(2)
    trace("a %s, b %s, c %s", state(a), state(b), state(c))
    async with changed:
        changed.notify_all()
    trace("c: %s", await outcome(c))


async def holder():
    await changed.acquire()
    trace("held by another")


def notify_all():
    try:
        changed.notify_all()
    except RuntimeError:
        return "EPERM"
    return "0"


@scenario
async def condition_notify_all_without_the_lock_is_an_error():
    """notify_all() is an error while the lock is free, even if no task is waiting. Any task may hold the lock.
    """
    trace("notify_all: %s", notify_all())
    asyncio.create_task(holder())
    await turns(1)
    trace("notify_all: %s", notify_all())
    changed.release()
    trace("notify_all: %s", notify_all())


async def condition_notify_wakes_notify(*counts):
    async with changed:
        for count in counts:
            changed.notify(count)
    await turns(1)
    trace("that was it")


@scenario
async def condition_notify_wakes_so_many():
    """If notify() is called for more waiters than there are, each waiter is woken once, in order.
    """
    for name in "abcd":
        asyncio.create_task(waiter(name))
    await turns(1)
    await condition_notify_wakes_notify(0)
    await condition_notify_wakes_notify(1)
    await condition_notify_wakes_notify(1, 2048)
    await condition_notify_wakes_notify(1)


async def condition_notify_without_waiter():
    async with changed:
        await changed.wait()
        trace("goes on")


def condition_notify_without_notify():
    try:
        changed.notify()
    except RuntimeError:
        return "EPERM"
    return "0"


@scenario
async def condition_notify_without_the_lock_is_an_error():
    """notify() is an error while the lock is free, and wakes no task."""
    trace("notify: %s", condition_notify_without_notify())
    task = asyncio.create_task(condition_notify_without_waiter())
    await turns(1)
    trace("notify: %s", condition_notify_without_notify())
    await turns(2)
    trace("waiter: %s", state(task))
    async with changed:
        trace("notify: %s", condition_notify_without_notify())
    trace("waiter: %s", await outcome(task))


async def wait_for(value):
    try:
        return await changed.wait_for(lambda: value)
    except RuntimeError:
        raise Failure("EPERM")


@scenario
async def condition_predicate_that_holds_needs_no_lock():
    """If the predicate is already true, wait_for() returns at once and does not check the lock. If the predicate is
    false, the lock must be held.
    """
    asyncio.create_task(ticker(1))
    trace("holds: %s", await outcome(wait_for(7)))
    trace("does not: %s", await outcome(wait_for(0)))
    trace("locked %d", changed.locked())


lock = asyncio.Lock()
full = asyncio.Condition(lock)
empty = asyncio.Condition(lock)


async def condition_shares_waiter(name, condition):
    async with condition:
        trace("%s: lock %d, full %d, empty %d", name, lock.locked(), full.locked(), empty.locked())
        await condition.wait()
        trace("%s goes on", name)


@scenario
async def condition_shares_its_lock():
    """Two conditions may share a lock. A notification reaches only the waiters of its own condition.
    """
    f = asyncio.create_task(condition_shares_waiter("f", full))
    e = asyncio.create_task(condition_shares_waiter("e", empty))
    await turns(1)
    trace("lock %d, full %d, empty %d", lock.locked(), full.locked(), empty.locked())
    async with lock:
        trace("lock %d, full %d, empty %d", lock.locked(), full.locked(), empty.locked())
        empty.notify_all()
    await turns(2)
    trace("f %s, e %s", state(f), state(e))
    async with empty:
        full.notify_all()
    trace("f: %s", await outcome(f))


@scenario
async def condition_two_notified_and_the_first_cancelled_wakes_a_third():
    """If two of three waiters are notified and the first is cancelled, the second and the third waiter continue.

    Since: 3.13
    """
    a, b, c = [asyncio.create_task(waiter(name)) for name in "abc"]
    await turns(1)
    async with changed:
        changed.notify(2)
        a.cancel()
    await turns(1)
    trace("a %s, b %s, c %s", state(a), state(b), state(c))
    await turns(1)
    trace("a %s, b %s, c %s", state(a), state(b), state(c))


async def condition_wait_cancelled_again_waiter():
    async with changed:
        try:
            await changed.wait()
        except asyncio.CancelledError:
            trace("cancelled: locked %d", changed.locked())
        await asyncio.sleep(1)
        trace("slept")
    return asyncio.current_task().cancelling()


@scenario
async def condition_wait_cancelled_again_and_again_has_the_lock():
    """If a wait is cancelled twice, the second time while it reacquires the lock, it returns a single cancellation,
    with the lock held.
    """
    task = asyncio.create_task(condition_wait_cancelled_again_waiter())
    await turns(1)
    await changed.acquire()
    for _ in range(3):
        task.cancel()
        await turns(1)
        trace("the lock is held: %s", state(task))
    changed.release()
    trace("requests: %s", await outcome(task))


async def condition_wait_cancelled_has_the_lock_waiter():
    trace("waits: locked %d", changed.locked())
    try:
        await changed.wait()
    except asyncio.CancelledError:
        trace("cancelled: locked %d", changed.locked())
        raise


@scenario
async def condition_wait_cancelled_has_the_lock():
    """A cancelled wait still returns with the lock held."""
    await changed.acquire()
    task = asyncio.create_task(condition_wait_cancelled_has_the_lock_waiter())
    asyncio.get_running_loop().call_soon(task.cancel)
    trace("waiter: %s", await outcome(task))
    trace("locked %d", changed.locked())
    changed.release()
    trace("locked %d", changed.locked())


@scenario
async def condition_wait_cancelled_keeps_the_reason():
    """A task that is cancelled while it waits for a notification gets the reason of the
    cancellation.
    """
    task = asyncio.create_task(cancelled_waiter())
    await turns(1)
    task.cancel("tired")
    trace("waiter: %s", await outcome(task))
    trace("locked %d", changed.locked())


async def wait_two_seconds():
    async with asyncio.timeout(2):
        await changed.wait()


@scenario
async def condition_wait_times_out_with_the_lock_held():
    """If a wait for a condition times out, it still returns with the lock held.
    """
    async with changed:
        trace("waits: locked %d", changed.locked())
        trace("wait: %s", await outcome(wait_two_seconds()))
        trace("locked %d", changed.locked())
        trace("wait: %s", await outcome(wait_two_seconds()))
    trace("locked %d", changed.locked())


async def condition_wait_without_waiter(name):
    try:
        await changed.wait()
    except RuntimeError:
        raise Failure("EPERM")
    trace("%s goes on", name)
    changed.release()


@scenario
async def condition_wait_without_the_lock_is_an_error():
    """Waiting for a condition while its lock is free fails at once, and does not affect tasks that wait correctly.
    """
    asyncio.create_task(ticker(6))
    trace("nobody holds it: %s", await outcome(condition_wait_without_waiter("a")))
    await changed.acquire()
    b = asyncio.create_task(condition_wait_without_waiter("b"))
    await turns(2)
    c = asyncio.create_task(condition_wait_without_waiter("c"))
    await turns(2)
    trace("b %s, c %s", state(b), state(c))
    await changed.acquire()
    changed.notify()
    changed.release()
    await turns(2)
    trace("b %s", state(b))


async def condition_waiter_cancelled_while_it_takes_waiter():
    async with changed:
        trace("waits")
        try:
            await changed.wait()
        except asyncio.CancelledError:
            trace("cancelled: locked %d", changed.locked())
            raise


@scenario
async def condition_waiter_cancelled_while_it_takes_the_lock_back():
    """If a notified waiter is cancelled while it waits for the lock, its wait returns the cancellation only after it
    has acquired the lock.
    """
    task = asyncio.create_task(condition_waiter_cancelled_while_it_takes_waiter())
    await turns(1)
    await changed.acquire()
    changed.notify()
    await turns(1)
    task.cancel()
    await turns(1)
    trace("cancelled, the lock is held: %s", state(task))
    changed.release()
    await turns(1)
    trace("released: %s, locked %d", state(task), changed.locked())


async def condition_waiter_cancelled_while_the_lock_waiter():
    try:
        await changed.wait()
        trace("goes on: locked %d", changed.locked())
    except asyncio.CancelledError:
        trace("cancelled: locked %d", changed.locked())
        raise


@scenario
async def condition_waiter_cancelled_while_the_lock_is_contested():
    """If a notified waiter is cancelled while it waits for the lock, it holds the lock when its wait returns the
    cancellation.
    """
    await changed.acquire()
    task = asyncio.create_task(condition_waiter_cancelled_while_the_lock_waiter())
    await turns(1)
    trace("it waits: locked %d", changed.locked())
    await changed.acquire()
    changed.notify()
    asyncio.get_running_loop().call_soon(task.cancel)
    asyncio.get_running_loop().call_soon(changed.release)
    trace("waiter: %s", await outcome(task))
    trace("locked %d", changed.locked())


async def condition_waiters_waiter(name):
    async with changed:
        await changed.wait()
        trace("%s goes on: locked %d", name, changed.locked())
        await asyncio.sleep(2)
    trace("%s is done: locked %d", name, changed.locked())


async def condition_waiters_notify(n):
    await changed.acquire()
    changed.notify(n)
    await asyncio.sleep(1)
    trace("%d notified: locked %d", n, changed.locked())
    changed.release()
    await asyncio.sleep(7)


@scenario
async def condition_waiters_go_on_one_lock_at_a_time():
    """A notified waiter continues when it has acquired the lock. Several notified waiters continue one after another,
    in order.
    """
    for name in "abc":
        asyncio.create_task(condition_waiters_waiter(name))
    await turns(1)
    trace("they wait: locked %d", changed.locked())
    await condition_waiters_notify(1)
    await condition_waiters_notify(2)


level = 0


def two_or_more():
    trace("asked at level %d: locked %d", level, changed.locked())
    return level if level >= 2 else 0


async def condition_waits_waiter():
    await changed.acquire()
    trace("the predicate: %d", await changed.wait_for(two_or_more))
    changed.release()


async def set_level(value):
    global level
    level = value
    await changed.acquire()
    changed.notify()
    changed.release()
    await turns(1)


@scenario
async def condition_waits_until_the_predicate_holds():
    """wait_for() evaluates the predicate at once and after each notification. When the predicate is true, wait_for()
    returns its value.
    """
    task = asyncio.create_task(condition_waits_waiter())
    await turns(1)
    await set_level(1)
    trace("waiter: %s", state(task))
    await set_level(3)
    trace("waiter: %s", state(task))


items = 0


async def consumer(name):
    global items
    async with changed:
        await changed.wait_for(lambda: items > 0)
        items -= 1
        trace("%s takes it", name)
        changed.notify_all()


@scenario
async def condition_wakeup_is_passed_on_by_who_is_cancelled_at_the_lock():
    """A notification is not lost if the notified task is cancelled while it reacquires the lock.

    Since: 3.13
    """
    global items
    a = asyncio.create_task(consumer("a"))
    b = asyncio.create_task(consumer("b"))
    await turns(1)
    async with changed:
        items = 1
        changed.notify()
        await turns(1)
        a.cancel()
        trace("one item, a %s", state(a))
        async with asyncio.timeout(5):
            await changed.wait_for(lambda: items == 0)
        trace("taken")
    trace("a: %s", await outcome(a))
    trace("b: %s", await outcome(b))


@scenario
async def condition_wakeup_of_a_cancelled_waiter_is_passed_on():
    """A notification is not lost if the notified task is cancelled before it continues. Another consumer takes the
    item.

    Since: 3.13
    """
    global items
    a = asyncio.create_task(consumer("a"))
    b = asyncio.create_task(consumer("b"))
    await turns(1)
    async with changed:
        items = 1
        changed.notify()
        a.cancel()
        trace("one item, a %s", state(a))
        async with asyncio.timeout(5):
            await changed.wait_for(lambda: items == 0)
        trace("taken")
    trace("a: %s", await outcome(a))
    trace("b: %s", await outcome(b))
