"""Barriers."""

import newer
from scenario import *

barrier_of_1 = asyncio.Barrier(1)


@scenario
async def barrier_abort_while_nobody_waits():
    """If a barrier is aborted while no task waits, later waits fail at once."""
    asyncio.create_task(ticker(1))
    trace("abort: %s", await outcome(barrier_of_1.abort()))
    trace("%d wait, broken %d", barrier_of_1.n_waiting, barrier_of_1.broken)
    trace("we: %s", await outcome(barrier_of_1.wait()))
    trace("abort again: %s", await outcome(barrier_of_1.abort()))
    trace("we: %s", await outcome(barrier_of_1.wait()))


barrier_of_5 = asyncio.Barrier(5)
left = 0


async def barrier_abort_while_some_party(name):
    global left
    end = await outcome(barrier_of_5.wait())
    trace("%s: %s", name, end)
    if end == "EPIPE":
        return
    left += 1
    if left > 2:
        await barrier_of_5.abort()
        trace("%s has broken it", name)
    else:
        trace("%s again: %s", name, await outcome(barrier_of_5.wait()))


@scenario
async def barrier_abort_while_some_came_again():
    """If a barrier is aborted while some tasks are leaving a round, and others are waiting for the next round, the
    waits of all these tasks fail.
    """
    await asyncio.gather(*[barrier_abort_while_some_party(name) for name in "abcde"])
    trace("%d wait, broken %d", barrier_of_5.n_waiting, barrier_of_5.broken)


barrier_of_4 = asyncio.Barrier(4)


async def barrier_aborted_by_a_failing_party(name):
    try:
        async with barrier_of_4 as index:
            trace("%s: index %d", name, index)
            if index == 2:
                raise Failure("EIO")
        trace("%s again: %s", name, await outcome(barrier_of_4.wait()))
    except Failure:
        trace("%s fails", name)
        await barrier_of_4.abort()


@scenario
async def barrier_aborted_by_a_failing_task():
    """A task that fails between two rounds aborts the barrier, so the others do not wait forever.
    """
    await asyncio.gather(*[barrier_aborted_by_a_failing_party(name) for name in "abcd"])
    trace("%d wait, broken %d", barrier_of_4.n_waiting, barrier_of_4.broken)


barrier_aborted_then_elsewhere = asyncio.Barrier(4)


async def break_or_find_it_broken(name):
    index = await barrier_of_4.wait()
    if index == 2:
        trace("%s breaks it: %s", name, await outcome(barrier_of_4.abort()))
    else:
        trace("%s: %s", name, await outcome(barrier_of_4.wait()))


async def barrier_aborted_then_party(name):
    await break_or_find_it_broken(name)
    if await barrier_aborted_then_elsewhere.wait() == 2:
        trace("%s resets it: %s", name, await outcome(barrier_of_4.reset()))
    await barrier_aborted_then_elsewhere.wait()
    trace("%s at the end: %s", name, await outcome(barrier_of_4.wait()))


@scenario
async def barrier_aborted_then_reset():
    """A reset repairs a broken barrier. The tasks first meet at a second barrier, so that no task waits at the
    broken barrier during the reset.
    """
    await asyncio.gather(*[barrier_aborted_then_party(name) for name in "abcd"])
    trace("%d wait, broken %d", barrier_of_4.n_waiting, barrier_of_4.broken)


# asyncio.Barrier returns wrong indexes after a cancellation: gh-155233
barrier_of_3 = newer.Barrier(3)


async def barrier_cancelled_party(name):
    index = await barrier_of_3.wait()
    trace("%s passes: index %d", name, index)


@scenario
async def barrier_cancelled_waiter_leaves_its_place():
    """A task that is cancelled while it waits at a barrier no longer counts, so the barrier opens only when another
    task arrives. Each index is returned exactly once.
    """
    a = asyncio.create_task(barrier_cancelled_party("a"))
    b = asyncio.create_task(barrier_cancelled_party("b"))
    await turns(1)
    trace("%d wait", barrier_of_3.n_waiting)
    a.cancel()
    await turns(1)
    trace("a %s, %d wait", state(a), barrier_of_3.n_waiting)
    asyncio.create_task(barrier_cancelled_party("c"))
    await turns(1)
    trace("%d wait", barrier_of_3.n_waiting)
    d = asyncio.create_task(barrier_cancelled_party("d"))
    await asyncio.gather(b, d)
    trace("%d wait, broken %d", barrier_of_3.n_waiting, barrier_of_3.broken)


async def barrier_counts_party():
    index = await barrier_of_3.wait()
    trace("index %d leaves: %d wait", index, barrier_of_3.n_waiting)
    return index


@scenario
async def barrier_counts_who_waits():
    """A barrier counts the waiting tasks. When the barrier opens, the count becomes 0, although not all tasks have
    left.
    """
    tasks = []
    for _ in range(3):
        tasks.append(asyncio.create_task(barrier_counts_party()))
        await turns(1)
        trace("%d of %d wait", barrier_of_3.n_waiting, barrier_of_3.parties)
    await asyncio.wait(tasks)
    trace("%s %s %s", *map(state, tasks))


