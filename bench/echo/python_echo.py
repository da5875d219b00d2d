"""python_echo.py protocol|streams|uvloop|threads - echo with Python.

The first three servers use asyncio: a protocol, streams, and a protocol on uvloop. The last one uses a thread for
each connection.
"""

import asyncio
import socket
import sys
import threading

BACKLOG = 4096


class Echo(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport
        self.write = transport.write

    def data_received(self, data):
        self.write(data)

    # Do not read from a client that does not read its answers.
    def pause_writing(self):
        self.transport.pause_reading()

    def resume_writing(self):
        self.transport.resume_reading()


async def serve(reader, writer):
    try:
        while data := await reader.read(4096):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def main(kind):
    if kind == "streams":
        server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=BACKLOG)
    else:
        server = await asyncio.get_running_loop().create_server(
            Echo, "127.0.0.1", 0, backlog=BACKLOG)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def serve_blocking(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        while data := connection.recv(4096):
            connection.sendall(data)
    except ConnectionError:
        pass
    finally:
        connection.close()


def main_threads():
    server = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
    print(server.getsockname()[1], flush=True)
    while True:
        connection, _ = server.accept()
        threading.Thread(target=serve_blocking, args=(connection,), daemon=True).start()


if sys.argv[1] == "threads":
    main_threads()
if sys.argv[1] == "uvloop":
    import uvloop

    uvloop.install()
asyncio.run(main(sys.argv[1]))
