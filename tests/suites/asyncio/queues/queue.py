"""Queues: order of items, size, join and shutdown."""

from scenario import *

lifo = asyncio.LifoQueue(3)


async def lifo_queue_taker(name):
    trace("%s has %d", name, await lifo.get())


@scenario
async def lifo_queue_gives_the_newest_first():
    """A LIFO queue returns its newest item, but serves its getters in FIFO order.
    """
    for item in 1, 3, 2:
        await lifo.put(item)
    trace("full %d", lifo.full())
    trace("get: %d", await lifo.get())
    await lifo.put(4)
    for _ in range(3):
        trace("get: %d", await lifo.get())
    asyncio.create_task(lifo_queue_taker("a"))
    asyncio.create_task(lifo_queue_taker("b"))
    await turns(1)
    await lifo.put(5)
    await lifo.put(6)
    await turns(1)
    trace("%d in it", lifo.qsize())


priority = asyncio.PriorityQueue(5)


async def priority_queue_taker(name):
    trace("%s has %d", name, await priority.get())


@scenario
async def priority_queue_gives_the_least_first():
    """A priority queue returns its smallest item, whenever that item was put, but serves its getters in FIFO order.
    """
    for item in 4, 1, 5, 3, 2:
        await priority.put(item)
    trace("full %d", priority.full())
    for _ in range(2):
        trace("get: %d", await priority.get())
    await priority.put(1)
    await priority.put(9)
    for _ in range(5):
        trace("get: %d", await priority.get())
    asyncio.create_task(priority_queue_taker("a"))
    asyncio.create_task(priority_queue_taker("b"))
    await turns(1)
    await priority.put(6)
    await priority.put(5)
    await turns(1)
    trace("%d in it", priority.qsize())


first = asyncio.Queue(1)
second = asyncio.Queue(1)


async def produce():
    for item in 1, 2, 3, 4:
        await first.put(item)
        trace("produced %d", item)
    first.shutdown()


async def double_all():
    try:
        while True:
            await second.put(2 * await first.get())
    except asyncio.QueueShutDown:
        second.shutdown()
        trace("doubled all")


@scenario
async def queue_between_three_stages():
    """In a pipeline of three tasks with bounded queues between them, a slow third task slows down the first.

    Since: 3.13
    """
    asyncio.create_task(produce())
    asyncio.create_task(double_all())
    try:
        while True:
            trace("got %d", await second.get())
            await asyncio.sleep(1)
    except asyncio.QueueShutDown:
        trace("end")


queue_of_2 = asyncio.Queue(2)


async def queue_emptied_putter(item):
    await queue_of_2.put(item)
    trace("put %d", item)


async def queue_emptied_taker():
    await turns(1)
    count = queue_of_2.qsize()
    trace("takes %d", count)
    for _ in range(count):
        queue_of_2.get_nowait()


@scenario
async def queue_emptied_at_once_lets_all_putters_in():
    """Each item that is taken from a full queue lets one waiting putter continue, even if all items are taken in one
    turn.
    """
    async with asyncio.TaskGroup() as group:
        group.create_task(queue_emptied_taker())
        for item in 1, 2, 3, 4:
            group.create_task(queue_emptied_putter(item))
    trace("%d in it", queue_of_2.qsize())


queue_gives_q = asyncio.Queue()


@scenario
async def queue_gives_items_in_order():
    """Items come out in the order in which they went in, even if the queue is filled and emptied
    alternately.
    """
    for item in 1, 3, 2:
        await queue_gives_q.put(item)
    trace("get: %d", await queue_gives_q.get())
    for item in 9, 4:
        await queue_gives_q.put(item)
    for _ in range(4):
        trace("get: %d", await queue_gives_q.get())


def look():
    trace("empty %d, %d in it", queue_gives_q.empty(), queue_gives_q.qsize())


@scenario
async def queue_is_empty_again_when_all_is_taken():
    """A queue is empty before the first item and after the last."""
    look()
    await queue_gives_q.put(1)
    await queue_gives_q.put(2)
    look()
    trace("get: %d", await queue_gives_q.get())
    look()
    trace("get: %d", await queue_gives_q.get())
    look()


async def fill(q):
    trace("maxsize %d", q.maxsize)
    for item in 1, 2, 3:
        trace("put: %s; full %d", attempt(q.put_nowait, item), q.full())
    trace("get: %d; full %d", await q.get(), q.full())