async def barrier_drains_party(name):
    index = await barrier_of_4.wait()
    trace("%s leaves: %d wait", name, barrier_of_4.n_waiting)
    if name == "a":
        asyncio.create_task(newcomer())
    return index


async def newcomer():
    trace("the newcomer comes: %d wait", barrier_of_4.n_waiting)
    await barrier_of_4.wait()


@scenario
async def barrier_drains_before_it_fills():
    """A task that arrives while the tasks of a round are leaving does not count until the last of them has left.
    """
    for name in "abcd":
        asyncio.create_task(barrier_drains_party(name))
    for turn in range(1, 5):
        await turns(1)
        trace("turn %d: %d wait", turn, barrier_of_4.n_waiting)


async def barrier_gives_each_party(name):
    trace("%s comes: %d wait", name, barrier_of_3.n_waiting)
    async with barrier_of_3 as index:
        trace("%s passes with index %d", name, index)


@scenario
async def barrier_gives_each_its_index():
    """A task gets its position in the order of arrival as its index. The last task to arrive continues first, because
    it does not wait.
    """
    async with asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(barrier_gives_each_party(name))
    trace("%d wait, broken %d", barrier_of_3.n_waiting, barrier_of_3.broken)


async def barrier_gives_indexes_party(name):
    first = await barrier_of_4.wait()
    second = await barrier_of_4.wait()
    trace("%s: %d then %d", name, first, second)


@scenario
async def barrier_gives_indexes_in_each_round():
    """The indexes of each round follow the order in which the tasks arrive in that round."""
    await asyncio.gather(*[barrier_gives_indexes_party(name) for name in "abcd"])
    trace("%d wait, broken %d", barrier_of_4.n_waiting, barrier_of_4.broken)


barrier_newcomers_elsewhere = asyncio.Barrier(3)
returning = 2


async def barrier_newcomers_party(name):
    global returning
    trace("%s passes: index %d", name, await barrier_of_5.wait())
    if returning > 0:
        returning -= 1
        trace("%s returns at once", name)
    else:
        trace("%s was elsewhere: index %d", name, await barrier_newcomers_elsewhere.wait())
    trace("%s passes again: index %d", name, await barrier_of_5.wait())


@scenario
async def barrier_newcomers_wait_while_it_drains():
    """Tasks that return to a barrier early wait until all tasks of the round have left, and then belong to the next
    round. Here, two of five tasks return early.
    """
    async with asyncio.TaskGroup() as group:
        for name in "abcde":
            group.create_task(barrier_newcomers_party(name))
    trace("%d wait", barrier_of_5.n_waiting)


@scenario
async def barrier_of_one_does_not_wait():
    """A barrier for one task is passed without a turn of the loop."""
    asyncio.create_task(ticker(1))
    async with barrier_of_1 as index:
        trace("index %d, %d wait", index, barrier_of_1.n_waiting)
    trace("broken %d", barrier_of_1.broken)


@scenario
async def barrier_of_one_passes_again():
    """A barrier can be passed again as soon as all tasks of the previous round have left. A barrier for one task
    returns index 0 each time.
    """
    for name in "ab":
        task = asyncio.create_task(barrier_of_1.wait())
        await turns(1)
        trace("%s: %s, %d wait", name, state(task), barrier_of_1.n_waiting)
    trace("we: %s", await outcome(barrier_of_1.wait()))
    trace("we again: %s", await outcome(barrier_of_1.wait()))


async def barrier_passed_party(name):
    async with barrier_of_3:
        trace("%s: first", name)
        async with barrier_of_3:
            trace("%s: second", name)


@scenario
async def barrier_passed_twice_by_the_same_tasks():
    """Tasks pass a barrier a second time only when all of them have arrived again.
    """
    async with asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(barrier_passed_party(name))
    trace("%d wait, broken %d", barrier_of_3.n_waiting, barrier_of_3.broken)


async def barrier_reset_breaks_party(name):
    trace("%s: %s", name, await outcome(barrier_of_4.wait()))


async def resetter():
    trace("resets while %d wait", barrier_of_4.n_waiting)
    await barrier_of_4.reset()
    trace("has reset: %d wait, broken %d", barrier_of_4.n_waiting, barrier_of_4.broken)


@scenario
async def barrier_reset_breaks_who_waits():
    """A reset ends the waits of all waiting tasks, but does not break the barrier.
    """
    tasks = [asyncio.create_task(barrier_reset_breaks_party(name)) for name in "abc"]
    await turns(1)
    asyncio.create_task(resetter())
    await asyncio.gather(*tasks)
    trace("%d wait, broken %d", barrier_of_4.n_waiting, barrier_of_4.broken)


async def barrier_reset_by_the_last_party(name):
    global left
    trace("%s: %s", name, await outcome(barrier_of_4.wait()))
    left += 1
    if left == 4:
        await barrier_of_4.reset()
        trace("%s has reset: %d wait", name, barrier_of_4.n_waiting)
    trace("%s: second %s", name, await outcome(barrier_of_4.wait()))
    trace("%s: third %s", name, await outcome(barrier_of_4.wait()))


