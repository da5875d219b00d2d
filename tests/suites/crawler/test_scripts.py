#!/usr/bin/env python3
"""Test each script of a shared crawl (crawler/shared/redis/scripts) with a redis-server that the test starts.

    test_scripts.py [TEST...]
"""
import hashlib
import itertools
import os
import pathlib
import random
import struct
import sys
import tempfile
import time

from check import Skip, contains, equal, run_tests
from redis_server import Client, Failed, redis_server, wait_until

SCRIPTS = pathlib.Path(__file__).resolve().parents[3] / "crawler/shared/redis/scripts"
NAMES = ["acquire", "add", "begin", "collect", "complete", "leave", "reap", "release", "renew"]
SITEMAP, IDS, START, SINGLE, GIVEN_UP = 1, 2, 4, 8, 32
COUNTERS = ("turn depth by_depth queued0 queued1 flying waiting begun over through known buckets round pages max_pages "
            "bytes max_bytes split token starts origins last").split()
NUMBERS = itertools.count()
SPAN = 600000  # milliseconds; leases expire during a test only if it calls pass_time()
redis = None


# ---- what workers send -----------------------------------------------------------------

def load_scripts(client):
    common = (SCRIPTS / "common.lua").read_text()
    for name in NAMES:
        client.load(name, common + (SCRIPTS / f"{name}.lua").read_text())


def item(path, flags=0, tries=0, losses=0, hops=0, depth=0):
    return bytes([flags, tries, losses, hops, depth >> 8, depth & 255]) + path.encode()


def path_of(one):
    return one[6:].decode()


def flags_of(one):
    return one[0]


def losses_of(one):
    return one[2]


def link(url, **more):
    """Return host, hash and item of a link. "a/1" means http://a/1 of the crawled site, "x:b/1" means http://b/1 of
    another site, and "h:b/1" means http://b/1 while it is held back."""
    kind, url = (url[0], url[2:]) if url[1] == ":" else ("s", url)
    host, _, path = url.partition("/")
    known = hashlib.sha256((kind * (kind == "h") + url).encode()).digest()[:10]
    if kind == "h":
        return ["h", known, item(f"http://{url}", **more)]
    return [f"{kind}http://{host}", known, item("/" + path, **more)]


def links(*urls, **more):
    return [word for url in urls for word in link(url, **more)]


def packed(numbers):
    return struct.pack(f"<{len(numbers)}I", *numbers)


class Lease:
    def __init__(self, crawl, worker, reply):
        self.crawl, self.worker = crawl, worker
        self.token, self.host = reply[1].decode(), reply[2].decode()
        self.pause, self.is_troubled, self.has_sitemaps = int(reply[3]), reply[4] == b"1", reply[5] == b"1"
        self.starts, self.origins = int(reply[6]), int(reply[7])
        self.items, self.calls = {}, 0
        self.take(reply[8:])

    def take(self, words):
        self.items.update(zip(map(int, words[::2]), words[1::2]))

    def paths(self):
        return [path_of(self.items[n]) for n in sorted(self.items)]

    def send(self, results):
        self.calls = next(NUMBERS)
        redis("PSETEX", f"{self.crawl.key}:sent:{self.worker}:{self.calls}", 60000, results)

    def complete(self, *numbers, more=0, pause=0, troubled="", links=(), span=SPAN, result=b"result"):
        """Complete the items with these numbers, or without numbers all items of the lease. Returns the number of lost
        items, and whether the lease has ended."""
        numbers = numbers or sorted(self.items)
        if result:
            self.send(result * len(numbers))
        reply = self.crawl.run("complete", self.token, self.worker, span, more, pause, troubled, self.calls,
                               len(result) * len(numbers), packed(numbers), packed([len(result)] * len(numbers)),
                               *links)
        for n in numbers:
            self.items.pop(n, None)
        self.pause = int(reply[2])
        self.take(reply[3:])
        return int(reply[0]), reply[1] == b"1"

    def release(self, *numbers, delay=0, pause=0, troubled="", edit=lambda one: one):
        words = [word for n in numbers for word in (n, delay, edit(self.items[n]))]
        reply = self.crawl.run("release", self.token, self.worker, pause, troubled, *words)
        return int(reply[0]), reply[1] == b"1"

    def renew(self, span=SPAN):
        return self.crawl.run("renew", self.worker, span, self.token) == [b"1"]


