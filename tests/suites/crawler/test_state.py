#!/usr/bin/env python3
"""Test crawls that are saved in a folder: resuming after any interruption, reports, rechecks, and the diff with the
previous crawl.

    test_state.py COIL_CRAWL KILLED_SO [--all] [TEST...]

KILLED_SO is killed.c. With --all a crawl is killed at each of its writes, and hundreds of times at random moments.
"""
import concurrent.futures
import collections
import contextlib
import json
import os
import pathlib
import random
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from check import Skip, contains, equal, run_tests
from crawling import BROKEN, FAILED, INTERRUPTED, PROGRAM, USAGE, WELL, preloadable, run, sets, started, wait_until
from server import Site, html, page, redirect, response, slow, status

KILLED = os.path.abspath(sys.argv[2])
ALL = "--all" in sys.argv
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def summary(file):
    with open(file, encoding="utf-8") as lines:
        return json.loads(lines.readlines()[-1])


def run_and_read(folder, command, *options, **more):
    """Run a command. Return its exit status, its findings and its stderr."""
    file = os.path.join(folder, "findings.jsonl")
    code, _, err = run(*command, "-f", f"jsonl:{file}", "-f", "text", *options, **more)
    return code, sets(file) if os.path.exists(file) else [], err


def preloaded(**variables):
    environment = {"LD_PRELOAD": preloadable(KILLED), **{k: str(v) for k, v in variables.items()}}
    if "ASAN_OPTIONS" in os.environ:
        environment["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"] + ":verify_asan_link_order=0"
    return environment


def folder_for_test():
    return tempfile.TemporaryDirectory(prefix="coil state ")


def answers(own, other):
    """Return answers with everything that a saved crawl restores: ids, all kinds of redirects, pages that robots.txt
    forbids, invalid URLs, a page so long that other pages arrive meanwhile, retries, sitemaps, links in headers and
    style sheets, and a damaged sitemap."""
    many = "".join(f'<a href="/m/{n % 40}#i{n}">x</a>\n' for n in range(3000))
    return {
        "/robots.txt": response("User-agent: *\nDisallow: /no\nSitemap: /map.xml\nSitemap: /bad.xml\n",
                                content_type="text/plain"),
        "/map.xml": response(f"<urlset {NAMESPACE}><url><loc>{own}mapped#x</loc></url></urlset>",
                             content_type="application/xml"),
        "/bad.xml": response(f"<urlset {NAMESPACE}><url><loc>{own}mapped2</loc></url><url></urlset>",
                             content_type="application/xml"),
        "/mapped": response("x", content_type="image/png",
                            headers=["Link: </style.css>; rel=stylesheet", "Link: <mailto:y@z>; rel=author"]),
        "/style.css": response("a { background: url(/missing.png) }\n@import '/more.css';", content_type="text/css"),
        "/more.css": response("", content_type="text/css"),
        "/": page("/a#x", "/a#no", "/moved#x", "/1", "/c1", "/no", "/gone", "http://", "mailto:x#y", "htttp://x#y", "/late", "/long",
                  "/" + "y" * 3000, "/out", other, other + "#x", other + "#no", "/?PHPSESSID=abc123", "/2026-01-02"),
        "/a": html("<i id=x></i><p id='\u00e4'>" + '<a href="/a#z">x</a>' * 30),
        "/long": html("<h1 id=top>" + many),
        **{f"/m/{n}": html(f'<i id=i{n}></i><a href="/m/{n}/sub">x</a><img src=/i.png srcset="/j.png 2x">')
           for n in range(40)},
        "/moved": redirect("/a", 301), "/out": redirect(other + "#y"), "/late": [status(503), page("/a")],
        "/c1": redirect("/c2"), "/c2": redirect("/c1"), "/1": redirect("/2"),
        **{f"/{n}": redirect(f"/{n + 1}") for n in range(2, 14)},
    }


OPTIONS = ("--fragments", "all", "--obey-nofollow", "--max-tasks", "4", "--max-redirect", "8")


class Sites:
    """The two sites that serve answers()."""

    def __enter__(self):
        self.other = Site({"/": html("<i id=x>")}).__enter__()
        self.site = Site({}).__enter__()
        self.afresh()
        self.url = self.site.url
        return self

    def afresh(self):
        self.site.answers = answers(self.site.url, self.other.url)

    def __exit__(self, *_):
        self.site.__exit__()
        self.other.__exit__()


# ---- telling, going on ---------------------------------------------------------------


def test_a_report_tells_what_the_crawl_has_told():
    with folder_for_test() as folder, Sites() as sites:
        code, plain, _ = run_and_read(folder, OPTIONS, sites.url)
        sites.afresh()
        state = os.path.join(folder, "state")
        equal(run_and_read(folder, OPTIONS, "-d", state, sites.url), (code, plain, ""))
        whole = summary(os.path.join(folder, "findings.jsonl"))
        asked = len(sites.site.seen)
        for command in ("report", "resume", "report"):
            equal(run_and_read(folder, [command, state]), (BROKEN, plain, ""))
            again = summary(os.path.join(folder, "findings.jsonl"))
            equal({k: v for k, v in again.items() if k != "seconds"}, {k: v for k, v in whole.items() if k != "seconds"})
        equal(len(sites.site.seen), asked)
        equal(sorted(os.listdir(state)), ["crawl.db"])