@scenario
async def queue_is_full_at_its_maxsize():
    """A queue without a limit is never full. A queue with a limit is full when it holds as many items as the limit.
    """
    await fill(asyncio.Queue())
    await fill(asyncio.Queue(2))


@scenario
async def queue_join_cancelled_waits_no_more():
    """If a task is cancelled while it waits in join(), its join() returns the cancellation. Other tasks continue to
    wait until the work is done.
    """
    queue_gives_q.put_nowait(1)
    a = asyncio.create_task(queue_gives_q.join())
    b = asyncio.create_task(queue_gives_q.join())
    await turns(1)
    a.cancel()
    await turns(1)
    trace("a %s, b %s", state(a), state(b))
    trace("get: %d", await queue_gives_q.get())
    await turns(1)
    trace("b %s", state(b))
    queue_gives_q.task_done()
    await turns(1)
    trace("b %s", state(b))


async def queue_join_of_nothing_check(q):
    asyncio.create_task(ticker(2))
    await q.join()
    trace("joined")
    await q.join()
    trace("joined again")
    q.put_nowait(1)
    task = asyncio.create_task(q.join())
    await turns(1)
    trace("with an item: %s", state(task))
    q.task_done()
    await turns(1)
    trace("it is done: %s", state(task))


@scenario
async def queue_join_of_nothing_does_not_wait():
    """join() on a queue that never had an item takes no turn, however often it is called. If the queue has an item,
    join() waits.
    """
    for kind in asyncio.Queue, asyncio.LifoQueue, asyncio.PriorityQueue:
        trace(kind.__name__)
        await queue_join_of_nothing_check(kind())


running = True


async def worker(name, q):
    while running:
        item = await q.get()
        trace("%s begins %d", name, item)
        await asyncio.sleep(item)
        q.task_done()


async def queue_join_waits_check(q):
    global running
    running = True
    for item in 2, 1, 3, 1:
        q.put_nowait(item)
    async with asyncio.TaskGroup() as group:
        group.create_task(worker("a", q))
        group.create_task(worker("b", q))
        await q.join()
        trace("all is done")
        running = False
        q.put_nowait(1)
        q.put_nowait(1)


@scenario
async def queue_join_waits_until_all_work_is_done():
    """join() on a queue of any kind waits until its two workers have finished all items, not only taken them.
    """
    for kind in asyncio.Queue, asyncio.LifoQueue, asyncio.PriorityQueue:
        trace(kind.__name__)
        await queue_join_waits_check(kind())


queue_of_1 = asyncio.Queue(1)


async def producer():
    for item in range(1, 6):
        await queue_of_1.put(item)
        trace("put %d", item)


async def consumer():
    for _ in range(5):
        trace("got %d", await queue_of_1.get())


@scenario
async def queue_of_one_alternates():
    """If a producer and a consumer share a queue for one item, neither task waits unnecessarily.
    """
    async with asyncio.TaskGroup() as group:
        group.create_task(producer())
        group.create_task(consumer())
    trace("end")


def task_done(q):
    try:
        q.task_done()
    except ValueError:
        return "EINVAL"
    return "0"


async def queue_shut_down_at_once_awaits_check(q):
    q.put_nowait(1)
    q.put_nowait(2)
    joiner = asyncio.create_task(q.join())
    trace("get: %d", await q.get())
    q.shutdown(immediate=True)
    await turns(1)
    trace("%d in it, joiner %s", q.qsize(), state(joiner))
    trace("get: %s", await outcome(q.get()))
    trace("task_done: %s", task_done(q))
    trace("task_done: %s", task_done(q))
    await turns(1)
    trace("joiner %s", state(joiner))


@scenario
async def queue_shut_down_at_once_awaits_what_was_taken():
    """After an immediate shutdown, join() still waits for an item that was taken before and is not done yet.

    Since: 3.13
    """
    for kind in asyncio.Queue, asyncio.LifoQueue, asyncio.PriorityQueue:
        trace(kind.__name__)
        await queue_shut_down_at_once_awaits_check(kind())


async def queue_shut_down_at_once_is_empty_check(q):
    q.put_nowait(1)
    q.put_nowait(2)
    joiner = asyncio.create_task(q.join())
    await turns(1)
    q.shutdown(immediate=True)
    trace("%d in it, joiner %s", q.qsize(), state(joiner))
    await turns(1)
    trace("joiner %s", state(joiner))
    trace("put: %s", await outcome(q.put(3)))
    trace("get: %s", await outcome(q.get()))
    trace("task_done: %s", task_done(q))