class Crawl:
    def __init__(self, by_depth=0, max_pages=0, max_bytes=0, split=1):
        self.key = f"coil:{{test{next(NUMBERS)}}}"
        self.options = by_depth, max_pages, max_bytes, split
        equal(self.begin(), [1, b"7", b"seed", b"setup"])

    def run(self, name, *arguments):
        return redis.run(name, self.key, *arguments)

    def begin(self, seed="seed", setup="setup", version=7):
        return self.run("begin", version, seed, setup, *self.options)

    def add(self, *urls, **more):
        return self.run("add", 1, *links(*urls, **more))

    def ask(self, kind="s", worker="worker", most=10, span=SPAN):
        return self.run("acquire", kind, worker, span, most)

    def acquire(self, **options):
        reply = self.ask(**options)
        equal(reply[0], b"lease")
        return Lease(self, options.get("worker", "worker"), reply)

    def pass_time(self):
        """Change the times in Redis as if all leases, retries and pauses of hosts had expired."""
        for kind in "leases", "waiting", "w0s", "w1s", "w0x", "w1x":
            for member in redis("ZRANGE", f"{self.key}:{kind}", 0, -1):
                redis("ZADD", f"{self.key}:{kind}", 0, member)
        for key in redis("KEYS", f"{self.key}:h:*"):
            redis("HDEL", key, "u")

    def waits(self, **options):
        return self.ask(**options)[0] == b"wait"

    def is_over(self):
        return self.ask() == [b"over"]

    def number(self, name):
        return int(struct.unpack(f"<{len(COUNTERS)}d", redis("GET", self.key))[COUNTERS.index(name)])

    def numbers(self):
        """Return the numbers of targets that are queued, in flight, waiting and done."""
        return (self.number("queued0") + self.number("queued1"), self.number("flying"), self.number("waiting"),
                self.number("through"))

    def collect(self, after=0, most=100):
        """Collect results. Returns whether the crawl has ended, the number of results, and the results."""
        over, through, left, *words = self.run("collect", after, most)
        queued, flying, waiting, done = self.numbers()
        equal((int(through), int(left)), (done, queued + flying + waiting))
        numbers, results = [], []
        for first, lengths in zip(words[::2], words[1::2]):
            both = redis("GET", f"{self.key}:b:{int(first)}")
            for n, (length,) in enumerate(struct.iter_unpack("<I", lengths)):
                is_skipped, length = length >> 31, length & 0x7fffffff
                if not is_skipped:
                    numbers.append(int(first) + n)
                    results.append(both[:length])
                both = both[length:]
        return over == b"1", numbers, results

    def lose(self, **options):
        """Acquire a lease, and let it expire, as if its worker had died."""
        lease = self.acquire(**options)
        redis("ZADD", f"{self.key}:leases", 0, lease.token)
        return lease

    def reap(self):
        return [int(n) for n in self.run("reap", 100)]


# ---- begin -----------------------------------------------------------------------------

def test_begin_is_once_and_the_others_learn_how():
    crawl = Crawl()
    equal(crawl.begin("another seed", "another setup"), [0, b"7", b"seed", b"setup"])
    equal(crawl.begin("", ""), [0, b"7", b"seed", b"setup"])


def snapshot(crawl):
    """Return the name and the serialized value of each key of the crawl."""
    return {key: redis("DUMP", key) for key in redis("KEYS", f"{crawl.key}*")}


def test_begin_returns_the_format_of_another_version_and_changes_nothing():
    crawl = Crawl()
    crawl.add("a/1")
    before = snapshot(crawl)
    equal(crawl.begin(version=8), [0, b"7", b"seed", b"setup"])
    equal(snapshot(crawl), before)
    for fields, expected in (("format", "seed", "setup"), [b"0", b"", b""]), (("seed", "setup"), [b"7", b"", b""]):
        redis("DEL", f"{crawl.key}:setup")
        redis("HSET", f"{crawl.key}:setup", "other", "x", "format", 7)
        redis("HDEL", f"{crawl.key}:setup", *fields)
        before = snapshot(crawl)
        equal(crawl.begin(), [0, *expected])
        equal(snapshot(crawl), before)


def test_begin_does_not_inherit_the_expiry_of_a_deleted_crawl():
    """The two keys of a deleted crawl do not expire at exactly the same time."""
    crawl = Crawl()
    redis("EXPIRE", crawl.key, 3600)
    redis("DEL", f"{crawl.key}:setup")
    equal(crawl.begin(), [1, b"7", b"seed", b"setup"])
    equal((redis("TTL", crawl.key), redis("TTL", f"{crawl.key}:setup")), (-1, -1))


def test_who_has_no_seed_begins_nothing():
    try:
        redis.run("begin", "coil:{none}", 7, "", "", 0, 0, 0, 1)
    except Failed as failure:
        contains(str(failure), "NOCRAWL")
    else:
        raise AssertionError("it did not fail")
    equal(redis("KEYS", "coil:{none}*"), [])


def test_what_has_not_begun_is_no_crawl():
    for name in set(NAMES) - {"begin", "renew"}:
        try:
            redis.run(name, "coil:{none}", "1", "1", "1", "1", "", "", "0", "0", "0")
        except Failed as failure:
            contains(str(failure), "NOCRAWL")
        else:
            raise AssertionError(f"{name} did not fail")


def test_nothing_is_over_before_the_starts_are_added():
    crawl = Crawl()
    equal(crawl.waits(), True)
    crawl.add()
    equal(crawl.is_over(), True)


# ---- add -------------------------------------------------------------------------------

def test_add_takes_each_url_once():
    crawl = Crawl()
    equal(crawl.add("a/1", "a/2", "a/1"), 2)
    equal(crawl.add("a/2", "b/1"), 3)
    equal(crawl.numbers(), (3, 0, 0, 0))
    lease = crawl.acquire()
    equal((lease.host, lease.paths()), ("shttp://a", ["/1", "/2"]))
    equal(lease.complete(), (0, True))
    equal(crawl.acquire().paths(), ["/1"])


