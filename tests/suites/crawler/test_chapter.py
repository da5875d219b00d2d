#!/usr/bin/env python3
"""Test coil-crawl with tests translated from another crawler, the one in "A Web Crawler With asyncio Coroutines", a
chapter of "500 Lines or Less". The tests have the same names as in that crawler's repository. A proxy answers requests
for hosts that do not exist.

    test_chapter.py COIL_CRAWL [TEST...]
"""
import contextlib
import os
import platform
import sys

from check import Skip, contains, equal, run_tests
from server import Site, hang_up, html, page, redirect, response, slow, status
from crawling import BROKEN, NOTHING, USAGE, WELL, WRAPPER, run, started, together, wait_until
from test_crawl import Crawl, crawl


def crawl_hosts(answers, *arguments):
    """Crawl hosts that do not exist, through a proxy that answers for them. The keys of `answers` are URLs. The last
    argument is the start URL."""
    with Site(answers) as proxy:
        result = Crawl(arguments[-1], *arguments[:-1],
                       environment={"http_proxy": proxy.url, "no_proxy": ""})
        result.requests = sorted(proxy.requests)
        return result


def test_link():
    result = crawl({"/": page("/foo"), "/foo": page()})
    equal(result.status, WELL)
    equal(result.site.requests, ["/", "/foo"])
    equal((result.pages["/"]["links"], result.pages["/foo"]["links"]), (1, 0))


def test_link_cycle():
    result = crawl({"/": page("/foo"), "/foo": page("/")})
    equal(result.status, WELL)
    equal(result.site.requests, ["/", "/foo"])
    equal((result.pages["/"]["links"], result.pages["/foo"]["links"]), (1, 1))
    equal(result.outcomes, {"/": "ok", "/foo": "ok"})


def test_prohibited_host():
    answers = {"http://a.test/": page("http://example.com/")}
    result = crawl_hosts(answers, "--external", "skip", "http://a.test/")
    equal(result.status, WELL)
    equal(result.requests, ["http://a.test/"])
    equal(result.pages["/"]["links"], 1)
    equal(result.outcomes, {"/": "ok", "http://example.com/": "skipped/external"})


HOSTS = ["http://example.com/x", "http://www.example.com/", "http://foo.example.com/",
         "http://example.com.:80/y", "http://example.com:8080/", "http://1.2.3.4/",
         "http://example.org/", "http://com/", "http://notexample.com/",
         "http://www.foo.example.com/"]


def test_strict_host_checking():
    answers = {"http://example.com/": page(*HOSTS), **{url: page() for url in HOSTS},
               "http://example.com./y": page()}
    expected = ["http://example.com./y", "http://example.com/", "http://example.com/x",
                "http://www.example.com/"]
    for options in ([], ["--strict"], ["--lenient", "--strict"]):
        result = crawl_hosts(answers, "--external", "skip", *options, "http://example.com/")
        equal((result.status, result.requests), (WELL, expected))
    result = crawl_hosts(answers, "--external", "skip", "http://www.example.com")
    equal(result.requests, ["http://www.example.com/"])


def test_lenient_host_checking():
    answers = {**{url: page() for url in HOSTS}, "http://example.com/": page(),
               "http://foo.example.com/": page("http://example.com/", *HOSTS),
               "http://example.com./y": page(),
               "http://9.2.3.4/": page("http://1.2.3.4/")}
    result = crawl_hosts(answers, "--external", "skip", "--lenient", "http://foo.example.com/")
    equal(result.status, WELL)
    equal(result.requests,
          ["http://example.com./y", "http://example.com/", "http://example.com/x",
           "http://example.com:8080/", "http://foo.example.com/",
           "http://www.example.com/", "http://www.foo.example.com/"])
    equal(crawl_hosts(answers, "--external", "skip", "--lenient", "http://9.2.3.4/").requests,
          ["http://9.2.3.4/"])


