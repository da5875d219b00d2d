"""Connect, with up to ten attempts and a pause that doubles."""
import asyncio
import sys


async def connect_patiently(port):
    pause = 0.01
    for attempt in range(10):
        try:
            async with asyncio.timeout(5):
                return await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            if attempt == 9:
                raise
        await asyncio.sleep(pause)
        pause *= 2


async def main():
    _, writer = await connect_patiently(sys.argv[1])
    print("connected")
    writer.close()


asyncio.run(main())