def test_a_report_tells_why_robots_txt_could_not_be_fetched():
    def unavailable(connection, _):
        connection.close()

    for answer in (status(503), unavailable):
        with folder_for_test() as folder, Site({"/robots.txt": answer}) as bad, Site({"/": page(bad.url)}) as site:
            state = os.path.join(folder, "state")
            code, plain, _ = run_and_read(folder, ["-d", state], "--lenient", "--max-tries", "1", site.url)
            contains("".join(plain), "robots.txt: ")
            asked = len(bad.seen)
            for command in ("report", "resume"):
                equal(run_and_read(folder, [command, state]), (code, plain, ""))
            equal((code, len(bad.seen)), (BROKEN, asked))


def test_a_report_is_of_any_format():
    with folder_for_test() as folder, Site({"/": page("/gone")}) as site:
        state = os.path.join(folder, "state")
        text = run("-d", state, site.url)[1]
        equal(run("report", state)[1].split(" in ")[0], text.split(" in ")[0])
        contains(run("report", state, "-f", "github")[1], "::error")
        equal(run("report", state, "--fail-on", "none")[0], WELL)


def interrupted(folder, sites, *options):
    """Interrupt a crawl with Ctrl-C before it is complete."""
    state = os.path.join(folder, "state")
    sites.site.forget()
    sites.site.answers["/m/3"] = lambda *_: time.sleep(0.3) or html("<i id=i3></i>")
    with started(*OPTIONS, *options, "-d", state, sites.url) as process:
        wait_until(lambda: len(sites.site.seen) > 30)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    equal(process.returncode, INTERRUPTED)
    contains(err, f"coil-crawl resume {state} continues from here")
    sites.afresh()
    return state


def test_an_interrupted_crawl_goes_on_where_it_was():
    with folder_for_test() as folder, Sites() as sites:
        code, whole, _ = run_and_read(folder, OPTIONS, sites.url)
        sites.afresh()
        state = interrupted(folder, sites)
        code_then, some, _ = run_and_read(folder, ["report", state])
        assert code_then == BROKEN and some != whole, code_then
        sites.site.forget()
        equal(run_and_read(folder, ["resume", state]), (code, whole, ""))
        assert "/" not in sites.site.requests, "the start was asked again"
        equal(run_and_read(folder, ["report", state]), (code, whole, ""))


def if_cookie(cookie, then, otherwise):
    """Return an answer that depends on the request: `then` with the cookie, `otherwise` without the cookie. `then`
    may be a function that returns an answer."""
    def answer(_, request):
        if cookie not in request.headers.get("cookie", ""):
            return otherwise
        return then() if callable(then) else then
    return answer


def test_a_circle_that_a_cookie_opens_goes_on_where_it_was():
    """A resumed crawl has lost its cookies, so a redirect loop that ends only with a cookie is requested again."""
    def hang():
        hanging.append(1)
        goes_on.wait()

    hanging, goes_on = [], threading.Event()
    there = {"/": page("/a", "/self", "/never", "/x"), "/b": page(), "/c": page(),
             "/x": redirect("/y", headers=["Set-Cookie: g=h; Path=/"]), "/y": [redirect("/x"), page()],
             "/a": if_cookie("a=b", page("/b"), redirect("/fetch")),
             "/fetch": redirect("/a", headers=["Set-Cookie: a=b; Path=/"]),
             "/self": if_cookie("c=d", page("/c"), redirect("/self", headers=["Set-Cookie: c=d; Path=/self"])),
             "/never": redirect("/never", headers=["Set-Cookie: e=f; Path=/never"])}
    with folder_for_test() as folder, Site(dict(there)) as site:
        state, whole_state = os.path.join(folder, "state"), os.path.join(folder, "whole")
        code, whole, _ = run_and_read(folder, ("--cookies", "-d", whole_state, site.url))
        equal((code, len(site.requests)), (BROKEN, 14))
        site.forget()
        for command in ("report", "resume"):
            equal(run_and_read(folder, [command, whole_state]), (code, whole, ""))
        equal(site.requests, [])
        site.answers["/a"] = if_cookie("a=b", hang, redirect("/fetch"))
        site.answers["/y"] = [redirect("/x"), lambda *_: hang()]
        with started("--cookies", "-d", state, site.url) as process:
            wait_until(lambda: len(hanging) == 2 and "/c" in site.requests and site.requests.count("/never") == 2)
            process.send_signal(signal.SIGINT)
            process.communicate()
        goes_on.set()
        site.answers.update({**there, "/y": [redirect("/x"), page()]})
        code_then, resumed, _ = run_and_read(folder, ["resume", state])
        equal((code_then, set(resumed)), (code, set(whole)))
        equal(run_and_read(folder, ["report", state]), (code, resumed, ""))


