"""python_crawl.py PORT WORKERS - the counterpart of coil_crawl.c on asyncio."""

import asyncio
import re
import sys

from python_claims import Stopwatch, figure

HREF = re.compile(rb'href="/(\d+)"')
LENGTH = re.compile(rb"Content-Length: (\d+)")


class Crawler:
    def __init__(self, port):
        self.port = port
        self.pages = asyncio.Queue()
        self.seen = {0}
        self.fetched = self.busy = self.busy_most = 0
        self.pages.put_nowait(0)

    async def fetch(self, connection, page):
        if not connection:
            connection += await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = connection
        writer.write(b"GET /%d HTTP/1.1\r\nHost: localhost\r\n\r\n" % page)
        head = await reader.readuntil(b"\r\n\r\n")
        return await reader.readexactly(int(LENGTH.search(head)[1]))

    async def work(self):
        connection = []
        try:
            while True:
                page = await self.pages.get()
                self.busy += 1
                self.busy_most = max(self.busy_most, self.busy)
                body = await self.fetch(connection, page)
                for link in map(int, HREF.findall(body)):
                    if link not in self.seen:
                        self.seen.add(link)
                        self.pages.put_nowait(link)
                self.busy -= 1
                self.fetched += 1
                self.pages.task_done()
        finally:
            if connection:
                connection[1].close()


async def main(port, workers):
    watch = Stopwatch()
    crawler = Crawler(port)
    tasks = [asyncio.create_task(crawler.work()) for _ in range(workers)]
    await crawler.pages.join()
    watch.report(1)
    figure("pages", crawler.fetched)
    figure("busy", crawler.busy_most)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


asyncio.run(main(*map(int, sys.argv[1:])))
