"""aiohttp_get.py URL-PREFIX COUNT CONNECTIONS - makes COUNT small GET requests with aiohttp."""

import asyncio
import sys

import aiohttp


async def work(session, prefix, numbers):
    for number in numbers:
        async with session.get(f"{prefix}p{number}.html") as response:
            response.raise_for_status()
            await response.read()


async def main(prefix, count, connections):
    numbers = iter(range(count))  # the workers share it
    connector = aiohttp.TCPConnector(limit=connections)
    async with aiohttp.ClientSession(connector=connector) as session:
        await asyncio.gather(*(work(session, prefix, numbers) for _ in range(connections)))


asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
