"""An echo server that ends a connection after 300 ms of silence."""
import asyncio


async def echo(reader, writer):
    try:
        while data := await asyncio.wait_for(reader.read(4096), 0.3):
            writer.write(data)
            await writer.drain()
    except (TimeoutError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


asyncio.run(main())
