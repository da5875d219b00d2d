#!/usr/bin/env python3
"""Run coil-crawl on simulated servers, and check its verdicts, requests and messages.

test_crawl.py COIL_CRAWL [TEST...]
"""
import collections
import json
import os
import pty
import random
import resource
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from check import Skip, contains, equal, run_tests
from crawling import (BROKEN, FAILED, INTERRUPTED, NOTHING, PATIENCE, PROGRAM, USAGE, WELL, preloadable, run,
                      started, wait_until)
from server import CLOSE, NOT_FOUND, Server, Site, cut, hang_up, html, page, redirect, response, slow, status


def certificate(folder):
    """Create a file with a key and a self-signed certificate for 127.0.0.1."""
    pem = os.path.join(folder, "self-signed.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", pem, "-out", pem + ".crt", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    with open(pem, "a", encoding="ascii") as both, open(pem + ".crt", encoding="ascii") as crt:
        both.write(crt.read())
    return pem


class Crawl:
    """One run of coil-crawl: its exit status, its output, and its records.

    URLs with the same origin as the start URL are shortened to paths such as "/a" and "/a#x". `pages` and
    `verdicts` map URLs to records. `outcomes` maps URLs to "verdict/reason" such as "broken/status", or to "ok"
    without a reason."""

    def __init__(self, url, *options, interrupt_when=None, environment=None,
                 interrupt_again_when=None):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "crawl.jsonl")
            with started("-f", f"jsonl:{file}", "-f", "text", *options, url,
                         environment=environment) as process:
                if interrupt_when is not None:
                    wait_until(interrupt_when)
                    process.send_signal(signal.SIGINT)
                if interrupt_again_when is not None:
                    wait_until(lambda: interrupt_again_when(file) or process.poll() is not None)
                    process.send_signal(signal.SIGINT)
                self.out, self.err = process.communicate(timeout=PATIENCE)
            self.status = process.returncode
            with open(file, encoding="utf-8") as lines:
                self.records = [json.loads(line) for line in lines]
        self.read_records()
        if self.status >= 0 and interrupt_again_when is None:
            self.check_records()

    def of(self, kind):
        return [record for record in self.records if record["type"] == kind]

    def key(self, url, fragment=None):
        own = url is not None and url.startswith(self.origin)
        return (url[len(self.origin) - 1:] if own else url) + \
            ("" if fragment is None else "#" + fragment)

    def read_records(self):
        self.origin = "/".join(self.records[0]["urls"][0].split("/")[:3]) + "/"
        self.pages = {self.key(r["url"]): r for r in self.of("page")}
        self.verdicts = {self.key(r["target"], r["fragment"]): r for r in self.of("verdict")}
        self.redirects = {self.key(r["url"]): r for r in self.of("redirect")}
        self.links = self.of("link")
        self.outcomes = {key: r["verdict"] + ("/" + r["reason"] if r["reason"] else "")
                         for key, r in self.verdicts.items()}

    def check_records(self):
        """Check the properties that the records of every crawl must have."""
        equal(len(self.pages), len(self.of("page")))
        equal(len(self.verdicts), len(self.of("verdict")))
        pointed_at = {self.key(r["target"] or r["text"], r["fragment"]) for r in self.links}
        pointed_at |= {self.key(url) for url in self.records[0]["urls"]}
        texts = {key for key in self.verdicts if "#:~:" in key}  # links to texts, whose `text` is in the records
        if "interrupted" not in self.err:
            equal(set(self.verdicts) ^ pointed_at, texts)
        for path, record in self.pages.items():
            equal((path, record["links"]), (path, len(self.links_of(path))))
        summary = self.records[-1]
        equal((summary["type"], summary["exit"]), ("summary", self.status))
        searched = [record for record in self.pages.values() if record["searched"]]
        equal((summary["pages"], summary["links"]), (len(searched), len(self.links)))
        equal((sum(summary["verdicts"].values()), summary["targets"]), (len(self.verdicts), len(self.verdicts)))
        links = collections.Counter(self.verdicts[self.key(r["target"] or r["text"], r["fragment"])]["verdict"]
                                    for r in self.links)
        urls = collections.Counter(verdict for _, verdict in {(r["target"], r["verdict"]) for r in self.of("verdict")})
        equal(summary["verdict_urls"], {verdict: urls[verdict] for verdict in summary["verdicts"]})
        # A link with a text fragment has two verdicts if the text is missing: one for the target, one for the text.
        reported = collections.Counter(summary["verdict_links"])
        equal(links - reported, collections.Counter())
        equal(bool(reported - links), bool(texts))

    def links_of(self, path):
        return [r for r in self.links if self.key(r["page"]) == path]

    def statuses(self):
        return {path: record["status"] for path, record in self.pages.items()}

    def message(self, path):
        return self.verdicts[path]["message"] or ""


def crawl(answers, *options):
    with Site(answers) as site:
        result = Crawl(site.url, *options)
        result.site = site
        return result


# ---- which pages are visited ---------------------------------------------------------


def test_link():
    result = crawl({"/": page("/foo"), "/foo": page()})
    equal(result.status, WELL)
    equal(result.site.asked, ["GET /robots.txt", "GET /", "GET /foo"])
    equal(result.statuses(), {"/": 200, "/foo": 200})
    equal(result.outcomes, {"/": "ok", "/foo": "ok"})
    equal(result.pages["/"]["links"], 1)
    equal((result.pages["/"]["depth"], result.pages["/foo"]["depth"]), (0, 1))
    equal(result.pages["/foo"]["searched"], True)


def test_link_cycle():
    result = crawl({"/": page("/foo"), "/foo": page("/", "/foo#here")})
    equal(result.status, BROKEN)
    equal(result.site.requests, ["/", "/foo"])
    equal(result.pages["/foo"]["links"], 2)
    equal(result.outcomes, {"/": "ok", "/foo": "ok", "/foo#here": "fragment/no-such-id"})


def test_every_url_is_fetched_once_however_it_is_written():
    links = ["/a", "/a", "a", "./a", "/x/../a", "/a#one", "/a#two", "//{}/a", "/%2e/a",
             " /a ", "/\na", "\\a"]
    with Site({}) as site:
        links = [link.replace("{}", site.address) for link in links]
        site.answers.update({"/": page(*links), "/a": html("<i id=one><i id=two>")})
        result = Crawl(site.url)
    equal(site.requests, ["/", "/a"])
    equal([r["target"] for r in result.links], [site.url + "a"] * len(links))
    equal(result.outcomes, {"/": "ok", "/a": "ok", "/a#one": "ok", "/a#two": "ok"})
    equal(result.status, WELL)


def test_fragment_query_and_empty_references():
    result = crawl({"/d/p?q": html('<a href="#f" id=f></a><a href=""></a><a href="?r"></a>'
                                   '<a href="?"></a>'), "/d/p?r": page(),
                    "/d/p?": page(), "/": page("/d/p?q")})
    equal(result.status, WELL)
    equal(sorted(result.site.requests), ["/", "/d/p?", "/d/p?q", "/d/p?r"])


def test_unsafe_characters_are_encoded():
    result = crawl({"/": page("/a b", "/&auml;", "/c%20d", "/e?x=y z", "/%zz"),
                    "/a%20b": page(), "/%C3%A4": page(), "/c%20d": page(),
                    "/e?x=y%20z": page(), "/%zz": page()})
    equal(result.status, WELL)
    equal(len(result.site.requests), 6)


def test_base_href_counts_for_the_whole_page():
    result = crawl({"/": html('<a href=x>1</a><base href="/deep/er/"><a href=y>2</a>'
                              '<base href="/ignored/">'),
                    "/deep/er/x": page(), "/deep/er/y": page()})
    equal(result.status, WELL)
    equal(sorted(result.site.requests), ["/", "/deep/er/x", "/deep/er/y"])


def test_all_kinds_of_links():
    body = ('<a href=1></a><map><area href=2></map><link href=3><img src=4>'
            '<script src=5></script><iframe src=6></iframe><video src=7 poster=8></video>'
            '<audio><source src=9></audio><embed src=10><object data=11></object>'
            '<meta http-equiv=refresh content="5; url=\'12\'">'
            '<link rel=preconnect href="//elsewhere.invalid">')
    frames = "<frameset><frame src=13></frameset>"
    answers = {f"/{n}": page() for n in range(1, 14)}
    answers["/"] = html(body)
    answers["/1"] = response("<html>" + frames)
    result = crawl(answers)
    equal(result.status, WELL)
    equal(sorted(result.site.requests, key=lambda p: int(p[1:] or 0)),
          [f"/{n or ''}" for n in range(14)])
    equal(len(result.verdicts), 14)


def test_broken_html_is_read_as_browsers_do():
    result = crawl({"/": html("<table><a href=a><b><p><a href='b'>x</i></table><div "
                              "<a href=c><!-- <a href=no> --><a href=d"),
                    "/a": page(), "/b": page()})
    equal(sorted(result.site.requests), ["/", "/a", "/b"])


def test_other_hosts_are_asked_but_not_crawled():
    with Site({"/": page("/no"), "/x": page("/no")}) as other:
        result = crawl({"/": page(other.url, other.url + "x", "http://elsewhere.invalid/",
                                  "https://127.0.0.1:1/")}, "--max-tries", "1")
        equal(sorted(other.asked), ["HEAD /", "HEAD /x"])
    equal(result.status, BROKEN)
    equal(list(result.pages), ["/"])
    equal(result.pages["/"]["links"], 4)
    equal(result.outcomes, {"/": "ok", other.url: "ok", other.url + "x": "ok",
                            "http://elsewhere.invalid/": "error/network",
                            "https://127.0.0.1:1/": "error/network"})


def test_other_schemes_are_skipped():
    links = ["mailto:a@b", "javascript:x()", "data:,x", "ftp://x/", "tel:1"]
    result = crawl({"/": page(*links)})
    equal(result.status, WELL)
    equal(result.outcomes, {"/": "ok", **{link: "skipped/scheme" for link in links}})


def test_mail_addresses_that_cloudflare_hides_are_skipped():
    path = "/cdn-cgi/l/email-protection"
    with Site({}) as other:
        hidden = [path, path + "#a1b2c3", other.url[:-1] + path + "#a1b2c3"]
        not_hidden = [path + "/", path + "?a", path + "s", "/a" + path]
        result = crawl({"/": page(*hidden, *not_hidden)})
        equal(other.requests, [])
    equal(sorted(result.site.requests), sorted(["/", *not_hidden]))
    equal(result.outcomes, {"/": "ok", **{link: "skipped/mail" for link in hidden},
                            **{link: "broken/status" for link in not_hidden}})


def test_what_is_no_url_is_reported():
    links = ["http://", "http://a b/", "http://127.0.0.1:99999/"]
    result = crawl({"/": page(*links)})
    equal(result.status, BROKEN)
    equal(result.outcomes, {"/": "ok", **{link: "broken/not-a-url" for link in links}})
    equal([(r["text"], r["target"]) for r in result.links], [(link, None) for link in links])


def test_schemes_that_are_mistyped_are_reported():
    mistyped = ["htttps://x/#a", "HTP://x/", "localhost:3000/docs", "example.com:8080/x", "C:\\docs\\a.html"]
    meant = ["mailto:a@b", "tel:1", "sftp://x/", "web+app:x"]
    result = crawl({"/": page(*mistyped, *meant)})
    equal(result.status, BROKEN)
    equal(result.outcomes, {"/": "ok", **{link: "broken/not-a-url" for link in mistyped},
                            **{link: "skipped/scheme" for link in meant}})
    equal([(r["text"], r["target"]) for r in result.links],
          [(link, None) for link in mistyped] + [(link, link) for link in meant])


def test_a_page_without_a_slash():
    with Site({"/": page()}) as site:
        equal(Crawl(site.address).status, WELL)
        equal(Crawl(site.url + "?").status, NOTHING)
        equal(Crawl(site.url + "#top").status, WELL)
    equal(site.requests, ["/", "/?", "/"])


