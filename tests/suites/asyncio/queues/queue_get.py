"""Getting items from a queue: getters that wait, are woken, or are cancelled."""

from scenario import *

queue_of_1 = asyncio.Queue(1)


async def queue_get_lets_putter(item):
    trace("puts %d", item)
    await queue_of_1.put(item)
    trace("has put %d", item)


@scenario
async def queue_get_lets_waiting_putters_in():
    """If two putters use a queue of size one, two gets return their items in order.
    """
    asyncio.create_task(queue_get_lets_putter(1))
    asyncio.create_task(queue_get_lets_putter(2))
    trace("get: %d", await queue_of_1.get())
    trace("get: %d", await queue_of_1.get())
    trace("empty %d", queue_of_1.empty())


q = asyncio.Queue()


async def taker(name):
    trace("%s has %d", name, await q.get())


@scenario
async def queue_get_nowait_of_nothing_is_an_error():
    """get_nowait on an empty queue is an error, and does not change the order of the getters.
    """
    trace("get: %s", attempt(q.get_nowait))
    asyncio.create_task(taker("a"))
    await turns(1)
    trace("get: %s", attempt(q.get_nowait))
    await q.put(1)
    await q.put(2)
    trace("get: %s", attempt(q.get_nowait))
    trace("get: %s", attempt(q.get_nowait))
    trace("get: %s", attempt(q.get_nowait))
    await q.put(3)
    await turns(1)


@scenario
async def queue_get_nowait_takes_an_item():
    """get_nowait and put_nowait get and put items at once, without a turn of the loop."""
    asyncio.create_task(ticker(1))
    for item in 7, 5:
        trace("put: %s, %d in it", attempt(q.put_nowait, item), q.qsize())
    for _ in range(2):
        trace("get: %s, %d in it", attempt(q.get_nowait), q.qsize())


@scenario
async def queue_get_of_what_is_there_does_not_wait():
    """Getting an item that is already in the queue takes no turn. Getting an item that is put later takes one turn."""
    asyncio.create_task(ticker(3))
    q.put_nowait(1)
    q.put_nowait(2)
    trace("get: %d", await q.get())
    trace("get: %d", await q.get())
    asyncio.get_running_loop().call_soon(q.put_nowait, 3)
    trace("get: %d", await q.get())


queue_of_5 = asyncio.Queue(5)


async def get_within_two_seconds():
    async with asyncio.timeout(2):
        return await queue_of_5.get()


async def patient():
    item = await queue_of_5.get()
    trace("the other has %d", item)


@scenario
async def queue_get_times_out_and_leaves_the_line():
    """A getter that has timed out no longer waits in the queue. The next item goes to the getter behind it.
    """
    asyncio.create_task(patient())
    trace("get: %s", await outcome(get_within_two_seconds()))
    await queue_of_5.put(1)
    await queue_of_5.put(2)
    await turns(1)
    trace("get: %s", await outcome(get_within_two_seconds()))
    trace("get: %s", await outcome(get_within_two_seconds()))


started = asyncio.Event()


async def queue_get_waits_taker():
    started.set()
    trace("wants one")
    item = await q.get()
    trace("has %d", item)
    return item


@scenario
async def queue_get_waits_for_an_item():
    """A task that gets from an empty queue continues when a timer puts an item."""
    task = asyncio.create_task(queue_get_waits_taker())
    await started.wait()
    trace("it waits")
    asyncio.get_running_loop().call_later(3, q.put_nowait, 1)
    trace("taker: %s", await outcome(task))


async def queue_get_wakes_putter(item):
    await queue_of_1.put(item)
    trace("put %d", item)


@scenario
async def queue_get_wakes_a_putter():
    """Taking an item wakes only the putter that has waited longest."""
    for item in 1, 2, 3:
        asyncio.create_task(queue_get_wakes_putter(item))
    await turns(1)
    for _ in range(3):
        trace("get: %d", await queue_of_1.get())
        await turns(2)


@scenario
async def queue_getter_that_is_woken_in_vain_is_cancelled_in_peace():
    """If a woken getter is cancelled after another task has taken its item, it does not wake the next getter, because
    no item is left.
    """
    a = asyncio.create_task(taker("a"))
    b = asyncio.create_task(taker("b"))
    await turns(1)
    q.put_nowait(1)
    trace("we have %s", attempt(q.get_nowait))
    a.cancel()
    await turns(2)
    trace("a %s, b %s", state(a), state(b))
    q.put_nowait(2)
    await turns(1)
    trace("a %s, b %s", state(a), state(b))


@scenario
async def queue_getter_that_was_woken_may_be_overtaken():
    """If get_nowait takes the item for which a getter was woken, that getter goes to the end of the queue of
    getters.
    """
    for name in "ab":
        asyncio.create_task(taker(name))
    await turns(1)
    q.put_nowait(1)
    trace("we have %s", attempt(q.get_nowait))
    await turns(1)
    for item in 2, 3:
        q.put_nowait(item)
    await turns(1)
    trace("%d in it", q.qsize())


@scenario
async def queue_item_of_a_cancelled_getter_is_not_lost():
    """A getter that is cancelled in the turn in which it was woken leaves its item in the queue, so the next getter
    gets the first item.
    """
    first = asyncio.create_task(q.get())
    await turns(1)
    q.put_nowait(1)
    q.put_nowait(2)
    first.cancel()
    trace("first: %s, %d in it", await outcome(first), q.qsize())
    second = asyncio.create_task(q.get())
    trace("second: %s, %d in it", await outcome(second), q.qsize())


async def queue_items_taker(name):
    item = await q.get()
    trace("%s has %d", name, item)


@scenario
async def queue_items_of_cancelled_getters_go_to_the_next():
    """If three getters wait for two items, and the first is cancelled in the turn in which it was woken, the other two
    get the items.
    """
    a, b, c = [asyncio.create_task(queue_items_taker(name)) for name in "abc"]
    await turns(1)
    q.put_nowait(1)
    q.put_nowait(2)
    a.cancel()
    trace("a: %s", await outcome(a))
    await turns(2)
    trace("b %s, c %s, %d in it", state(b), state(c), q.qsize())