def test_exclude():
    answers = {"/": page("/keep", "/tmp/a", "/b.png", "/c.PNG", "/moved"),
               "/keep": page(), "/c.PNG": page(), "/moved": redirect("/tmp/b")}
    result = crawl(answers, "--exclude", "/tmp/", "--exclude", r"\.(gif|png)$")
    equal(result.status, WELL)
    equal(sorted(result.site.requests), ["/", "/c.PNG", "/keep", "/moved"])
    equal(result.pages["/"]["links"], 5)
    equal(result.outcomes, {"/": "ok", "/keep": "ok", "/c.PNG": "ok", "/tmp/a": "skipped/excluded",
                            "/b.png": "skipped/excluded", "/moved": "skipped/excluded"})
    equal(crawl(answers, "--exclude", ".").site.requests, ["/"])  # the URL was requested
    code, _, err = run("--exclude", "a(", "http://127.0.0.1/")
    equal(code, USAGE)
    contains(err, "a(")


def test_exclude_is_perl_and_sees_fragments():
    """--exclude may exclude one fragment of a page, or all fragments of a site. Pages with an excluded fragment are
    still fetched."""
    answers = {"/": page("/p12", "/pd", "/a#made-by-script", "/a#typo", "/a#L1", "/b#x", "/c#y"), "/pd": page(),
               "/a": page(), "/b": page(), "/c": page()}
    result = crawl(answers, "--exclude", r"/p\d+$", "--exclude", "#made-by-script$", "--exclude", "/[ab]#",
                   "--include", "#typo", "--exclude", "/c$")
    equal(result.outcomes, {"/": "ok", "/p12": "skipped/excluded", "/pd": "ok",
                            "/a#made-by-script": "skipped/excluded", "/a#typo": "fragment/no-such-id",
                            "/a#L1": "skipped/excluded", "/b#x": "skipped/excluded", "/c#y": "skipped/excluded"})
    equal(sorted(result.site.requests), ["/", "/a", "/b", "/pd"])
    for pattern in ("", "|x", "x|"):
        code, _, err = run("--exclude", pattern, "http://127.0.0.1:1/")
        equal(code, USAGE)
        contains(err, "would match every URL")


def test_a_pattern_that_takes_too_long_leaves_out_what_it_is_asked_about():
    long = "/" + "a" * 1000 + "!"
    result = crawl({"/": page(long, "/b"), "/b": page()}, "--exclude", "(a+)+$")
    equal(result.outcomes, {"/": "ok", long: "skipped/excluded", "/b": "ok"})
    contains(result.err, '--exclude: "(a+)+$" takes too long')


def test_roots():
    with Site({"/": page("/a", "/gone"), "/a": page()}) as one:
        with Site({"/": page("/b", one.url + "c"), "/b": page()}) as other:
            result = Crawl(one.url, other.url, one.url, one.url + "#top")
    equal(sorted(one.requests), ["/", "/a", "/c", "/gone"])
    equal(sorted(other.requests), ["/", "/b"])
    equal(result.status, BROKEN)
    equal({key: r["depth"] for key, r in result.pages.items()},
          {one.url: 0, one.url + "a": 1, one.url + "gone": 1, one.url + "c": 1, "/": 0, "/b": 1})
    with Site({"/": page()}) as site:
        equal(Crawl(site.url, site.url + "gone").status, BROKEN)
        equal(Crawl(site.url + "gone", site.url + "lost").status, NOTHING)
        equal(run(site.url, "ftp://x/")[0], USAGE)


def test_deep_root():
    result = crawl_hosts({"http://a.test/b/c": page("/", "d"), "http://a.test/": page(),
                          "http://a.test/b/d": page()}, "http://a.test/b/c")
    equal(result.status, WELL)
    equal(result.requests, ["http://a.test/", "http://a.test/b/c", "http://a.test/b/d"])