def test_a_name_is_looked_up():
    with Site({"/": page("/a"), "/a": page()}) as site:
        port = site.address.split(":")[1]
        result = Crawl(f"http://LOCALHOST:{port}")
        equal(result.status, WELL)
    equal(result.pages["/"]["url"], f"http://localhost:{port}/")


# ---- redirects ---------------------------------------------------------------------


def test_redirect():
    result = crawl({"/": page("/foo"), "/foo": redirect("/bar?x#y"), "/bar?x": html("<i id=y>")})
    equal(result.status, WELL)
    equal(result.site.requests, ["/", "/foo", "/bar?x"])
    equal(result.redirects["/foo"], {
        "type": "redirect", "url": result.site.url + "foo", "status": 302,
        "location": "/bar?x#y", "target": result.site.url + "bar?x"})
    equal(result.pages["/foo"]["status"], 302)
    equal(result.outcomes, {"/": "ok", "/foo": "redirect/temporary"})


def test_every_redirecting_status():
    codes = [301, 302, 303, 307, 308]
    answers = {f"/{c}": redirect(f"/to/{c}", c) for c in codes}
    answers.update({f"/to/{c}": page() for c in codes})
    result = crawl({"/": page(*answers), **answers})
    equal(result.status, WELL)
    equal(len(result.site.requests), 11)
    equal({c: result.outcomes[f"/{c}"] for c in codes},
          {301: "redirect/permanent", 302: "redirect/temporary", 303: "redirect/temporary",
           307: "redirect/temporary", 308: "redirect/permanent"})


def test_relative_redirect():
    result = crawl({"/": page("/a/b/c"), "/a/b/c": redirect("../d e"), "/a/d%20e": page()})
    equal(result.status, WELL)
    equal(result.site.requests[-1], "/a/d%20e")


def test_redirect_in_another_encoding():
    """If a Location is not valid UTF-8, its bytes are percent-encoded."""
    result = crawl({"/": page("/a", "/b"), "/a": redirect("/\udce9?\udce9\udc80"), "/%E9?%E9%80": page(),
                    "/b": redirect("/\u00e9"), "/%C3%A9": page()})
    equal(result.outcomes, {"/": "ok", "/a": "redirect/temporary", "/b": "redirect/temporary"})
    equal(sorted(result.site.requests), ["/", "/%C3%A9", "/%E9?%E9%80", "/a", "/b"])


def test_redirects_that_meet_go_on_as_one():
    result = crawl({"/": page("/foo", "/bar"), "/foo": redirect("/baz"),
                    "/bar": redirect("/baz"), "/baz": redirect("/quux"), "/quux": page()})
    equal(result.status, WELL)
    equal(sorted(result.site.requests), ["/", "/bar", "/baz", "/foo", "/quux"])
    equal([r["target"] for r in result.of("redirect")].count(result.site.url + "baz"), 2)
    equal(result.outcomes, {"/": "ok", "/foo": "redirect/chain", "/bar": "redirect/chain"})


def test_redirect_circle():
    result = crawl({"/": page("/in"), "/in": redirect("/a"), "/a": redirect("/b"),
                    "/b": redirect("/a")})
    equal(result.status, BROKEN)
    equal(result.site.requests, ["/", "/in", "/a", "/b"])
    equal(result.outcomes, {"/": "ok", "/in": "broken/redirect-circle"})


def test_redirects_that_wait_for_a_cookie():
    """Without --cookies, the report of a redirect loop or of an endless chain of redirects suggests this option."""
    class Counting(dict):
        def get(self, path, otherwise=None):
            if not path.startswith("/n"):
                return super().get(path, otherwise)
            return lambda _, request: page() if "cookie" in request.headers else \
                redirect(f"/n{int(path[2:]) + 1}", headers=["Set-Cookie: a=b"])

    def circle(_, request):
        return page() if "cookie" in request.headers else redirect("/c", headers=["Set-Cookie: a=b"])

    answers = {"/": page("/n1", "/c", "/plain"), "/c": circle, "/plain": redirect("/plain")}
    result = crawl(Counting(answers))
    equal(result.outcomes, {"/": "ok", "/n1": "broken/redirect-limit", "/c": "broken/redirect-circle",
                            "/plain": "broken/redirect-circle"})
    equal({path for path in result.outcomes if "--cookies" in result.message(path)}, {"/n1", "/c"})
    equal(result.out.count("cookie: --cookies"), 2)
    equal(crawl(Counting({"/": page("/n1")}), "--cookies").outcomes["/n1"], "redirect/temporary")


def test_redirect_to_itself():
    result = crawl({"/": page("/a"), "/a": redirect("/a")})
    equal(result.status, BROKEN)
    equal(result.site.requests, ["/", "/a"])
    equal(result.outcomes["/a"], "broken/redirect-circle")


def test_redirect_limit():
    answers = {f"/{n}": redirect(f"/{n + 1}") for n in range(1, 30)}
    result = crawl({"/": page("/1"), **answers}, "--max-redirect", "5")
    equal(result.site.requests, ["/"] + [f"/{n}" for n in range(1, 7)])
    equal(result.outcomes, {"/": "ok", "/1": "broken/redirect-limit"})
    equal(result.status, BROKEN)


def test_redirect_without_or_with_a_bad_location():
    result = crawl({"/": page("/a", "/b", "/c"),
                    "/a": response(status=301, content_type=None),
                    "/b": redirect("http://"), "/c": redirect("mailto:x@y")})
    equal(result.status, BROKEN)
    equal(result.outcomes, {"/": "ok", "/a": "broken/redirect-nowhere",
                            "/b": "broken/redirect-nowhere", "/c": "broken/redirect-scheme"})
    contains(result.message("/a"), "301 without a Location")
    contains(result.message("/b"), "an invalid URL: http://")
    contains(result.message("/c"), "another scheme: mailto:x@y")
    equal([(r["location"], r["target"]) for _, r in sorted(result.redirects.items())],
          [(None, None), ("http://", None), ("mailto:x@y", "mailto:x@y")])


def test_redirect_to_another_site():
    with Site({"/": page("/no")}) as other:
        result = crawl({"/": page("/a"), "/a": redirect(other.url)})
        equal(other.asked, ["HEAD /"])
        equal(result.status, WELL)
        equal(result.redirects["/a"]["target"], other.url)
        equal(result.outcomes, {"/": "ok", "/a": "redirect/temporary"})


def test_start_may_move_to_a_sibling():
    with Site({"/": page("/a"), "/a": status(404)}) as other:
        result = crawl({"/": redirect(other.url)})
        equal(other.requests, ["/", "/a"])
        equal(result.status, BROKEN)


def test_start_may_not_move_to_a_stranger():
    result = crawl({"/": redirect("http://elsewhere.invalid/")})
    equal(result.status, NOTHING)
    equal(result.outcomes, {"/": "error/network"})
    contains(result.err, "http://elsewhere.invalid/ is on another site; if you mean that site, start there\n")
    contains(result.err, "nothing could be fetched")
    with Site({"/": page("/no")}, host="127.0.0.2") as other:
        result = crawl({"/": redirect(other.url)})
    equal(other.asked, ["HEAD /"])
    equal(result.outcomes, {"/": "redirect/temporary"})


def test_a_redirect_shares_the_fate_of_its_end():
    result = crawl({"/": page("/a"), "/a": redirect("/gone")})
    equal(result.status, BROKEN)
    equal(result.outcomes, {"/": "ok", "/a": "broken/status"})
    equal({r["status"] for path, r in result.verdicts.items() if path != "/"}, {404})
    equal(result.redirects["/a"]["target"], result.site.url + "gone")


# ---- what goes wrong -----------------------------------------------------------------


def test_broken_links():
    result = crawl({"/": page("/a", "/gone", "/oops"), "/a": page("/gone"),
                    "/oops": status(500)})
    equal(result.status, BROKEN)
    equal(result.statuses(), {"/": 200, "/a": 200, "/gone": 404, "/oops": 500})
    url = result.site.url
    equal([r["page"] for r in result.links if r["target"] == url + "gone"], [url, url + "a"])
    equal(result.outcomes, {"/": "ok", "/a": "ok", "/gone": "broken/status",
                            "/oops": "broken/status"})
    contains(result.out, "gone")
    contains(result.out, "oops")


def test_pages_with_thousands_of_links_in_common():
    links = [f"http://elsewhere.test/{n}" for n in range(2500)]
    pages = [f"/{n}" for n in range(8)]
    result = crawl({"/": page(*pages), **{path: page(*links, *links) for path in pages}},
                   "--external", "skip")
    equal(result.status, WELL)
    equal({result.pages[path]["links"] for path in pages}, {5000})
    equal({result.outcomes[link] for link in links}, {"skipped/external"})


def test_attributes_of_ten_megabytes():
    long = "x" * (5 << 20)
    result = crawl({"/": html(f'<a href="/{long}">1</a><img src="data:{long}"><a href=/a>'),
                    "/a": page()})
    equal(result.status, WELL)
    equal(result.site.requests, ["/", "/a"])
    equal(sorted(result.outcomes.values()), ["ok", "ok", "skipped/length", "skipped/scheme"])
    assert max(len(r["text"]) for r in result.links) <= 64 << 10, "as much as is kept of a value"


def test_error_pages_are_not_searched():
    result = crawl({"/": page("/gone"), "/gone": html("<a href=more>", status=404)})
    equal(result.site.requests, ["/", "/gone"])


def test_many_referrers():
    names = [f"/{n}" for n in range(150)]
    result = crawl({"/": page(*names), **{name: page("/gone") for name in names}})
    url = result.site.url
    equal(len({r["page"] for r in result.links if r["target"] == url + "gone"}), 150)
    equal(result.outcomes["/gone"], "broken/status")


def test_start_that_fails():
    with Site({}) as site:
        equal(Crawl(site.url).status, NOTHING)
    result = Crawl(site.url, "--max-tries", "2")  # the server has stopped
    equal(result.status, NOTHING)
    equal(result.pages["/"]["status"], None)
    equal(result.pages["/"]["tries"], 2)
    equal(result.outcomes, {"/": "error/network"})
    contains(result.err, "nothing could be fetched")


def test_unknown_host():
    result = Crawl("http://does-not-exist.invalid/")
    equal(result.status, NOTHING)
    equal(result.pages["/"]["tries"], 1)
    contains(result.message("/"), "resolve")


def test_network_errors_are_tried_again():
    # If the server has closed a reused connection, libcurl repeats the request by itself.
    result = crawl({"/": page("/flaky", "/dead"),
                    "/flaky": [hang_up, hang_up, page()], "/dead": hang_up})
    equal(result.status, BROKEN)
    equal(result.site.requests.count("/flaky"), 3)
    equal(result.pages["/flaky"]["status"], 200)
    assert result.pages["/flaky"]["tries"] > 1
    equal(result.pages["/dead"]["tries"], 3)
    equal(result.pages["/dead"]["status"], None)


def test_answers_are_not_tried_again():
    result = crawl({"/": page("/a", "/b"), "/a": status(404), "/b": status(501)})
    equal(sorted(result.site.requests), ["/", "/a", "/b"])


def test_max_tries():
    result = crawl({"/": page("/dead"), "/dead": hang_up}, "--max-tries", "1")
    equal(result.pages["/dead"]["tries"], 1)


def test_body_cut_off():
    result = crawl({"/": page("/a"), "/a": cut(page(*["/x"] * 50), 300)},
                   "--max-tries", "2")
    equal(result.status, BROKEN)
    equal(result.site.requests, ["/", "/a", "/a"])
    contains(result.outcomes["/a"], "error/")
    assert result.message("/a"), result.verdicts["/a"]


