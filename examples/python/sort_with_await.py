"""libc sorts, and its comparator awaits.

The function qsort_r(3), which is older than asyncio, calls compare(), which waits for a
coroutine. Both sorts run at the same time, on one thread.
"""

import asyncio
import ctypes

import coil
import loops

libc = ctypes.CDLL(None)
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int),
                           ctypes.POINTER(ctypes.c_int), ctypes.c_void_p)


async def ask_which_is_greater(a, b):
    """The sleep simulates asking a server, or a person."""
    await asyncio.sleep(0.001)
    return a - b


@COMPARE
def compare(a, b, _):
    return coil.await_(ask_which_is_greater(a[0], b[0]))


def sort(numbers):
    array = (ctypes.c_int * len(numbers))(*numbers)
    libc.qsort_r(array, len(numbers), ctypes.sizeof(ctypes.c_int), compare, None)
    return list(array)


async def main():
    first, second = await asyncio.gather(coil.run(sort, [3, 1, 4, 1, 5, 9, 2, 6]),
                                         coil.run(sort, [27, 18, 28, 18]))
    print(first, second)


loops.run(main())
