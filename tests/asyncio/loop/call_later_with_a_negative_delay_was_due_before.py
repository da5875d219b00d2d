"""Delays below zero are due at once, and the longest overdue is called first."""

from scenario import *


def scenario():
    loop = VirtualLoop()
    loop.call_later(0, trace, "zero")
    loop.call_later(-1, trace, "minus one")
    loop.call_later(-2, trace, "minus two")
    loop.call_later(1, loop.stop)
    loop.run_forever()
    loop.close()