def test_bodies_of_redirects_and_error_pages_do_not_matter():
    """If the body of a redirect or an error page is damaged, cut off or late, the status still determines the
    verdict."""
    def broken(status, *headers):
        lines = [f"HTTP/1.1 {status} Word", "Content-Type: text/html", *headers]
        return "\r\n".join([*lines, "", "not compressed"]).encode()

    def never_ends(answer):
        return lambda connection, _: (connection.sendall(answer), time.sleep(10), CLOSE)[2]

    damage = {"coded": ["Content-Encoding: gzip", "Content-Length: 14"], "cut": ["Content-Length: 1000"],
              "chunked": ["Transfer-Encoding: chunked"]}
    answers = {"/": page(*[f"/{kind}-{name}" for name in (*damage, "late") for kind in ("gone", "moved")]), "/a": page()}
    for name, headers in damage.items():
        answers["/gone-" + name] = cut(broken(404, *headers), None)
        answers["/moved-" + name] = cut(broken(301, "Location: /a", *headers), None)
    answers["/gone-late"] = never_ends(broken(404, *damage["cut"]))
    answers["/moved-late"] = never_ends(broken(301, "Location: /a", *damage["cut"]))
    result = crawl(answers, "--timeout", "1")
    for path, outcome in result.outcomes.items():
        equal((path, outcome), (path, "broken/status" if "gone" in path else "redirect/permanent" if "moved" in path
                                else "ok"))
    equal(sorted(result.site.requests), sorted(answers))


def test_bodies_of_robots_txt_that_is_missing_do_not_matter():
    """A 404 allows everything, even if its body is cut off."""
    missing = cut(b"HTTP/1.1 404 Not Found\r\nContent-Length: 1000\r\n\r\nx", None)
    result = crawl({"/robots.txt": missing, "/": page("/a"), "/a": page()})
    equal((result.status, result.outcomes), (WELL, {"/": "ok", "/a": "ok"}))


def test_timeout():
    result = crawl({"/": page("/slow", "/a"), "/slow": slow(10, page()), "/a": page()},
                   "--timeout", "4", "--max-tries", "1")
    equal(result.status, BROKEN)
    equal(result.outcomes["/slow"], "timeout/no-progress")
    contains(result.message("/slow"), "no progress within 4 s")
    equal(result.pages["/a"]["status"], 200)


def test_not_http():
    result = crawl({"/": page("/a"), "/a": lambda c, _: c.sendall(b"SSH-2.0-hello\r\n\r\n")},
                   "--max-tries", "1", "--timeout", "20")
    equal(result.status, BROKEN)
    equal(result.outcomes["/a"], "error/protocol")
    assert result.message("/a")


def test_strange_pages_do_no_harm():
    result = crawl({"/": page("/deep", "/empty", "/zero", "/bytes"),
                    "/deep": html("<div>" * 5000 + "<a href=/x>"),
                    "/empty": response(b""),
                    "/zero": response(b"<a href='/x\0y'>\0\0<a href=/x>"),
                    "/bytes": response(bytes(range(256)) * 40),
                    "/x": page(), "/x%EF%BF%BDy": page()})
    equal(result.status, WELL)


# ---- content -----------------------------------------------------------------------


def test_only_html_is_searched():
    """Only HTML is searched. If a page has no Content-Type, the crawler detects the type from the content."""
    result = crawl({"/": page("/a", "/b", "/c", "/d", "/e", "/f", "/g"),
                    "/g": response('<html><a href="/yes"/></html>', content_type="text/xml"),
                    "/a": response('<a href="/no">', content_type="text/plain"),
                    "/b": response('<a href="/no">', content_type="application/json"),
                    "/c": response('<a href="/yes"/>',
                                   content_type="Application/XHTML+xml; charset=UTF-8"),
                    "/d": response(' <A href="/yes">', content_type=None),
                    "/f": response('see <a href="/no">', content_type=None),
                    "/e": response('<a href="/no">', content_type="text/html5"),
                    "/yes": page()})
    equal(sorted(result.site.requests), ["/", "/a", "/b", "/c", "/d", "/e", "/f", "/g", "/yes"])
    equal(result.pages["/a"]["content_type"], "text/plain")
    equal(result.pages["/a"]["links"], 0)
    equal({path: r["searched"] for path, r in result.pages.items()},
          {"/": True, "/a": False, "/b": False, "/c": True, "/d": True, "/e": False, "/f": False,
           "/g": True, "/yes": True})


def test_types_are_those_of_fetch():
    """If there are several Content-Type values, the last valid one applies. A header may be folded. Without a
    Content-Type header, the crawler detects the type from the content."""
    body = b'<!DOCTYPE html><a href="/gone">x</a>'
    for lines, found in ((["Content-Type: text/html, text/html"], True), (["Content-Type:", " text/html"], True),
                         (["Content-Type: text/plain", "Content-Type: text/html"], True),
                         (["Content-Type: text/html", "Content-Type: text/plain"], False),
                         (["Content-Type: nonsense"], True), (["Content-Type: */*"], True), (["Content-Type:"], True),
                         (["Content-Type: unknown/unknown"], True), (["Content-Type: application/unknown"], True),
                         (["X-Content-Type-Options: nosniff"], False), (["X: y", " Content-Type: image/png"], True)):
        answer = "\r\n".join(["HTTP/1.1 200 OK", *lines, f"Content-Length: {len(body)}", "", ""]).encode() + body
        result = crawl({"/": page("/a"), "/a": answer})
        equal((lines, result.pages["/a"]["searched"], "/gone" in result.outcomes), (lines, found, found))
    result = crawl({"/": response("", content_type="text/html;charset=big5", headers=["Content-Type: text/html"])})
    equal((result.pages["/"]["content_type"], result.pages["/"]["encoding"]), ("text/html;charset=big5", "big5"))


def test_encoding_is_noted():
    result = crawl({"/": html("", content_type='text/html; charset="big5"'),})
    equal(result.pages["/"]["encoding"], "big5")
    equal(crawl({"/": page()}).pages["/"]["encoding"], None)


def test_encodings():
    result = crawl({
        "/": page("/1", "/2", "/3", "/4", "/5"),
        "/1": response("<a href=/1/\u00e9>".encode("latin-1")),
        "/2": response("<meta charset='iso-8859-2'><a href=/2/\u0142>".encode("iso-8859-2")),
        "/3": response("<a href=/3/\u3042>".encode("shift_jis"),
                       content_type="text/html; charset=Shift_JIS"),
        "/4": response("\ufeff<a href=/4/\u00e9>".encode("utf-16-le")),
        "/5": response("<a href=/5/\u00e9>", content_type="text/html; charset=klingon"),
        "/1/%C3%A9": page(), "/2/%C5%82": page(), "/3/%E3%81%82": page(),
        "/4/%C3%A9": page(), "/5/%C3%A9": page()})
    equal(result.status, WELL)
    equal(len(result.site.requests), 11)


def test_start_in_the_depth():
    with Site({"/a/b/c": page("/", "d"), "/": page(), "/a/b/d": page()}) as site:
        equal(Crawl(site.url + "a/b/c").status, WELL)
    equal(sorted(site.requests), ["/", "/a/b/c", "/a/b/d"])


def test_large_files_are_cut_off():
    sent = []

    def endless(connection, _):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n"
                           b"Content-Length: 100000000\r\n\r\n")
        while sum(sent) < 100000000:
            sent.append(connection.send(bytes(65536)))

    result = crawl({"/": page("/big", "/small"), "/big": endless,
                    "/small": response(b"x" * 1000, content_type="image/png")})
    equal(result.status, WELL)
    equal(result.pages["/big"]["size"], 100000000)
    equal(result.pages["/small"]["size"], 1000)
    assert sum(sent) < 50000000, sum(sent)


def test_connections_are_kept():
    names = [f"/{n}" for n in range(50)]
    result = crawl({"/": page(*names), **{name: page() for name in names}},
                   "--max-tasks", "4")
    equal(len(result.site.requests), 51)
    assert result.site.connections <= 4, result.site.connections


def test_headers_of_requests():
    result = crawl({"/": page()})
    contains(result.site.headers[0], "GET / HTTP/1.1\r\n")
    contains(result.site.headers[0], f"Host: {result.site.address}\r\n")
    contains(result.site.headers[0], "User-Agent: coil-crawl/0.")


def test_json_escapes_what_headers_hold():
    answer = response(b"", content_type='a/b; charset="x\\y"; \udcff\x01\t')
    result = crawl({"/": answer})
    contains(result.pages["/"]["content_type"], "\ufffd\x01")


# ---- how deep, and along which chain -----------------------------------------------------


def chain(first, last, end=None):
    """Return the answers of a chain of redirects from "/first" to "/last". The answer of "/last" is `end`."""
    return {**{f"/{n}": redirect(f"/{n + 1}") for n in range(first, last)},
            f"/{last}": end or page()}


def test_depth_is_that_of_the_shortest_way():
    """The long path to /far is found first, because the short path is slow."""
    result = crawl({"/": page("/slow", "/a"), "/slow": slow(0.3, page("/far")),
                    "/a": page("/b"), "/b": page("/far"), "/far": page("/end"),
                    "/end": page("/no")}, "--max-depth", "3")
    equal({path: r["depth"] for path, r in result.pages.items()},
          {"/": 0, "/slow": 1, "/a": 1, "/b": 2, "/far": 2, "/end": 3})
    equal(result.outcomes["/no"], "skipped/depth")


def test_a_redirect_is_no_link_of_the_way():
    """The crawl first finds a path of two links to /far. A redirect that is found later shortens the path to one
    link."""
    result = crawl({"/": page("/a", "/moved"), "/a": page("/far"),
                    "/moved": slow(0.3, redirect("/far")), "/far": page("/end"),
                    "/end": page("/no")}, "--max-depth", "2")
    equal({path: r["depth"] for path, r in result.pages.items()},
          {"/": 0, "/a": 1, "/moved": 1, "/far": 1, "/end": 2})
    equal(result.outcomes["/no"], "skipped/depth")


def test_what_is_too_deep_by_one_way_is_fetched_by_another():
    result = crawl({"/": page("/a", "/moved"), "/a": page("/far#x"),
                    "/moved": slow(0.3, redirect("/far")), "/far": html("<i id=x>")},
                   "--max-depth", "1")
    equal(result.outcomes, {"/": "ok", "/a": "ok", "/moved": "redirect/temporary", "/far#x": "ok"})


def test_max_depth_of_nothing_is_the_start_alone():
    result = crawl({"/": redirect("/a"), "/a": page("/b", "/a#x")}, "--max-depth", "0")
    equal(result.outcomes, {"/": "redirect/temporary", "/b": "skipped/depth",
                            "/a#x": "fragment/no-such-id"})


def test_a_chain_that_is_too_long_with_a_link_to_its_middle():
    """A chain of thirteen redirects exceeds the limit if a link points to its first redirect, but not if a link points
    to its fourth. The order in which the crawl finds the two links does not matter."""
    expected = {"/": "ok", "/late": "ok", "/1": "broken/redirect-limit", "/4": "redirect/chain"}
    for first, late in (("/1", "/4"), ("/4", "/1")):
        result = crawl({"/": page(first, "/late"), "/late": slow(0.3, page(late)),
                        **chain(1, 14)})
        equal((first, result.outcomes), (first, expected))
        equal((first, len(result.site.requests)), (first, 16))


def test_a_chain_that_was_given_up_goes_on_if_it_is_met_nearer():
    """If a chain of redirects exceeds the limit, and a page links to the first target that was not fetched, this target
    is fetched as the start of a new chain."""
    result = crawl({"/": page("/1", "/late"), "/late": slow(0.3, page("/4")), **chain(1, 7)},
                   "--max-redirect", "2")
    equal(result.outcomes, {"/": "ok", "/late": "ok", "/1": "broken/redirect-limit", "/4": "broken/redirect-limit"})
    equal("/7" in result.site.requests, False)
    result = crawl({"/": page("/1", "/late"), "/late": slow(0.3, page("/4")), **chain(1, 6)},
                   "--max-redirect", "2")
    equal(result.outcomes, {"/": "ok", "/late": "ok", "/1": "broken/redirect-limit", "/4": "redirect/chain"})


