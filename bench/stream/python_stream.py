"""python_stream.py asyncio|uvloop BYTES PIECE [sendfile] - transfer bulk data over one connection.

There are two processes. The receiver is a BufferedProtocol, the fastest kind of protocol. The sender waits while its
transport is full.
"""

import asyncio
import os
import resource
import socket
import sys
import tempfile
import time

KIND, TOTAL, PIECE = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
SENDFILE = len(sys.argv) > 4


class Receiver(asyncio.BufferedProtocol):
    def __init__(self):
        self.memory = memoryview(bytearray(256 * 1024))
        self.got = 0
        self.done = asyncio.get_running_loop().create_future()

    def get_buffer(self, sizehint):
        return self.memory

    def buffer_updated(self, n):
        self.got += n

    def connection_lost(self, exc):
        self.done.set_result(exc)


class Sender(asyncio.Protocol):
    def __init__(self):
        self.room = asyncio.Event()
        self.room.set()
        self.done = asyncio.get_running_loop().create_future()

    def pause_writing(self):
        self.room.clear()

    def resume_writing(self):
        self.room.set()

    def connection_lost(self, exc):
        self.done.set_result(exc)


async def send(sock):
    loop = asyncio.get_running_loop()
    transport, sender = await loop.create_connection(Sender, sock=sock)
    piece, left = bytes(PIECE), TOTAL
    with tempfile.TemporaryFile(dir="/dev/shm") as file:
        file.truncate(PIECE)
        while left > 0:
            n = min(PIECE, left)
            if SENDFILE:
                await loop.sendfile(transport, file, 0, n)
            else:
                transport.write(piece[:n] if n < PIECE else piece)
                await sender.room.wait()
            left -= n
    transport.close()
    await sender.done


async def receive(sock):
    loop = asyncio.get_running_loop()
    _, receiver = await loop.create_connection(Receiver, sock=sock)
    await receiver.done
    return receiver.got


def cpu():
    return sum(u.ru_utime + u.ru_stime for u in (
        resource.getrusage(resource.RUSAGE_SELF),
        resource.getrusage(resource.RUSAGE_CHILDREN)))


def run(coroutine):
    if KIND == "uvloop":
        import uvloop
        uvloop.install()
    return asyncio.run(coroutine)


def main():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        theirs = socket.create_connection(listener.getsockname())
        theirs.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")  # see run
        ours, _ = listener.accept()
    before, begun = cpu(), time.monotonic()
    if os.fork() == 0:
        os.sched_setaffinity(0, {0})  # the receiver runs on the other one: see run
        ours.close()
        run(send(theirs))
        os._exit(0)
    theirs.close()
    got = run(receive(ours))
    took = time.monotonic() - begun
    _, status = os.wait()
    if got != TOTAL or status != 0:
        sys.exit(1)
    print(f"{TOTAL / 1e6 / took:.1f} {(cpu() - before) / (TOTAL / 2**30):.3f}")


main()
