"""A task that waits behind a shield, behind another: cancelling the outermost stops only
that."""

from scenario import *


async def shielding(name, future):
    await tell(name, asyncio.shield(future))


async def scenario():
    future = new_future()
    middle = asyncio.create_task(shielding("middle", future))
    outer = asyncio.create_task(shielding("outer", middle))
    await turns(1)
    outer.cancel()
    await turns(1)
    trace("outer %s, middle %s, future %s", *map(state, (outer, middle, future)))
    middle.cancel()
    await turns(1)
    trace("outer %s, middle %s, future %s", *map(state, (outer, middle, future)))
    future.cancel()
    await turns(1)
    trace("outer %s, middle %s, future %s", *map(state, (outer, middle, future)))
