"""One client for threads and for asyncio: a synchronous core with an asynchronous interface.

Counter implements a protocol of lines, and does not use asyncio. A Counter's channel either
blocks the thread, or awaits. Without await in plain functions, libraries have to maintain two
copies of such a core, or generate one copy from the other.
"""

import asyncio
import contextlib
import socket
import threading

import coil
import loops


class Counter:
    """The core, made of plain functions."""

    def __init__(self, channel):
        self.channel = channel

    def add(self, n):
        self.channel.send(b'add %d\n' % n)
        return int(self.channel.receive_line())


class BlockingChannel:
    def __init__(self, address):
        self.socket = socket.create_connection(address)
        self.lines = self.socket.makefile('rb')

    def send(self, data):
        self.socket.sendall(data)

    def receive_line(self):
        return self.lines.readline()

    def close(self):
        self.lines.close()
        self.socket.close()


class AwaitingChannel:
    def __init__(self, address):
        self.reader, self.writer = coil.await_(asyncio.open_connection(*address))

    def send(self, data):
        self.writer.write(data)
        coil.await_(self.writer.drain())

    def receive_line(self):
        return coil.await_(self.reader.readline())

    def close(self):
        self.writer.close()
        coil.await_(self.writer.wait_closed())


def add_up(address, numbers):
    """Code that uses the core is the same for both."""
    channel = (AwaitingChannel if coil.can_await() else BlockingChannel)(address)
    with contextlib.closing(channel):
        counter = Counter(channel)
        for n in numbers:
            total = counter.add(n)
    return total


async def serve(reader, writer):
    total = 0
    while line := await reader.readline():
        total += int(line.split()[1])
        writer.write(b'%d\n' % total)
    writer.close()


async def main():
    server = await asyncio.start_server(serve, '127.0.0.1', 0)
    address = server.sockets[0].getsockname()
    totals = await asyncio.gather(*(coil.run(add_up, address, range(n)) for n in (5, 10, 15)))
    print('in tasks:', totals)
    print('in a thread:', await asyncio.to_thread(add_up, address, range(20)))
    print('threads:', threading.active_count() - 1)
    server.close()


loops.run(main())
