"""A callback that calls itself later is called at even distances, others between them."""

from scenario import *


def scenario():
    loop = VirtualLoop()
    left = 3

    def tick():
        nonlocal left
        trace("tick")
        left -= 1
        if left > 0:
            loop.call_later(2, tick)
        else:
            loop.call_soon(loop.stop)

    loop.call_later(2, tick)
    loop.call_later(3, trace, "between")
    loop.call_later(4, trace, "with the second")
    loop.run_forever()
    loop.close()
