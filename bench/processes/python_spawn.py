"""python_spawn KIND AT_ONCE COUNT MIB - like coil_spawn, with asyncio, or with uvloop if KIND is uvloop."""

import asyncio
import sys
import time


async def main(at_once, count):
    left = count

    async def spawn_some():
        nonlocal left
        while left > 0:
            left -= 1
            process = await asyncio.create_subprocess_exec("/bin/true")
            if await process.wait() != 0:
                sys.exit(1)

    began = time.monotonic()
    await asyncio.gather(*(spawn_some() for _ in range(at_once)))
    print(f"{(time.monotonic() - began) * 1e6 / count:.2f}")


kind, *figures = sys.argv[1:]
at_once, count, mib = map(int, figures)
memory = bytearray(mib << 20)
for i in range(0, len(memory), 4096):
    memory[i] = 1
if kind == "uvloop":
    import uvloop
    uvloop.install()
asyncio.run(main(at_once, count))
