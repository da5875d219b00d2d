"""python_tls.py asyncio|uvloop CERTIFICATE - the server with asyncio's streams."""

import asyncio
import ssl
import sys

BACKLOG, MESSAGE, CHUNK, MUCH = 4096, 64, 65536, 1 << 30


async def serve(reader, writer):
    chunk = bytes(CHUNK)
    try:
        while message := await reader.readexactly(MESSAGE):
            if message[:1] != b"S":
                writer.write(message)
                await writer.drain()
                continue
            for _ in range(MUCH // CHUNK):
                writer.write(chunk)
                await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
        pass
    finally:
        writer.close()


async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=BACKLOG, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if sys.argv[1] == "uvloop":
    import uvloop

    uvloop.install()
asyncio.run(main())
