"""Fetch from all servers at once; the first failure cancels the others."""
import asyncio
import sys


async def fetch(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        return len(await reader.read())
    finally:
        writer.close()


async def main():
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(fetch(port)) for port in sys.argv[1:]]
    print(sum(task.result() for task in tasks))


asyncio.run(main())
