"""Events."""

from scenario import *

event = asyncio.Event()


async def event_cleared_waiter():
    await event.wait()
    trace("goes on")


@scenario
async def event_cleared_is_not_set():
    """After an event is cleared, tasks wait until it is set again."""
    trace("new: %d", event.is_set())
    event.set()
    trace("set: %d", event.is_set())
    event.clear()
    trace("cleared: %d", event.is_set())
    asyncio.create_task(event_cleared_waiter())
    await asyncio.sleep(1)
    trace("it waits")
    event.set()
    await turns(1)
    trace("set: %d", event.is_set())


async def event_set_and_cleared_waiter():
    await event.wait()
    trace("goes on: set %d", event.is_set())


@scenario
async def event_set_and_cleared_still_wakes():
    """Setting an event wakes its waiters, even if it is cleared before they continue."""
    task = asyncio.create_task(event_set_and_cleared_waiter())
    await turns(1)
    trace("it waits")
    event.set()
    event.clear()
    trace("set %d", event.is_set())
    event.set()
    event.set()
    event.clear()
    await turns(1)
    trace("waiter: %s", state(task))


async def event_set_wakes_waiter(name):
    trace("%s: set %d", name, event.is_set())
    await event.wait()
    trace("%s goes on", name)


@scenario
async def event_set_wakes_waiters_in_order():
    """When an event is set, its waiters continue in the next turn, in the order in which they began to wait. Later
    waits return at once.
    """
    asyncio.create_task(event_set_wakes_waiter("a"))
    asyncio.create_task(event_set_wakes_waiter("b"))
    await turns(1)
    asyncio.create_task(event_set_wakes_waiter("c"))
    event.set()
    trace("set")
    await turns(1)
    trace("end")


@scenario
async def event_that_is_set_does_not_wait():
    """Waiting for an event that is set takes no turn."""
    asyncio.create_task(ticker(2))
    event.set()
    for _ in range(3):
        await event.wait()
        trace("waited")
    await turns(1)
    await event.wait()
    trace("waited")


async def waiter(name):
    await event.wait()
    trace("%s goes on", name)


@scenario
async def event_wait_cancelled_leaves_the_line():
    """If a task is cancelled while it waits for an event, its wait returns the cancellation. Setting the event later
    wakes only the other waiters.
    """
    a = asyncio.create_task(waiter("a"))
    b = asyncio.create_task(waiter("b"))
    asyncio.get_running_loop().call_soon(a.cancel)
    trace("a: %s", await outcome(a))
    trace("set %d; b %s", event.is_set(), state(b))
    event.set()
    trace("b: %s", await outcome(b))


@scenario
async def event_waiter_cancelled_in_the_turn_it_is_set():
    """If a waiter is cancelled just after the event was set, its wait returns the cancellation, and the other waiters
    continue.
    """
    a = asyncio.create_task(waiter("a"))
    b = asyncio.create_task(waiter("b"))
    await turns(1)
    event.set()
    trace("cancel: %d", a.cancel())
    await turns(1)
    trace("a %s, b %s, set %d", state(a), state(b), event.is_set())
