"""aiodns_names SERVER N - looks up N names in 100 tasks, with asyncio and aiodns (which is based on c-ares).

The program prints the microseconds per name.
"""

import asyncio
import sys
import time

import aiodns


async def work(resolver, names):
    for name in names:
        await resolver.query(name, "A")


async def main(server, n):
    host, port = server.rsplit(":", 1)
    resolver = aiodns.DNSResolver(nameservers=[host], udp_port=int(port))
    names = iter([f"host{i}.bench." for i in range(n)])
    before = time.perf_counter()
    await asyncio.gather(*(work(resolver, names) for _ in range(100)))
    print(f"{(time.perf_counter() - before) * 1e6 / n:.3f}")


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