def test_options_are_those_that_the_crawl_was_begun_with():
    with folder_for_test() as folder, Site({"/": slow(0.2, page("/a", "/x")), "/a": page("/b"), "/b": page("/c")}) as site:
        state, file = os.path.join(folder, "state"), os.path.join(folder, "options")
        pathlib.Path(file).write_text('exclude = "/x"\nverbose = true\n', encoding="utf-8")
        run("--config", file, "--max-depth", "1", "--no-robots", "--max-duration", "1ms", "-d", state, site.url)
        site.forget()
        code, _, err = run("resume", state, "--max-duration", "none", cwd="/")
        equal((code, err, site.asked), (WELL, "", ["GET /", "GET /a"]))
        equal(len(run_and_read(folder, ["report", state, "--max-depth", "5"])[1]), 9)


def test_what_a_crawl_gives_up_for_want_of_time_is_asked_when_it_goes_on():
    with folder_for_test() as folder, Sites() as sites:
        code, whole, _ = run_and_read(folder, OPTIONS, sites.url)
        sites.afresh()
        state = os.path.join(folder, "state")
        run(*OPTIONS, "-d", state, "--max-duration", "30ms", sites.url)
        sites.afresh()
        equal(run_and_read(folder, ["resume", state, "--max-duration", "none"]), (code, whole, ""))


# ---- killed --------------------------------------------------------------------------


def killed_and_resumed(sites, base, expected, start, environment=None, seconds=None):
    """Kill a crawl and resume it. Returns an error message or None. start(state) returns the command to kill."""
    with tempfile.TemporaryDirectory(dir=base) as folder:
        state = os.path.join(folder, "state")
        with started(*start(state), environment=environment) as process:
            if seconds is not None:
                time.sleep(seconds)
                process.kill()
            process.communicate()
        died = process.returncode
        file = os.path.join(folder, "findings.jsonl")
        again = ["resume", state]
        code, _, err = run(*again, "-f", f"jsonl:{file}", "-f", "text")
        if code == USAGE and "there is no saved crawl" in err:
            code, _, err = run(*start(state), "-f", f"jsonl:{file}", "-f", "text")
        if code != expected[0] or err:
            return f"ended by {died}; then {code}, {err!r}"
        if sets(file) != expected[1]:
            return f"ended by {died}; other sets: {sorted(set(sets(file)) ^ set(expected[1]))[:5]}"
        check = sqlite3.connect(os.path.join(state, "crawl.db"))
        try:
            if check.execute("pragma integrity_check").fetchall() != [("ok",)]:
                return "the file is damaged"
            if check.execute("select count(*) from page where url not in (select id from url)").fetchone() != (0,):
                return "a page has no URL"
        finally:
            check.close()
    return None


class Steady(dict):
    """Answers that never change, for crawls that repeat requests after a crash."""

    def get(self, path, otherwise=None):
        answer = super().get(path, otherwise)
        return answer[-1] if isinstance(answer, list) else answer


def kill_each(which, kinds):
    """Kill a crawl at some of its writes, and resume it."""
    with folder_for_test() as folder, Sites() as sites:
        sites.site.answers = Steady(answers(sites.url, sites.other.url))
        expected = run_and_read(folder, OPTIONS, sites.url)[:2]

        def start(state):
            return [*OPTIONS, "--state-interval", "0", "-d", state, sites.url]

        counted = os.path.join(folder, "writes")
        run(*start(os.path.join(folder, "counted")), environment=preloaded(WRITES=counted))
        count = int(pathlib.Path(counted).read_text(encoding="ascii"))
        assert count > 100, count
        wanted = [(n, torn) for n in which(count) for torn in kinds]

        def try_one(one):
            n, torn = one
            more = {"KILL_TORN": 1} if torn else {}
            return one, killed_and_resumed(sites, folder, expected, start, preloaded(KILL_AT=n, **more))

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            bad = [(one, reported) for one, reported in pool.map(try_one, wanted) if reported]
    print(f"killed at {len(wanted)} of {count} writes")
    assert not bad, f"{len(bad)} of {len(wanted)}: {bad[:5]}"