def test_add_keeps_the_order_of_hosts_that_take_turns():
    crawl = Crawl()
    crawl.add("a/1", "b/1", "a/2", "b/2", "a/3")
    equal(crawl.acquire().paths(), ["/1", "/2", "/3"])
    equal(crawl.acquire().paths(), ["/1", "/2"])


def test_known_urls_are_told_from_each_other_however_many():
    crawl, urls = Crawl(), [f"a/{n}" for n in range(20000)]
    for at in range(0, len(urls), 500):
        crawl.add(*urls[at:at + 500])
    equal(crawl.number("known"), len(urls))
    equal(crawl.number("queued0"), len(urls))
    buckets = crawl.number("buckets")
    equal(24 * buckets >= len(urls) > 24 * (buckets - 1), True)
    random.Random(1).shuffle(urls)
    for at in range(0, len(urls), 500):
        equal(crawl.add(*urls[at:at + 500]), len(urls))
    equal(sum(redis("STRLEN", f"{crawl.key}:s{n}") for n in range(buckets)), 11 * len(urls))


def test_ids_that_are_wanted_later_are_asked_for_once_more():
    crawl = Crawl()
    crawl.add("x:b/1")
    equal(crawl.acquire(kind="x").complete(), (0, True))
    crawl.add("x:b/1", flags=IDS)
    crawl.add("x:b/1", flags=IDS)
    crawl.add("x:b/1")
    lease = crawl.acquire(kind="x")
    equal([flags_of(one) for one in lease.items.values()], [IDS])
    lease.complete()
    equal(crawl.is_over(), True)


def test_pages_of_the_site_are_counted_and_no_more_are_asked_for():
    crawl = Crawl(max_pages=2)
    crawl.add("x:b/1", "a/1")
    crawl.add("a/map", flags=SITEMAP)
    crawl.add("a/2", "a/2", "a/3")
    crawl.add("a/3")
    equal(crawl.acquire().paths(), ["/1", "/map", "/2"])
    equal(crawl.acquire(kind="x").paths(), ["/1"])


# ---- acquire ---------------------------------------------------------------------------

def test_acquire_leases_a_host_to_one_worker():
    crawl = Crawl()
    crawl.add("a/1", "a/2", "a/3", "b/1")
    first = crawl.acquire(most=2)
    equal(first.paths(), ["/1", "/2"])
    equal(crawl.acquire(worker="other", most=2).host, "shttp://b")
    equal(crawl.waits(worker="third"), True)
    first.complete()
    equal(crawl.acquire(worker="third").paths(), ["/3"])


def test_acquire_keeps_the_classes_apart():
    crawl = Crawl()
    crawl.add("a/1", "x:b/1")
    equal(crawl.acquire(kind="x").host, "xhttp://b")
    equal(crawl.waits(kind="x"), True)
    equal(crawl.acquire().host, "shttp://a")


def test_acquire_gives_a_split_host_to_so_many():
    crawl = Crawl(split=2)
    crawl.add(*(f"a/{n}" for n in range(6)))
    first, second = crawl.acquire(worker="1", most=1), crawl.acquire(worker="2", most=1)
    equal((first.paths(), second.paths()), (["/0"], ["/1"]))
    equal(crawl.waits(worker="3"), True)
    second.complete(pause=50000)
    equal(crawl.waits(worker="3"), True)
    first.complete(more=1)
    equal(40000 < first.pause <= 50000, True)


def test_acquire_tells_when_it_is_over_and_what_it_waits_for():
    crawl = Crawl()
    crawl.add("a/1")
    lease = crawl.acquire()
    equal(crawl.ask(), [b"wait", b"1000", b"0", b"0"])
    lease.release(1, delay=500000)
    equal(crawl.numbers(), (0, 0, 1, 0))
    equal(crawl.ask(), [b"wait", b"1000", b"0", b"0"])
    for _ in range(20):
        redis("ZADD", f"{crawl.key}:waiting", int(time.time() * 1000) + 900,
              redis("ZRANGE", f"{crawl.key}:waiting", 0, 0)[0])
        reply = crawl.ask()
        if reply[0] == b"wait":
            break
        Lease(crawl, "worker", reply).release(1, delay=500000)  # the lease took longer than its span
    equal((reply[0], 1 <= int(reply[1]) <= 900), (b"wait", True))
    crawl.pass_time()
    equal(crawl.acquire().paths(), ["/1"])


def test_acquire_leaves_a_host_alone_for_as_long_as_it_asks():
    crawl = Crawl()
    crawl.add("a/1", "a/2", "b/1")
    crawl.acquire(most=1).complete(pause=500000, troubled="1")
    crawl.acquire().complete()
    equal(crawl.waits(), True)
    crawl.pass_time()
    lease = crawl.acquire()
    equal((lease.paths(), lease.is_troubled, lease.pause), (["/2"], True, 0))
    lease.complete(troubled="0", links=links("a/3"))
    equal(crawl.acquire().is_troubled, False)


def test_a_host_that_nobody_leases_is_forgotten_once_it_may_be_asked_again():
    crawl = Crawl()
    crawl.add("a/1", "b/1")
    crawl.acquire().complete(pause=500000)
    crawl.acquire().complete()
    equal(500000 < redis("PTTL", f"{crawl.key}:h:shttp://a") <= 560000, True)
    equal(0 < redis("PTTL", f"{crawl.key}:h:shttp://b") <= 60000, True)
    crawl.add("b/2")
    crawl.acquire()
    equal(redis("PTTL", f"{crawl.key}:h:shttp://b"), -1)


