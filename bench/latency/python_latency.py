"""python_latency.py STEP-US asyncio|uvloop - echo while other tasks compute.

These tasks compute in steps of STEP-US microseconds. After each step they write a byte to stderr, and let the other
tasks run.
"""

import asyncio
import os
import sys
import time

COMPUTING = 4


class Echo(asyncio.Protocol):
    def connection_made(self, transport):
        self.write = transport.write

    def data_received(self, data):
        self.write(data)


def compute(n):
    x = 1
    for _ in range(n):
        x = x * 1103515245 + 12345 & 0x7fffffff
    return x


def units_of(step):
    """Return how many units of computation take `step` seconds."""
    n, took = 1000, 0
    while took < 0.05:
        n *= 2
        began = time.process_time()
        compute(n)
        took = time.process_time() - began
    return int(n * step / took)


async def compute_in_steps(units):
    while True:
        compute(units)
        os.write(2, b".")
        await asyncio.sleep(0)


async def main(units):
    server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.gather(*(compute_in_steps(units) for _ in range(COMPUTING)))


if sys.argv[2] == "uvloop":
    import uvloop

    uvloop.install()
asyncio.run(main(units_of(float(sys.argv[1]) / 1e6)))