def test_killed_at_a_write_it_goes_on_to_the_same_sets():
    if ALL:
        kill_each(lambda count: range(1, count + 1), (False, True))
    else:
        kill_each(lambda count: [*range(1, 30, 4), count // 3, count // 2, count - 3, count - 1], (True,))


def test_killed_at_any_time_it_goes_on_to_the_same_sets():
    chance, bad, times = random.Random(34), [], 400 if ALL else 12
    with folder_for_test() as folder, Sites() as sites:
        sites.site.answers = Steady(answers(sites.url, sites.other.url))
        begin = time.monotonic()
        expected = run_and_read(folder, OPTIONS, sites.url)[:2]
        usual = time.monotonic() - begin
        for nth in range(times):
            interval = chance.choice(["0", "10ms", "50ms"])
            reported = killed_and_resumed(
                sites, folder, expected, lambda state, i=interval: [*OPTIONS, "--state-interval", i, "-d", state, sites.url],
                seconds=chance.uniform(0, 1.5 * usual))
            bad += [(nth, reported)] if reported else []
    assert not bad, f"{len(bad)} of {times}: {bad[:5]}"


def pages_on_disk(state):
    with contextlib.closing(sqlite3.connect(f"file:{state}/crawl.db?mode=ro", uri=True)) as database:
        return database.execute("SELECT count(*) FROM page").fetchone()[0]


def test_what_is_on_the_disk_is_not_asked_for_again():
    with folder_for_test() as folder, Site({}) as site:
        site.answers = {f"/{n}": page(f"/{n + 1}") for n in range(50)} | {"/": page("/0")}
        state = os.path.join(folder, "state")
        site.answers["/30"] = lambda *_: time.sleep(60)
        with started("--state-interval", "0", "-d", state, site.url) as process:
            wait_until(lambda: "/30" in site.requests)
            wait_until(lambda: pages_on_disk(state) == 31)  # a thread writes them
            process.kill()
        site.answers["/30"] = page("/31")
        site.forget()
        equal(run("resume", state)[0], BROKEN)
        equal(site.requests[0], "/30")


# ---- what can be in the way ----------------------------------------------------------


def test_two_at_once_are_told_apart_and_a_report_is_not_in_the_way():
    with folder_for_test() as folder, Site({"/": page("/a", "/b"), "/a": page()}) as site:
        state = os.path.join(folder, "state")
        site.answers["/b"] = lambda *_: wait_until(lambda: "go" in site.answers) or page()
        with started("--state-interval", "0", "-d", state, site.url) as process:
            wait_until(lambda: "/b" in site.requests and os.path.exists(os.path.join(state, "crawl.db-wal")))
            for command in (["resume", state], ["-d", state, site.url], ["recheck", state]):
                code, out, err = run(*command)
                equal((code, out), (USAGE, ""))
                assert "another coil-crawl is using" in err or "not done" in err, err
            wait_until(lambda: len(run_and_read(folder, ["report", state])[1]) > 4)
            site.answers["go"] = True
            _, err = process.communicate()
            equal((process.returncode, err), (WELL, ""))
        equal(run("report", state)[0], WELL)


def test_a_crawl_is_not_begun_where_one_is():
    with folder_for_test() as folder, Site({"/": page()}) as site:
        state = os.path.join(folder, "a", "b")
        code, _, err = run("-d", state, site.url)
        equal((code, err), (USAGE, f"coil-crawl: {state}: No such file or directory\n"))
        state = os.path.join(folder, "a")
        run("-d", state, site.url)
        code, _, err = run("-d", state, site.url)
        equal(code, USAGE)
        contains(err, "the folder already has a crawl")
        for command in ("resume", "report", "recheck"):
            code, _, err = run(command, folder)
            equal((code, err), (USAGE, f"coil-crawl: {folder}/crawl.db: there is no saved crawl\n"))
        code, _, err = run("-d", os.path.join(folder, "x"), folder)
        equal(code, USAGE)
        contains(err, "--state saves crawls of URLs")
        equal(os.stat(os.path.join(state, "crawl.db")).st_mode & 0o777, 0o600)


def test_a_full_disk_is_said_and_loses_nothing():
    with folder_for_test() as folder, Sites() as sites:
        sites.site.answers = Steady(answers(sites.url, sites.other.url))
        code, whole, _ = run_and_read(folder, OPTIONS, sites.url)
        for full_at in (1, 9, 60, 120):
            state = os.path.join(folder, f"state{full_at}")
            # With a single worker, the crawl waits until its results are written.
            start = [*OPTIONS, "--max-tasks", "1", "--state-interval", "0", "-d", state, sites.url]
            status_then, _, err = run(*start, environment=preloaded(FULL_AT=full_at))
            assert status_then in (FAILED, USAGE), (status_then, err)
            contains(err, "crawl.db: ")
            assert "full" in err or "No space left" in err, err
            again = ["resume", state] if status_then == FAILED else start
            equal(run_and_read(folder, again), (code, whole, ""))


def test_a_limit_of_the_size_of_files_is_reported():
    with Site({"/": page(*(f"/{n}" for n in range(100)))}, otherwise=html("")) as site, folder_for_test() as folder:
        for kib in 8, 40:
            state = os.path.join(folder, str(kib))
            limited = f"ulimit -f {kib}; exec {shlex.quote(PROGRAM)} --no-config -d {shlex.quote(state)} {site.url}"
            done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, timeout=60, check=False)
            equal((kib, done.returncode in (FAILED, USAGE)), (kib, True))
            contains(done.stderr, "crawl.db: ")
        equal(run("resume", state)[0], WELL)


def test_reports_and_other_files_can_be_in_the_new_folder():
    with folder_for_test() as folder, Site({"/": page("/a")}, otherwise=page()) as site:
        state = os.path.join(folder, "new")
        options = ["-f", f"html:{state}/r.html", "-f", f"jsonl:{state}/r.jsonl", "--cache", f"{state}/cache",
                   "--warc", f"{state}/a.warc.gz"]
        code, _, err = run("-d", state, *options, site.url)
        equal((code, err), (WELL, ""))
        for name in ("crawl.db", "r.html", "r.jsonl", "cache", "a.warc.gz"):
            assert os.path.exists(os.path.join(state, name)), name
        # If a report cannot be written, the folder has no crawl, and the command can be repeated.
        state = os.path.join(folder, "again")
        code, _, err = run("-d", state, "-f", f"html:{state}/no/r.html", site.url)
        equal(code, USAGE)
        contains(err, "r.html: No such file or directory")
        equal(run("-d", state, "-f", f"html:{state}/r.html", site.url)[0], WELL)


def test_a_folder_that_cannot_be_written_is_said_and_can_be_reported():
    if os.geteuid() == 0:
        raise Skip("root can write to every folder")
    with folder_for_test() as folder, Site({"/": page()}) as site:
        state = os.path.join(folder, "state")
        run("-d", state, site.url)
        os.chmod(os.path.join(state, "crawl.db"), 0o400)
        os.chmod(state, 0o500)
        try:
            equal(run("report", state)[0], WELL)
            for command in (["recheck", state], ["resume", state], ["-d", os.path.join(state, "x"), site.url]):
                code, _, err = run(*command)
                equal(code, USAGE)
                contains(err, state)
        finally:
            os.chmod(state, 0o700)


def test_a_file_of_somebody_else_is_refused():
    with folder_for_test() as folder:
        file = pathlib.Path(folder, "crawl.db")
        for content in (b"", b"hello\n" * 1000, None):
            file.unlink(missing_ok=True)
            if content is None:
                with sqlite3.connect(file) as other:
                    other.execute("create table x(y)")
            else:
                file.write_bytes(content)
            for command in ("resume", "report"):
                code, out, err = run(command, folder)
                equal((code, out), (USAGE, ""))
                contains(err, "crawl.db")


def test_a_crawl_saved_by_another_version_is_refused_and_left_alone():
    with Site({"/": page("/a"), "/a": html("")}) as site, folder_for_test() as folder:
        equal(run("-d", folder, site.url)[0], WELL)
        file, asked = pathlib.Path(folder, "crawl.db"), len(site.requests)
        for schema, which in (1, "an older"), (99, "a newer"):
            with contextlib.closing(sqlite3.connect(file)) as other:
                other.execute(f"PRAGMA user_version = {schema}")
            before = file.read_bytes()
            for command in (("resume", folder), ("report", folder), ("recheck", folder), ("diff", folder, folder),
                            ("-d", folder, site.url)):
                code, out, err = run(*command)
                equal((code == WELL, out), (False, ""))
                contains(err, f"crawl.db: saved by {which} version of coil-crawl: the file has schema {schema}, but this "
                              "version needs schema 2; use the version that saved it, or crawl again into another folder")
            equal((file.read_bytes(), len(site.requests)), (before, asked))


def test_a_damaged_file_is_an_error_or_a_report():
    chance = random.Random(1)
    with folder_for_test() as folder, Sites() as sites:
        state = os.path.join(folder, "state")
        run(*OPTIONS, "-d", state, sites.url)
        whole = pathlib.Path(state, "crawl.db").read_bytes()
        for nth in range(400 if ALL else 40):
            broken = bytearray(whole)
            for _ in range(chance.choice([1, 20, 500])):
                at = chance.randrange(len(broken))
                broken[at] = chance.randrange(256)
            if chance.random() < 0.2:
                del broken[chance.randrange(len(broken)):]
            pathlib.Path(state, "crawl.db").write_bytes(broken)
            code, _, err = run("report", state)
            assert code >= 0 and "Sanitizer" not in err and "runtime error" not in err, (nth, code, err)
            assert code in (0, 2, 4) or err.startswith("coil-crawl: "), (nth, code, err)


def test_no_flipped_bit_goes_unnoticed():
    """If a bit of the file is flipped, a report is either unchanged or mentions the damage. A resumed crawl either
    fetches lost data again, or fails with a message that does not suggest resuming it again."""
    chance, outcomes = random.Random(2), collections.Counter()
    names = [f"/a/page-with-a-name-of-some-length/{n}" for n in range(60)]
    with folder_for_test() as folder, Site({"/": page(*names, "/gone#x", "mailto:x@y"),
                                            **{name: html(f"<i id=x>{name * 9}<a href=/gone>x</a>") for name in names}}) as site:
        state = os.path.join(folder, "state")
        code, whole, _ = run_and_read(folder, ["-d", state], site.url)
        file = pathlib.Path(state, "crawl.db")
        good = file.read_bytes()
        for nth in range(2000 if ALL else 80):
            broken = bytearray(good)
            at = chance.randrange(len(broken))
            broken[at] ^= 1 << chance.randrange(8)
            for command in ("report", "resume"):
                file.write_bytes(broken)
                for log in ("-wal", "-shm"):
                    pathlib.Path(state, "crawl.db" + log).unlink(missing_ok=True)
                status, found, err = run_and_read(folder, [command, state])
                if (status, found) == (code, whole):
                    outcomes[command, "repaired" if "damaged" in err else "whole"] += 1
                    continue
                assert status in (FAILED, USAGE) and err.startswith("coil-crawl: "), (nth, at, command, status, err)
                assert "continues from here" not in err, (nth, at, err)
                outcomes[command, "refused"] += 1
                os.unlink(os.path.join(folder, "findings.jsonl")) if os.path.exists(os.path.join(folder, "findings.jsonl")) else None
    assert all(outcomes["resume", kind] > 2 for kind in ("repaired", "whole", "refused")), outcomes
    equal(outcomes["report", "repaired"], 0)


def test_what_is_damaged_is_named():
    with folder_for_test() as folder, Site({"/": page("/named-page", "/b"), "/named-page": html("<i id=ABCDEFGH>" * 9),
                                            "/b": page()}) as site:
        state = os.path.join(folder, "state")
        run("--max-tasks", "1", "-d", state, site.url.replace("//", "//me:secret@"))
        file = pathlib.Path(state, "crawl.db")
        content = file.read_bytes()

        def damage(old, new):
            assert old in content
            file.write_bytes(content.replace(old, new))

        with contextlib.closing(sqlite3.connect(file)) as database:
            ids, = database.execute("select ids from page join url on page.url = url.id where url.url like '%named%'"
                                    ).fetchone()
        damage(ids, bytes(len(ids)))
        status, _, err = run("report", state)
        equal((status, "secret" in err), (FAILED, False))
        contains(err, f"crawl.db: the file is damaged: the record of page 2, {site.url.replace('//', '//me:***@')}named-page is lost")
        asked = len(site.seen)
        status, _, err = run("resume", state)
        equal((status, "secret" in err), (WELL, False))
        contains(err, "1 record of pages lost, which are fetched again: http://me:***@")
        equal([r.path for r in site.seen[asked:] if r.path != "/robots.txt"], ["/named-page"])
        equal(run("report", state)[::2], (WELL, ""))
        damage(b"named-page", b"other-page")
        for command in ("report", "recheck", "resume"):
            status, _, err = run(command, state)
            assert status in (FAILED, USAGE), (command, status, err)
            contains(err, "the record of URL number ")


def renumber(file, table, number, other):
    """Replace the number of a row in the database file, to create a table that SQLite itself would not write. The table
    must fit on one page. Both numbers must be below 128, so that each is a single byte. This byte follows the length of
    the row."""
    with contextlib.closing(sqlite3.connect(file)) as reader:
        root, = reader.execute("select rootpage from sqlite_master where name = ?", (table,)).fetchone()
        size, = reader.execute("pragma page_size").fetchone()
    content = bytearray(file.read_bytes())
    at = (root - 1) * size
    assert content[at] == 13, "it is a leaf"
    cells = [at + int.from_bytes(content[at + 8 + 2 * n:at + 10 + 2 * n], "big")
             for n in range(int.from_bytes(content[at + 3:at + 5], "big"))]
    behind_length = [cell + 1 + (content[cell] > 127) for cell in cells]
    numbers = [content[byte] for byte in behind_length]
    content[behind_length[numbers.index(number)]] = other
    file.write_bytes(content)


def test_rows_out_of_order_are_damage_and_no_loop():
    commands = {"page": ("report", "resume"), "url": ("report", "recheck", "resume")}
    for table, all_of_it in commands.items():
        with folder_for_test() as folder, Site({"/": page("/1", "/2", "/3"), "/1": page(), "/2": page(),
                                                "/3": page()}) as site:
            state = os.path.join(folder, "state")
            run("-d", state, site.url)
            renumber(pathlib.Path(state, "crawl.db"), table, 3, 1)
            for command in all_of_it:
                code, _, err = run(command, state)
                contains(err, "coil-crawl: ")
                contains(err, "damaged")
                assert code in (FAILED, USAGE), (code, table, command)


# ---- memory --------------------------------------------------------------------------


def peak_bytes(process):
    """Return the peak resident memory so far."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def test_what_is_known_of_a_url_takes_forty_bytes():
    if "ASAN_OPTIONS" in os.environ:
        raise Skip("ASan itself needs more memory than the limit")
    links, measured, peaks = 1000, (200, 500), []
    with folder_for_test() as folder, Site({}) as site:
        def answer(n):
            peaks.extend([peak_bytes(process)] * (n in measured))
            many = (f"/left/out/a-page-that-has-a-name-of-some-length-{n}-{i}.html" for i in range(links))
            return page(f"/{n + 1}", *many, *(f"/{n // 2}" for _ in range(5)))

        site.answers = {f"/{n}": lambda *_, n=n: answer(n) for n in range(max(measured) + 1)} | {"/": page("/0")}
        with started("--exclude", "/left/", "--max-tasks", "1", "-d", os.path.join(folder, "state"), site.url) as process:
            process.communicate()
        equal(process.returncode, BROKEN)
    urls = links * (measured[1] - measured[0])
    slack = 6 << 20  # the mapped part of the memory that can be paged out
    assert peaks[1] - peaks[0] <= 40 * urls + slack, (peaks, (peaks[1] - peaks[0]) / urls)


# ---- again ---------------------------------------------------------------------------


def validated(site, path, body, etag='"1"', modified="Wed, 21 Oct 2015 07:28:00 GMT"):
    """Return an answer that becomes 304 Not Modified if the client sends a matching validator."""
    def answer(_, request):
        wanted = request.headers.get("if-none-match", request.headers.get("if-modified-since"))
        site.conditions.append((path, wanted))
        headers = [f"ETag: {etag}"] * bool(etag) + [f"Last-Modified: {modified}"] * bool(modified)
        if wanted in (etag, modified) and wanted is not None:
            return response(status="304 Not Modified", headers=headers, content_type=None)
        return html(body, headers=headers)
    return answer


def test_a_recheck_asks_whether_it_has_changed():
    with folder_for_test() as folder, Site({}) as site, Site({}) as other:
        site.conditions = other.conditions = []
        site.answers = {
            "/": validated(site, "/", f'<a href="/a#x">a</a> <a href="/b">b</a> <a href=/gone>c</a> <a href={other.url}>d</a>'),
            "/a": validated(site, "/a", "<i id=x>", etag=None), "/b": validated(site, "/b", "old", etag='"2"', modified=None),
            "/c": page()}
        other.answers["/"] = validated(other, "other", "x")
        state = os.path.join(folder, "state")
        code, before, _ = run_and_read(folder, ["-d", state], site.url)
        assert all(wanted is None for _, wanted in site.conditions), site.conditions
        site.conditions.clear()
        equal(run_and_read(folder, ["recheck", state]), (code, before, ""))
        equal(sorted(site.conditions), [("/", '"1"'), ("/a", "Wed, 21 Oct 2015 07:28:00 GMT"), ("/b", '"2"'), ("other", '"1"')])
        equal(sorted(os.listdir(state)), ["crawl.db", "previous.db"])
        # The site is changed before the next recheck.
        site.answers["/b"] = validated(site, "/b", '<a href="/c">c</a><a href=/new>c</a>', etag='"3"', modified=None)
        site.answers["/gone"] = page()
        _, after, _ = run_and_read(folder, ["recheck", state])
        pages = {json.loads(line)[1] for line in after if line.startswith('["page"')}
        equal(pages, {site.url + p for p in ("", "a", "b", "c", "gone", "new")})
        code, out, _ = run("diff", os.path.join(state, "previous.db"), state)
        equal((code, out), (BROKEN, f"""broken since:
  {site.url}new  404 Not Found (is new)
    on {site.url}b
fixed:
  {site.url}gone  404 Not Found
    on {site.url}

      1 broken since, 1 fixed, 0 no longer linked, 0 still broken
"""))


def test_a_recheck_that_was_killed_goes_on():
    with folder_for_test() as folder, Sites() as sites:
        sites.site.answers = Steady(answers(sites.url, sites.other.url))
        state, counted = os.path.join(folder, "state"), os.path.join(folder, "writes")
        expected = run_and_read(folder, OPTIONS, "-d", state, sites.url)
        whole = os.path.join(folder, "whole")
        shutil.copytree(state, whole)
        equal(run("recheck", state, "--state-interval", "0", environment=preloaded(WRITES=counted))[0], BROKEN)
        count = int(pathlib.Path(counted).read_text(encoding="ascii"))
        near_the_end = range(count - 12, count + 1)
        for kill_at in range(1, count + 1) if ALL else [3, 40, count // 2, *near_the_end]:
            shutil.rmtree(state)
            shutil.copytree(whole, state)
            run("recheck", state, "--state-interval", "0", environment=preloaded(KILL_AT=kill_at))
            equal((kill_at, run_and_read(folder, ["report", state])), (kill_at, expected))
            equal((kill_at, run_and_read(folder, ["recheck", state])), (kill_at, expected))
            assert not os.path.exists(os.path.join(state, "recheck.db")), kill_at


def test_a_recheck_that_was_killed_between_its_renames_is_done():
    with folder_for_test() as folder, Sites() as sites:
        sites.site.answers = Steady(answers(sites.url, sites.other.url))
        state = os.path.join(folder, "state")
        expected = run_and_read(folder, OPTIONS, "-d", state, sites.url)
        equal(run_and_read(folder, ["recheck", state]), expected)
        for command in ("report", "recheck", "resume"):
            os.rename(os.path.join(state, "crawl.db"), os.path.join(state, "recheck.db"))
            equal((command, run_and_read(folder, [command, state])), (command, expected))
            if command == "report":
                os.rename(os.path.join(state, "recheck.db"), os.path.join(state, "crawl.db"))
            equal(sorted(os.listdir(state)), ["crawl.db", "previous.db"])


def test_a_crawl_that_is_not_done_is_not_checked_again():
    with folder_for_test() as folder, Sites() as sites:
        state = interrupted(folder, sites)
        code, _, err = run("recheck", state)
        equal((code, err), (USAGE, f"coil-crawl: {state}: this crawl is not done; coil-crawl resume continues it\n"))


# ---- what is different ---------------------------------------------------------------


def test_a_diff_tells_what_broke_and_what_was_mended():
    with folder_for_test() as folder, Site({}) as site:
        old, new = os.path.join(folder, "old"), os.path.join(folder, "new")
        site.answers = {"/": page("/a", "/b", "/c", "/d#x", "/e"), "/a": page(), "/d": page()}
        run("-d", old, site.url)
        site.answers = {"/": page("/a", "/b", "/d#x", "/e", "/user:p@x"), "/b": page(), "/d": html("<i id=x>")}
        run("-d", new, site.url)
        code, out, err = run("diff", old, new)
        equal((code, err), (BROKEN, ""))
        equal(out, f"""broken since:
  {site.url}a  404 Not Found (was ok)
    on {site.url}
  {site.url}user:p@x  404 Not Found (is new)
    on {site.url}
fixed:
  {site.url}b  404 Not Found
    on {site.url}
  {site.url}d#x  no element has this id
    on {site.url}
no longer linked:
  {site.url}c  404 Not Found
    on {site.url}

      2 broken since, 2 fixed, 1 no longer linked, 1 still broken
""")
        file = os.path.join(folder, "diff.jsonl")
        equal(run("diff", old, new, "-f", f"jsonl:{file}")[0], BROKEN)
        with open(file, encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        equal([(r["change"], r["target"][len(site.url) - 1:], r["fragment"]) for r in records],
              [("broken", "/a", None), ("broken", "/user:p@x", None), ("mended", "/b", None), ("mended", "/d", "x"),
               ("unlinked", "/c", None), ("still", "/e", None)])
        equal(records[0]["was"], {"verdict": "ok", "reason": None, "status": 200, "message": None})
        equal(records[0]["now"], {"verdict": "broken", "reason": "status", "status": 404, "message": "404 Not Found"})
        equal(records[1]["was"], None)
        equal(run("diff", old, old)[0], WELL)
        equal(run("diff", old, new, "--fail-on", "none")[0], WELL)
        file = os.path.join(folder, "diff.xml")
        code, _, err = run("diff", old, new, "-f", f"junit:{file}")
        equal((code, err), (USAGE, "coil-crawl: diff: the format must be text or jsonl, not junit\n"))
        equal(os.path.exists(file), False)
        code, _, err = run("diff", old, folder)
        equal((code, err), (USAGE, f"coil-crawl: {folder}/crawl.db: there is no saved crawl\n"))


def test_a_report_does_not_replace_the_saved_crawl():
    with Site({"/": page("/a"), "/a": html("")}) as site, folder_for_test() as folder:
        equal(run("-d", folder, site.url)[0], WELL)
        file = os.path.join(folder, "crawl.db")
        before = pathlib.Path(file).read_bytes()
        for command in (("diff", folder, folder), ("diff", file, folder), ("report", folder), ("report", file)):
            code, out, err = run(*command, "-f", f"jsonl:{folder}/./crawl.db")
            equal((code, out), (USAGE, ""))
            contains(err, "--format and --state write the same file: ")
            equal((command, run(*command, "-q")[0]), (command, WELL))
        equal(pathlib.Path(file).read_bytes(), before)


def test_a_diff_names_the_pages():
    with folder_for_test() as folder, Site({}) as site:
        old, new = os.path.join(folder, "old"), os.path.join(folder, "new")
        names = [f"/p{i:02}" for i in range(12)]
        site.answers = {"/": page(*names, "/a", "/is-new"), **{name: page("/old", "/old", "/mended") for name in names}, "/a": page()}
        run("-d", old, site.url)
        site.answers = {"/": page(*names, "/a", "/is-new"), "/mended": page(), **{name: page("/a", "/b", "/a") for name in names[1:]},
                        "/p00": page("/mended", "/nowhere#x")}
        run("-d", new, site.url)
        code, out, err = run("diff", old, new)
        equal((code, err), (BROKEN, ""))
        first = "".join(f"    on {site.url}{name[1:]}\n" for name in names[1:10])
        equal(out, f"""broken since:
  {site.url}a  404 Not Found (was ok)
    on {site.url}
{first}    and 2 more pages
  {site.url}b  404 Not Found (is new)
{first}    on {site.url}p10
    and 1 more page
  {site.url}nowhere#x  404 Not Found (is new)
    on {site.url}p00
fixed:
  {site.url}mended  404 Not Found
    on {site.url}p00
no longer linked:
  {site.url}old  404 Not Found
    on {site.url}p00
{first}    and 2 more pages

      3 broken since, 1 fixed, 1 no longer linked, 1 still broken
""")
        records = [json.loads(line) for line in run("diff", old, new, "-f", "jsonl")[1].splitlines()]
        whole = [site.url, *(site.url + name[1:] for name in names)]
        equal([(r["target"].removeprefix(site.url), r["pages"]) for r in records],
              [("a", [site.url, *whole[2:]]), ("b", whole[2:]), ("nowhere", whole[1:2]), ("mended", whole[1:2]),
               ("old", whole[1:]), ("is-new", whole[:1])])


def test_a_diff_shows_locations_in_utf_8_and_without_passwords():
    with folder_for_test() as folder, Site({}) as site:
        old, new = os.path.join(folder, "old"), os.path.join(folder, "new")
        site.answers = {"/": page("/a", "/b"), "/a": page(), "/b": page()}
        run("-d", old, site.url)
        site.answers = {"/": page("/a", "/b"), "/a": redirect("mailto:j\udcf6rg@x"), "/b": redirect("ftp://u:s3cret@h/")}
        run("-d", new, site.url)
        code, out, err = run("diff", old, new, "-f", "jsonl")
        equal((code, err), (BROKEN, ""))
        equal([json.loads(line)["now"]["message"] for line in out.splitlines()],
              ["redirects to another scheme: mailto:j%F6rg@x", "redirects to another scheme: ftp://u:***@h/"])


if __name__ == "__main__":
    sys.exit(run_tests(globals(), [name for name in sys.argv[3:] if name != "--all"]))