def test_what_leads_into_a_circle():
    """If redirects lead to a loop of redirects, the verdict does not depend on the order of the requests."""
    circle = {"/a": redirect("/b"), "/b": redirect("/c"), "/c": redirect("/a"),
              "/1": redirect("/2"), "/2": redirect("/a")}
    for links in (["/1"], ["/1", "/b"], ["/b", "/1"]):
        result = crawl({"/": page(*links), **circle}, "--max-redirect", "5")
        equal(result.outcomes, {"/": "ok", **{path: "broken/redirect-circle" for path in links}})
        equal(len(result.site.requests), 6)
        result = crawl({"/": page(*links, "/late"), "/late": slow(0.2, page("/a", "/2")),
                        **circle}, "--max-redirect", "4")
        equal(result.outcomes, {"/": "ok", "/late": "ok",
                                **{path: "broken/redirect-circle" for path in [*links, "/a", "/2"]},
                                "/1": "broken/redirect-limit"})


def test_a_circle_that_is_longer_than_a_chain_may_be():
    circle = {f"/{n}": redirect(f"/{(n + 1) % 4}") for n in range(4)}
    result = crawl({"/": page(*circle), **circle}, "--max-redirect", "3")
    equal({result.outcomes[path] for path in circle}, {"broken/redirect-limit"})
    result = crawl({"/": page(*circle), **circle}, "--max-redirect", "4")
    equal({result.outcomes[path] for path in circle}, {"broken/redirect-circle"})


def test_a_start_that_redirects_for_ever():
    answers = {"/": redirect("/1"), **{f"/{n}": redirect(f"/{n + 1}") for n in range(1, 400)}}
    result = crawl(answers)
    equal(result.status, NOTHING)
    equal(len(result.site.requests), 11)
    equal(result.outcomes["/"], "broken/redirect-limit")


def test_a_circle_of_starts():
    with Site({"/a": redirect("/b"), "/b": redirect("/a")}) as site:
        result = Crawl(site.url + "a", site.url + "b")
    equal(result.outcomes, {"/a": "broken/redirect-circle", "/b": "broken/redirect-circle"})
    equal(sorted(site.requests), ["/a", "/b"])


def test_no_redirect_is_followed():
    result = crawl({"/": page("/a"), "/a": redirect("/b"), "/b": page()}, "--max-redirect", "0")
    equal(result.site.requests, ["/", "/a"])
    equal(result.outcomes, {"/": "ok", "/a": "broken/redirect-limit"})


# ---- fragments -----------------------------------------------------------------------------


def test_fragments_as_written_or_decoded():
    links = ["#plain", "#a%20b", "#a%2520b", "#%C3%A4", "#\u00e4", "#Plain", "#TOP", "#top", "#named",
             "#:~:text=x", "#plain:~:text=x", "#", "#100%"]
    body = ('<i id=plain></i><i id="a b"></i><i id="\u00e4"></i><a name=named></a>'
            '<i id="100%"></i>')
    result = crawl({"/": html(body + "".join(f'<a href="/{link}">x</a>' for link in links))})
    broken = {key for key, reported in result.outcomes.items() if reported == "fragment/no-such-id"}
    equal(broken, {"/#a%20b", "/#Plain"})
    equal({key for key, reported in result.outcomes.items() if reported == "ok"},
          {"/", "/#plain", "/#a b", "/#\u00e4", "/#TOP", "/#top", "/#named", "/#100%"})


def test_fragments_of_ids_with_escapes():
    """As in browsers, the fragment is first compared with the ids as written, and then decoded."""
    body = '<h2 id="%e3%83%86">x</h2><i id="impl-AsRef%3C%5BT%5D%3E">y</i><i id="a%20b"></i><i id="%zz"></i>'
    links = ["#%e3%83%86", "#%E3%83%86", "#impl-AsRef%3C%5BT%5D%3E", "#a%20b", "#%zz", "#a%2520b", "#a%21b"]
    result = crawl({"/": html(body + "".join(f'<a href="/{link}">x</a>' for link in links))})
    equal({key for key, reported in result.outcomes.items() if reported == "fragment/no-such-id"}, {"/#a!b"})


def test_fragments_of_what_users_write():
    """GitHub, GitLab and Gitea prefix ids with "user-content-". Fragments are written without the prefix."""
    long = "y" * 300
    body = ('<a id=user-content-installation></a><a name="user-content-\u00e4"></a>'
            f'<i id=other-x></i><i id=user-content-{long}></i>')
    links = ["#installation", "#user-content-installation", "#%C3%A4", f"#{long}", "#x", "#nstallation"]
    result = crawl({"/": html(body + "".join(f'<a href="/{link}">x</a>' for link in links))})
    equal({key for key, reported in result.outcomes.items() if reported != "ok"}, {"/#x", "/#nstallation"})


def texts_of(result):
    """Return the URLs of links whose text is missing. All other verdicts must be "ok"."""
    missing = {key for key, reported in result.outcomes.items() if reported == "text/no-such-text"}
    equal({key for key, reported in result.outcomes.items() if reported != "ok"}, missing)
    return missing


def test_links_to_texts():
    """Texts are found whether a page is fetched before or after a link to its text is known. The page is fetched at
    most twice."""
    links = ["/a#:~:text=A%20text", "/a#x:~:text=Title,end", "/a#:~:text=missing", "/a#x:~:text=gone%20too"]
    body = html("<h1>Title</h1><p id=x>A <b>text</b>, up to its end.")
    missing = {"/a#:~:text=missing", "/a#:~:text=gone too"}
    result = crawl({"/": page(*links), "/a": body})
    equal((result.status, texts_of(result), result.site.requests.count("/a")), (WELL, missing, 1))
    equal([(r["target"], r["fragment"]) for r in result.links][1], (result.site.url + "a", "x"))
    contains(result.out, "2 text")
    result = crawl({"/": page("/a", "/b"), "/a": body, "/b": slow(0.3, page(*links))}, "-v")
    equal((result.status, texts_of(result), result.site.requests.count("/a")), (WELL, missing, 2))
    contains(result.out, "Texts that are not on their pages")
    contains(result.out, "    3:10    /a#:~:text=missing\n")
    equal(sum(r["page"].endswith("/a") for r in result.links), 0)
    equal(sum(r["url"].endswith("/a") for r in result.of("page")), 1)
    result = crawl({"/": page("#:~:text=x", "#:~:text=not%20here")})
    equal((texts_of(result), result.site.requests.count("/")), ({"/#:~:text=not here"}, 2))
    equal(crawl({"/": page(*links), "/a": body}, "--fail-on", "text").status, BROKEN)


def test_links_to_texts_behind_redirects():
    body = html("<p>A text.<a href='/x#:~:text=other'>")
    for answers in ({"/": page("/r#:~:text=text", "/r#:~:text=other"), "/r": redirect("/x", 301), "/x": body},
                    {"/": page("/r", "/b"), "/r": redirect("/x", 301), "/x": body,
                     "/b": slow(0.3, page("/r#:~:text=text", "/r#:~:text=other"))}):
        result = crawl(answers)
        equal({key for key, reported in result.outcomes.items() if reported.startswith("text")}, {"/x#:~:text=other"})


def test_texts_are_not_looked_for_without_fragments_or_in_what_is_not_html():
    answers = {"/": page("/a#:~:text=no", "/b#:~:text=no", "/gone#:~:text=no"), "/a": page(),
               "/b": response("x", content_type="text/plain")}
    equal(crawl(answers, "--fragments", "none").outcomes, {"/": "ok", "/a": "ok", "/b": "ok", "/gone": "broken/status"})
    equal(crawl(answers).outcomes, {"/": "ok", "/a": "ok", "/a#:~:text=no": "text/no-such-text", "/b": "ok",
                                    "/gone": "broken/status"})
    equal(crawl(answers, "--exclude", "#:~:text").outcomes,
          {"/": "ok", "/a": "ok", "/a#:~:text=no": "skipped/excluded", "/b": "ok", "/gone": "broken/status"})
    with Server({"/": html("<p>There.")}, host="127.0.0.2") as other:
        links = page(other.url + "#:~:text=there", other.url + "#:~:text=no")
        result = crawl({"/": links})
        equal(result.outcomes, {"/": "ok", other.url: "ok"})
        result = crawl({"/": links}, "--fragments", "all")
        equal(result.outcomes, {"/": "ok", other.url: "ok", other.url + "#:~:text=no": "text/no-such-text"})


def test_fragments_that_are_ranges_of_lines():
    """Both the first and the last line of a range must exist. rustdoc, GitLab and GitHub use different syntax for
    ranges."""
    there = ["208-210", "L10-L20", "L10-20", "n-1-n-2", "n-1-2", "a-b", "1-2-3", "%32%30%38-210"]
    gone = ["208-211", "207-208", "L10-210", "L10-L", "-210", "208-", "208--210", "208-L20", "x208-210", "L208-L210"]
    ids = "".join(f"<i id={i}></i>" for i in ("208", "210", "L10", "L20", "n-1", "n-2", "a-b", "1", "2-3"))
    result = crawl({"/": page(*(f"/a#{fragment}" for fragment in there + gone)), "/a": html(ids)})
    equal({fragment for fragment in there + gone
           if result.outcomes.get("/a#" + fragment.replace("%32%30%38", "208")) == "ok"},
          set(there) - {"1-2-3"})


def test_lines_of_files_on_github():
    """On GitHub, a fragment such as #L10 is handled by a script, and is not checked. On other
    sites, such a fragment is an id."""
    lines = ["L10", "L10-L20", "L10C5-L20C7", "L10-L20-L30"]
    for host, verdict in (("github.com", "unchecked/route"), ("www.github.com", "unchecked/route"),
                          ("github.com.example", "fragment/no-such-id")):
        base = f"http://{host}/"
        with Server({base: page(*(f"/f#{fragment}" for fragment in [*lines, "L", "Lx", "L10-"])), base + "f": page()}) as proxy:
            result = Crawl(base, "-x", proxy.origin)
        equal((host, {fragment: result.outcomes["/f#" + fragment] for fragment in [*lines, "L", "Lx", "L10-"]}),
              (host, {**{line: verdict for line in lines},
                      **{fragment: "fragment/no-such-id" for fragment in ("L", "Lx", "L10-")}}))


def test_fragments_that_are_routes_of_a_script():
    routes = ["#/guide", "#!/users", "#!x", "#%2fguide", "#%21", "#/"]
    body = '<i id="/there"></i><i id="!"></i>'
    links = [*routes, "#/there", "#!", "#a/b", "#a!", "#%a"]
    result = crawl({"/": html(body + "".join(f'<a href="/{link}">x</a>' for link in links)), "/x": page()})
    equal(result.outcomes, {"/": "ok", "/#/there": "ok", "/#!": "ok", "/#/guide": "unchecked/route",
                            "/#!/users": "unchecked/route", "/#!x": "unchecked/route", "/#/": "unchecked/route",
                            "/#a/b": "fragment/no-such-id", "/#a!": "fragment/no-such-id",
                            "/#%a": "fragment/no-such-id"})
    equal(result.status, BROKEN)


def test_fragments_of_pages_that_were_read_before_or_come_later():
    result = crawl({"/": html('<i id=x></i><a href="/a#x"></a><a href="/a#y"></a>'
                              '<a href="#x"></a>'),
                    "/a": html('<i id=y></i><a href="/#x"></a><a href="/#z"></a>')})
    equal(result.statuses(), {"/": 200, "/a": 200})
    equal(result.outcomes, {"/": "ok", "/#x": "ok", "/#z": "fragment/no-such-id",
                            "/a#x": "fragment/no-such-id", "/a#y": "ok"})


def test_fragments_of_where_a_redirect_leads():
    result = crawl({"/": page("/a#x", "/a#y", "/b#no", "/gone#x", "/file#x"), "/a": redirect("/end", 301),
                    "/b": redirect("/end#x"), "/end": html("<i id=x>"),
                    "/file": response("x", content_type="text/plain")})
    equal(result.outcomes, {"/": "ok", "/a#x": "redirect/permanent", "/a#y": "fragment/no-such-id",
                            "/b#no": "redirect/temporary", "/gone#x": "broken/status",
                            "/file#x": "unchecked/not-searched"})


