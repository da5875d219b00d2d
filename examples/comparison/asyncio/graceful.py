"""After SIGTERM, stop accepting, and give handlers three seconds to end."""
import asyncio
import signal

handlers = set()


async def answer(reader, writer):
    handlers.add(asyncio.current_task())
    try:
        if await reader.readline():
            await asyncio.sleep(0.5)
            writer.write(b"done\n")
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        handlers.discard(asyncio.current_task())
        writer.close()


async def main():
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await stopping.wait()
    server.close()
    if handlers:
        _, late = await asyncio.wait(handlers, timeout=3)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)


asyncio.run(main())
