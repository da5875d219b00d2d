"""python_echo.py protocol|streams|uvloop - echo with asyncio, three ways."""

import asyncio
import sys

BACKLOG = 4096


class Echo(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport
        self.write = transport.write

    def data_received(self, data):
        self.write(data)

    # A client that does not take its answers is not read from meanwhile.
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


if sys.argv[1] == "uvloop":
    import uvloop

    uvloop.install()
asyncio.run(main(sys.argv[1]))
