"""A task that fails as it is cancelled at the end is reported, and does not change the result."""

from scenario import *


def run(main):
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


async def leftover():
    try:
        await asyncio.sleep(10)
    except asyncio.CancelledError:
        trace("leftover fails")
        raise Failure("EIO")


reports = []


def handler(loop, context):
    reports.append("%s of %s" % (name_of(context["exception"]), context["task"].get_name()))


async def main():
    asyncio.get_running_loop().set_exception_handler(handler)
    asyncio.create_task(leftover(), name="leftover")
    await asyncio.sleep(1)
    return 123


def scenario():
    trace("run: %d", run(main()))
    trace("reported: %s", ", ".join(reports))
