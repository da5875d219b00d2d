"""Putting items into a queue: putters that wait, are woken, or are cancelled."""

from scenario import *

q = asyncio.Queue()


async def queue_put_by_a_task_putter():
    await q.put(1)
    trace("put")
    return 7


@scenario
async def queue_put_by_a_task_ends_it_at_once():
    """Putting an item into a queue that is not full takes no turn: the putting task ends before the waiting getter has
    the item.
    """
    task = asyncio.create_task(queue_put_by_a_task_putter())
    trace("get: %d", await q.get())
    trace("putter: %s", state(task))


queue_of_1 = asyncio.Queue(1)


@scenario
async def queue_put_cancelled_leaves_the_line():
    """A putter that is cancelled while the queue is full no longer waits. The next free slot goes to another putter.
    """
    queue_of_1.put_nowait(1)
    a = asyncio.create_task(queue_of_1.put(2))
    b = asyncio.create_task(queue_of_1.put(3))
    await turns(1)
    trace("a %s, b %s", state(a), state(b))
    a.cancel()
    trace("a: %s", await outcome(a))
    trace("get: %s", attempt(queue_of_1.get_nowait))
    await turns(1)
    trace("a %s, b %s", state(a), state(b))
    trace("get: %s", attempt(queue_of_1.get_nowait))


async def queue_put_nowait_wakes_taker():
    trace("has %d", await q.get())


@scenario
async def queue_put_nowait_wakes_a_getter():
    """put_nowait returns at once, and wakes a waiting getter, which gets the item in the next turn.
    """
    asyncio.create_task(queue_put_nowait_wakes_taker())
    await turns(1)
    q.put_nowait(1)
    trace("put: %d in it", q.qsize())
    q.put_nowait(2)
    await turns(1)
    trace("%d in it", q.qsize())
    trace("get: %s", attempt(q.get_nowait))


@scenario
async def queue_put_nowait_when_full_is_an_error():
    """put_nowait on a full queue is an error and puts nothing."""
    asyncio.create_task(ticker(1))
    trace("put: %s", attempt(queue_of_1.put_nowait, 1))
    trace("put: %s, %d in it", attempt(queue_of_1.put_nowait, 2), queue_of_1.qsize())
    trace("get: %s", attempt(queue_of_1.get_nowait))
    trace("put: %s", attempt(queue_of_1.put_nowait, 3))
    trace("get: %s", attempt(queue_of_1.get_nowait))


@scenario
async def queue_put_passes_over_a_cancelled_getter():
    """An item that is put after the first getter was cancelled goes to the second getter."""
    a = asyncio.create_task(q.get())
    b = asyncio.create_task(q.get())
    await turns(1)
    a.cancel()
    await turns(1)
    trace("a %s, b %s", state(a), state(b))
    await q.put(5)
    await turns(1)
    trace("a %s, b %s", state(a), state(b))


queue_of_2 = asyncio.Queue(2)


async def put_three():
    for item in 1, 2, 3:
        await queue_of_2.put(item)
        trace("put %d", item)


@scenario
async def queue_put_waits_for_room():
    """A task that puts three items into a queue of size two waits before the third item, and continues in the turn
    after an item was taken.
    """
    task = asyncio.create_task(put_three())
    await turns(2)
    trace("%d in it", queue_of_2.qsize())
    trace("get: %d", await queue_of_2.get())
    trace("%d in it", queue_of_2.qsize())
    await turns(1)
    trace("%d in it, the task: %s", queue_of_2.qsize(), state(task))
    trace("get: %d", await queue_of_2.get())
    trace("get: %d", await queue_of_2.get())


started = asyncio.Event()


async def giver():
    started.set()
    for item in 1, 2:
        await queue_of_1.put(item)
        trace("put %d", item)


def take():
    trace("took %s", attempt(queue_of_1.get_nowait))


