"""python_copy FROM TO - copies a file, or all files in a directory, with asyncio and threads.

asyncio cannot read files, so this program runs shutil's functions on threads. Each file is one job, and at most
WORKERS jobs are in progress at a time.
"""

import asyncio
import os
import shutil
import sys

WORKERS = 16


async def copy_tree(source, target):
    os.mkdir(target)
    names = iter(await asyncio.to_thread(os.listdir, source))

    async def work():
        for name in names:
            await asyncio.to_thread(shutil.copy, os.path.join(source, name),
                                    os.path.join(target, name))

    await asyncio.gather(*(work() for _ in range(WORKERS)))


async def main(source, target):
    if os.path.isdir(source):
        await copy_tree(source, target)
    else:
        await asyncio.to_thread(shutil.copy, source, target)


asyncio.run(main(*sys.argv[1:]))
