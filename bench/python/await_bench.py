"""await_bench PEER ROW - measure one way in which plain functions can await under asyncio.

PEER is one of these:

    `coil`: coil.run() and coil.await_().
    `greenlet`: a rewritten version of SQLAlchemy's greenlet_spawn() and await_only().
    `coroutine`: async functions, which plain functions cannot await.

ROW is one of these:

    `py_await`: a function awaits asyncio.sleep(0), which takes a turn of the loop.
    `py_call`: a function does not wait.

The program prints the processor time of an operation in nanoseconds.
"""

import asyncio
import sys
import time

SECONDS = 1.0


def for_a_second(step):
    """Call step(n), which repeats an operation n times, for a second. Returns the shortest time of one repetition, in
    ns."""
    n, used = 1000, 0.0
    while used < SECONDS / 4:
        n *= 2
        before = time.process_time()
        step(n)
        used = time.process_time() - before
    times = []
    while sum(times) < SECONDS:
        before = time.process_time()
        step(n)
        times.append(time.process_time() - before)
    return min(times) / n * 1e9


def with_coil():
    import coil
    return coil.run, coil.await_


def with_greenlet():
    import greenlet

    class Bridge(greenlet.greenlet):
        pass

    async def run(function, *args):
        bridge = Bridge(function, greenlet.getcurrent())
        result = bridge.switch(*args)
        while not bridge.dead:
            try:
                value = await result
            except BaseException:
                result = bridge.throw(*sys.exc_info())
            else:
                result = bridge.switch(value)
        return result

    def await_(awaitable):
        return greenlet.getcurrent().parent.switch(awaitable)

    return run, await_


async def call_many(run, n):
    for _ in range(n):
        await run(int)


async def call_coroutines(n):
    async def called():
        return 0
    for _ in range(n):
        await called()


async def sleep_many(n):
    for _ in range(n):
        await asyncio.sleep(0)


def main():
    peer, row = sys.argv[1:]
    loop = asyncio.new_event_loop()
    if peer == 'coroutine':
        many = {'py_await': sleep_many, 'py_call': call_coroutines}[row]
    else:
        run, await_ = with_coil() if peer == 'coil' else with_greenlet()

        def await_many(n):
            for _ in range(n):
                await_(asyncio.sleep(0))
        many = {'py_await': lambda n: run(await_many, n), 'py_call': lambda n: call_many(run, n)}[row]

    async def step(n):
        await many(n)
    print('%.1f' % for_a_second(lambda n: loop.run_until_complete(step(n))))
    loop.close()


main()