@scenario
async def queue_shut_down_at_once_is_empty():
    """An immediate shutdown of a queue of any kind empties it, and its items count as done.

    Since: 3.13
    """
    for kind in asyncio.Queue, asyncio.LifoQueue, asyncio.PriorityQueue:
        trace(kind.__name__)
        await queue_shut_down_at_once_is_empty_check(kind())


async def queue_shut_down_wakes_taker(name):
    trace("%s: %s", name, await outcome(queue_gives_q.get()))


@scenario
async def queue_shut_down_wakes_everybody_in_line():
    """A shutdown ends the waits of all getters in one turn, in order. A getter that was woken for an item before the
    shutdown still gets the item.

    Since: 3.13
    """
    for name in "abc":
        asyncio.create_task(queue_shut_down_wakes_taker(name))
    await turns(1)
    queue_gives_q.put_nowait(5)
    queue_gives_q.shutdown()
    trace("shut down: %d in it", queue_gives_q.qsize())
    await turns(1)
    trace("%d in it", queue_gives_q.qsize())


async def queue_shut_down_while_empty_check(q):
    task = asyncio.create_task(q.get())
    await turns(1)
    q.shutdown()
    trace("%d in it, the getter: %s", q.qsize(), state(task))
    trace("join: %s", await outcome(q.join()))
    await turns(1)
    trace("the getter: %s", state(task))
    trace("put: %s", await outcome(q.put(1)))
    trace("put_nowait: %s", attempt(q.put_nowait, 1))
    trace("get: %s", await outcome(q.get()))
    trace("get_nowait: %s", attempt(q.get_nowait))


@scenario
async def queue_shut_down_while_empty():
    """A shutdown of an empty queue of any kind ends a getter's wait in the next turn. Later calls of get() fail, and
    join() returns without waiting.

    Since: 3.13
    """
    for kind in asyncio.Queue, asyncio.LifoQueue, asyncio.PriorityQueue:
        trace(kind.__name__)
        await queue_shut_down_while_empty_check(kind())


async def queue_shut_down_while_full_is_emptied_check(q):
    for item in 5, 7:
        q.put_nowait(item)
    joiner = asyncio.create_task(q.join())
    putter = asyncio.create_task(q.put(6))
    await turns(1)
    trace("putter %s", state(putter))
    q.shutdown()
    await turns(1)
    trace("putter %s, joiner %s, %d in it", state(putter), state(joiner), q.qsize())
    trace("put: %s", await outcome(q.put(8)))
    for _ in range(3):
        trace("get: %s", await outcome(q.get()))
    trace("get_nowait: %s", attempt(q.get_nowait))
    for _ in range(2):
        q.task_done()
        await turns(1)
        trace("joiner %s", state(joiner))


@scenario
async def queue_shut_down_while_full_is_emptied_first():
    """A shutdown of a full queue of any kind ends a putter's wait. The items can still be taken, and join() waits for
    them.

    Since: 3.13
    """
    for kind in asyncio.Queue, asyncio.LifoQueue, asyncio.PriorityQueue:
        trace(kind.__name__)
        await queue_shut_down_while_full_is_emptied_check(kind(2))


async def queue_shut_down_while_full_never_putter(item):
    trace("%d: %s", item, await outcome(queue_of_1.put(item)))


@scenario
async def queue_shut_down_while_full_never_lets_putters_in():
    """Putters that are waiting when the queue is shut down fail without putting their items, even if the queue is not
    full when they continue.

    Since: 3.13
    """
    for item in 1, 2, 3:
        asyncio.create_task(queue_shut_down_while_full_never_putter(item))
    await turns(1)
    queue_of_1.shutdown()
    trace("get: %s", attempt(queue_of_1.get_nowait))
    await turns(1)
    trace("%d in it", queue_of_1.qsize())


async def queue_task_check(q):
    trace("nothing was put: %s", task_done(q))
    await q.put(1)
    trace("one was put: %s", task_done(q))
    trace("again: %s", task_done(q))
    trace("get: %d", await q.get())
    trace("got: %s", task_done(q))


@scenario
async def queue_task_done_too_often_is_an_error():
    """Calling task_done more often than items were put is an error, for each kind of queue.
    """
    for kind in asyncio.Queue, asyncio.LifoQueue, asyncio.PriorityQueue:
        trace(kind.__name__)
        await queue_task_check(kind())
