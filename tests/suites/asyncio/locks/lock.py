"""Locks."""

from scenario import *

lock = asyncio.Lock()


async def lock_acquire_cancelled_taker():
    trace("wants it")
    await lock.acquire()


@scenario
async def lock_acquire_cancelled_leaves_the_line():
    """A task that is cancelled while it waits for a lock does not get the lock. The state of the lock does not change.
    """
    await lock.acquire()
    task = asyncio.create_task(lock_acquire_cancelled_taker())
    asyncio.get_running_loop().call_soon(task.cancel)
    trace("taker: %s", await outcome(task))
    trace("locked %d", lock.locked())
    lock.release()
    await turns(1)
    trace("locked %d", lock.locked())


async def impatient():
    async with asyncio.timeout(2):
        await lock.acquire()


async def patient():
    await lock.acquire()
    trace("the patient one has it")


@scenario
async def lock_acquire_times_out_while_another_holds_it():
    """If a waiter times out before the lock is released, the next waiter gets the lock.
    """
    await lock.acquire()
    a = asyncio.create_task(impatient())
    b = asyncio.create_task(patient())
    trace("a: %s", await outcome(a))
    await asyncio.sleep(1)
    lock.release()
    await turns(1)
    trace("b: %s, locked %d", state(b), lock.locked())


async def lock_cancelled_taker(name):
    trace("%s wants it", name)
    await lock.acquire()
    trace("%s has it", name)


@scenario
async def lock_cancelled_and_released_in_one_turn_goes_to_one():
    """If a callback cancels the first waiter and releases the lock, exactly one other task gets the lock.
    """
    def trigger():
        a.cancel()
        lock.release()

    await lock.acquire()
    a = asyncio.create_task(lock_cancelled_taker("a"))
    b = asyncio.create_task(lock_cancelled_taker("b"))
    c = asyncio.create_task(lock_cancelled_taker("c"))
    await turns(1)
    asyncio.get_running_loop().call_soon(trigger)
    trace("a: %s", await outcome(a))
    trace("b %s, c %s", state(b), state(c))
    c.cancel()
    await turns(1)
    trace("b %s, c %s", state(b), state(c))


async def block(name, failure):
    async with lock:
        trace("%s: locked %d", name, lock.locked())
        await asyncio.sleep(2)
        if failure:
            raise Failure(failure)


@scenario
async def lock_held_for_a_block():
    """A lock is held inside its block and free after it, even if the block fails or is cancelled.
    """
    trace("locked %d", lock.locked())
    a = asyncio.create_task(block("a", None))
    b = asyncio.create_task(block("b", "EIO"))
    c = asyncio.create_task(block("c", None))
    trace("a: %s, locked %d", await outcome(a), lock.locked())
    trace("b: %s, locked %d", await outcome(b), lock.locked())
    await asyncio.sleep(1)
    c.cancel()
    trace("c: %s, locked %d", await outcome(c), lock.locked())


async def taker(name):
    await lock.acquire()
    trace("%s has it", name)


@scenario
async def lock_is_not_lost_on_a_cancelled_waiter():
    """If a lock is released right after its only waiter was cancelled, the next task that requests the lock gets
    it.
    """
    await lock.acquire()
    b = asyncio.create_task(taker("b"))
    await turns(1)
    c = asyncio.create_task(taker("c"))
    b.cancel()
    lock.release()
    trace("locked %d", lock.locked())
    await turns(1)
    trace("locked %d; b %s", lock.locked(), state(b))
    trace("c: %s", await outcome(c))


async def releaser():
    await asyncio.sleep(2)
    lock.release()
    trace("released")


@scenario
async def lock_may_be_released_by_another_task():
    """A lock has no owner: one task may acquire it and another release it."""
    await lock.acquire()
    asyncio.create_task(releaser())
    trace("taken")
    await lock.acquire()
    trace("taken again")


async def lock_newcomer_taker(name):
    trace("%s wants it: locked %d", name, lock.locked())
    await lock.acquire()
    trace("%s has it", name)
    lock.release()


@scenario
async def lock_newcomer_does_not_overtake_who_was_woken():
    """A released lock is free until the woken waiter continues, but a task that requests it in the meantime must wait
    until that waiter has released it.
    """
    await lock.acquire()
    asyncio.create_task(lock_newcomer_taker("a"))
    await turns(1)
    lock.release()
    await lock_newcomer_taker("newcomer")
    trace("locked %d", lock.locked())


async def holder(name, until):
    try:
        await lock.acquire()
        trace("%s has it", name)
        if until is not None:
            await until
        lock.release()
        trace("%s gave it back", name)
    except asyncio.CancelledError:
        trace("%s was cancelled", name)
        raise


@scenario
async def lock_release_passes_over_a_cancelled_waiter():
    """If the first waiter is cancelled in the turn in which the lock is released, the lock goes to
    the second.
    """
    until = new_future()
    a = asyncio.create_task(holder("a", until))
    await turns(1)
    b = asyncio.create_task(holder("b", None))
    await turns(1)
    c = asyncio.create_task(holder("c", None))
    await turns(1)
    until.set_result(None)
    b.cancel()
    await turns(1)
    trace("locked %d; a %s, b %s", lock.locked(), state(a), state(b))
    trace("c: %s", await outcome(c))


def release():
    try:
        lock.release()
    except RuntimeError:
        return "EPERM"
    return "0"


@scenario
async def lock_released_twice_is_an_error():
    """Releasing a free lock is an error, and changes nothing."""
    trace("before: %s, locked %d", release(), lock.locked())
    await lock.acquire()
    trace("held: %s, locked %d", release(), lock.locked())
    trace("after: %s, locked %d", release(), lock.locked())
    await lock.acquire()
    trace("again: locked %d", lock.locked())


@scenario
async def lock_released_without_waiters_is_free():
    """A lock without waiters is free at once when it is released, and can be acquired without
    waiting.
    """
    asyncio.create_task(ticker(3))
    await lock.acquire()
    trace("locked %d", lock.locked())
    lock.release()
    trace("locked %d", lock.locked())
    await lock.acquire()
    trace("locked %d", lock.locked())
    await turns(1)
    lock.release()
    trace("locked %d", lock.locked())
    await turns(1)


@scenario
async def lock_serves_waiters_in_order():
    """When a lock is released, the task that has waited longest gets it in the next turn. The other waiters continue to
    wait.
    """
    await lock.acquire()
    asyncio.create_task(taker("a"))
    asyncio.create_task(taker("b"))
    await turns(1)
    trace("they wait")
    lock.release()
    trace("released: locked %d", lock.locked())
    await turns(1)
    trace("locked %d", lock.locked())
    await turns(1)
    asyncio.create_task(taker("c"))
    lock.release()
    await turns(1)
    lock.release()
    trace("released again")
    await turns(1)
    trace("locked %d", lock.locked())


@scenario
async def lock_woken_waiter_cancelled_wakes_the_next():
    """A waiter that is cancelled in the turn in which it gets the lock passes the lock to the next waiter.
    """
    await lock.acquire()
    b = asyncio.create_task(taker("b"))
    c = asyncio.create_task(taker("c"))
    await turns(1)
    lock.release()
    b.cancel()
    await turns(1)
    trace("b %s, c %s, locked %d", state(b), state(c), lock.locked())
    await turns(1)
    trace("b %s, c %s, locked %d", state(b), state(c), lock.locked())
