#!/usr/bin/env python3
"""Test crawls that several coil-crawl processes share in Redis (--frontier, --crawl), and the results that are
collected.

    test_shared_crawl.py COIL_CRAWL [--all] [TEST...]

Each test has its own redis-server. With --all, processes are killed dozens of times.
"""
import contextlib
import os
import random
import signal
import socket
import sys
import tempfile
import threading
import time

from check import contains, equal, run_tests
from crawling import BROKEN, FAILED, INTERRUPTED, USAGE, WELL, run, sets, started, wait_until
from hostile import certify
from redis_server import Client, redis_server
from server import Site, html, page, redirect, response, slow, status

ALL = "--all" in sys.argv
NAME = ("--crawl", "test")
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
OPTIONS = ("--fragments", "all", "--obey-nofollow", "--max-tasks", "4", "--max-redirect", "8")


def ended(code, expected, err):
    if code != expected:
        raise AssertionError(f"status {code} and not {expected}: {err}")


def end(process):
    _, err = process.communicate(timeout=300)
    ended(process.returncode, WELL, err)
    return err


def frontier(path):
    """Return the --frontier option for the path of a local socket. A tuple of options is returned unchanged."""
    if not isinstance(path, str):
        return path
    return ("--frontier", f"unix://{path.replace(' ', '%20')}?db=2", *NAME)


def answers(own, other, delay=0):
    """Return answers of every kind: ids, redirects, pages that robots.txt forbids, invalid URLs, retries, sitemaps,
    and links between pages. The result does not depend on the order of requests."""
    def after(answer):
        return slow(delay, answer) if delay else answer

    return {
        "/robots.txt": response("User-agent: *\nDisallow: /no\nSitemap: /map.xml\n", content_type="text/plain"),
        "/map.xml": response(f"<urlset {NAMESPACE}><url><loc>{own}mapped#x</loc></url></urlset>",
                             content_type="application/xml"),
        "/mapped": response("x", content_type="image/png", headers=["Link: </style.css>; rel=stylesheet"]),
        "/style.css": response("a { background: url(/missing.png) }\n@import '/more.css';", content_type="text/css"),
        "/more.css": response("", content_type="text/css"),
        "/": page("/a#x", "/a#no", "/moved#x", "/1", "/c1", "/no", "/gone", "http://", "mailto:x#y", "/late",
                  "/" + "y" * 3000, "/out", other, other + "#x", other + "#no", *(f"/m/{n}" for n in range(60))),
        "/a": html("<i id=x></i>" + '<a href="/a#z">x</a>' * 30),
        **{f"/m/{n}": after(html(f'<i id=i{n}></i><a href="/m/{n}/sub">x</a><a href="/m/{(7 * n) % 60}#i{n}">'
                                 f'<a href="{other}{n % 9}#x">x</a><img src=/i.png>')) for n in range(60)},
        **{f"/m/{n}/sub": after(page(f"/m/{n}#i{n}", f"/m/{n}/deep")) for n in range(0, 60, 2)},
        "/moved": redirect("/a", 301), "/out": redirect(other + "#y"), "/late": [status(503), page("/a")],
        "/c1": redirect("/c2"), "/c2": redirect("/c1"), "/1": redirect("/2"),
        **{f"/{n}": redirect(f"/{n + 1}") for n in range(2, 14)},
    }


def other_answers():
    return {"/": html("<i id=x>"), **{f"/{n}": html("<i id=x>" if n % 2 else "") for n in range(7)}, "/7": redirect("/1")}


@contextlib.contextmanager
def sites(delay=0):
    """Start the two sites. Yields the site to crawl and a temporary folder."""
    with Site(other_answers()) as other, Site({}) as site, \
            tempfile.TemporaryDirectory(prefix="coil shared ") as folder:
        site.answers = answers(site.url, other.url, delay)
        yield site, folder


def afresh(site):
    """Reset the site: the next crawl gets the same answers as the first one."""
    site.answers["/late"] = [status(503), page("/a")]


def alone(site, folder, *options):
    file = os.path.join(folder, "alone.jsonl")
    code, _, err = run(*OPTIONS, *options, "-f", f"jsonl:{file}", site.url)
    equal((code, err), (BROKEN, ""))
    afresh(site)
    return sets(file)


def collected(path, folder, *options, code=BROKEN):
    """Collect the crawl. Returns its findings, and stderr."""
    file = os.path.join(folder, "collected.jsonl")
    got, _, err = run("collect", os.path.join(folder, "state"), *frontier(path), "-f", f"jsonl:{file}", *options)
    ended(got, code, err)
    return sets(file) if os.path.exists(file) else [], err


