#!/usr/bin/env python3
"""What the repository of the chapter "A Web Crawler With asyncio Coroutines" tests, by
the names it has there. Hosts that do not exist are asked for through a proxy.

    test_chapter.py COIL_CRAWL [TEST...]
"""
import sys

from check import contains, equal, run_tests
from scripted import Site, hang_up, html, page, redirect, response, slow, status
from test_crawl import BROKEN, NOTHING, USAGE, WELL, Crawl, crawl, run


def crawl_hosts(answers, *arguments):
    """Crawl hosts of any name: `answers` are by URL, the last argument is a start URL."""
    with Site(answers) as proxy:
        result = Crawl(arguments[-1], *arguments[:-1],
                       environment={"http_proxy": proxy.url, "no_proxy": ""})
        result.requests = sorted(proxy.requests)
        return result


def figures(record):
    return record["links"], record["new_links"]


def test_link():
    result = crawl({"/": page("/foo"), "/foo": page()})
    equal(result.status, WELL)
    equal(result.site.requests, ["/", "/foo"])
    equal(figures(result.urls["/"]), (1, 1))
    equal(figures(result.urls["/foo"]), (0, 0))


def test_link_cycle():
    result = crawl({"/": page("/foo"), "/foo": page("/")})
    equal(result.status, WELL)
    equal(result.site.requests, ["/", "/foo"])
    equal(figures(result.urls["/"]), (1, 1))
    equal(figures(result.urls["/foo"]), (1, 0))


def test_prohibited_host():
    answers = {"http://a.test/": page("http://example.com/")}
    result = crawl_hosts(answers, "http://a.test/")
    equal(result.status, WELL)
    equal(result.requests, ["http://a.test/"])
    equal(figures(result.records[0]), (1, 1))
    contains(result.out, "1 URL of another site")


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
        result = crawl_hosts(answers, *options, "http://example.com/")
        equal((result.status, result.requests), (WELL, expected))
    result = crawl_hosts(answers, "http://www.example.com")
    equal(result.requests, ["http://www.example.com/"])


def test_lenient_host_checking():
    answers = {**{url: page() for url in HOSTS}, "http://example.com/": page(),
               "http://foo.example.com/": page("http://example.com/", *HOSTS),
               "http://example.com./y": page(),
               "http://9.2.3.4/": page("http://1.2.3.4/")}
    result = crawl_hosts(answers, "--lenient", "http://foo.example.com/")
    equal(result.status, WELL)
    equal(result.requests,
          ["http://example.com./y", "http://example.com/", "http://example.com/x",
           "http://example.com:8080/", "http://foo.example.com/",
           "http://www.example.com/", "http://www.foo.example.com/"])
    equal(crawl_hosts(answers, "--lenient", "http://9.2.3.4/").requests,
          ["http://9.2.3.4/"])


def test_exclude():
    answers = {"/": page("/keep", "/tmp/a", "/b.png", "/c.PNG", "/moved"),
               "/keep": page(), "/c.PNG": page(), "/moved": redirect("/tmp/b")}
    result = crawl(answers, "--exclude", "/tmp/", "--exclude", r"\.(gif|png)$")
    equal(result.status, WELL)
    equal(sorted(result.site.requests), ["/", "/c.PNG", "/keep", "/moved"])
    equal(figures(result.urls["/"]), (5, 5))
    contains(result.out, "3 excluded URLs")
    equal(crawl(answers, "--exclude", ".").site.requests, ["/"])  # it was asked for
    code, _, err = run("--exclude", "a(", "http://127.0.0.1/")
    equal(code, USAGE)
    contains(err, "a(")


def test_roots():
    with Site({"/": page("/a", "/gone"), "/a": page()}) as one:
        with Site({"/": page("/b", one.url + "c"), "/b": page()}) as other:
            result = Crawl(one.url, other.url, one.url, one.url + "#top")
    equal(sorted(one.requests), ["/", "/a", "/c", "/gone"])
    equal(sorted(other.requests), ["/", "/b"])
    equal(result.status, BROKEN)
    equal([r["depth"] for r in result.records], [0, 0, 1, 1, 1, 1])
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
    equal(result.urls["/"]["next_url"], result.site.url + "foo")
    equal((result.urls["/"]["status"], result.urls["/foo"]["status"]), (301, 200))
    result = crawl({"/": redirect("/1"), "/1": redirect("/2"), "/2": page()},
                   "--max-redirect", "1")
    equal(result.site.requests, ["/", "/1"])
    contains(result.urls["/1"]["error"], "too many redirects in a row")


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
        equal(result.urls["/4"]["status"], 302)
        if link == "/2":
            contains(result.urls["/5"]["error"], "too many")
            equal(result.status, BROKEN)
            contains(result.out, "1 broken")
        else:
            equal((link, result.status), (link, WELL))
            equal(sorted(requests),
                  ["/", *(f"/{n}" for n in range(1, 7)), "/after", "/late"])
            equal([r["error"] for r in result.records], [None] * 9)
            contains(result.out, "0 broken")