def test_redirect():
    result = crawl({"/": redirect("/foo", 301), "/foo": page()})
    equal(result.status, WELL)
    equal(result.site.requests, ["/", "/foo"])
    equal(result.redirects["/"]["target"], result.site.url + "foo")
    equal((result.pages["/"]["status"], result.pages["/foo"]["status"]), (301, 200))
    result = crawl({"/": redirect("/1"), "/1": redirect("/2"), "/2": page()},
                   "--max-redirect", "1")
    equal(result.site.requests, ["/", "/1"])
    equal(result.outcomes["/"], "broken/redirect-limit")


def test_redirect_cycle():
    result = crawl({"/": redirect("/foo"), "/foo": redirect("/")})
    equal(result.status, NOTHING)
    equal(result.site.requests, ["/", "/foo"])


def test_redirect_join():
    result = crawl({"/": page("/foo", "/bar"), "/foo": redirect("/baz"),
                    "/bar": redirect("/baz"), "/baz": redirect("/quux"), "/quux": page()})
    equal(result.status, WELL)
    equal(sorted(result.site.requests), ["/", "/bar", "/baz", "/foo", "/quux"])


def test_redirect_met_again_with_more_left():
    answers = {f"/{n}": redirect(f"/{n + 1}") for n in range(1, 6)}
    answers.update({"/": page("/1", "/late"), "/6": page("/after"), "/after": page()})
    for link in ("/2", "/3", "/4"):  # the last of the chain, in its middle, and both
        answers["/late"] = slow(0.3, page(link))
        result = crawl(answers, "--max-redirect", "3")
        requests = result.site.requests
        equal(len(requests), len(set(requests)))
        equal(result.pages["/4"]["status"], 302)
        # The chain from /1 exceeds the redirect limit. /late links to a later redirect of this chain, from which the
        # rest of the chain may be within the limit.
        equal((link, result.outcomes["/1"], result.status), (link, "broken/redirect-limit", BROKEN))
        if link == "/2":
            equal(result.outcomes["/2"], "broken/redirect-limit")
            equal(sorted(requests), ["/", *(f"/{n}" for n in range(1, 6)), "/late"])
        else:
            equal(sorted(requests),
                  ["/", *(f"/{n}" for n in range(1, 7)), "/after", "/late"])
            equal(result.outcomes[link], "redirect/chain")


def test_max_tasks():
    """All workers must be able to fetch at the same time: the server does not answer before it has received a request
    from each worker."""
    names = [f"/{n}" for n in range(120)]
    for count in (1, 8, 100):
        answers = {"/": page(*names), **{name: together(count, page()) for name in names}}
        result = crawl(answers, "--max-tasks", str(count))
        equal(len(result.site.requests), 121)
        equal(result.site.most_active, count)


def test_max_tries():
    answers = {"/": page("/dead", "/busy", "/flaky", "/gone", "/never"), "/dead": hang_up,
               "/busy": [status(503), status(429), page()],
               "/flaky": [status(500), status(502), status(504), page()],
               "/gone": status(404), "/never": status(501)}
    result = crawl({k: list(v) if isinstance(v, list) else v for k, v in answers.items()},
                   "--max-tries", "4")
    equal(result.status, BROKEN)
    equal({path: (r["tries"], r["status"]) for path, r in result.pages.items()},
          {"/": (1, 200), "/dead": (4, None), "/busy": (3, 200), "/flaky": (4, 200),
           "/gone": (1, 404), "/never": (1, 501)})
    result = crawl(answers, "--max-tries", "1")
    equal({path: r["tries"] for path, r in result.pages.items()},
          {"/": 1, "/dead": 1, "/busy": 3, "/flaky": 1, "/gone": 1, "/never": 1})
    equal((result.pages["/busy"]["status"], result.pages["/flaky"]["status"]), (200, 500))


def later(value, status=503):
    return html("later", status=status, headers=[f"Retry-After: {value}"])


