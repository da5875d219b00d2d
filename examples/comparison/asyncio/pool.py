"""Three workers take jobs from a queue that holds at most four."""
import asyncio


async def work(jobs, results):
    while (job := await jobs.get()) is not None:
        await asyncio.sleep(0.01)
        results.append(job * job)


async def main():
    jobs, results = asyncio.Queue(4), []
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(work(jobs, results))
        for job in range(1, 21):
            await jobs.put(job)
        for _ in range(3):
            await jobs.put(None)
    print(sum(results))


asyncio.run(main())
