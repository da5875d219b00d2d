from judged import *

g0 = Group()


@Task
async def t0():
    try:
        with traced_block("t0 group g0"):
            async with g0:
                trace_call("t0 eager_child t1 g0", t1.start_eagerly, g0)
                await trace_step("t0 await t1", t1.task)
    except Exception as error:
        trace("t0 caught %s", name_of(error))
        trace_call("t0 cancelling", asyncio.current_task().cancelling)
    trace_call("t0 cancelling", asyncio.current_task().cancelling)


@Task
async def t1():
    trace_call("t1 gcancel g0", g0.cancel)
    trace_call("t1 cancelling", asyncio.current_task().cancelling)
    await trace_step("t1 sleep 1", asyncio.sleep(1))


@scenario
async def group_cancelled_by_a_child_that_begins_eagerly_reaches_it_when_it_waits():
    """A child cancels its group while it runs eagerly. The group also cancels this child, as soon as the child has
    become a member of the group.

    Since: 3.12
    """
    await drive([t0, t1], [], [])