def test_fragments_that_a_redirect_names():
    """A redirect's fragment replaces the fragment of the link, or of an earlier redirect."""
    answers = {"/": page("/old", "/old#here", "/ok", "/ok#no", "/c1", "/c1#here", "/d1", "/top", "/empty", "/route", "/file",
                         "/percent"),
               "/new": html("<i id=here><i id='\u00e4'>"), "/old": redirect("/new#gone", 301), "/ok": redirect("/new#here"),
               "/c1": redirect("/c2#gone"), "/c2": redirect("/new"), "/d1": redirect("/d2#gone"), "/d2": redirect("/new#here"),
               "/top": redirect("/new#top"), "/empty": redirect("/new#"), "/route": redirect("/new#/route"),
               "/file": redirect("/picture#x"), "/picture": response("x", content_type="image/png"),
               "/percent": redirect("/new#%C3%A4")}
    result = crawl(answers)
    equal(result.status, BROKEN)
    equal(result.outcomes, {"/": "ok",
                            **{path: "fragment/no-such-id" for path in ("/old", "/old#here", "/c1", "/c1#here")},
                            "/ok": "redirect/temporary", "/ok#no": "redirect/temporary", "/d1": "redirect/chain",
                            "/top": "redirect/temporary", "/empty": "redirect/temporary", "/route": "redirect/temporary",
                            "/file": "redirect/temporary", "/percent": "redirect/temporary"})
    contains(result.message("/old"), "#gone")
    contains(result.out, "the redirect names: #gone, redirects to /new")
    equal(set(crawl(answers, "--fragments", "none").outcomes.values()),
          {"ok", "redirect/temporary", "redirect/permanent", "redirect/chain"})
    equal(crawl({"/": redirect("/new#gone"), "/new": page()}).outcomes, {"/": "fragment/no-such-id"})


def test_fragments_that_a_redirect_names_on_other_sites():
    """The fragment of a redirect to another site is checked only with --fragments=all, even if the target was already
    requested with HEAD."""
    with Site({"/new": html("<i id=here>")}) as other:
        answers = {"/": page(other.url + "new", "/late", "/ok"), "/late": slow(0.3, redirect(other.url + "new#gone")),
                   "/ok": redirect(other.url + "new#here")}
        equal(crawl(answers).outcomes["/late"], "redirect/temporary")
        result = crawl(answers, "--fragments", "all")
    equal((result.outcomes["/late"], result.outcomes["/ok"]), ("fragment/no-such-id", "redirect/temporary"))


def test_fragments_none():
    result = crawl({"/": page("#x", "/a#x"), "/a": page()}, "--fragments", "none")
    equal(result.outcomes, {"/": "ok", "/a": "ok"})


def test_fragments_of_other_sites_are_not_checked():
    with Site({"/": html("<i id=x>")}) as other:
        result = crawl({"/": page(other.url + "#x", other.url + "#y")})
        equal(other.asked, ["HEAD /"])
    equal({result.outcomes[other.url + "#x"], result.outcomes[other.url + "#y"]},
          {"unchecked/external-fragment"})
    equal(result.status, WELL)


def test_fragments_of_other_sites_if_asked_for():
    with Site({"/": html("<i id=x><a href=/no>")}) as other:
        result = crawl({"/": page(other.url + "#x", other.url + "#y")}, "--fragments", "all")
        equal(other.asked, ["GET /"])
    equal((result.outcomes[other.url + "#x"], result.outcomes[other.url + "#y"]),
          ("ok", "fragment/no-such-id"))
    equal(result.status, BROKEN)


def test_every_page_has_a_top():
    """The fragment #top exists on every page that is OK, even on other sites, on pages that are not searched, and on
    pictures."""
    with Site({"/": page()}) as other:
        result = crawl({"/": page(other.url + "#top", other.url + "gone#Top", "/a.png#TOP", "/moved#top"),
                        "/a.png": response("x", content_type="image/png"), "/moved": redirect("/")})
    equal(result.outcomes, {"/": "ok", other.url + "#top": "ok", other.url + "gone#Top": "broken/status",
                            "/a.png#TOP": "ok", "/moved#top": "redirect/temporary"})


def test_fragments_of_other_sites_that_come_late():
    """A page on another site that was checked with HEAD is fetched with GET if a later link has a fragment. This
    also applies to the end of a redirect chain, and to a page whose request is still running."""
    there = {"/": html("<i id=x>"), "/moved": redirect("/end"), "/end": html("<i id=x>"),
             "HEAD /slow": slow(3, response()), "/slow": html("<i id=x>")}
    with Site(there) as other:
        late = page(*(other.url + link for link in
                      ("#x", "#y", "moved#x", "moved#y", "slow#x", "slow#y")))

        def once_all_are_asked(*_):
            wait_until(lambda: {"HEAD /", "HEAD /end", "HEAD /slow"} <= set(other.asked))
            time.sleep(0.3)  # all answers except the slow one arrive
            return late

        result = crawl({"/": page("/late", other.url, other.url + "moved", other.url + "slow"),
                        "/late": once_all_are_asked}, "--fragments", "all",
                       "--external-per-host", "5")
    reported = {key[len(other.url):]: reported for key, reported in result.outcomes.items()
                if key.startswith(other.url)}
    equal(reported, {"": "ok", "#x": "ok", "#y": "fragment/no-such-id",
                     "moved": "redirect/temporary", "moved#x": "redirect/temporary",
                     "moved#y": "fragment/no-such-id", "slow": "ok", "slow#x": "ok",
                     "slow#y": "fragment/no-such-id"})
    equal(sorted(other.asked), ["GET /", "GET /end", "GET /slow", "HEAD /", "HEAD /end",
                                "HEAD /moved", "HEAD /slow"])


# ---- other sites -----------------------------------------------------------------------------


def test_links_out_wait_until_the_starts_are_known():
    """Links to other sites wait until the redirects of all start URLs are known, because these redirects may add a site
    to the crawl."""
    with Site({"/": page(), "/x": page()}) as other:
        answers = {"/": slow(0.4, redirect(other.url)), "/first": page(other.url + "x")}
        with Site(answers) as site:
            result = Crawl(site.url, site.url + "first")
    equal(other.asked, ["GET /robots.txt", "GET /", "GET /x"])
    equal((result.outcomes["/"], result.outcomes[other.url + "x"]), ("redirect/temporary", "ok"))


def test_head_is_refused_and_get_is_not():
    codes = [400, 403, 404, 405, 500, 501]
    there = {f"HEAD /{code}": status(code) for code in codes}
    there.update({f"/{code}": page() for code in codes})
    there["HEAD /hang"], there["/hang"] = hang_up, page()
    there["HEAD /429"] = there["/429"] = status(429)
    with Site(there) as other:
        urls = [other.url + path.split("/")[1] for path in there if path[0] == "/"]
        result = crawl({"/": page(*urls)}, "--max-tries", "1")
    equal({key: reported for key, reported in result.outcomes.items() if key in urls},
          {url: "blocked/status" if url.endswith("429") else "ok" for url in urls})
    equal(other.asked.count("GET /429"), 0)
    equal(sorted(asked for asked in other.asked if asked.startswith("GET")),
          sorted(f"GET /{n}" for n in [*codes, "hang"]))
    equal(result.status, WELL)


def test_external_get_and_skip():
    with Site({"/": html("x" * 300000)}) as other:
        result = crawl({"/": page(other.url)}, "--external", "get")
        equal(other.asked, ["GET /"])
        equal(result.outcomes[other.url], "ok")
        result = crawl({"/": page(other.url + "x")}, "--external", "skip")
        equal(other.asked, ["GET /"])
        equal(result.outcomes[other.url + "x"], "skipped/external")


def test_refusals_of_other_sites_do_not_fail():
    codes = [401, 403, 451, 429]
    challenge = response(status=503, headers=["cf-mitigated: challenge"])
    with Site({**{f"/{c}": status(c) for c in codes}, "/c": challenge}) as other:
        links = [other.url + str(c) for c in codes]
        result = crawl({"/": page(*links, other.url + "c")}, "--max-tries", "1")
        equal({result.outcomes[link] for link in links}, {"blocked/status"})
        equal(result.outcomes[other.url + "c"], "blocked/challenge")
        equal(result.status, WELL)
    result = crawl({"/": page("/401", "/403"), "/401": status(401), "/403": status(403)})
    equal((result.outcomes["/401"], result.outcomes["/403"], result.status),
          ("broken/status", "broken/status", BROKEN))


def test_accept_and_fail_on():
    answers = {"/": page("/gone", "/#x"), "/gone": status(404)}
    equal(crawl(answers, "--accept", "200..299,404").outcomes["/gone"], "ok")
    equal(crawl(answers, "--fail-on", "none").status, WELL)
    equal(crawl(answers, "--fail-on", "fragment").status, BROKEN)
    equal(crawl({"/": page("mailto:x")}, "--fail-on", "skipped").status, BROKEN)


def test_accept_of_a_host():
    """--accept with a host applies only to that host, whether or not it belongs to the crawled site. Elsewhere, 403 is
    still reported as blocked, and 404 as broken."""
    with Site({"/403": status(403), "/404": status(404)}, host="127.0.0.2") as other, \
            Site({"/403": status(403)}, host="127.0.0.3") as third:
        answers = {"/": page("/404", "/405", other.url + "403", other.url + "404", third.url + "403"),
                   "/405": status(405)}
        result = crawl(answers, "-a", "127.0.0.2=403,404,127.0.0.1=405,127.0.0.3:1=403")
        own = [result.outcomes[path] for path in ("/404", "/405")]
        theirs = [result.outcomes[url] for url in (other.url + "403", other.url + "404", third.url + "403")]
    equal(own, ["broken/status", "ok"])
    equal(theirs, ["ok", "ok", "blocked/status"])


def test_exclude_private():
    with Site({"/": page()}) as other:
        result = crawl({"/": page(other.url, "/moved"), "/moved": redirect(other.url + "x")},
                       "--exclude-private")
        equal(other.asked, [])
    equal(result.outcomes, {"/": "ok", other.url: "skipped/private", "/moved": "skipped/private"})
    equal(result.status, WELL)


def test_exclude_private_through_a_proxy():
    code, out, err = run("--exclude-private", "-x", "http://127.0.0.1:1", "http://127.0.0.1:1/")
    equal((code, out), (USAGE, ""))
    contains(err, "--exclude-private does not work through a proxy")


def test_exclude_private_in_a_redirect_of_robots():
    """A redirect of robots.txt to a private address is not followed. All URLs of the host fail for the same reason as
    the redirect."""
    with Site({"/r": robots("")}) as other:
        answers = {"/": page(), "/robots.txt": redirect(other.url + "r")}
        equal(crawl(answers).outcomes, {"/": "ok"})
        other.forget()
        equal(crawl(answers, "--exclude-private").outcomes, {"/": "error/network"})
        equal(other.asked, [])


def test_a_cache_that_cannot_be_written_is_found_before_the_crawl():
    with Site({"/": page()}) as site, tempfile.TemporaryDirectory() as folder:
        for path, words in ((os.path.join(folder, "no", "cache"), "No such file or directory"), (folder, "Is a directory"),
                            ("/dev/null", "Invalid argument"), ("/proc/cache", "No such file")):
            code, _, err = run("--cache", path, site.url)
            equal((path, code), (path, USAGE))
            contains(err, f"coil-crawl: {path}: {words}")
        equal((site.asked, os.listdir(folder)), ([], []))
        equal(run("--cache", os.path.join(folder, "cache"), site.url)[0], WELL)


