"""aiohttp_crawl.py URL CONNECTIONS - a crawler with asyncio and aiohttp.

The crawler finds links with a regular expression, which costs less than any HTML parser for Python.
"""

import asyncio
import re
import sys

import aiohttp
from yarl import URL

HREF = re.compile(rb'<a\s[^>]*?href="([^"#]+)', re.IGNORECASE)


async def work(session, todo, seen, host):
    while True:
        url = await todo.get()
        try:
            async with session.get(url) as response:
                response.raise_for_status()
                body = await response.read()
            for href in set(HREF.findall(body)):
                target = url.join(URL(href.decode()))
                if target.host == host and target not in seen:
                    seen.add(target)
                    todo.put_nowait(target)
        finally:
            todo.task_done()


async def main(root, count):
    todo, seen, root = asyncio.Queue(), set(), URL(root)
    seen.add(root)
    todo.put_nowait(root)
    connector = aiohttp.TCPConnector(limit=count)
    async with aiohttp.ClientSession(connector=connector) as session:
        workers = [asyncio.create_task(work(session, todo, seen, root.host))
                   for _ in range(count)]
        await todo.join()
        for worker in workers:
            worker.cancel()


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
