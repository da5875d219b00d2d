"""A handler is one loop's: the next loop has none."""

from scenario import *


def fail(loop, name):
    trace("%s: %s", name, "none" if loop.get_exception_handler() is None else "some")
    loop.call_exception_handler({"message": name})


def scenario():
    for i, name in enumerate(("first", "second", "third")):
        loop = VirtualLoop()
        if i != 1:
            loop.set_exception_handler(tell_exception)
        loop.call_soon(fail, loop, name)
        loop.call_soon(loop.stop)
        loop.run_forever()
        loop.close()