def test_sitemaps_of_a_host_are_told_once():
    crawl = Crawl()
    crawl.add("a/1", "a/2")
    lease = crawl.acquire(most=1)
    equal(lease.has_sitemaps, False)
    equal(lease.complete(0, result=b"map", links=links("a/map", flags=SITEMAP)), (0, False))
    equal(lease.complete(0, result=b"map"), (0, False))
    equal(lease.complete(1), (0, True))
    equal(crawl.collect()[2], [b"map", b"result"])
    lease = crawl.acquire()
    equal((lease.has_sitemaps, lease.paths()), (True, ["/2", "/map"]))


def test_one_depth_after_the_other():
    crawl = Crawl(by_depth=1)
    crawl.add("a/0", "b/0")
    first, second = crawl.acquire(), crawl.acquire()
    first.complete(links=links("a/1", "c/1", depth=1))
    equal(crawl.waits(), True)
    second.release(1, delay=500000)
    equal(crawl.waits(), True)
    crawl.pass_time()
    again = crawl.acquire()
    equal(again.host, "shttp://b")
    again.complete(links=links("b/1", depth=1))
    equal(crawl.number("depth"), 0)
    found = [crawl.acquire() for _ in range(3)]
    equal(sorted(lease.host for lease in found), ["shttp://a", "shttp://b", "shttp://c"])
    equal(crawl.number("depth"), 1)
    for lease in found:
        lease.complete()
    equal(crawl.is_over(), True)


def test_what_comes_nearer_is_asked_for_at_its_depth():
    crawl = Crawl(by_depth=1)
    crawl.add("a/0", "b/0")
    crawl.acquire().complete(links=links("c/1", depth=1))
    crawl.acquire().complete(links=links("c/1", depth=0))
    equal(crawl.number("depth"), 0)
    lease = crawl.acquire()
    equal((lease.host, crawl.number("depth")), ("shttp://c", 0))
    lease.complete(links=links("c/1", depth=1))
    equal(crawl.acquire().items[1][5], 1)


# ---- complete --------------------------------------------------------------------------

def test_complete_keeps_results_adds_links_and_counts():
    crawl = Crawl()
    crawl.add("a/1", "a/2")
    lease = crawl.acquire()
    equal(crawl.numbers(), (0, 2, 0, 0))
    equal(lease.complete(1, result=b"one \0 two", links=links("a/2", "a/3", "b/1")), (0, False))
    equal(crawl.numbers(), (2, 1, 0, 1))
    equal(crawl.collect()[2], [b"one \0 two"])
    equal(lease.complete(2), (0, True))


def test_complete_goes_on_with_the_host_until_nothing_is_left():
    crawl = Crawl()
    crawl.add("a/1", "a/2", "a/3")
    lease = crawl.acquire(most=1)
    equal(lease.complete(more=5, links=links("a/4")), (0, False))
    equal(lease.paths(), ["/2", "/3", "/4"])
    equal(crawl.waits(worker="other"), True)
    equal(lease.complete(more=5), (0, True))
    equal(crawl.is_over(), True)


def test_complete_of_a_lease_that_is_anothers_stores_nothing_but_links():
    crawl = Crawl()
    crawl.add("a/1")
    lost = crawl.lose(worker="slow")
    lease = crawl.acquire(worker="quick")
    equal(lost.complete(links=links("a/2")), (1, True))
    equal(crawl.collect()[2], [])
    equal(lease.complete(result=b"quick"), (0, True))
    equal(crawl.collect()[2], [b"quick"])
    equal(crawl.acquire().paths(), ["/2"])


def test_a_token_that_comes_twice_is_told_apart_by_its_worker():
    crawl = Crawl()
    crawl.add("a/1")
    lease = crawl.acquire(worker="one")
    stranger = Lease(crawl, "two", [b"lease", lease.token.encode(), b"", b"0", b"0", b"0", b"0", b"0", b"1", b"x"])
    equal(stranger.complete(), (1, True))
    equal(stranger.renew(), False)
    equal(stranger.release(), (0, True))
    equal(lease.renew(), True)
    equal(lease.complete(), (0, True))


def test_a_token_does_not_come_twice_though_redis_has_lost_it():
    """Redis must not issue the token of a lease again even if it has lost that lease. Otherwise the worker of the old
    lease, which may still be running, could complete the items of another worker."""
    crawl = Crawl()
    crawl.add("a/1", "b/1")
    before = redis("GET", crawl.key)
    lost = crawl.acquire()
    redis("SET", crawl.key, before)
    redis("DEL", f"{crawl.key}:l:{lost.token}")
    time.sleep(0.01)  # a restart takes longer than this
    again = crawl.acquire()
    equal(int(again.token) > int(lost.token), True)
    equal(lost.complete(), (1, True))
    equal(again.complete(), (0, True))


def test_complete_twice_is_recorded_once():
    crawl = Crawl()
    crawl.add("a/1", "a/2")
    lease = crawl.acquire()
    equal(lease.complete(1), (0, False))
    equal(lease.complete(1), (1, False))
    equal(crawl.numbers(), (0, 1, 0, 1))
    equal(len(crawl.collect()[2]), 1)


