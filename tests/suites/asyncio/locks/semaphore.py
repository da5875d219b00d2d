"""Semaphores and bounded semaphores."""

from scenario import *

bounded_semaphore_release_slots = asyncio.BoundedSemaphore(1)


async def bounded_semaphore_release_user(name):
    async with bounded_semaphore_release_slots:
        trace("%s is in", name)
        await asyncio.sleep(2)
    trace("%s is out: locked %d", name, bounded_semaphore_release_slots.locked())


@scenario
async def bounded_semaphore_release_is_for_who_waits():
    """If a task is waiting for a bounded semaphore, a release wakes this task and does not increase the value.
    """
    await bounded_semaphore_release_slots.acquire()
    a = asyncio.create_task(bounded_semaphore_release_user("a"))
    b = asyncio.create_task(bounded_semaphore_release_user("b"))
    await asyncio.sleep(1)
    bounded_semaphore_release_slots.release()
    trace("released: locked %d", bounded_semaphore_release_slots.locked())
    trace("a: %s", await outcome(a))
    trace("b: %s", await outcome(b))
    trace("locked %d", bounded_semaphore_release_slots.locked())


bounded_semaphore_released_slots = asyncio.BoundedSemaphore(2)


def release():
    try:
        bounded_semaphore_released_slots.release()
    except ValueError:
        return "EOVERFLOW"
    return "0"


@scenario
async def bounded_semaphore_released_too_often():
    """The value of a bounded semaphore cannot exceed its initial value. A surplus release is an error, and changes
    nothing.
    """
    trace("all are free: %s", release())
    await bounded_semaphore_released_slots.acquire()
    trace("one is taken: locked %d", bounded_semaphore_released_slots.locked())
    await bounded_semaphore_released_slots.acquire()
    trace("two are taken: locked %d", bounded_semaphore_released_slots.locked())
    for _ in range(3):
        trace("%s: locked %d", release(), bounded_semaphore_released_slots.locked())
    await bounded_semaphore_released_slots.acquire()
    await bounded_semaphore_released_slots.acquire()
    trace("two are taken: locked %d", bounded_semaphore_released_slots.locked())


one_slot = asyncio.Semaphore(1)


async def semaphore_acquire_taker():
    trace("wants in")
    await one_slot.acquire()


@scenario
async def semaphore_acquire_cancelled_leaves_the_line():
    """A task that is cancelled while it waits for a semaphore does not acquire it: the next release wakes the next
    task.
    """
    await one_slot.acquire()
    task = asyncio.create_task(semaphore_acquire_taker())
    asyncio.get_running_loop().call_soon(task.cancel)
    trace("taker: %s", await outcome(task))
    trace("locked %d", one_slot.locked())
    one_slot.release()
    trace("locked %d", one_slot.locked())
    await one_slot.acquire()
    trace("locked %d", one_slot.locked())


three_slots = asyncio.Semaphore(3)


async def semaphore_admits_taker(name):
    await three_slots.acquire()
    trace("%s is in", name)


@scenario
async def semaphore_admits_so_many_in_order():
    """A semaphore with the value 3 admits three tasks. Later tasks continue in order, one per release.
    """
    await three_slots.acquire()
    await three_slots.acquire()
    trace("two are in: locked %d", three_slots.locked())
    for name in "abc":
        asyncio.create_task(semaphore_admits_taker(name))
    await turns(1)
    trace("locked %d", three_slots.locked())
    asyncio.create_task(semaphore_admits_taker("d"))
    three_slots.release()
    three_slots.release()
    await turns(1)
    trace("two released: locked %d", three_slots.locked())
    three_slots.release()
    await turns(1)
    trace("three released: locked %d", three_slots.locked())


async def once(name):
    await one_slot.acquire()
    trace("%s is in", name)


async def twice(name):
    await once(name)
    one_slot.release()
    await once(name + " again")


@scenario
async def semaphore_is_not_overtaken_by_who_releases():
    """A task that releases a semaphore and immediately acquires it again must wait behind the waiting tasks."""
    a = asyncio.create_task(once("a"))
    b = asyncio.create_task(twice("b"))
    c = asyncio.create_task(once("c"))
    await turns(1)
    one_slot.release()
    one_slot.release()
    trace("released twice")
    await asyncio.gather(a, b, c)
    trace("locked %d", one_slot.locked())


no_slots = asyncio.Semaphore(0)


async def semaphore_of_zero_taker():
    await no_slots.acquire()
    trace("taken: locked %d", no_slots.locked())


@scenario
async def semaphore_of_zero_is_locked():
    """A semaphore with the initial value 0 is locked until it is released."""
    trace("locked %d", no_slots.locked())
    asyncio.create_task(semaphore_of_zero_taker())
    await asyncio.sleep(1)
    trace("it waits: locked %d", no_slots.locked())
    no_slots.release()
    no_slots.release()
    trace("released twice: locked %d", no_slots.locked())
    await turns(1)
    trace("locked %d", no_slots.locked())


async def taker(name):
    await no_slots.acquire()
    trace("%s is in", name)


