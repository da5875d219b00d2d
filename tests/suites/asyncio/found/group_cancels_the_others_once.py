from judged import *

g0 = Group()


@Task
async def t0():
    try:
        with telling("t0 group g0"):
            async with g0:
                did("t0 child t1 g0", t1.start, g0)
                did("t0 child t2 g0", t2.start, g0)
                did("t0 child t3 g0", t3.start, g0)
    except Exception as error:
        trace("t0 caught %s", name_of(error))
        did("t0 cancelling", asyncio.current_task().cancelling)


@Task
async def t1():
    await told("t1 sleep 1", asyncio.sleep(1))
    raise Failure("EIO")


@Task
async def t2():
    try:
        await told("t2 sleep 9", asyncio.sleep(9))
    except asyncio.CancelledError as error:
        trace("t2 caught %s", name_of(error))
        await told("t2 sleep 1", asyncio.sleep(1))
        raise Failure("EPROTO")


@Task
async def t3():
    try:
        await told("t3 sleep 9", asyncio.sleep(9))
    except asyncio.CancelledError as error:
        trace("t3 caught %s", name_of(error))
        await told("t3 sleep 5", asyncio.sleep(5))
        did("t3 cancelling", asyncio.current_task().cancelling)


@scenario
async def group_cancels_the_others_once():
    """If a second child of a group fails, the group does not cancel the other children again.

    Since: 3.13
    """
    await drive([t0, t1, t2, t3], [], [])