def test_complete_stores_only_the_results_that_are_new():
    crawl = Crawl()
    crawl.add("a/1", "a/2", "a/3")
    lease = crawl.acquire()
    lease.complete(2, result=b"two")
    lease.send(b"oneTWO3")
    reply = crawl.run("complete", lease.token, lease.worker, SPAN, 0, 0, "", lease.calls, 7, packed([1, 2, 3]),
                      packed([3, 3, 1]))
    equal([int(word) for word in reply], [1, 1, 0])
    _, numbers, results = crawl.collect()
    equal((crawl.number("bytes"), results), (10, [b"two", b"one", b"3"]))
    equal((crawl.collect(numbers[-1])[2], crawl.number("bytes")), ([], 0))


def complete_five(second, last):
    """Complete five items of one lease with results of 1000 bytes, but with these lengths of the second and of the
    last result. Returns the crawl."""
    crawl, lengths = Crawl(), [1000, second, 1000, 1000, last]
    crawl.add(*(f"a/{n}" for n in range(5)))
    lease = crawl.acquire()
    lease.send(b"".join(b"%d" % n * length for n, length in enumerate(lengths)))
    crawl.run("complete", lease.token, lease.worker, SPAN, 0, 0, "", lease.calls, sum(lengths), packed(range(1, 6)),
              packed(lengths))
    return crawl


def command_calls():
    """Return the number of calls of each Redis command since the last reset of the statistics."""
    lines = redis("INFO", "commandstats").decode().splitlines()[1:]
    return {line.split(":")[0]: line.split("calls=")[1].split(",")[0] for line in lines if line}


def test_complete_does_not_copy_results_because_one_is_empty():
    calls = []
    for second, last in (1000, 1000), (0, 1000), (1000, 0), (0, 0):
        redis("CONFIG", "RESETSTAT")
        crawl = complete_five(second, last)
        calls.append(command_calls())
        lengths = [1000, second, 1000, 1000, last]
        _, numbers, results = crawl.collect()
        equal(results, [b"%d" % n * length for n, length in enumerate(lengths) if length])
        equal(crawl.number("bytes"), sum(lengths))
        equal((crawl.collect(numbers[-1])[2], crawl.number("bytes")), ([], 0))
        equal(redis("KEYS", f"{crawl.key}:b:*"), [])
    equal([one == calls[0] for one in calls], [True] * 4)


def test_complete_without_the_bytes_of_the_results_changes_nothing():
    crawl = Crawl()
    crawl.add("a/1", "a/2")
    lease = crawl.acquire()
    for sent, length in (b"", 3), (b"four", 3):
        lease.send(sent)
        try:
            crawl.run("complete", lease.token, lease.worker, SPAN, 0, 0, "", lease.calls, length, packed([1]),
                      packed([length]), *links("a/3"))
        except Failed as failure:
            contains(str(failure), "NORESULTS")
        else:
            raise AssertionError("it did not fail")
    equal((crawl.numbers(), crawl.collect()[2]), ((0, 2, 0, 0), []))
    equal(lease.complete(1), (0, False))


def test_results_expire_unless_they_are_stored():
    crawl = Crawl()
    crawl.add("a/1")
    lease = crawl.acquire()
    lease.complete(1)
    lease.complete(1)
    sent, = redis("KEYS", f"{crawl.key}:sent:*")
    stored, = redis("KEYS", f"{crawl.key}:b:*")
    equal((0 < redis("PTTL", sent) <= 60000, redis("PTTL", stored)), (True, -1))


def test_complete_prolongs_the_lease():
    crawl = Crawl()
    crawl.add("a/1", "a/2")
    lease = crawl.lose()
    equal(lease.complete(1), (0, False))
    equal(crawl.reap(), [0, 0])


# ---- renew -----------------------------------------------------------------------------

def test_renew_prolongs_what_is_held_and_tells_what_is_lost():
    crawl = Crawl()
    crawl.add("a/1", "b/1")
    kept, lost = crawl.lose(), crawl.lose()
    equal(kept.renew(), True)
    equal(crawl.reap(), [1, 0])
    equal(redis.run("renew", crawl.key, "worker", SPAN, kept.token, lost.token), [b"1", b"0"])


# ---- release ---------------------------------------------------------------------------

def test_release_gives_back_what_is_to_be_tried_again_later():
    crawl = Crawl()
    crawl.add("a/1", "a/2")
    lease = crawl.acquire()
    equal(lease.release(1, delay=500000, edit=lambda one: one[:1] + b"\1" + one[2:]), (0, False))
    equal(crawl.numbers(), (0, 1, 1, 0))
    equal(lease.complete(2), (0, True))
    equal(crawl.waits(), True)
    crawl.pass_time()
    again = crawl.acquire()
    equal(list(again.items.values()), [item("/1", tries=1)])


def test_release_of_all_gives_the_lease_back_as_it_was():
    crawl = Crawl()
    crawl.add("a/1", "a/2")
    equal(crawl.acquire().release(), (0, True))
    equal(crawl.numbers(), (2, 0, 0, 0))
    lease = crawl.acquire(worker="other")
    equal(sorted(lease.paths()), ["/1", "/2"])