@scenario
async def queue_put_waits_until_a_timer_takes_one():
    """A task that puts into a full queue continues when a timer takes an item out."""
    asyncio.get_running_loop().call_later(4, take)
    task = asyncio.create_task(giver())
    await started.wait()
    trace("giver: %s", state(task))
    trace("giver: %s", await outcome(task))
    trace("%d in it", queue_of_1.qsize())


async def queue_put_wakes_taker(name):
    trace("%s has %d", name, await q.get())


@scenario
async def queue_put_wakes_a_getter():
    """Putting an item wakes the getter that has waited longest. The put itself takes no turn."""
    asyncio.create_task(queue_put_wakes_taker("a"))
    asyncio.create_task(queue_put_wakes_taker("b"))
    await turns(1)
    await q.put(5)
    trace("put")
    await turns(1)
    await q.put(6)
    trace("put")
    await turns(1)
    trace("%d in it", q.qsize())


@scenario
async def queue_put_without_limit_does_not_wait():
    """Putting into a queue without a limit takes no turn, however many items are in it."""
    asyncio.create_task(ticker(1))
    for item in range(1, 101):
        await q.put(item)
    trace("%d in it", q.qsize())
    trace("get: %d", await q.get())


@scenario
async def queue_putter_cancelled_in_line_lets_the_others_in():
    """If three tasks put items into a queue of size one, and the third task is cancelled, the second item is put when
    the first is taken, and the third item is never put.
    """
    a, b, c = [asyncio.create_task(queue_of_1.put(item)) for item in (1, 2, 3)]
    await turns(1)
    trace("a %s, b %s, c %s", state(a), state(b), state(c))
    c.cancel()
    await turns(1)
    trace("a %s, b %s, c %s", state(a), state(b), state(c))
    trace("get: %s", attempt(queue_of_1.get_nowait))
    await turns(1)
    trace("get: %s", attempt(queue_of_1.get_nowait))
    await turns(1)
    trace("get: %s", attempt(queue_of_1.get_nowait))
    trace("b: %s", state(b))


@scenario
async def queue_putter_cancelled_when_there_is_room_puts_nothing():
    """A putter that is cancelled in the turn in which it was woken does not put its item. A later put succeeds.
    """
    queue_of_1.put_nowait(1)
    first = asyncio.create_task(queue_of_1.put(2))
    await turns(1)
    trace("get: %s", attempt(queue_of_1.get_nowait))
    first.cancel()
    trace("first: %s, %d in it", await outcome(first), queue_of_1.qsize())
    second = asyncio.create_task(queue_of_1.put(3))
    trace("second: %s, %d in it", await outcome(second), queue_of_1.qsize())
    trace("get: %s, %d in it", attempt(queue_of_1.get_nowait), queue_of_1.qsize())


async def queue_putter_that_was_woken_putter(item):
    await queue_of_1.put(item)
    trace("put %d", item)


@scenario
async def queue_putter_that_was_woken_may_be_overtaken():
    """If put_nowait takes the slot for which a putter was woken, that putter goes to the end of the queue of
    putters.
    """
    queue_of_1.put_nowait(1)
    for item in 2, 3:
        asyncio.create_task(queue_putter_that_was_woken_putter(item))
    await turns(1)
    trace("get: %s", attempt(queue_of_1.get_nowait))
    trace("put: %s", attempt(queue_of_1.put_nowait, 4))
    await turns(1)
    for _ in range(3):
        trace("get: %s", attempt(queue_of_1.get_nowait))
        await turns(1)


@scenario
async def queue_woken_putter_cancelled_wakes_the_next():
    """A putter that is cancelled after it was woken leaves the free slot to the next putter.
    """
    queue_of_1.put_nowait(1)
    a = asyncio.create_task(queue_of_1.put(2))
    b = asyncio.create_task(queue_of_1.put(3))
    await turns(1)
    trace("get: %s", attempt(queue_of_1.get_nowait))
    a.cancel()
    trace("a: %s", await outcome(a))
    await turns(1)
    trace("b %s, %d in it", state(b), queue_of_1.qsize())
    trace("get: %s", attempt(queue_of_1.get_nowait))