def test_cache():
    with tempfile.TemporaryDirectory() as folder, \
            Site({"/": page(), "/gone": status(404), "/moved": redirect("/")}) as other:
        cache = os.path.join(folder, "cache")
        answers = {"/": page(other.url, other.url + "gone", other.url + "moved")}
        first = crawl(answers, "--cache", cache, "--max-tries", "1")
        other.forget()
        second = crawl(answers, "--cache", cache, "--max-tries", "1")
        equal((first.outcomes, first.status), (second.outcomes, second.status))
        equal(sorted(set(other.asked)), ["GET /gone", "HEAD /gone", "HEAD /moved"])
        other.forget()
        equal(crawl({"/": page(other.url)}, "--cache", cache).outcomes[other.url], "ok")
        equal(other.asked, [])
        other.answers["/"] = status(410)
        equal(crawl({"/": page(other.url)}, "--cache", cache, "--fragments", "all").outcomes[other.url], "broken/status")
        equal(crawl({"/": page(other.url)}, "--cache", cache).outcomes[other.url], "broken/status")


def test_baseline():
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "known.jsonl")
        with Site({"/": page("/gone", "#x", "http://")}) as site:
            equal(run("-f", f"jsonl:{file}", site.url)[0], BROKEN)
            equal(run("--baseline", file, site.url)[0], WELL)
            site.answers["/"] = page("/gone", "#x", "http://", "/new")
            equal(run("--baseline", file, site.url)[0], BROKEN)
            equal(run("--baseline", folder + "/none", site.url)[0], USAGE)


def headers_of(site, path):
    """Return all headers of the requests for a path, in lower case."""
    return [head.lower() for head in site.headers if head.split(" ")[1] == path]


def test_headers_go_to_the_start_alone():
    """Headers, cookies and passwords must be sent only to the start host. A link, a redirect, or a redirect of
    robots.txt may lead to another host."""
    with Site({"/": page(), "/x": page(), "/r": response("", content_type="text/plain")}) as other:
        answers = {"/": page(other.url, "/moved"), "/moved": redirect(other.url + "x"),
                   "/robots.txt": redirect(other.url + "r")}
        result = crawl(answers, "-H", "X-Token: secret", "-b", "a=secret", "-u", "me:secret",
                       "--header-for", f"{other.address}:X-Other: theirs")
    assert all("x-token: secret" in head for head in headers_of(result.site, "/")), "start"
    equal(len(other.headers), 3)
    for head in other.headers:
        assert "secret" not in head and "authorization" not in head.lower(), head
    for path in ("/", "/x"):
        contains(headers_of(other, path)[0], "x-other: theirs")
    assert "X-Other" not in "".join(result.site.headers)


# ---- robots.txt, nofollow ----------------------------------------------------------------------


def robots(text):
    return response(text, content_type="text/plain")


def test_crawl_delay_of_loopback_is_dropped_whatever_its_credentials():
    with Site({"/": page("/a", "/b"), "/a": page(), "/b": page(),
               "/robots.txt": robots("User-agent: *\nCrawl-delay: 3600\n")}) as site:
        result = Crawl(site.url.replace("//", "//me:secret@"))
        equal(result.outcomes, {"/": "ok", "/a": "ok", "/b": "ok"})


def test_robots():
    rules = robots("User-agent: *\nDisallow: /private\n\nUser-agent: coil-crawl\nDisallow: /no\n")
    answers = {"/": page("/no/a", "/private", "/moved"), "/private": page(),
               "/moved": redirect("/no/b"), "/robots.txt": rules}
    result = crawl(answers)
    equal(sorted(result.site.requests), ["/", "/moved", "/private"])
    equal(result.outcomes, {"/": "ok", "/no/a": "skipped/robots", "/private": "ok",
                            "/moved": "skipped/robots"})
    contains(result.message("/no/a"), "line 5")
    result = crawl(answers, "--no-robots")
    equal("GET /robots.txt" in result.site.asked, False)
    equal(result.outcomes["/no/a"], "broken/status")


def test_robots_that_cannot_be_fetched():
    """If the request for robots.txt returns a status from 400 to 499, every URL is allowed. If the request fails or
    returns a status from 500 to 599, every URL fails in the same way."""
    for answer, reported, words in ((status(404), "ok", ""), (status(403), "ok", ""),
                                    (status(500), "error/status", "robots.txt: 500 Internal Server Error"),
                                    (hang_up, "error/network", "robots.txt: "),
                                    (cut(robots("User-agent: *\n" * 100), 150), "error/network", "robots.txt: "),
                                    (slow(3, status(404)), "timeout/no-progress", "robots.txt: no progress within 1 s")):
        result = crawl({"/": page("/a"), "/a": page(), "/robots.txt": answer},
                       "--max-tries", "1", "--timeout", "1")
        equal(result.outcomes, {"/": "ok", "/a": "ok"} if reported == "ok" else {"/": reported})
        equal(result.status, WELL if reported == "ok" else NOTHING)
        contains(result.message("/"), words)
        contains(result.out, words)
        equal(result.site.requests if reported != "ok" else [], [])


def test_robots_that_cannot_be_fetched_at_once():
    """robots.txt is fetched again after a temporary failure, like any URL."""
    for answer in (status(500), hang_up):
        result = crawl({"/": page(), "/robots.txt": [answer, answer, robots("User-agent: *\nDisallow: /\n")]})
        equal(result.outcomes, {"/": "skipped/robots"})
        equal(result.site.asked, ["GET /robots.txt"] * 3)
        result = crawl({"/": page(), "/robots.txt": [answer, answer, status(404)]}, "--max-tries", "2")
        assert result.outcomes["/"].startswith("error/"), result.outcomes
        equal(result.site.asked, ["GET /robots.txt"] * 2)


def test_robots_of_another_port_fail_the_run():
    """If robots.txt on another port cannot be fetched, each link to that port fails for the same reason. The rest
    of the site is crawled."""
    with Site({"/robots.txt": status(500), "/x": page()}) as bad:
        secure = bad.url.replace("http:", "https:")
        result = crawl({"/": page(bad.url + "x", secure + "x", "/a"), "/a": page()}, "--lenient", "--max-tries", "1")
    equal(bad.requests, [])
    equal(result.outcomes, {"/": "ok", "/a": "ok", bad.url + "x": "error/status", secure + "x": "error/tls"})
    equal(result.status, BROKEN)
    equal(result.verdicts[bad.url + "x"]["status"], 500)
    equal(result.message(secure + "x"),
          "robots.txt: the TLS handshake failed: the server does not speak TLS on this port")
    contains(result.out, result.message(secure + "x"))


