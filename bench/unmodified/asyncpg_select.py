"""asyncpg_select.py CONNINFO CONNECTIONS COUNT - makes COUNT SELECT queries with asyncpg.

Prints the same figures as client.h.
"""

import asyncio
import pathlib
import resource
import sys
import time

import asyncpg


async def use(connection, count):
    for _ in range(count):
        if await connection.fetchval("SELECT 42") != 42:
            sys.exit("a wrong answer")


def clocks():
    return time.monotonic(), time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_utime


def memory():
    """Return the peak memory with page tables, in MB."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("VmHWM:", "VmPTE:"))) / 1024


async def main(server, n, count):
    server["database"] = server.pop("dbname")
    connections = [await asyncpg.connect(**server) for _ in range(n)]
    began = clocks()
    await asyncio.gather(*(use(connection, count // n) for connection in connections))
    wall, cpu, utime = (b - a for a, b in zip(began, clocks()))
    count = count // n * n
    print(cpu * 1e6 / count, utime * 1e6 / count, count / wall, memory())
    await asyncio.gather(*(connection.close() for connection in connections))


asyncio.run(main(dict(word.split("=") for word in sys.argv[1].split()), int(sys.argv[2]),
                 int(sys.argv[3])))