@scenario
async def barrier_reset_by_the_last_to_leave():
    """A reset by the last task that leaves a round does not end the waits of tasks that have returned, because they
    belong to the next round.
    """
    await asyncio.gather(*[barrier_reset_by_the_last_party(name) for name in "abcd"])
    trace("%d wait, broken %d", barrier_of_4.n_waiting, barrier_of_4.broken)


async def barrier_reset_then_party(name):
    trace("%s: %s", name, await outcome(barrier_of_4.wait()))
    trace("%s again: %s", name, await outcome(barrier_of_4.wait()))


async def last():
    trace("the last: %s", await outcome(barrier_of_4.wait()))


@scenario
async def barrier_reset_then_filled_again():
    """Tasks may wait again after a reset has ended their waits. These tasks pass the barrier when another task joins
    them."""
    for name in "abc":
        asyncio.create_task(barrier_reset_then_party(name))
    asyncio.create_task(barrier_of_4.reset())
    await turns(1)
    trace("%d wait", barrier_of_4.n_waiting)
    asyncio.create_task(last())
    await turns(3)
    trace("%d wait, broken %d", barrier_of_4.n_waiting, barrier_of_4.broken)


async def barrier_reset_while_half_party(name):
    global left
    end = await outcome(barrier_of_5.wait())
    trace("%s: %s, %d wait", name, end, barrier_of_5.n_waiting)
    left += end != "EPIPE"
    if left == 3 and end != "EPIPE":
        await barrier_of_5.reset()
        trace("%s has reset: %d wait", name, barrier_of_5.n_waiting)


@scenario
async def barrier_reset_while_half_have_left():
    """If the third of five tasks resets the barrier while it leaves, the waits of the last two tasks fail."""
    await asyncio.gather(*[barrier_reset_while_half_party(name) for name in "abcde"])
    trace("%d wait, broken %d", barrier_of_5.n_waiting, barrier_of_5.broken)


barrier_of_2 = asyncio.Barrier(2)


@scenario
async def barrier_reset_while_nobody_waits():
    """Resetting a barrier without waiting tasks has no effect, and takes no turn."""
    asyncio.create_task(ticker(2))
    trace("reset: %s", await outcome(barrier_of_2.reset()))
    trace("%d wait, broken %d", barrier_of_2.n_waiting, barrier_of_2.broken)
    task = asyncio.create_task(barrier_of_2.wait())
    await turns(1)
    trace("we: %s", await outcome(barrier_of_2.wait()))
    trace("the other: %s", await outcome(task))


async def again(name):
    trace("%s again: %s", name, await outcome(barrier_of_5.wait()))


async def barrier_reset_while_some_party(name):
    global left
    end = await outcome(barrier_of_5.wait())
    trace("%s: %s", name, end)
    if end != "EPIPE":
        left += 1
        if left > 2:
            await barrier_of_5.reset()
            trace("%s has reset", name)
    await again(name)


@scenario
async def barrier_reset_while_some_came_again():
    """A reset ends the waits of tasks that have not left their round. Tasks that wait for the next round continue to
    wait, and all tasks meet in that round.
    """
    await asyncio.gather(*[barrier_reset_while_some_party(name) for name in "abcde"])
    trace("%d wait, broken %d", barrier_of_5.n_waiting, barrier_of_5.broken)


async def impatient():
    async with asyncio.timeout(2):
        return await barrier_of_2.wait()


@scenario
async def barrier_wait_times_out_and_breaks_nobody():
    """If a wait at a barrier times out, the task leaves the barrier without breaking it.
    """
    trace("alone: %s", await outcome(impatient()))
    trace("%d wait, broken %d", barrier_of_2.n_waiting, barrier_of_2.broken)
    task = asyncio.create_task(impatient())
    await asyncio.sleep(1)
    trace("we: %s", await outcome(barrier_of_2.wait()))
    trace("the other: %s", await outcome(task))


async def barrier_waiter_party(name):
    trace("%s passes: index %d", name, await barrier_of_3.wait())


@scenario
async def barrier_waiter_cancelled_as_it_opens():
    """If a task is cancelled in the turn in which the barrier opens, its wait returns the cancellation. The other tasks
    pass, and the barrier can be used for the next round.
    """
    a = asyncio.create_task(barrier_waiter_party("a"))
    b = asyncio.create_task(barrier_waiter_party("b"))
    await turns(1)
    trace("we pass: index %d", await barrier_of_3.wait())
    a.cancel()
    await turns(1)
    trace("a %s, b %s, %d wait", state(a), state(b), barrier_of_3.n_waiting)
    asyncio.create_task(barrier_waiter_party("c"))
    asyncio.create_task(barrier_waiter_party("d"))
    asyncio.create_task(barrier_waiter_party("e"))
    await turns(2)
    trace("%d wait, broken %d", barrier_of_3.n_waiting, barrier_of_3.broken)