def test_a_worker_that_leaves_gives_back_all_it_has():
    crawl = Crawl()
    crawl.add("a/1", "a/2", "b/1", "c/1")
    crawl.acquire(most=1)
    equal(crawl.ask(most=1)[0], b"lease")  # the reply is lost
    others = crawl.acquire(worker="other")
    equal(crawl.numbers(), (1, 3, 0, 0))
    equal(crawl.run("leave", "worker"), [b"2"])
    equal(crawl.numbers(), (3, 1, 0, 0))
    equal(crawl.run("leave", "worker"), [b"0"])
    leases = [crawl.acquire(worker="other") for _ in range(2)]
    equal(sorted(path for lease in leases for path in lease.paths()), ["/1", "/1", "/2"])
    equal([flags_of(one) for lease in leases for one in lease.items.values()], [0, 0, 0])
    equal(others.renew(), True)


def test_release_of_what_is_lost_does_nothing():
    crawl = Crawl()
    crawl.add("a/1")
    lost = crawl.lose()
    equal(crawl.reap(), [1, 0])
    equal(lost.release(1), (1, True))
    equal(crawl.numbers(), (1, 0, 0, 0))


def test_release_leaves_the_host_alone():
    crawl = Crawl()
    crawl.add("a/1")
    crawl.acquire().release(1, pause=50000)
    equal(crawl.waits(), True)


# ---- reap ------------------------------------------------------------------------------

def test_reap_gives_out_singly_what_was_lost():
    crawl = Crawl()
    crawl.add("a/1", "a/2", "a/3")
    crawl.lose(most=2)
    equal(crawl.reap(), [1, 0])
    equal(crawl.numbers(), (3, 0, 0, 0))
    lease = crawl.acquire()
    equal((len(lease.items), flags_of(lease.items[1]), losses_of(lease.items[1])), (1, SINGLE, 0))
    equal(lease.complete(more=5), (0, False))
    equal(len(lease.items), 1)
    lease.complete(more=5)
    equal(lease.paths(), ["/3"])


def test_what_is_lost_singly_often_is_given_up():
    crawl = Crawl()
    crawl.add("a/1", "a/2")
    crawl.lose()
    crawl.reap()
    for losses in range(3):
        lease = crawl.lose()
        equal(list(lease.items.values()), [item("/1", flags=SINGLE, losses=losses)])
        crawl.reap()
    lease = crawl.acquire()
    equal(flags_of(lease.items[1]), SINGLE + GIVEN_UP)
    lease.complete()
    equal(list(crawl.acquire().items.values()), [item("/2", flags=SINGLE)])


def test_reap_leaves_alone_what_has_time():
    crawl = Crawl()
    crawl.add("a/1", "b/1")
    crawl.acquire()
    crawl.acquire().release(1, delay=50000)
    equal(crawl.reap(), [0, 0])
    equal(crawl.numbers(), (0, 1, 1, 0))


def test_workers_that_wait_reap():
    crawl = Crawl()
    crawl.add("a/1")
    crawl.lose(worker="gone")
    equal(crawl.acquire(worker="there").paths(), ["/1"])


# ---- what belongs to the site ----------------------------------------------------------

def test_what_leads_out_of_the_site_is_held_until_all_starts_are_through():
    crawl = Crawl()
    crawl.add("a/0", "b/0", flags=START)
    first, second = crawl.acquire(), crawl.acquire()
    equal((first.starts, crawl.number("starts")), (2, 2))
    first.complete(links=links("h:c/1", "h:c/1", "h:d/1"))
    equal([int(word) > 500 for word in crawl.ask(kind="h")[1:2]], [True])  # before that time the queue is empty
    second.release(1, delay=500000)
    equal(crawl.waits(kind="h"), True)
    crawl.pass_time()
    again = crawl.acquire()
    equal(flags_of(again.items[1]), START)
    again.complete(links=[*link("c/0", flags=START), "o", "", "http://c"])
    equal(crawl.waits(kind="h"), True)
    last = crawl.acquire()
    equal((last.host, last.starts, last.origins), ("shttp://c", 1, 1))
    last.complete()
    equal(redis("SMEMBERS", f"{crawl.key}:origins"), [b"http://c"])
    held = crawl.acquire(kind="h")
    equal((held.host, held.paths(), held.starts), ("h", ["http://c/1", "http://d/1"], 0))
    equal(crawl.is_over(), False)
    equal(held.complete(result=b"", links=links("c/1", "x:d/1")), (0, True))
    equal(crawl.acquire().paths(), ["/1"])
    equal(crawl.acquire(kind="x").host, "xhttp://d")
    equal((len(crawl.collect()[2]), crawl.number("through")), (3, 3))


def test_a_start_that_is_known_is_counted_once():
    crawl = Crawl()
    crawl.add("a/0", "a/0", flags=START)
    crawl.add("a/0", flags=START)
    equal(crawl.number("starts"), 1)
    crawl.lose()
    crawl.reap()
    equal(crawl.number("starts"), 1)
    crawl.acquire().complete()
    equal(crawl.number("starts"), 0)


# ---- collect ---------------------------------------------------------------------------