def test_a_start_with_a_bad_certificate():
    """The message mentions the certificate, and the option that accepts it."""
    with tempfile.TemporaryDirectory() as folder:
        pem = certificate(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        with Site({"/": page("/a"), "/a": page()}, context=context) as site:
            result = Crawl(site.url, "--max-tries", "1")
            equal((result.outcomes, result.status), ({"/": "error/tls"}, NOTHING))
            contains(result.out, "certificate")
            status, out, _ = run("--max-tries", "1", "explain", site.url)
            contains(out, "cannot be fetched, so nothing else is fetched: ")
            contains(out, "error, tls: robots.txt: ")
            equal(Crawl(site.url, "-k").outcomes, {"/": "ok", "/a": "ok"})


def test_a_start_that_robots_forbid():
    """If robots.txt forbids the start, the report gives the reason and a remedy."""
    for options in ((), ("-q",)):
        result = crawl({"/": page(), "/robots.txt": robots("User-agent: *\nDisallow: /\n")}, *options)
        equal(result.status, NOTHING)
        contains(result.err, "/: line 2 of its robots.txt forbids it; --no-robots ")
    result = crawl({"/": redirect("/no"), "/no": page(), "/robots.txt": robots("User-agent: *\nDisallow: /no\n")})
    contains(result.err, "/: line 2 of its robots.txt forbids it; --no-robots ")
    equal("--no-robots" in crawl({"/": page("/no"), "/robots.txt": robots("User-agent: *\nDisallow: /no\n")}).err,
          False)


def test_robots_of_a_host_that_comes_later():
    """The host does not accept connections at first, so the page is requeued. Once the host answers, robots.txt is
    fetched, and then the page. If robots.txt redirects to a host that never answers, all pages fail with the error of
    that redirect."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    with started("-f", "jsonl:-", "--max-tries", "20", url) as process:
        time.sleep(1)  # the test checks less if this is too short or too long
        with Site({"/": page("/no"), "/no": page(), "/robots.txt": robots("User-agent: *\nDisallow: /no\n")},
                  listener=listener) as site:
            out, _ = process.communicate(timeout=PATIENCE)
    reported = {r["target"]: r["reason"] for r in map(json.loads, out.splitlines()) if r["type"] == "verdict"}
    equal(reported, {url: None, url + "no": "robots"})
    equal("GET /no" in site.asked, False)
    result = crawl({"/": page(), "/robots.txt": redirect("http://127.0.0.1:1/")})
    equal(result.outcomes, {"/": "error/network"})
    contains(result.message("/"), "robots.txt: Connection refused")


def test_robots_are_believed_for_a_day():
    later = os.path.join(os.path.dirname(PROGRAM), "..", "tests", "suites", "crawler", "later.so")
    with tempfile.TemporaryDirectory() as folder, Site() as site:
        flag = os.path.join(folder, "later")

        def a_day_goes_by(*_):
            with open(flag, "w"):
                return page("/c", "/no")

        site.answers.update({"/": page("/a"), "/a": page("/b"), "/b": a_day_goes_by, "/c": page(), "/no": page(),
                             "/robots.txt": [robots(""), robots("User-agent: *\nDisallow: /no\n")]})
        result = Crawl(site.url, "--max-tasks", "1", "--timeout", "48h", "--max-time", "48h",
                       environment={"LATER": flag, "LD_PRELOAD": preloadable(later),
                                    "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"})
    equal(site.asked, ["GET /robots.txt", "GET /", "GET /a", "GET /b", "GET /robots.txt", "GET /c"])
    equal((result.outcomes["/c"], result.outcomes["/no"]), ("ok", "skipped/robots"))


def test_robots_elsewhere():
    """Up to five redirects of robots.txt are followed, even to other hosts. If there are more redirects, robots.txt
    counts as missing."""
    rules = robots("User-agent: *\nDisallow: /a\n")
    answers = {"/": page("/a"), "/a": page(), "/robots.txt": redirect("/1")}
    result = crawl({**answers, **chain(1, 5, rules)})
    equal(result.outcomes["/a"], "skipped/robots")
    result = crawl({**answers, **chain(1, 6, rules)})
    equal(result.outcomes["/a"], "ok")
    with Site({"/r": rules}) as other:
        result = crawl({**answers, "/robots.txt": redirect(other.url + "r")})
    equal(result.outcomes["/a"], "skipped/robots")
    result = crawl({**answers, "/robots.txt": redirect("mailto:x@y")})
    equal(result.outcomes["/a"], "ok")


def test_robots_of_other_sites_are_not_asked_for():
    with Site({"/": page(), "/robots.txt": robots("User-agent: *\nDisallow: /\n")}) as other:
        result = crawl({"/": page(other.url)})
        equal(other.asked, ["HEAD /"])
    equal(result.outcomes[other.url], "ok")


def tagged(tags, *links):
    body = "".join(f'<a href="{link}">x</a>' for link in links)
    return html(body, headers=[f"X-Robots-Tag: {tag}" for tag in tags])


def test_x_robots_tag():
    follow = {("noindex",), ("other-bot: nofollow",), ("max-image-preview:none",), ("nofollowing",),
              ("other-bot:noindex, nofollow",), ("other-bot: none", "a: nofollow"), ("",)}
    for tags in (("nofollow",), ("noindex, NoFollow",), ("none",), ("coil-crawl: nofollow",),
                 ("unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow",), ("max-snippet: 9, nofollow",),
                 ("noindex", "nofollow"), ("other-bot: noindex", "coil-crawl:nofollow"), *follow):
        result = crawl({"/": tagged(tags, "/a"), "/a": page()}, "--obey-x-robots-tag")
        equal((tags, result.outcomes["/a"]), (tags, "ok" if tags in follow else "skipped/nofollow"))
    equal(crawl({"/": tagged(["nofollow"], "/a"), "/a": page()}).outcomes["/a"], "ok")


def test_nofollow():
    answers = {"/": html('<a rel="x nofollow" href=/a>1</a><a rel="nofollow" href=/b>2</a>'
                         '<a href=/c>3</a>'),
               "/a": page(), "/b": page(), "/c": page("/b"),
               "/meta": html('<meta name=robots content="noindex, nofollow"><a href=/a>4</a>')}
    result = crawl(answers, "--obey-nofollow")
    equal(result.outcomes, {"/": "ok", "/a": "skipped/nofollow", "/b": "ok", "/c": "ok"})
    with Site(answers) as site:
        equal(Crawl(site.url + "meta", "--obey-nofollow").outcomes["/a"], "skipped/nofollow")
        equal(Crawl(site.url + "meta").outcomes["/a"], "ok")


# ---- how much, and how fast ----------------------------------------------------------------------


def test_bytes_are_of_all_answers():
    long = html("later" * 4000, status=503)
    result = crawl({"/": page("/a"), "/a": [long, long, page()]})
    equal(result.outcomes["/a"], "ok")
    assert result.records[-1]["bytes"] > 2 * 20000, result.records[-1]


def test_numbered_pages_are_all_visited():
    """Numbered pages from 1990 to 2999 are visited: numbers in URLs are not treated as years without further
    evidence."""
    class Tree(dict):
        def get(self, path, otherwise=None):
            n = int(path[3:]) if path.startswith("/n/") else 0
            return otherwise if n == 0 else page(*(f"/n/{m}" for m in (2 * n, 2 * n + 1) if m < 4000))

    for options in ((), ("--max-tasks", "1")):
        with Site(Tree()) as site:
            result = Crawl(site.url + "n/1", *options)
        equal(collections.Counter(result.outcomes.values()), {"ok": 3999})


def test_a_calendar_is_left_out_whatever_comes_first():
    """A crawl does not follow an endless calendar, but it visits pages of the calendar that other pages link to."""
    def month(path):
        year, month = int(path[3:7]), int(path[8:10])
        after, before = year * 12 + month, year * 12 + month - 2
        return page(*(f"/m/{n // 12:04}-{n % 12 + 1:02}" for n in (after, before)))

    class Calendar(dict):
        def get(self, path, otherwise=None):
            return month(path) if path.startswith("/m/") else super().get(path, otherwise)

    found = []
    for fast, late in (("/far", "/m/2200-01"), ("/m/2200-01", "/far")):
        with Site(Calendar({"/": page(fast, "/late"), "/late": slow(0.3, page(late)),
                            "/far": page("/m/2200-02", "/m/2200-05")})) as site:
            result = Crawl(site.url)
        found.append(result.outcomes)
        steps = sorted(path for path, reported in result.outcomes.items() if reported == "skipped/trap-calendar")
        equal(set(result.outcomes.values()), {"ok", "skipped/trap-calendar"})
        equal(steps, ["/m/2199-12", "/m/2200-03", "/m/2200-04", "/m/2200-06"])
    equal(found[0], found[1])


def test_max_pages():
    names = [f"/{n}" for n in range(30)]
    result = crawl({"/": page(*names), **{n: page() for n in names}}, "--max-pages", "10")
    equal(len(result.site.requests), 10)
    reported = list(result.outcomes.values())
    equal((reported.count("ok"), reported.count("skipped/pages")), (10, 21))


def test_max_duration():
    names = [f"/{n}" for n in range(200)]
    answers = {"/": page(*names), **{n: slow(0.2, page()) for n in names}}
    result = crawl(answers, "--max-duration", "3", "--max-tasks", "2")
    reported = list(result.outcomes.values())
    equal(reported.count("ok") + reported.count("skipped/time"), 201)
    assert 1 < reported.count("ok") < 100, reported
    equal(result.status, INTERRUPTED)
    contains(result.err, "--max-duration has passed: at least ")
    broken = crawl({**answers, "/": page("/gone", *names)}, "--max-duration", "1", "--max-tasks", "2")
    equal(broken.status, BROKEN)
    contains(broken.err, "--max-duration has passed: at least ")
    equal((crawl({"/": page()}, "--max-duration", "60").status, WELL), (WELL, WELL))


def test_offline_asks_nothing():
    """With --offline, pages, robots.txt and sitemaps are not fetched. The report lists the skipped links."""
    with Site({"/": page("/a"), "/a": page()}) as site:
        result = Crawl(site.url, "--offline")
        equal((result.outcomes, result.status), ({"/": "unchecked/offline"}, NOTHING))
        contains(result.err, f"{site.url}: not fetched, because of --offline")
        equal(Crawl(site.url, "--offline", "--sitemap", site.url + "map.xml").status, NOTHING)
        contains(run("--offline", "explain", site.url)[1], "unchecked, offline")
        with tempfile.TemporaryDirectory() as folder:
            state = os.path.join(folder, "state")
            run("-d", state, site.url)
            asked = len(site.seen)
            for command in ("resume", "recheck"):
                code, _, err = run(command, state, "--offline")
                equal(code, USAGE)
                contains(err, "send requests, which --offline forbids")
            equal(run("report", state, "--offline")[0], WELL)
        equal(len(site.seen), asked)
    equal(asked, 3)


def test_per_host():
    names = [f"/{n}" for n in range(20)]
    result = crawl({"/": page(*names), **{n: slow(0.02, page()) for n in names}},
                   "--per-host", "2")
    equal(result.site.most_active, 2)
    with Site({n: slow(0.02, page()) for n in names}) as other:
        crawl({"/": page(*(other.url + n[1:] for n in names))}, "--external-per-host", "3",
              "--external", "get")
        equal(other.most_active, 3)
        equal(len(other.requests), 20)


def test_delay():
    """The delay also applies after the request for robots.txt."""
    names = [f"/{n}" for n in range(4)]
    result = crawl({"/": page(*names), **{n: page() for n in names}}, "--delay", "400ms")
    times = result.site.times
    equal((result.site.asked[0], len(times)), ("GET /robots.txt", 6))
    assert times[-1] - times[0] > 1.7, times  # 2 s, minus jitter; 1.6 s without robots.txt


def test_delay_between_head_and_get():
    with Site({}, otherwise=status(405)) as other:
        crawl({"/": page(other.url + "a", other.url + "b")}, "--delay", "400ms", "--max-tries", "1")
    equal(sorted(other.asked), ["GET /a", "GET /b", "HEAD /a", "HEAD /b"])
    assert other.times[-1] - other.times[0] > 1, other.times  # 1.2 s minus jitter; 0.4 s for two HEADs


def test_a_pause_is_of_one_host():
    """While six pages of a host are unavailable for three seconds each, the pages of another host must be fetched."""
    names = [f"/{n}" for n in range(6)]
    later = html("later", status=503, headers=["Retry-After: 3"])
    with Site({"/": page(*names), **{n: [later, page()] for n in names}}) as busy, \
            Site({"/": page("/a"), "/a": page()}, host="127.0.0.2") as other:
        result = Crawl(busy.url, other.url, "--max-tasks", "2")
    asked_again = [t for i, (asked, t) in enumerate(zip(busy.asked, busy.times))
                   if asked[5:].isdigit() and asked in busy.asked[:i]]
    good = [t for asked, t in zip(other.asked, other.times) if asked == "GET /a"][0]
    assert good < min(asked_again), (good, asked_again)
    equal(set(result.outcomes.values()), {"ok"})
    again = sorted(t for asked, t in zip(busy.asked, busy.times) if asked[5:].isdigit())
    assert any(b - a > 2.5 for a, b in zip(again, again[1:])), again


class Bucket:
    """A token bucket, which allows `rate` requests per second and bursts of `burst`, and answers all other requests
    with `refusal`."""

    def __init__(self, rate, burst, refusal):
        self.rate, self.burst, self.refusal = rate, burst, refusal
        self.tokens, self.at, self.refused = burst, time.monotonic(), 0
        self.lock = threading.Lock()

    def __call__(self, answer):
        def limited(*_):
            with self.lock:
                now = time.monotonic()
                self.tokens = min(self.burst, self.tokens + (now - self.at) * self.rate)
                self.at = now
                if self.tokens < 1:
                    self.refused += 1
                    return self.refusal
                self.tokens -= 1
            return answer
        return limited


def test_a_site_that_limits_its_clients():
    """A site that limits the rate of requests. No page must be reported as broken, although --max-tries is 1.
    (test_throttle.c simulates more sites.)"""
    for rate, burst, refusal in ((100, 5, status(503)), (100, 1, status(429)),
                                 (40, 5, html("later", status=429, headers=["Retry-After: 1"]))):
        limit = Bucket(rate, burst, refusal)
        names = [f"/{n}" for n in range(rate)]
        answers = {name: limit(page(*names)) for name in ["/", *names]}
        answers["/robots.txt"] = limit(NOT_FOUND)
        result = crawl(answers, "--max-tries", "1", "--max-tasks", "20")
        equal((result.status, set(result.outcomes.values()), len(result.outcomes)), (WELL, {"ok"}, rate + 1))
        assert 0 < limit.refused < rate, limit.refused


def test_a_site_whose_robots_txt_is_refused_at_first():
    result = crawl({"/": page("/no"), "/robots.txt": [status(429), status(503), robots("User-agent: *\nDisallow: /no\n")]},
                   "--max-tries", "1")
    equal((result.outcomes, result.status), ({"/": "ok", "/no": "skipped/robots"}, WELL))


def test_a_refusal_that_is_accepted():
    """If --accept includes status 429, a page with this status is not requested again."""
    result = crawl({"/": page("/a"), "/a": status(429)}, "--accept", "200..299,429")
    equal((result.outcomes, result.site.requests), ({"/": "ok", "/a": "ok"}, ["/", "/a"]))


def test_a_host_that_only_refuses():
    """If a host refuses every request, all of its pages are eventually reported as refused."""
    began = time.monotonic()
    result = crawl({"/": status(503), "/robots.txt": status(404)})
    equal((result.outcomes, result.status), ({"/": "broken/status"}, NOTHING))
    assert 5 < time.monotonic() - began, "it gave up too early"


def test_traps():
    class Deep(dict):
        def get(self, path, otherwise=None):
            return otherwise if path == "/robots.txt" else html('<a href="a/">x</a>')

    with Site(Deep()) as site:
        result = Crawl(site.url)
    equal(sorted(site.requests), ["/", "/a/", "/a/a/", "/a/a/a/"])
    equal(result.outcomes["/a/a/a/a/"], "skipped/trap-repeat")
    equal(result.status, WELL)
    with Site(Deep()) as site:
        equal(len(Crawl(site.url, "--no-trap", "repeat", "--max-pages", "9").pages), 9)
    result = crawl({"/": page("/x", "/x?PHPSESSID=abc123"), "/x": page()})
    equal(result.outcomes["/x?PHPSESSID=abc123"], "skipped/trap-session")
    equal(result.site.requests, ["/", "/x"])


def test_pages_that_are_too_long_are_searched_in_part():
    """Pages are searched up to the limit, regardless of the pieces in which they arrive. A fragment is reported as
    unchecked if its id may be after the limit."""
    beginning = "<!DOCTYPE html><title>x</title><a href=/a>" + "x" * 60000 + "<a href=/b>"
    long = response(beginning + "<a href='/cut" + "x" * 10000 + "'><a href=/no><i id=x>")
    for limit, found in ((len(beginning) + 20, {"/a", "/b"}), (len(beginning) - 1, {"/a"})):
        result = crawl({"/": page("/long", "/long#x"), "/long": long, "/a": page(), "/b": page()},
                       "--max-body-size", str(limit), "-v")
        equal(result.outcomes, {"/": "ok", "/long": "ok", "/long#x": "unchecked/not-searched",
                                **{path: "ok" for path in found}})
        equal(result.pages["/long"]["searched"], True)
        contains(result.out, f"/long  searched only in part: it is longer than {limit} bytes (--max-body-size)")
        equal(result.status, WELL)
    result = crawl({"/": page("/long"), "/long": long, "/a": page()}, "--max-body-size", "64")
    contains(result.out, "1 page was not searched, or only in part: -v lists it")


def test_max_url_length():
    result = crawl({"/": page("/" + "x" * 100, "/short"), "/short": page()},
                   "--max-url-length", "64")
    equal(sorted(result.outcomes.values()), ["ok", "ok", "skipped/length"])


def test_max_time():
    def drip(connection, _):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        for _ in range(100):
            connection.sendall(b"x" * 100)
            time.sleep(0.1)

    result = crawl({"/": page("/drip"), "/drip": drip}, "--max-time", "4")
    equal(result.outcomes["/drip"], "timeout/max-time")
    equal(result.pages["/drip"]["tries"], 1)
    contains(result.message("/drip"), "within 4 s")


# ---- any site, in any order --------------------------------------------------------------------


class RandomSite:
    """A random site of pages, redirects and errors that link to each other, and the expected verdicts."""

    def __init__(self, seed, limit):
        self.random = random.Random(seed)
        self.limit = limit
        count = self.random.randint(3, 14)
        self.paths = ["/"] + [f"/{n}" for n in range(1, count)]
        self.kinds = {path: self.random.choice(["page", "page", "away", "away", "gone"])
                      for path in self.paths}
        self.kinds["/"] = "page"
        self.next = {path: self.random.choice(self.paths) for path in self.paths}
        self.code = {path: self.random.choice([301, 302, 307, 308]) for path in self.paths}
        self.ids = {path: self.random.sample(["x", "y"], self.random.randint(0, 2))
                    for path in self.paths}
        self.links = {path: [self.random.choice(self.paths) + self.random.choice(["", "", "#x", "#y"])
                             for _ in range(self.random.randint(0, 5))] for path in self.paths}
        self.links["/"] += self.random.sample(self.paths, 2)

    def answer(self, path):
        if self.kinds[path] == "gone":
            return status(404)
        if self.kinds[path] == "away":
            return redirect(self.next[path], self.code[path])
        return html("".join(f'<i id="{name}"></i>' for name in self.ids[path]) +
                    "".join(f'<a href="{link}">x</a>' for link in self.links[path]))

    def answers(self, longest):
        return {path: slow(self.random.random() * longest, self.answer(path))
                for path in self.paths}

    def verdict(self, link):
        path, _, fragment = link.partition("#")
        seen, at = [], path
        while self.kinds[at] == "away":
            if at in seen:
                return f"broken/redirect-{'circle' if len(seen) <= self.limit else 'limit'}"
            seen.append(at)
            at = self.next[at]
        if len(seen) > self.limit:
            return "broken/redirect-limit"
        if self.kinds[at] == "gone":
            return "broken/status"
        if fragment and fragment not in self.ids[at]:
            return "fragment/no-such-id"
        if not seen:
            return "ok"
        if len(seen) > 1:
            return "redirect/chain"
        return "redirect/" + ("permanent" if self.code[path] in (301, 308) else "temporary")


def test_any_site_in_any_order():
    """The verdicts of linked targets depend only on the site, not on the order of requests."""
    for seed in range(20):
        for limit, tasks in ((2, 1), (2, 4), (3, 9)):
            site = RandomSite(seed, limit)
            result = crawl(site.answers(0.01), "--max-redirect", str(limit), "--max-tasks", str(tasks))
            linked = {result.key(r["target"], r["fragment"]) for r in result.links} | {"/"}
            equal((seed, limit, tasks, {link: result.outcomes[link] for link in linked}),
                  (seed, limit, tasks, {link: site.verdict(link) for link in linked}))
            equal(len(result.site.requests), len(set(result.site.requests)))


def test_any_depth_in_any_order():
    """Which pages are fetched depends only on their shortest paths from the start."""
    for seed in range(20):
        site = RandomSite(seed, 20)
        depths, due, depth = {}, ["/"], 0
        while due and depth <= 2:
            deeper = []
            while due:
                path = due.pop()
                if path in depths:
                    continue
                depths[path] = depth
                if site.kinds[path] == "away":
                    due.append(site.next[path])
                elif site.kinds[path] == "page":
                    deeper += [link.partition("#")[0] for link in site.links[path]]
            due, depth = deeper, depth + 1
        for tasks in (1, 5):
            result = crawl(site.answers(0.01), "--max-redirect", "20", "--max-depth", "2",
                           "--max-tasks", str(tasks))
            equal((seed, tasks, {path: r["depth"] for path, r in result.pages.items()}),
                  (seed, tasks, depths))


# ---- the program -------------------------------------------------------------------


def test_max_tasks():
    names = [f"/{n}" for n in range(30)]
    answers = {name: slow(0.02, page()) for name in names}
    result = crawl({"/": page(*names), **answers}, "--max-tasks", "3")
    equal(result.site.most_active, 3)
    equal(len(result.site.requests), 31)
    result = crawl({"/": page(*names), **answers}, "--max-tasks", "200")
    equal(len(result.site.requests), 31)


def limited_to(descriptors):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))


def test_few_descriptors_break_no_link():
    """With few descriptors, coil-crawl uses fewer connections, and closes idle ones. Looking up localhost, fetching
    robots.txt and requests to other sites may lack descriptors, too."""
    names = [f"/{n}" for n in range(30)]
    with Site({"/x": page()}, host="127.0.0.2") as other, Site({}) as site:
        local = f"http://localhost:{site.port}"
        site.answers = {"/": page(*names, *(local + n for n in names), other.url + "x"),
                        **{n: slow(0.005, page()) for n in names}}
        for descriptors in (12, 14, 20, 40):
            code, out, err = run("-f", "jsonl:-", "--max-tasks", "100", site.url,
                                 preexec_fn=limited_to(descriptors))
            equal((descriptors, code, err), (descriptors, WELL, ""))
            equal(json.loads(out.splitlines()[-1])["verdicts"]["ok"], 62)


def test_too_few_descriptors_end_the_crawl_and_lose_nothing():
    """If not even one connection is possible, no link is reported as broken, and a saved crawl can be resumed."""
    names = [f"/{n}" for n in range(30)]
    with Site({"/": page(*names)}, otherwise=page()) as site, tempfile.TemporaryDirectory() as folder:
        messages = ""
        for descriptors in range(6, 16):
            state = os.path.join(folder, str(descriptors))
            code, out, err = run("-d", state, "-f", "jsonl:-", site.url, preexec_fn=limited_to(descriptors))
            messages += err
            verdicts = {record["verdict"] for record in map(json.loads, out.splitlines())
                        if record["type"] == "verdict"}
            assert verdicts <= {"ok", "unchecked"}, verdicts
            if code == WELL:
                equal(verdicts, {"ok"})
            else:
                contains(err, "Too many open files" if code == FAILED else state)
            if code == FAILED and os.path.exists(os.path.join(state, "crawl.db")):
                code, out, err = run("resume", state, "-f", "jsonl:-")
                equal((code, json.loads(out.splitlines()[-1])["verdicts"]["ok"]), (WELL, 31))
        contains(messages, "not even one page can be fetched: Too many open files")
        equal(code, WELL)


def test_workers_are_started_on_demand():
    """A large --max-tasks costs nothing if there is little to do."""
    peaks = []
    for tasks in ("10", "100000"):
        with Site({"/": page("/a", "/b")}, otherwise=page()) as site:
            with started("--max-tasks", tasks, site.url) as process:
                process.stdout.read()
                _, status_, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status_)
            peaks.append(usage.ru_maxrss)
            equal(process.returncode, WELL)
    assert peaks[1] < peaks[0] + 20000, peaks


def test_interrupt():
    names = [f"/{n}" for n in range(200)]
    answers = {name: slow(0.05, page("/gone")) for name in names}
    with Site({"/": page(*names), **answers}) as site:
        result = Crawl(site.url, "--max-tasks", "2",
                       interrupt_when=lambda: len(site.requests) > 10)
    equal(result.status, INTERRUPTED)
    contains(result.err, "interrupted")
    equal(result.pages["/0"]["status"], 200)
    assert 5 < len(result.pages) < 100, len(result.pages)
    equal(result.outcomes["/199"], "unchecked/interrupted")


def test_interrupt_among_new_links():
    """Interrupt a crawl while pages arrive, so that some of them arrive when the queue for their links is already
    closed."""
    answers = {f"/{n}": page(f"/{2 * n + 1}", f"/{2 * n + 2}") for n in range(3000)}
    for _ in range(5):
        with Site({"/": page("/0"), **answers}) as site:
            result = Crawl(site.url, interrupt_when=lambda: len(site.requests) > 20)
        equal(result.status, INTERRUPTED)
        contains(result.err, "interrupted")


def test_interrupt_twice():
    """After the second signal, the JSON file is complete, although some requests are unfinished."""
    names = [f"/{n}" for n in range(200)]
    answers = {name: slow(0.05, page("/gone")) for name in names}
    with Site({"/": page(*names), **answers}) as site:
        result = Crawl(site.url, "--max-tasks", "2",
                       interrupt_when=lambda: len(site.requests) > 10,
                       interrupt_again_when=os.path.getsize)
    assert result.status in (INTERRUPTED, -signal.SIGINT), result.status
    equal(result.pages["/0"]["status"], 200)
    assert 5 < len(result.pages) < 100, len(result.pages)


def test_interrupt_while_nothing_happens():
    with Site({"/": slow(20, page())}) as site:
        begin = time.monotonic()
        result = Crawl(site.url, interrupt_when=lambda: site.requests)
        assert time.monotonic() - begin < 10
    equal(result.status, INTERRUPTED)
    equal(result.outcomes, {"/": "unchecked/interrupted"})


def test_quiet_and_verbose():
    result = crawl({"/": page("/gone")}, "--quiet")
    contains(result.out, "/gone")
    contains(result.out, "404 Not Found")
    equal(crawl({"/": page()}, "-q").out, "")
    result = crawl({"/": page("/gone")}, "-vv")
    contains(result.err, f"{result.site.url}gone")


def read_to_end(terminal):
    """Read all output of a terminal, until a read fails with EIO because no writer is left."""
    shown = b""
    try:
        while piece := os.read(terminal, 65536):
            shown += piece
    except OSError:
        pass
    return shown.decode()


def test_progress_on_a_terminal_only():
    with Site({"/": page("/a"), "/a": slow(2, page())}) as site:
        equal(Crawl(site.url).err, "")
        try:
            mine, its = pty.openpty()
        except OSError as error:
            raise Skip(f"no terminal can be opened: {error}") from error
        code = run(site.url, stderr=its)[0]
        os.close(its)
        shown = read_to_end(mine)
        os.close(mine)
    equal(code, WELL)
    contains(shown, "1 of 2")
    assert shown.endswith("\r\x1b[K"), shown


def test_usage():
    for arguments in ([], ["a", "ftp://b"], ["--nonsense", "x"], ["--max-tasks", "0", "x"],
                      ["--max-tasks", "-1", "x"], ["--max-tries", "x", "x"],
                      ["--timeout", "0", "x"], ["-f", "xml:x", "x"], ["ftp://x/"],
                      ["http://"], ["-f", "jsonl:/nowhere/at/all", "127.0.0.1"]):
        code, out, err = run(*arguments)
        equal((arguments, code, out), (arguments, USAGE, ""))
        assert err, arguments
    code, out, _ = run("--help")
    equal(code, WELL)
    contains(out, "Exit status")
    code, out, _ = run("--version")
    equal(code, WELL)
    contains(out, "coil-crawl 0.")


def test_json_is_there_even_if_nobody_reads_the_report():
    with Site({"/": page("/gone")}) as site, tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "crawl.jsonl")
        read_end, write_end = os.pipe()
        os.close(read_end)
        run("-f", f"jsonl:{file}", site.url, stdout=write_end)
        os.close(write_end)
        with open(file, encoding="utf-8") as lines:
            equal([json.loads(line)["type"] for line in lines].count("page"), 2)


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[2:], at_a_time=4))
