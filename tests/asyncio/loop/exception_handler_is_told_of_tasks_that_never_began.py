"""A task that is pending when its loop goes, and nobody holds it, is reported; it can never end."""

from scenario import *


import warnings


async def body(name):
    trace("%s begins", name)


def scenario():
    warnings.simplefilter("ignore")
    loop = VirtualLoop()
    loop.set_exception_handler(tell_exception)
    loop.run_until_complete(loop.create_task(body("first")))
    loop.create_task(body("second"))
    loop.create_task(body("third"))
    trace("closing")
    loop.close()
    trace("closed")