def test_results_of_one_script_have_numbers_of_their_own():
    crawl = Crawl()
    crawl.add(*(f"a/{n}" for n in range(5)))
    lease = crawl.acquire()
    lease.complete(1, 3, result=b"x" * 10)
    lease.complete(2, 4, 5, result=b"y" * 10)
    over, ids, results = crawl.collect()
    equal((over, len(results), ids == sorted(set(ids))), (False, 5, True))
    equal(redis("XLEN", f"{crawl.key}:results"), 2)
    equal(crawl.collect(ids[1])[2], [b"y" * 10] * 3)
    equal((crawl.number("bytes"), crawl.collect(ids[4])), (30, (False, [], [])))
    equal((crawl.number("bytes"), redis("KEYS", f"{crawl.key}:b:*")), (0, []))


def completed(count, **options):
    crawl = Crawl(**options)
    crawl.add(*(f"a/{n}" for n in range(count)))
    lease = crawl.acquire(most=count)
    for n in range(1, count + 1):
        lease.complete(n, result=b"%d" % n)
    return crawl


def test_collect_hands_out_in_order_and_forgets_what_was_collected():
    crawl = completed(5)
    over, ids, results = crawl.collect(most=2)
    equal((over, results), (False, [b"1", b"2"]))
    equal(ids == sorted(set(ids)), True)
    equal(crawl.collect(most=2)[2], [b"1", b"2"])
    equal(crawl.number("bytes"), 5)
    equal(crawl.collect(ids[1], most=2)[2], [b"3", b"4"])
    equal(crawl.number("bytes"), 3)
    ids, results = crawl.collect(ids[1])[1:]
    equal(results, [b"3", b"4", b"5"])
    equal(crawl.is_over(), True)
    equal(crawl.collect(ids[2]), (True, [], []))
    equal(crawl.number("bytes"), 0)


def test_collect_keeps_what_a_collector_has_a_part_of():
    crawl = Crawl()
    crawl.add(*(f"a/{n}" for n in range(5)))
    lease = crawl.acquire()
    lease.complete(1, result=b"x")
    lease.complete(2, 3, 4, 5, result=b"y" * 10)
    ids = crawl.collect()[1]
    equal(crawl.collect(ids[2]), (False, ids[1:], [b"y" * 10] * 4))
    equal(crawl.number("bytes"), 40)
    equal(crawl.collect(ids[4])[1:], ([], []))


def test_who_comes_when_all_was_forgotten_leaves_nothing_behind():
    crawl = completed(1)
    equal(crawl.is_over(), True)
    for key in redis("KEYS", f"{crawl.key}:*"):
        redis("DEL", key)
    redis("EXPIRE", crawl.key, 3600)
    crawl.add("a/1", "b/1", flags=START)
    equal(crawl.is_over(), True)
    crawl.reap()
    crawl.collect()
    equal(redis("KEYS", f"{crawl.key}*"), [crawl.key.encode()])
    equal(0 < redis("TTL", crawl.key) <= 3600, True)


def test_collect_of_what_is_collected_elsewhere_takes_the_rest():
    crawl = completed(3)
    ids = crawl.collect()[1]
    crawl.collect(ids[1])
    equal(crawl.collect(0)[2], [b"3"])


def test_workers_pause_while_nobody_collects():
    crawl = Crawl(max_bytes=10)
    crawl.add("a/1", "a/2", "a/3")
    lease = crawl.acquire(most=2)
    lease.complete(1, result=b"x" * 11)
    equal(crawl.ask(worker="other"), [b"full"])
    equal(lease.complete(2, more=5, result=b"y"), (0, True))
    ids = crawl.collect()[1]
    crawl.collect(ids[1])
    equal(crawl.acquire().paths(), ["/3"])


# ---- all of them -----------------------------------------------------------------------

def site_of(seed, pages=120, hosts=6):
    """Return pages that link to each other."""
    chance = random.Random(seed)
    urls = [f"h{n % hosts}/{n}" for n in range(pages)]
    return {url: [urls[0], *chance.sample(urls, 4)] + [urls[(n + 1) % pages]] for n, url in enumerate(urls)}


def crawl_at_random(seed, **options):
    """Crawl with workers that complete items, release them, or die with them, at random."""
    chance, site, crawl = random.Random(seed), site_of(seed), Crawl(**options)
    crawl.add("h0/0")
    held, tries = [], 0
    while True:
        tries += 1
        equal(tries < 20000, True)
        if held and chance.random() < 0.7:
            lease = chance.choice(held)
            number = chance.choice(sorted(lease.items))
            url = lease.host[8:] + path_of(lease.items[number])
            what = chance.random()
            if what < 0.05:
                over = lease.release()[1]
            elif what < 0.15:
                over = lease.release(number, delay=500000)[1]
                lease.items.pop(number)
            elif what < 0.2:
                redis("ZADD", f"{crawl.key}:leases", 0, lease.token)
                held.remove(lease)
                continue
            else:
                depth = lease.items[number][5] + 1
                over = lease.complete(number, more=chance.randrange(3), result=url.encode(),
                                      links=links(*site[url], depth=depth))[1]
            equal(over or bool(lease.items), True)
            if over:
                held.remove(lease)
            continue
        worker = f"worker {chance.randrange(3)}"
        reply = crawl.ask(most=chance.randrange(1, 5), worker=worker)
        if reply[0] == b"over":
            break
        if reply[0] == b"lease":
            held.append(Lease(crawl, worker, reply))
        elif not held:
            crawl.pass_time()
    equal(held, [])
    results = crawl.collect(most=1000)[2]
    equal(sorted(result.decode() for result in results), sorted(site))
    equal(crawl.numbers(), (0, 0, 0, len(site)))
    left = {key.decode()[len(crawl.key) + 1]
            for key in redis("KEYS", crawl.key + ":*")}
    equal(left <= {"s", "h", "r", "b"}, True)
    equal(len(redis("KEYS", crawl.key + ":b:*")), redis("XLEN", crawl.key + ":results"))


