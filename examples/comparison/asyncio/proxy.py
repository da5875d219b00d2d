"""Copy the bytes of each connection to a server and back, and pass on the end of each
direction."""
import asyncio
import sys


async def copy(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.write_eof()


async def serve(reader, writer):
    try:
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", sys.argv[1])
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(copy(reader, server_writer))
                group.create_task(copy(server_reader, writer))
        finally:
            server_writer.close()
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


asyncio.run(main())