def share(path, site, count, *options):
    """Crawl the site with `count` processes at the same time. Returns the output of each process."""
    reported = [None] * count

    def one(n):
        code, out, err = run(*OPTIONS, *frontier(path), *options, site.url)
        reported[n] = code, out, err

    threads = [threading.Thread(target=one, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return reported


def check_same(count, *options, delay=0):
    with redis_server() as path, sites(delay) as (site, folder):
        whole = alone(site, folder, *options)
        for code, out, err in share(path, site, count, *options):
            ended(code, WELL, err)
            equal(out, "")
            contains(err, "the crawl is over")
        asked = len(site.requests)
        found, err = collected(path, folder)
        difference(found, whole)
        equal((err, len(site.requests)), ("", asked))  # nothing is missing, so collect sent no requests


def difference(found, whole):
    equal(sorted(set(found) - set(whole))[:5], [])
    equal(sorted(set(whole) - set(found))[:5], [])
    equal(len(found), len(whole))


# ---- the same as by one ----------------------------------------------------------------


def test_one_process_finds_what_it_finds_alone():
    check_same(1)


def test_two_processes_find_what_one_finds():
    check_same(2, delay=0.02)


def test_four_processes_find_what_one_finds():
    check_same(4, delay=0.02)


def test_eight_processes_find_what_one_finds():
    check_same(8, delay=0.02)


def test_depth_is_the_shortest_whoever_has_found_it():
    check_same(3, "--max-depth", "2", delay=0.02)


def test_processes_that_split_a_host():
    check_same(3, "--split-host", "3", delay=0.02)


def test_a_start_that_redirects_decides_for_all_what_belongs_to_the_site():
    """Links are held back until the redirect of the start URL is known. Only then are the linked pages of the site
    searched."""
    with redis_server() as path, tempfile.TemporaryDirectory(prefix="coil shared ") as folder, \
            Site({}) as first, Site({}) as second:
        there = second.url.replace("127.0.0.1", "localhost")
        first.answers = {"/": slow(0.3, redirect(there)), "/quick": page(there + "in", "/a"), "/a": page(there + "in2")}
        second.answers = {"/": page("/in"), "/in": page("/in3"), "/in2": page("/gone"), "/in3": html("")}
        start = (first.url.replace("127.0.0.1", "localhost"), first.url.replace("127.0.0.1", "localhost") + "quick")
        file = os.path.join(folder, "alone.jsonl")
        code, _, err = run("-f", f"jsonl:{file}", *start)
        ended(code, BROKEN, err)
        with contextlib.ExitStack() as stack:
            members = [stack.enter_context(started(*frontier(path), *start)) for _ in range(2)]
            for member in members:
                end(member)
        difference(collected(path, folder)[0], sets(file))


# ---- a Redis far away ------------------------------------------------------------------


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def redis_under_tls(stack, folder):
    """Start Redis with a password and TLS. Returns the port and the certificate."""
    certificate, key = certify(folder)
    for _ in range(20):
        port = free_port()
        with contextlib.suppress(RuntimeError):  # another process has taken the port meanwhile
            stack.enter_context(redis_server("--tls-port", str(port), "--tls-cert-file", certificate, "--tls-key-file", key,
                                             "--tls-auth-clients", "no", "--requirepass", "it's @ secret"))
            return port, certificate
    raise AssertionError("no port is free")


def test_redis_is_asked_under_tls():
    with contextlib.ExitStack() as stack:
        data = stack.enter_context(tempfile.TemporaryDirectory(prefix="coil tls "))
        port, certificate = redis_under_tls(stack, data)
        site, folder = stack.enter_context(sites())
        whole = alone(site, folder)
        address = f"rediss://:it's%20%40%20secret@127.0.0.1:{port}/2"
        for url, options, words in ((address, (), "the certificate of '127.0.0.1' is refused"),
                                    (address.replace("secret", "known"), ("--cacert", certificate), "WRONGPASS"),
                                    (address.replace("rediss:", "redis:"), (), "127.0.0.1")):
            code, out, err = run("--frontier", url, *NAME, *options, site.url)
            ended(code, FAILED, err)
            equal((out, "secret" in err), ("", False))
            contains(err, words)
        far = ("--frontier", address, *NAME, "--cacert", certificate)
        for code, _, err in share(far, site, 2):
            ended(code, WELL, err)
        difference(collected(far, folder)[0], whole)


# ---- whatever ends a process -----------------------------------------------------------


def members(stack, path, site, count, *options):
    return [stack.enter_context(started(*OPTIONS, *frontier(path), *options, site.url)) for _ in range(count)]


def end_some(site, path, chance, by, times, count=3):
    """End a random process and start another one, as often as `times` says. Then wait until the crawl has ended."""
    with contextlib.ExitStack() as stack:
        running = members(stack, path, site, count)
        for _ in range(times):
            time.sleep(chance.random() * 0.3)
            gone = chance.choice(running)
            gone.send_signal(by)
            running.remove(gone)
            equal(gone.wait(timeout=120) in (-by, INTERRUPTED, WELL), True)
            running += members(stack, path, site, 1)
        for one in running:
            end(one)


def test_processes_that_are_interrupted_give_back_what_they_have():
    with redis_server() as path, sites(0.02) as (site, folder):
        whole = alone(site, folder)
        end_some(site, path, random.Random(1), signal.SIGINT, 12 if ALL else 4)
        difference(collected(path, folder)[0], whole)


def test_processes_that_are_killed_lose_nothing():
    for seed in range(10 if ALL else 1):
        with redis_server() as path, sites(0.02) as (site, folder):
            whole = alone(site, folder)
            end_some(site, path, random.Random(seed), signal.SIGKILL, 12 if ALL else 3)
            difference(collected(path, folder)[0], whole)


def is_begun(path):
    client = Client(path)
    client("SELECT", 2)
    begun = client("EXISTS", "coil:{test}")
    client.close()
    return begun == 1


def test_a_collector_that_is_killed_goes_on():
    with redis_server() as path, sites(0.02) as (site, folder):
        whole = alone(site, folder)
        with contextlib.ExitStack() as stack:
            running = members(stack, path, site, 2)
            wait_until(lambda: is_begun(path))
            for n in range(3):
                with started("collect", os.path.join(folder, "state"), *frontier(path)) as one:
                    wait_until(lambda: os.path.exists(os.path.join(folder, "state", "crawl.db")) or one.poll() is not None)
                    time.sleep(0.1 * n)
                    one.send_signal(signal.SIGKILL if n != 1 else signal.SIGINT)
                    equal(one.wait(timeout=60) in (-9, -2, INTERRUPTED, BROKEN), True)  # -2: before its handler was installed
            for one in running:
                end(one)
        difference(collected(path, folder)[0], whole)
        client = Client(path)
        client("SELECT", 2)
        equal(client("DBSIZE"), 2)
        client.close()


def test_redis_may_be_started_again_in_the_middle():
    """If a Redis with an append-only file restarts, it may lose the results of the last second. The crawl must fetch
    their pages again."""
    options = ("--appendonly", "yes", "--appendfsync", "everysec")
    with tempfile.TemporaryDirectory(prefix="coil aof ") as data, sites(0.03) as (site, folder), \
            contextlib.ExitStack() as stack:
        whole = alone(site, folder)
        before = len(site.requests)
        socket = os.path.join(data, "socket")
        with redis_server(*options, folder=data, path=socket):
            running = members(stack, socket, site, 2)
            wait_until(lambda: len(site.requests) > before + 60)
        for one in running:
            contains(one.stderr.readline(), "trying again")
        with redis_server(*options, folder=data, path=socket):
            for one in running:
                contains(end(one), "Redis is reachable again\n")
            difference(collected(socket, folder)[0], whole)


def test_who_cannot_put_away_what_it_knows_says_so():
    with redis_server() as path, sites() as (site, folder):
        code, _, err = run(*OPTIONS, *frontier(path), site.url, environment={"TMPDIR": os.path.join(folder, "none")})
        equal(code, WELL)
        contains(err, "none: no file can be made there")


# ---- what is refused -------------------------------------------------------------------


def test_other_options_are_another_crawl():
    with redis_server() as path, sites() as (site, _):
        equal(run(*OPTIONS, *frontier(path), site.url)[0], WELL)
        code, _, err = run(*OPTIONS, *frontier(path), "--max-depth", "1", site.url)
        equal(code, FAILED)
        contains(err, "test: this crawl was begun with other options or starts")
        equal(run(*OPTIONS, *frontier(path), site.url)[0], WELL)


def keys_of(client):
    return {key: client("DUMP", key) for key in client("KEYS", "*")}


def test_a_crawl_of_another_version_is_refused_and_left_alone():
    with redis_server() as path, sites() as (site, folder):
        equal(run(*OPTIONS, *frontier(path), site.url)[0], WELL)
        client, state, asked = Client(path), os.path.join(folder, "state"), len(site.requests)
        client("SELECT", 2)
        for change, words in ((("HSET", "format", 99), "test: a newer version of coil-crawl began this crawl: its data in "
                               "Redis has format 99, but this version needs format 1; run the same version"),
                              (("HDEL", "format"), "test: an older version of coil-crawl began this crawl: its data in "
                               "Redis has format 0, but this version needs format 1; run the same version")):
            client(change[0], "coil:{test}:setup", *change[1:])
            before = keys_of(client)
            for command in (*OPTIONS, site.url), ("collect", state):
                code, out, err = run(*command, *frontier(path))
                equal((code, out), (FAILED, ""))
                contains(err, words)
            equal((keys_of(client), len(site.requests), os.path.exists(state)), (before, asked, False))
        client.close()


def test_an_option_of_another_version_is_named():
    with redis_server() as path, sites() as (site, folder):
        equal(run(*OPTIONS, *frontier(path), site.url)[0], WELL)
        client, state = Client(path), os.path.join(folder, "state")
        client("SELECT", 2)
        setup = client("HGET", "coil:{test}:setup", "setup")
        client("HSET", "coil:{test}:setup", "setup", setup.replace(b"--fragments", b"--fractions"))
        code, out, err = run("collect", state, *frontier(path))
        equal((code, out, os.path.exists(state)), (FAILED, "", False))
        equal(err, "coil-crawl: the crawl was begun with the option --fractions, which this version of coil-crawl does "
                   "not have\ncoil-crawl: the options of the crawl cannot be used\n")
        client.close()


def test_what_cannot_be_is_said():
    for options, words in (
            (("--frontier", "redis://localhost/"), "--frontier and --crawl must be given together"),
            (NAME, "--frontier and --crawl must be given together"),
            (("--frontier", "redis://localhost/", "--crawl", "a b"), "--crawl: a name consists of"),
            (("--frontier", "redis://localhost/", *NAME, "-d", "x"), "but for collect"),
            (("--frontier", "redis://localhost/", *NAME, "-f", "jsonl"), "but for collect"),
            (("--frontier", "redis://localhost/", *NAME, "."), "not of files")):
        code, _, err = run(*options, "http://127.0.0.1:9/")
        equal(code, USAGE)
        contains(err, words)
    code, _, err = run("collect", "x")
    equal(code, USAGE)
    contains(err, "collect needs --frontier and --crawl")


def test_a_redis_that_is_not_there():
    with tempfile.TemporaryDirectory(prefix="coil shared ") as folder:
        for words in (("http://127.0.0.1:9/",), ("collect", os.path.join(folder, "state"))):
            code, out, err = run("--frontier", "redis://127.0.0.1:1/", *NAME, *words)
            equal((code, out), (FAILED, ""))
            contains(err, "coil-crawl: redis://127.0.0.1:1")
        equal(os.listdir(folder), [])
        code, _, err = run("--frontier", "http://127.0.0.1:1/", *NAME, "http://127.0.0.1:9/")
        equal(code, FAILED)
        contains(err, "--frontier: not an address such as redis://HOST:PORT/DB")


def test_what_redis_says_does_not_speak_to_the_terminal():
    """If an error message of Redis contains escape sequences, coil-crawl does not print them."""
    def answer():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    connection.recv(4096)
                    connection.sendall("-ERR no\x1b[2J\x07 \u202e\u009b1m\r\n".encode() * 8)
                    connection.recv(1)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=answer, daemon=True).start()
        code, out, err = run("--frontier", f"redis://127.0.0.1:{listener.getsockname()[1]}/", *NAME, "http://127.0.0.1:9/")
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
    equal((code, out), (FAILED, ""))
    contains(err, "no?[2J? ??1m")


def test_a_crawl_that_is_not_there_is_not_collected():
    with redis_server() as path, tempfile.TemporaryDirectory(prefix="coil shared ") as folder:
        code, _, err = run("collect", os.path.join(folder, "state"), *frontier(path))
        equal(code, FAILED)
        contains(err, "there is no such crawl")
        equal(os.listdir(folder), [])


def test_a_folder_that_has_another_crawl_is_left_alone():
    with redis_server() as path, sites() as (site, folder):
        state = os.path.join(folder, "state")
        equal(run(*OPTIONS, "-d", state, site.url)[0], BROKEN)
        before = run("report", state, "-q")
        equal(run(*OPTIONS, *frontier(path), site.url)[0], WELL)
        code, _, err = run("collect", state, *frontier(path))
        equal(code, FAILED)
        contains(err, "the folder contains another crawl")
        equal(run("report", state, "-q"), before)


def test_members_wait_while_nobody_collects():
    """Without a collector, the processes of a shared crawl pause. When a collector starts, they continue, and no result
    is lost."""
    with redis_server() as path, sites() as (site, folder):
        site.answers = {"/": page(*(f"/{n}" for n in range(60))),
                        **{f"/{n}": html(f'<a href="/{n}?{"x" * 1500}">x</a>' * 40) for n in range(60)}}
        with started("--results-max", "1M", "--max-url-length", "4K", *frontier(path), site.url) as one:
            wait_until(lambda: len(site.requests) > 10)
            time.sleep(2)
            equal(one.poll(), None)
            asked = len(set(site.requests))
            equal(asked < 121, True)
            found, _ = collected(path, folder)
            end(one)
        equal(len([one for one in found if one.startswith('["page", ')]), 121)


if __name__ == "__main__":
    sys.exit(run_tests(globals(), [name for name in sys.argv[2:] if name != "--all"]))
