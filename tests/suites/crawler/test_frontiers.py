#!/usr/bin/env python3
"""Scenarios that every frontier must pass: in memory, saved in a folder (-d), or shared by processes in
Redis (--frontier). Each scenario runs with each frontier, and states the expected requests and findings.

    test_frontiers.py COIL_CRAWL [TEST...]

Tests of a single frontier, such as kills, are in test_state.py and test_shared_crawl.py.
"""
import collections
import contextlib
import json
import os
import signal
import sys
import tempfile

from check import equal, run_tests
from crawling import BROKEN, INTERRUPTED, WELL, run, started, wait_until
from redis_server import redis_server
from server import Site, html, page, redirect, response, slow, status


def records(file):
    with open(file, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def ended(process, *codes):
    _, err = process.communicate(timeout=300)
    if process.returncode not in codes:
        raise AssertionError(f"status {process.returncode}: {err}")


def end_after(process, site, requests, *codes):
    """Send SIGINT once all processes together have sent this number of requests. The signal may kill a process that has
    just started."""
    wait_until(lambda: len(site.seen) >= requests or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    ended(process, INTERRUPTED, *codes)


# ---- frontiers: each crawls, may be interrupted after some requests, and returns its records ------------------------


class Memory:
    goes_on = False

    def crawl(self, folder, starts, options, _site, _cut_after):
        file = os.path.join(folder, "findings.jsonl")
        code, _, err = run(*options, "-f", f"jsonl:{file}", *starts)
        equal((code in (WELL, BROKEN), err), (True, ""))
        return records(file)


class Kept:
    goes_on = True

    def crawl(self, folder, starts, options, site, cut_after):
        state, file = os.path.join(folder, "state"), os.path.join(folder, "findings.jsonl")
        with started(*options, "-d", state, *starts) as process:
            if cut_after:
                end_after(process, site, cut_after)
            else:
                ended(process, WELL, BROKEN)
        code, _, err = run("resume", state, "-f", f"jsonl:{file}")
        equal((code in (WELL, BROKEN), err), (True, ""))
        return records(file)


class Shared:
    goes_on = True

    def crawl(self, folder, starts, options, site, cut_after):
        file = os.path.join(folder, "findings.jsonl")
        with redis_server() as path, contextlib.ExitStack() as stack:
            frontier = ("--frontier", f"unix://{path.replace(' ', '%20')}", "--crawl", "suite")

            def members():
                return [stack.enter_context(started(*options, *frontier, *starts)) for _ in range(2)]

            if cut_after:
                for member in members():
                    end_after(member, site, cut_after, -signal.SIGINT)
            for member in members():
                ended(member, WELL)
            code, _, err = run("collect", os.path.join(folder, "state"), *frontier, "-f", f"jsonl:{file}")
            equal((code in (WELL, BROKEN), err), (True, ""))
        return records(file)


FRONTIERS = {"memory": Memory(), "kept": Kept(), "shared": Shared()}
SCENARIOS = []


def scenario(fn, goes_on=False):
    """Register a scenario for all frontiers or, if `goes_on` is true, for frontiers whose crawls can be resumed."""
    SCENARIOS.append((fn, [name for name, one in FRONTIERS.items() if one.goes_on or not goes_on]))
    return fn


def scenario_for_those_that_go_on(fn):
    return scenario(fn, goes_on=True)


def crawl(frontier, site, *options, starts=None, cut_after=0):
    with tempfile.TemporaryDirectory(prefix="coil frontier ") as folder:
        return frontier.crawl(folder, starts or [site.url], ["--max-tasks", "4", *options], site, cut_after)


def pages(found):
    """Return the paths of all pages in the records, with duplicates."""
    return sorted("/" + one["url"].split("/", 3)[3] for one in found if one["type"] == "page")


def verdicts(found):
    return {"/" + one["target"].split("/", 3)[3]: (one["verdict"], one["reason"])
            for one in found if one["type"] == "verdict"}


def times_asked(site):
    return collections.Counter(site.requests)


# ---- scenarios ------------------------------------------------------------------------------------------------------


@scenario
def each_url_is_asked_for_once(frontier):
    names = [f"/{n}" for n in range(40)]
    with Site({"/": page(*names), **{name: page(*names, "/gone", "#x") for name in names}}) as site:
        found = crawl(frontier, site)
        equal(times_asked(site), collections.Counter(["/", "/gone", *names]))
    equal(pages(found), sorted(["/", "/gone", *names]))
    equal(verdicts(found)["/gone"], ("broken", "status"))
    equal(len([one for one in found if one["type"] == "link"]), 40 + 40 * 42)


@scenario
def what_fails_for_a_while_is_tried_again(frontier):
    with Site({"/": page("/late", "/down", "/x"), "/late": [status(503), page("/y")], "/down": status(502),
               "/x": html(""), "/y": html("")}) as site:
        found = crawl(frontier, site, "--max-tries", "3")
        equal(times_asked(site), collections.Counter({"/": 1, "/late": 2, "/down": 3, "/x": 1, "/y": 1}))
    equal(pages(found), ["/", "/down", "/late", "/x", "/y"])
    equal(verdicts(found)["/late"], ("ok", None))
    equal(verdicts(found)["/down"][0], "broken")


@scenario
def the_shortest_way_decides_how_deep_a_page_is(frontier):
    """A page has two paths from the start, and the crawl finds the longer one first. The shorter one determines the
    depth."""
    with Site({"/": page("/a", "/late"), "/a": page("/b"), "/b": page("/x"), "/late": slow(0.3, page("/x")),
               "/x": page("/y"), "/y": page("/z"), "/z": page("/far"), "/far": html("")}) as site:
        found = crawl(frontier, site, "--max-depth", "3")
    equal(pages(found), ["/", "/a", "/b", "/late", "/x", "/y"])
    equal(verdicts(found)["/z"], ("skipped", "depth"))


@scenario
def no_more_pages_are_asked_for_than_wanted(frontier):
    with Site({"/": page(*(f"/{n}" for n in range(20))), **{f"/{n}": html("") for n in range(20)}}) as site:
        found = crawl(frontier, site, "--max-pages", "5")
        equal(len(site.requests), 5)
    equal(len(pages(found)), 5)


@scenario
def a_host_is_asked_one_at_a_time_if_that_is_wanted(frontier):
    names = [f"/{n}" for n in range(12)]
    with Site({"/": page(*names), **{name: slow(0.02, html("")) for name in names}}) as site:
        crawl(frontier, site, "--per-host", "1")
        equal((site.most_active, len(site.requests)), (1, 13))


@scenario
def what_robots_txt_forbids_is_not_asked_for(frontier):
    with Site({"/robots.txt": response("User-agent: *\nDisallow: /no\n", content_type="text/plain"),
               "/": page("/no", "/yes"), "/yes": page("/no/way"), "/no": page("/never")}) as site:
        found = crawl(frontier, site)
        equal(sorted(site.requests), ["/", "/yes"])
    equal({path: verdict for path, (verdict, _) in verdicts(found).items()},
          {"/": "ok", "/yes": "ok", "/no": "skipped", "/no/way": "skipped"})


@scenario
def redirects_are_followed_to_where_they_end(frontier):
    with Site({"/": page("/1", "/c1", "/far0"), "/1": redirect("/2"), "/2": redirect("/end"), "/end": page("/1"),
               "/c1": redirect("/c2"), "/c2": redirect("/c1"),
               **{f"/far{n}": redirect(f"/far{n + 1}") for n in range(9)}}) as site:
        found = crawl(frontier, site, "--max-redirect", "4")
    reported = verdicts(found)
    equal((reported["/1"][0], reported["/c1"], reported["/far0"]), ("redirect", ("broken", "redirect-circle"), ("broken", "redirect-limit")))


@scenario
def what_a_start_redirects_to_belongs_to_the_site(frontier):
    """Links are held back until the redirect of the start URL is known."""
    with Site({}) as first, Site({}) as second:
        here, there = first.url.replace("127.0.0.1", "localhost"), second.url.replace("127.0.0.1", "localhost")
        first.answers = {"/": slow(0.2, redirect(there)), "/quick": page(there + "in")}
        second.answers = {"/": html(""), "/in": page("/deeper"), "/deeper": html("")}
        found = crawl(frontier, first, starts=[here, here + "quick"])
        equal(times_asked(second), collections.Counter(["/", "/in", "/deeper"]))
    equal(pages(found), ["/", "/", "/deeper", "/in", "/quick"])


@scenario_for_those_that_go_on
def what_is_cut_short_goes_on_and_ends_alike(frontier):
    names = [f"/{n}" for n in range(60)]
    with Site({"/": page(*names), **{name: slow(0.01, page("/deeper" + name)) for name in names},
               **{"/deeper" + name: html("") for name in names}}) as site:
        found = crawl(frontier, site, cut_after=25)
        asked = times_asked(site)
        equal(set(asked), {"/", *names, *("/deeper" + name for name in names)})
        equal(sum(times - 1 for times in asked.values()) <= 16, True)  # running when it was interrupted
    equal(pages(found), sorted(asked))


def tests():
    return {f"test_{fn.__name__}_{name}": lambda fn=fn, name=name: fn(FRONTIERS[name])
            for fn, names in SCENARIOS for name in names}


if __name__ == "__main__":
    sys.exit(run_tests(tests(), sys.argv[2:]))