def test_max_tasks():
    names = [f"/{n}" for n in range(40)]
    answers = {"/": page(*names), **{name: slow(0.05, page()) for name in names}}
    for count in (1, 8, 100):
        result = crawl(answers, "--max-tasks", str(count))
        equal(len(result.site.requests), 41)
        assert result.site.most_active <= count, result.site.most_active
        assert result.site.most_active >= min(count, 8), result.site.most_active


def test_max_tries():
    answers = {"/": page("/dead", "/busy", "/flaky", "/gone", "/never"), "/dead": hang_up,
               "/busy": [status(503), status(429), page()],
               "/flaky": [status(500), status(502), status(504), page()],
               "/gone": status(404), "/never": status(501)}
    result = crawl({k: list(v) if isinstance(v, list) else v for k, v in answers.items()},
                   "--max-tries", "4")
    equal(result.status, BROKEN)
    equal({path: (r["tries"], r["status"]) for path, r in result.urls.items()},
          {"/": (1, 200), "/dead": (4, None), "/busy": (3, 200), "/flaky": (4, 200),
           "/gone": (1, 404), "/never": (1, 501)})
    result = crawl(answers, "--max-tries", "1")
    equal({r["tries"] for r in result.records}, {1})
    equal(result.urls["/busy"]["status"], 503)


def later(value, code=503):
    return html("later", code=code, headers=[f"Retry-After: {value}"])


def test_retry_after():
    result = crawl({"/": page("/soon", "/late", "/odd", "/past"),
                    "/soon": [later(1, 429), page()], "/late": later(3600),
                    "/odd": [later("in a while"), page()],
                    "/past": [later("Sun, 06 Nov 1994 08:49:37 GMT"), page()]})
    equal({path: (r["tries"], r["status"]) for path, r in result.urls.items()},
          {"/": (1, 200), "/soon": (2, 200), "/late": (1, 503), "/odd": (2, 200),
           "/past": (2, 200)})
    contains(result.out, "1 broken")


def test_encoding():
    result = crawl({"/": html("", content_type='text/html; charset="big5"')}, "-v")
    equal(result.urls["/"]["encoding"], "big5")
    contains(result.out, " big5 ")
    equal(crawl({"/": page()}).urls["/"]["encoding"], None)


def test_content_type():
    link = '<a href="/foo">x</a>'
    for kind in ("text/html", "application/xml", "Text/HTML; charset=utf-8"):
        result = crawl({"/": response(link, content_type=kind), "/foo": page()})
        equal(result.site.requests, ["/", "/foo"])
        equal(result.urls["/"]["content_type"], kind)


def test_non_html():
    link = '<a href="/foo">x</a>'
    for kind in ("text/plain", "image/png", "nonsense", None):
        result = crawl({"/": response(link, content_type=kind), "/foo": page()})
        equal((result.status, result.site.requests), (WELL, ["/"]))
        equal(figures(result.urls["/"]), (0, 0))


def test_non_http():
    result = crawl({"/": page("mailto:a@b", "ftp://127.0.0.1/x", "javascript:x")})
    equal((result.status, result.site.requests), (WELL, ["/"]))
    equal(figures(result.urls["/"]), (0, 0))


# ---- beyond the repository's -----------------------------------------------------------


def test_statistics_of_each_url():
    result = crawl({"/": page("/z", "/moved", "/dead"), "/z": html("1"),
                    "/dead": hang_up, "/moved": redirect("/z")},
                   "-v", "--max-tries", "1", "--max-tasks", "1")
    table, _, rest = result.out.partition("\n\n")
    url = result.site.url
    rows = [line.split(maxsplit=6) for line in table.splitlines()]
    equal(rows[0], ["status", "size", "links", "new", "type", "encoding", "URL"])
    equal([row[6].split(":  ")[0].split(": ")[0] for row in rows[1:]],
          [url, f"{url}dead", f"{url}moved -> {url}z", f"{url}z"])
    equal([row[0] for row in rows[1:]], ["200", "-", "302", "200"])
    equal(rows[1][2:6], ["3", "3", "text/html", "-"])
    contains(rest, "4 URLs: 2 pages, 0 other files, 1 redirect, 1 broken")
    equal(result.err, "")


def test_headers_cannot_speak_to_the_terminal():
    answer = response(b"", content_type="text/\x1b[31mred; charset=\x1b[0m")
    result = crawl({"/": answer}, "-vv")
    assert "\x1b" not in result.out + result.err, result.out
    contains(result.out, "text/?[31mred")


def test_a_page_met_before_its_site_is_known():
    with Site({"/": page("/on"), "/on": page()}) as other:
        with Site({"/": slow(0.3, redirect(other.url)),
                   "/first": page(other.url)}) as site:
            result = Crawl(site.url + "first", site.url)
    equal(other.requests, ["/", "/on"])
    equal(result.status, WELL)
    contains(result.out, "0 URLs of other sites")


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[2:]))