def test_retry_after():
    result = crawl({"/": page("/soon", "/late", "/odd", "/past"),
                    "/soon": [later(1, 429), page()], "/late": later(3600),
                    "/odd": [later("in a while"), page()],
                    "/past": [later("Sun, 06 Nov 1994 08:49:37 GMT"), page()]})
    equal({path: (r["tries"], r["status"]) for path, r in result.pages.items()},
          {"/": (1, 200), "/soon": (2, 200), "/late": (1, 503), "/odd": (2, 200),
           "/past": (2, 200)})
    equal([path for path in result.outcomes if result.outcomes[path] != "ok"], ["/late"])
    equal(result.outcomes["/late"], "broken/status")


def test_encoding():
    result = crawl({"/": html("", content_type='text/html; charset="big5"')})
    equal(result.pages["/"]["encoding"], "big5")
    equal(crawl({"/": page()}).pages["/"]["encoding"], None)


def test_content_type():
    link = '<a href="/foo">x</a>'
    for kind in ("text/html", "application/xml", "Text/HTML; charset=utf-8"):
        result = crawl({"/": response(link, content_type=kind), "/foo": page()})
        equal(result.site.requests, ["/", "/foo"])
        equal(result.pages["/"]["content_type"], kind)


def test_non_html():
    link = '<a href="/foo">x</a>'
    for kind in ("text/plain", "image/png", "text/rtf"):
        result = crawl({"/": response(link, content_type=kind), "/foo": page()})
        equal((result.status, result.site.requests), (WELL, ["/"]))
        equal((result.pages["/"]["links"], result.pages["/"]["searched"]), (0, kind == "text/plain"))


def test_non_http():
    result = crawl({"/": page("mailto:a@b", "ftp://127.0.0.1/x", "javascript:x")})
    equal((result.status, result.site.requests), (WELL, ["/"]))
    equal(result.outcomes, {"/": "ok", "mailto:a@b": "skipped/scheme",
                            "ftp://127.0.0.1/x": "skipped/scheme", "javascript:x": "skipped/scheme"})


# ---- the repository's options -----------------------------------------------------------


def test_options_as_the_repository_spells_them():
    answers = {"/": redirect("/1"), "/1": redirect("/2"), "/2": page("/3", "/no"), "/3": hang_up}
    result = crawl(answers, "--max_redirect", "1")
    equal(result.outcomes["/"], "broken/redirect-limit")
    result = crawl(answers, "--max_redirect=2", "--max_tries=1", "--max_tasks", "1", "--exclude",
                   "/no", "--lenient", "--strict")
    equal(sorted(set(result.site.requests)), ["/", "/1", "/2", "/3"])
    equal((result.pages["/3"]["tries"], result.site.most_active), (1, 1))
    code, _, err = run("--max_taks", "1", "http://127.0.0.1:1/")
    equal(code, USAGE)
    contains(err, "--max_taks: no such option; did you mean --max-tasks?")


def descriptors_of(process):
    """Return the names of a process's open files, and the number of its current system call, or ""."""
    folder = f"/proc/{process.pid}"
    names = set()
    for name in os.listdir(f"{folder}/fd"):
        with contextlib.suppress(FileNotFoundError):
            names.add(os.readlink(f"{folder}/fd/{name}"))
    try:
        with open(f"{folder}/syscall", encoding="ascii") as file:
            return names, file.read().split()[0]
    except OSError:
        return names, ""


SYSCALLS = {"--select": ("23", "270"), "--poll": ("7", "271")}  # x86-64: also pselect6, ppoll


def test_backends_by_option():
    if WRAPPER:
        raise Skip("COIL_WRAPPER is set, so the process would be another program")
    for option, has in (("--epoll", "eventpoll"), ("--select", None), ("--poll", None),
                        ("--backend=epoll", "eventpoll"), ("--io-uring", "io_uring")):
        with Site({"/": slow(1, page())}) as site:
            # The option takes precedence over the environment variable.
            with started(option, "--no-robots", site.url, environment={"COIL_BACKEND": "none"}) as process:
                wait_until(lambda: site.requests or process.poll() is not None)
                if process.poll() is not None and option == "--io-uring":
                    contains(process.stderr.read(), "cannot be used")
                    continue  # the kernel, or a sandbox, does not allow it
                waits = []
                if platform.machine() == "x86_64" and option in SYSCALLS:
                    waits = SYSCALLS[option]
                    wait_until(lambda: descriptors_of(process)[1] in (*waits, ""))
                names, _ = descriptors_of(process)
                out, err = process.communicate(timeout=60)
                equal((option, process.returncode, err), (option, WELL, ""))
        found = {name for name in ("eventpoll", "io_uring") if any(name in each for each in names)}
        equal((option, found), (option, {has} - {None}))