@scenario
async def semaphore_release_passes_over_cancelled_waiters():
    """If the first two waiters are cancelled in the turn in which the semaphore is released, only the third waiter
    continues.
    """
    a, b, c, d = [asyncio.create_task(taker(name)) for name in "abcd"]
    await turns(1)
    a.cancel()
    b.cancel()
    no_slots.release()
    trace("released")
    await turns(2)
    trace("a %s, b %s, c %s, d %s", state(a), state(b), state(c), state(d))
    d.cancel()
    await turns(1)
    trace("d %s, locked %d", state(d), no_slots.locked())


@scenario
async def semaphore_released_after_a_cancellation_wakes_the_next():
    """If a semaphore is released just after its first waiter was cancelled, the release is not lost: the next waiter
    continues.
    """
    a = asyncio.create_task(taker("a"))
    b = asyncio.create_task(taker("b"))
    await turns(1)
    a.cancel()
    no_slots.release()
    trace("locked %d", no_slots.locked())
    await turns(1)
    trace("a %s, b %s, locked %d", state(a), state(b), no_slots.locked())
    await turns(1)
    trace("a %s, b %s, locked %d", state(a), state(b), no_slots.locked())


@scenario
async def semaphore_released_without_waiters_is_free():
    """A semaphore without waiters is free at once when it is released, and its value may exceed the initial value.
    """
    asyncio.create_task(ticker(1))
    await one_slot.acquire()
    trace("locked %d", one_slot.locked())
    one_slot.release()
    trace("locked %d", one_slot.locked())
    one_slot.release()
    await one_slot.acquire()
    trace("one is taken: locked %d", one_slot.locked())
    await one_slot.acquire()
    trace("two are taken: locked %d", one_slot.locked())


async def semaphore_takes_user(name):
    for visit in 1, 2:
        await one_slot.acquire()
        trace("%s's visit %d", name, visit)
        await asyncio.sleep(1)
        one_slot.release()


@scenario
async def semaphore_takes_turns():
    """Tasks that release a semaphore and immediately acquire it again take turns: no task gets it twice before
    every other task has had it once.
    """
    async with asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(semaphore_takes_user(name))
    trace("end")


async def semaphore_users_user(name, failure):
    try:
        async with one_slot:
            trace("%s is in", name)
            await asyncio.sleep(1)
            if failure:
                raise Failure(failure)
    except asyncio.CancelledError:
        trace("%s was cancelled", name)
        raise


async def use():
    async with asyncio.TaskGroup() as group:
        group.create_task(semaphore_users_user("a", None))
        group.create_task(semaphore_users_user("b", "EIO"))
        group.create_task(semaphore_users_user("c", None))


@scenario
async def semaphore_users_of_a_group_that_fails():
    """If a child of a group fails while it holds a semaphore, the group cancels the children that wait for the
    semaphore. Afterwards the semaphore can be acquired.
    """
    try:
        await use()
    except* Failure as failed:
        trace("the group: %s", name_of(failed.exceptions[0]))
    trace("locked %d", one_slot.locked())


async def late(name):
    trace("%s begins", name)


async def semaphore_waiter_first():
    await no_slots.acquire()
    asyncio.create_task(late("d"))
    trace("a is in: locked %d", no_slots.locked())


async def semaphore_waiter_second():
    for _ in range(3):
        no_slots.release()
    trace("b released three: locked %d", no_slots.locked())
    await no_slots.acquire()
    trace("b is in: locked %d", no_slots.locked())


async def third():
    await no_slots.acquire()
    trace("c is in: locked %d", no_slots.locked())


@scenario
async def semaphore_waiter_wakes_as_many_as_the_value_allows():
    """After three releases in one turn, the first waiter wakes the next two. These three waiters continue before any
    task that begins later.

    Since: 3.13
    """
    a = asyncio.create_task(semaphore_waiter_first())
    b = asyncio.create_task(semaphore_waiter_second())
    c = asyncio.create_task(third())
    await turns(1)
    trace("locked %d", no_slots.locked())
    await asyncio.gather(a, b, c)
    trace("locked %d", no_slots.locked())


@scenario
async def semaphore_waiters_behind_a_cancelled_one_go_on():
    """If a waiter is cancelled, the waiters behind it continue in order."""
    a, b, c = [asyncio.create_task(taker(name)) for name in "abc"]
    await turns(1)
    a.cancel()
    await turns(1)
    trace("a %s, locked %d", state(a), no_slots.locked())
    no_slots.release()
    no_slots.release()
    await asyncio.gather(a, b, c, return_exceptions=True)
    trace("a %s, b %s, c %s, locked %d", state(a), state(b), state(c), no_slots.locked())


async def semaphore_woken_first():
    async with one_slot:
        trace("first is in")
        await turns(1)
    trace("first is out")
    second_task.cancel()


async def semaphore_woken_second():
    async with one_slot:
        trace("never printed")


async def take_within_a_second():
    async with asyncio.timeout(1):
        await one_slot.acquire()


@scenario
async def semaphore_woken_waiter_cancelled_gives_back():
    """If a waiter is cancelled after a release has woken it, it releases the semaphore again, so that another task can
    acquire it.
    """
    global second_task
    first_task = asyncio.create_task(semaphore_woken_first())
    second_task = asyncio.create_task(semaphore_woken_second())
    trace("first: %s", await outcome(first_task))
    trace("locked %d", one_slot.locked())
    trace("second: %s", await outcome(second_task))
    trace("locked %d", one_slot.locked())
    trace("we: %s", await outcome(take_within_a_second()))