def test_each_page_is_recorded_once_whatever_becomes_of_the_workers():
    for seed in range(6):
        crawl_at_random(seed, split=1 + seed % 2, by_depth=seed // 3)


class Remembering:
    """A worker that sends each link only once, and stores the results that it collects."""

    def __init__(self, crawl, site):
        self.crawl, self.site, self.sent = crawl, site, set()
        self.after, self.collected = 0, []

    def new_links(self, url):
        found = [other for other in dict.fromkeys(self.site[url]) if other not in self.sent]
        self.sent.update(found)
        return links(*found)

    def work(self, steps=None):
        """Process leases until the crawl has ended, and return None. With `steps`, stop in the middle of lease number
        `steps`, and return that lease."""
        while steps is None or steps > 0:
            reply = self.crawl.ask(most=3)
            if reply[0] == b"over":
                return None
            if reply[0] == b"wait":
                self.crawl.pass_time()
                continue
            lease = Lease(self.crawl, "worker", reply)
            for number in sorted(lease.items)[:1 if steps == 1 else None]:
                url = lease.host[8:] + path_of(lease.items[number])
                lease.complete(number, links=self.new_links(url), result=url.encode())
            steps = steps and steps - 1
        return lease

    def collect(self):
        over, ids, results = self.crawl.collect(self.after, most=1000)
        self.after = ids[-1] if ids else self.after
        self.collected += [result.decode() for result in results]


def test_a_lost_second_repeats_work_and_loses_none():
    global redis
    options, outer = ["--appendonly", "yes", "--appendfsync", "everysec"], redis
    site = site_of(11, pages=300)
    try:
        with tempfile.TemporaryDirectory(prefix="coil aof ") as folder:
            with redis_server(*options, folder=folder) as path:
                redis = Client(path)
                load_scripts(redis)
                crawl = Crawl()
                worker = Remembering(crawl, site)
                crawl.add("h0/0")
                worker.work(20)
                worker.collect()
                files = list(pathlib.Path(folder).glob("appendonlydir/*.incr.aof"))
                if len(files) != 1:
                    raise Skip("this Redis writes its log to another file")
                file = files[0]
                wait_until(lambda: b"aof_buffer_length:0\r" in redis("INFO", "persistence"))
                size = file.stat().st_size
                worker.work(20)
                worker.collect()
                stale, through = worker.work(3), crawl.number("through")
                redis.close()
            os.truncate(file, size)
            with redis_server(*options, folder=folder) as path:
                redis = Client(path)
                load_scripts(redis)
                equal(crawl.number("through") < through, True)
                stale.complete(result=b"h0/0")
                worker.sent.clear()  # because Redis' run_id has changed
                worker.work()
                worker.collect()
                equal(set(worker.collected), set(site))
                equal(crawl.numbers()[:3], (0, 0, 0))
                redis.close()
    finally:
        redis = outer


def test_what_redis_has_no_memory_for_is_not_half_done():
    with redis_server("--maxmemory", "3mb", "--maxmemory-policy", "noeviction") as path:
        client = Client(path)
        load_scripts(client)
        client.run("begin", "coil:{x}", 1, "seed", "setup", 0, 0, 0, 1)
        added = 0
        try:
            while added < 200000:
                client.run("add", "coil:{x}", 1, *links(*(f"a/{n}" for n in range(added, added + 500))))
                added += 500
        except Failed as failure:
            contains(str(failure), "OOM")
        equal(0 < added < 200000, True)
        equal(int(struct.unpack(f"<{len(COUNTERS)}d", client("GET", "coil:{x}"))[COUNTERS.index("known")]), added)
        equal(client("LLEN", "coil:{x}:q0:shttp://a"), added)
        client.close()


def test_a_redis_that_is_full_can_be_collected():
    crawl = completed(3)
    redis("CONFIG", "SET", "maxmemory", 1)
    try:
        ids = crawl.collect()[1]
        equal((len(ids), crawl.collect(ids[2])[1:]), (3, ([], [])))
        equal((crawl.number("bytes"), redis("XLEN", f"{crawl.key}:results")), (0, 0))
    finally:
        redis("CONFIG", "SET", "maxmemory", 0)


def main():
    global redis
    try:
        with redis_server() as path:
            redis = Client(path)
            load_scripts(redis)
            return run_tests(globals(), sys.argv[1:])
    except Skip as why:
        print(f"skip: {why}\n0 passed, 0 failed, 1 skipped")
        return 0


if __name__ == "__main__":
    sys.exit(main())