def test_a_backend_of_windows_is_refused():
    code, out, err = run("--iocp", "http://127.0.0.1:1/")
    equal((code, out), (USAGE, ""))
    contains(err, "coil-crawl: --iocp: I/O completion ports are an interface of Windows")
    code, _, err = run("--backend", "kqueue", "http://127.0.0.1:1/")
    equal(code, USAGE)
    contains(err, "select")


def test_multiple_choices_are_a_page():
    """As browsers and the Fetch standard do, coil-crawl does not follow a 300 response. The crawler of "A Web Crawler
    With asyncio Coroutines" follows such a response."""
    result = crawl({"/": redirect("/foo", 300), "/foo": page()})
    equal((result.status, result.site.requests), (WELL, ["/"]))
    equal(result.outcomes, {"/": "ok"})


# ---- beyond the repository's -----------------------------------------------------------


def test_records_of_each_url():
    result = crawl({"/": page("/z", "/moved", "/dead"), "/z": html("1"),
                    "/dead": hang_up, "/moved": redirect("/z")},
                   "-v", "--max-tries", "1", "--max-tasks", "1")
    equal([(path, r["status"], r["links"], r["content_type"], r["encoding"])
           for path, r in result.pages.items()],
          [("/", 200, 3, "text/html", None), ("/z", 200, 0, "text/html", None),
           ("/moved", 302, 0, None, None), ("/dead", None, 0, None, None)])
    equal(result.outcomes, {"/": "ok", "/z": "ok", "/moved": "redirect/temporary",
                            "/dead": "error/network"})
    equal(result.redirects["/moved"]["target"], result.site.url + "z")


def test_headers_cannot_speak_to_the_terminal():
    answer = response(b"", content_type="text/plain; x=\x1b[31mred; charset=\x1b[0m")
    away = response(status=302, content_type=None, headers=["Location: mailto:\x1b[31mred"])
    result = crawl({"/": answer}, "-vv")
    assert "\x1b" not in result.out + result.err, result.out
    equal(result.pages["/"]["content_type"], "text/plain; x=\x1b[31mred; charset=\x1b[0m")
    result = crawl({"/": page("/away", "&#27;[31mred://"), "/away": away}, "-vv")
    equal(result.outcomes["/away"], "broken/redirect-scheme")
    assert "\x1b" not in result.out + result.err, (result.out, result.err)
    with Site({"/": away}) as site:
        explained = run("explain", site.url)
    contains(explained[1], "redirect-scheme: redirects to another scheme: mailto:?[31mred")


def test_controls_beyond_ascii_and_turned_writing_cannot_either():
    """Escape C1 control characters, such as CSI (U+009B) and OSC (U+009D), and U+202E, which reverses the direction of
    text."""
    result = crawl({"/": page("/a\x9b31m", "/\x9d0;pwned\x9c", "/\u202egnp.exe")}, "-vv")
    for character in "\x9b\x9c\x9d\u202e":
        assert character not in result.out + result.err, (result.out, result.err)


def test_a_page_met_before_its_site_is_known():
    with Site({"/": page("/on"), "/on": page()}) as other:
        with Site({"/": slow(0.3, redirect(other.url)),
                   "/first": page(other.url)}) as site:
            result = Crawl(site.url + "first", site.url)
    equal(other.requests, ["/", "/on"])
    equal(result.status, WELL)
    equal(set(result.outcomes.values()), {"ok", "redirect/temporary"})


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[2:]))
