"""python_claims.py ROW [ARGUMENT...] - measures the rows of docs/claims.md with CPython's asyncio and threads.

The program prints a line `NAME VALUE` for each figure: times in nanoseconds, memory in bytes.
"""

import asyncio
import concurrent.futures
import os
import resource
import selectors
import sys
import threading
import time

SLEEPERS, NAPS, NAP = 5, 5, 0.1
KERNEL_STACK = 16384  # bytes of each thread, which no figure of the process shows


def figure(name, value):
    print(f"{name} {value:.10g}", flush=True)


def memory():
    total = 0
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(("VmRSS:", "VmPTE:")):
                total += int(line.split()[1]) * 1024
    return total


class Stopwatch:
    def __init__(self):
        self.start = self.now()

    @staticmethod
    def now():
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return (time.process_time_ns(), time.perf_counter_ns(),
                usage.ru_nvcsw + usage.ru_nivcsw)

    def report(self, n):
        for name, then, now in zip(("cpu", "wall", "kernel"), self.start, self.now()):
            figure(name, (now - then) / n)


def run_threads(n, body):
    threads = [threading.Thread(target=body, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# ---- memory ----------------------------------------------------------------------------

async def sleep_long():
    await asyncio.sleep(3600)


async def memory_tasks(n):
    before = memory()
    tasks = [asyncio.create_task(sleep_long()) for _ in range(n)]
    await asyncio.sleep(0.001)
    figure("own", (memory() - before) / len(tasks))
    os._exit(0)


def memory_threads(n):
    before = memory()
    for _ in range(n):
        threading.Thread(target=time.sleep, args=(3600,)).start()
    figure("own", (memory() - before) / n)
    figure("kernel", KERNEL_STACK)
    sys.stdout.flush()
    os._exit(0)


# ---- switches --------------------------------------------------------------------------

async def yield_tasks(n):
    async def yield_often():
        for _ in range(n):
            await asyncio.sleep(0)

    watch = Stopwatch()
    await asyncio.gather(yield_often(), yield_often())
    watch.report(2 * n)


async def turns_tasks(n):
    turns = asyncio.Semaphore(1), asyncio.Semaphore(0)

    async def take_turns(mine):
        for _ in range(n):
            await turns[mine].acquire()
            turns[1 - mine].release()

    watch = Stopwatch()
    await asyncio.gather(take_turns(0), take_turns(1))
    watch.report(2 * n)


def turns_threads(n):
    # A lock is the cheapest semaphore in CPython: threading.Semaphore is written in Python.
    turns = threading.Lock(), threading.Lock()
    turns[1].acquire()

    def take_turns(mine):
        for _ in range(n):
            turns[mine].acquire()
            turns[1 - mine].release()

    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    watch = Stopwatch()
    run_threads(2, take_turns)
    watch.report(2 * n)


async def depth_tasks(n, depth):
    async def descend(calls):
        if calls > 1:
            return await descend(calls - 1)
        for _ in range(n):
            await asyncio.sleep(0)

    sys.setrecursionlimit(depth + 1000)
    watch = Stopwatch()
    await asyncio.gather(descend(depth), descend(depth))
    watch.report(2 * n)


# ---- sleepers --------------------------------------------------------------------------

naps = 0


async def sleepy():
    global naps
    for _ in range(NAPS):
        await asyncio.sleep(NAP)
        naps += 1


async def sleepers_tasks():
    start = time.perf_counter_ns()
    await asyncio.gather(*(sleepy() for _ in range(SLEEPERS)))
    figure("wall", time.perf_counter_ns() - start)
    figure("naps", naps)


async def beside():
    def read():
        nonlocal count
        count += len(os.read(fd, 1024))

    count = 0
    fd = os.open("/dev/urandom", os.O_RDONLY)
    asyncio.get_running_loop().add_reader(fd, read)
    start = time.perf_counter_ns()
    await sleepy()
    figure("wall", time.perf_counter_ns() - start)
    figure("naps", naps)
    figure("bytes", count)


def run_beside():
    """Run beside() on a loop that uses select, as the documents do, because epoll does not accept /dev/urandom."""
    loop = asyncio.SelectorEventLoop(selectors.SelectSelector())
    loop.run_until_complete(beside())


# ---- work for the processor ------------------------------------------------------------

def compute(steps):
    x = 1
    for _ in range(steps):
        x = (x * 25214903917 + 11) & 0xFFFFFFFFFFFF
    return x


async def compute_tasks(steps, jobs):
    async def work():
        return compute(steps)

    return await asyncio.gather(*(work() for _ in range(jobs)))


def run_compute(kind, steps, jobs):
    pools = {"threads": concurrent.futures.ThreadPoolExecutor,
             "processes": concurrent.futures.ProcessPoolExecutor}
    start = time.perf_counter_ns()
    alone = [compute(steps) for _ in range(jobs)]
    figure("alone", time.perf_counter_ns() - start)
    start = time.perf_counter_ns()
    if kind == "tasks":
        together = asyncio.run(compute_tasks(steps, jobs))
    else:
        with pools[kind](jobs) as pool:
            together = list(pool.map(compute, [steps] * jobs))
    figure("together", time.perf_counter_ns() - start)
    figure("right", alone == together)


def main(row, *arguments):
    rows = {
        "version": lambda: print(sys.version.split()[0]),
        "memory-tasks": lambda n: asyncio.run(memory_tasks(n)),
        "memory-threads": memory_threads,
        "yield-tasks": lambda n: asyncio.run(yield_tasks(n)),
        "turns-tasks": lambda n: asyncio.run(turns_tasks(n)),
        "turns-threads": turns_threads,
        "depth-tasks": lambda n, depth: asyncio.run(depth_tasks(n, depth)),
        "sleepers-tasks": lambda: asyncio.run(sleepers_tasks()),
        "beside-tasks": run_beside,
        "compute-tasks": lambda *work: run_compute("tasks", *work),
        "compute-threads": lambda *work: run_compute("threads", *work),
        "compute-processes": lambda *work: run_compute("processes", *work),
    }
    rows[row](*map(int, arguments))


if __name__ == "__main__":
    main(*sys.argv[1:])
