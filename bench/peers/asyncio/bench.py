"""bench.py ROW [uvloop] - asyncio on its own loop or on uvloop's."""

import asyncio
import os
import sys
import threading
import time

TIMERS = 1_000_000


def report(row, value, unit):
    print(f"{row} {value:.4g} {unit}", flush=True)


def took(row, start, n):
    report(row, (time.process_time_ns() - start) / n, "ns")


def memory():
    total = 0
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(("VmHWM:", "VmPTE:")):
                total += int(line.split()[1]) * 1024
    return total


# ---- tasks ---------------------------------------------------------------------------

async def run_yield(row, tasks):
    async def yield_often():
        for _ in range(n // tasks):
            await asyncio.sleep(0)

    n = 300_000
    start = time.process_time_ns()
    await asyncio.gather(*(yield_often() for _ in range(tasks)))
    took(row, start, n)


async def run_spawn(row, _):
    async def nothing():
        pass

    n = 100_000
    create_task = asyncio.get_running_loop().create_task
    start = time.process_time_ns()
    for _ in range(n):
        await create_task(nothing())
    took(row, start, n)


async def run_queue(row, bound):
    async def produce():
        for i in range(n):
            await queue.put(i)

    n = 100_000
    queue = asyncio.Queue(bound)
    start = time.process_time_ns()
    producer = asyncio.create_task(produce())
    for _ in range(n):
        await queue.get()
    took(row, start, n)
    await producer


async def run_sleeper(row, _):
    n = 1_000_000
    before = memory()
    tasks = [asyncio.create_task(asyncio.sleep(3600)) for _ in range(n)]
    await asyncio.sleep(0.01)
    report(row, (memory() - before) / n, "B")
    os._exit(len(tasks) != n)


# ---- awaiting ------------------------------------------------------------------------

async def run_await_done(row, _):
    n = 3_000_000
    future = asyncio.get_running_loop().create_future()
    future.set_result(1)
    start = time.process_time_ns()
    for _ in range(n):
        await future
    took(row, start, n)


async def run_await_chain(row, length):
    async def await_next(future):
        return await future

    rounds, spent = 100, 0
    loop = asyncio.get_running_loop()
    for _ in range(rounds):
        end = future = loop.create_future()
        for _ in range(length):
            future = loop.create_task(await_next(future))
        await asyncio.sleep(0)
        start = time.process_time_ns()
        end.set_result(1)
        await future
        spent += time.process_time_ns() - start
    report(row, spent / (rounds * length), "ns")


async def run_gather(row, width):
    async def nothing():
        pass

    n = 200_000
    start = time.process_time_ns()
    for _ in range(n // width):
        await asyncio.gather(*(nothing() for _ in range(width)))
    took(row, start, n)


# ---- passing a lock or an item, and deadlines ----------------------------------------

async def run_lock(row, tasks):
    async def take_turns():
        for _ in range(n // tasks):
            async with lock:
                await asyncio.sleep(0)

    n = 200_000
    lock = asyncio.Lock()
    start = time.process_time_ns()
    await asyncio.gather(*(take_turns() for _ in range(tasks)))
    took(row, start, n)


async def run_handover(row, consumers):
    async def consume():
        while True:
            await queue.get()

    n = 200_000
    queue = asyncio.Queue()
    tasks = [asyncio.create_task(consume()) for _ in range(consumers)]
    await asyncio.sleep(0)
    start = time.process_time_ns()
    for i in range(n):
        await queue.put(i)
        await asyncio.sleep(0)
    took(row, start, n)
    for task in tasks:
        task.cancel()


async def run_timeout(row, _):
    n = 200_000
    start = time.process_time_ns()
    for _ in range(n):
        async with asyncio.timeout(10):
            pass
    took(row, start, n)


# ---- timers --------------------------------------------------------------------------

def arm(loop, fired):
    random = 1
    now = loop.time()
    handles = []
    for _ in range(TIMERS):
        random = (random * 6364136223846793005 + 1442695040888963407) & (1 << 64) - 1
        delay = (random >> 33) % 1_000_000_000 * 1e-9
        handles.append(loop.call_at(now + delay, fired))
    return handles


async def run_timer_arm(row, _):
    start = time.process_time_ns()
    arm(asyncio.get_running_loop(), lambda: None)
    took(row, start, TIMERS)
    os._exit(0)


async def run_timer_cancel(row, _):
    start = time.process_time_ns()
    for handle in arm(asyncio.get_running_loop(), lambda: None):
        handle.cancel()
    took(row, start, TIMERS)
    os._exit(0)


async def run_timer_fire(row, _):
    def count_down():
        nonlocal left
        left -= 1
        if left == 0:
            done.set_result(None)

    left = TIMERS
    done = asyncio.get_running_loop().create_future()
    start = time.process_time_ns()
    arm(asyncio.get_running_loop(), count_down)
    await done
    took(row, start, TIMERS)
    os._exit(0)


# ---- a run, and between threads ------------------------------------------------------

def run_empty(row):
    async def nothing():
        pass

    n = 1_000
    start = time.process_time_ns()
    for _ in range(n):
        asyncio.run(nothing())
    report(row, (time.process_time_ns() - start) / n / 1e3, "us")


async def run_post(row, _):
    def count_down():
        nonlocal left
        left -= 1
        if left == 0:
            done.set_result(None)

    def post_all():
        for _ in range(n):
            loop.call_soon_threadsafe(count_down)

    n = left = 200_000
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    start = time.process_time_ns()
    thread = threading.Thread(target=post_all)
    thread.start()
    await done
    thread.join()
    took(row, start, n)


async def run_promise(row, _):
    async def nothing():
        pass

    n = 10_000
    other = asyncio.new_event_loop()
    thread = threading.Thread(target=other.run_forever)
    start = time.process_time_ns()
    thread.start()
    for _ in range(n):
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(nothing(), other))
    other.call_soon_threadsafe(other.stop)
    thread.join()
    took(row, start, n)
    other.close()


ROWS = {
    "yield1": (run_yield, 1), "yield2": (run_yield, 2), "yield1000": (run_yield, 1000),
    "spawn": (run_spawn, 0), "queue1": (run_queue, 1), "queue100": (run_queue, 100),
    "await_done": (run_await_done, 0), "await_chain": (run_await_chain, 1000),
    "gather100": (run_gather, 100), "lock": (run_lock, 2),
    "handover": (run_handover, 100), "timeout": (run_timeout, 0),
    "timer_arm": (run_timer_arm, 0), "timer_cancel": (run_timer_cancel, 0),
    "timer_fire": (run_timer_fire, 0), "sleeper": (run_sleeper, 0),
    "post": (run_post, 0), "promise": (run_promise, 0),
}


def main():
    if "uvloop" in sys.argv:
        import uvloop
        uvloop.install()
    if sys.argv[1] == "run":
        run_empty("run")
        return
    run, shape = ROWS[sys.argv[1]]
    asyncio.run(run(sys.argv[1], shape))


main()
