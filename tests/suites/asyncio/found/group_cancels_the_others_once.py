from judged import *

g0 = Group()


@Task
async def t0():
    try:
        with traced_block("t0 group g0"):
            async with g0:
                trace_call("t0 child t1 g0", t1.start, g0)
                trace_call("t0 child t2 g0", t2.start, g0)
                trace_call("t0 child t3 g0", t3.start, g0)
    except Exception as error:
        trace("t0 caught %s", name_of(error))
        trace_call("t0 cancelling", asyncio.current_task().cancelling)


@Task
async def t1():
    await trace_step("t1 sleep 1", asyncio.sleep(1))
    raise Failure("EIO")


@Task
async def t2():
    try:
        await trace_step("t2 sleep 9", asyncio.sleep(9))
    except asyncio.CancelledError as error:
        trace("t2 caught %s", name_of(error))
        await trace_step("t2 sleep 1", asyncio.sleep(1))
        raise Failure("EPROTO")


@Task
async def t3():
    try:
        await trace_step("t3 sleep 9", asyncio.sleep(9))
    except asyncio.CancelledError as error:
        trace("t3 caught %s", name_of(error))
        await trace_step("t3 sleep 5", asyncio.sleep(5))
        trace_call("t3 cancelling", asyncio.current_task().cancelling)


@scenario
async def group_cancels_the_others_once():
    """If a second child of a group fails, the group does not cancel the other children again.

    Since: 3.13
    """
    await drive([t0, t1, t2, t3], [], [])
