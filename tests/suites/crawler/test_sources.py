#!/usr/bin/env python3
"""Check that coil-crawl finds links in style sheets, headers and sitemaps.

test_sources.py COIL_CRAWL [TEST...]
"""
import gzip
import json
import pathlib
import sys
import tempfile

from check import contains, equal, run_tests
from crawling import BROKEN, USAGE, WELL, run
from server import Site, html, page, redirect, response
from test_crawl import Crawl, crawl

URLSET = '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">%s</urlset>'


def css(text, content_type="text/css", **options):
    return response(text, content_type=content_type, **options)


def urlset(*urls, content_type="application/xml"):
    return response(URLSET % "\n".join(f"<url><loc>{url}</loc></url>" for url in urls),
                    content_type=content_type)


def index(*urls):
    return response("<sitemapindex>" + "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls) +
                    "</sitemapindex>", content_type="text/xml")


def robots(*lines):
    return response("\n".join(lines), content_type="text/plain")


def places(result, path):
    return [(r["text"], r["line"], r["column"], r["element"], r["attribute"]) for r in result.links_of(path)]


# ---- style sheets --------------------------------------------------------------------


def test_a_style_sheet_is_searched():
    result = crawl({"/": html("<link rel=stylesheet href=/s/a.css>"),
                    "/s/a.css": css("@import 'b.css';\nbody { background: url(x.png) }"),
                    "/s/b.css": css("p{src:url(\"../y.png\")}"), "/y.png": response(content_type="image/png")})
    equal(result.status, BROKEN)
    equal(result.outcomes, {"/": "ok", "/s/a.css": "ok", "/s/b.css": "ok", "/s/x.png": "broken/status", "/y.png": "ok"})
    equal(places(result, "/s/a.css"), [("b.css", 1, 10, None, "@import"), ("x.png", 2, 24, None, "url()")])
    equal((result.pages["/s/a.css"]["searched"], result.pages["/y.png"]["searched"]), (True, False))
    equal([result.pages[path]["depth"] for path in ("/s/a.css", "/s/b.css", "/y.png")], [1, 2, 3])
    contains(result.out, "/s/a.css:2:24  x.png  404")


def test_style_sheets_that_import_each_other():
    result = crawl({"/": html("<link rel=stylesheet href=/a.css>"), "/a.css": css("@import 'b.css'"),
                    "/b.css": css("@import 'a.css';@import url(b.css)")})
    equal(result.status, WELL)
    equal(result.site.requests, ["/", "/a.css", "/b.css"])


def test_styles_in_a_page():
    result = crawl({"/": html("<base href=/d/><style>a{b:url(x)}</style><p style='a:url(y)'>"), "/d/x": page()})
    equal(result.status, BROKEN)
    equal(result.outcomes, {"/": "ok", "/d/x": "ok", "/d/y": "broken/status"})
    equal([r["element"] for r in result.links], ["style", "p"])


def test_a_style_sheet_has_no_places():
    result = crawl({"/": page("/a.css#x"), "/a.css": css("a{b:url(#y)}")})
    equal(result.status, WELL)
    equal(result.outcomes, {"/": "ok", "/a.css#x": "unchecked/not-searched"})


def test_what_is_no_style_sheet_is_not_searched_as_one():
    answers = {"/": page("/a.css", "/b.css", "/c.css"), "/a.css": css("url(no)", content_type="text/plain"),
               "/b.css": css("url(no)", content_type="text/css-like"), "/c.css": css("url(no)", status=404)}
    result = crawl(answers)
    equal(result.outcomes, {"/": "ok", "/a.css": "ok", "/b.css": "ok", "/c.css": "broken/status"})


def test_style_sheets_of_other_sites_are_not_searched():
    with Site({"/a.css": css("url(no)")}) as other:
        result = crawl({"/": html(f"<link rel=stylesheet href={other.url}a.css><a href='{other.url}a.css#x'>")},
                       "--fragments", "all")
        equal(result.status, WELL)
        equal(set(other.requests), {"/a.css"})


def test_no_css():
    answers = {"/": html("<link rel=stylesheet href=/a.css><style>url(no)</style><p style='a:url(no)'>"),
               "/a.css": css("url(no)")}
    result = crawl(answers, "--no-css")
    equal(result.outcomes, {"/": "ok", "/a.css": "ok"})
    equal(result.pages["/a.css"]["searched"], False)


def test_a_style_sheet_that_is_too_long():
    result = crawl({"/": html("<link rel=stylesheet href=/a.css>"), "/a.css": css("url(no)" + " " * 2000)},
                   "--max-body-size", "1000")
    equal(result.outcomes, {"/": "ok", "/a.css": "ok", "/no": "broken/status"})
    equal(result.message("/a.css"), "searched only in part: it is longer than 1000 bytes (--max-body-size)")
    result = crawl({"/": html("<link rel=stylesheet href=/a.css>"), "/a.css": css("a { b: url(/" + "x" * 2000 + ") }")},
                   "--max-body-size", "1000")  # the file ends inside the URL
    equal(result.outcomes, {"/": "ok", "/a.css": "ok"})


# ---- headers -------------------------------------------------------------------------


def test_headers_are_searched():
    headers = ['Link: </next>; rel=next, <gone>; rel="canonical"', "Link: <no>; rel=type, <no>; title=x",
               "Refresh: 5; url=/later"]
    result = crawl({"/": page("/d/a"), "/d/a": html("<base href=/b/><a href=c>x</a>", headers=headers),
                    "/next": page(), "/later": page(), "/b/c": page()})
    equal(result.status, BROKEN)
    equal(result.outcomes, {"/": "ok", "/d/a": "ok", "/next": "ok", "/later": "ok", "/b/c": "ok",
                            "/d/gone": "broken/status"})
    equal(places(result, "/d/a")[:3], [("/next", None, None, None, "Link"), ("gone", None, None, None, "Link"),
                                       ("/later", None, None, None, "Refresh")])
    contains(result.out, "/d/a:header  gone")


def test_headers_of_what_is_no_page():
    link = ["Link: </c>; rel=canonical"]
    result = crawl({"/": page("/a.pdf", "/gone", "/moved"), "/c": page(),
                    "/a.pdf": response("x", content_type="application/pdf", headers=link),
                    "/gone": html("x", status=404, headers=["Link: </no>; rel=next"]),
                    "/moved": redirect("/c")})
    equal(result.outcomes, {"/": "ok", "/a.pdf": "ok", "/c": "ok", "/gone": "broken/status", "/moved": "redirect/temporary"})
    equal((result.pages["/a.pdf"]["links"], result.pages["/a.pdf"]["searched"]), (1, False))


def test_headers_of_other_sites_are_not_searched():
    with Site({"/": html("x", headers=["Link: </no>; rel=next"])}) as other:
        result = crawl({"/": page(other.url)})
        equal((result.status, other.requests), (WELL, ["/"]))


def test_no_header_links():
    result = crawl({"/": html("x", headers=["Link: </no>; rel=next", "Refresh: 1;url=/no"])}, "--no-header-links")
    equal(result.outcomes, {"/": "ok"})


def test_headers_obey_nofollow():
    result = crawl({"/": html("x", headers=["Link: </no>; rel=next", "X-Robots-Tag: nofollow"])},
                   "--obey-x-robots-tag")
    equal(result.outcomes, {"/": "ok", "/no": "skipped/nofollow"})


def test_canonical_is_checked():
    result = crawl({"/": html("<link rel=canonical href=/gone>")})
    equal(result.outcomes, {"/": "ok", "/gone": "broken/status"})


# ---- sitemaps ------------------------------------------------------------------------


def test_robots_txt_names_a_sitemap():
    with Site({}) as site:
        site.answers.update({"/robots.txt": robots("User-agent: *", "Disallow: /x", f"Sitemap: {site.url}map"),
                             "/": page(), "/map": urlset(site.url + "a", site.url + "gone", site.url + "x"),
                             "/a": page("/b"), "/b": page()})
        result = Crawl(site.url)
    equal(result.status, BROKEN)
    equal(result.outcomes, {"/": "ok", "/map": "ok", "/a": "ok", "/b": "ok", "/gone": "broken/status",
                            "/x": "skipped/robots"})
    equal(places(result, "/robots.txt"), [(site.url + "map", 3, 10, None, "Sitemap")])
    equal(places(result, "/map")[1], (site.url + "gone", 2, 11, "loc", None))
    equal([result.pages[path]["depth"] for path in ("/map", "/a", "/b")], [1, 2, 3])
    equal(result.pages["/map"]["searched"], True)
    contains(result.out, "/map:2:11")


def test_a_sitemap_of_sitemaps():
    with Site({}) as site:
        packed = gzip.compress((URLSET % "<url><loc>/b</loc></url>").encode())
        site.answers.update({
            "/robots.txt": robots("Sitemap: /moved"), "/": page(), "/moved": redirect("/index", 301),
            "/index": index("/a.xml", "/b.xml.gz", "/c.txt", "/index", "/no.xml"),
            "/a.xml": urlset("/a", content_type="text/xml"), "/c.txt": response("/c\n/c2", content_type="text/plain"),
            "/b.xml.gz": response(packed, content_type="application/gzip"),
            **{f"/{name}": page() for name in ("a", "b", "c", "c2")}})
        result = Crawl(site.url)
    equal(result.outcomes, {"/": "ok", "/moved": "redirect/permanent", "/index": "ok", "/a.xml": "ok", "/b.xml.gz": "ok",
                            "/c.txt": "ok", "/a": "ok", "/b": "ok", "/c": "ok", "/c2": "ok", "/no.xml": "broken/status"})


def test_a_sitemap_that_is_linked():
    for content_type in "application/xml", "text/xml; charset=utf-8":
        result = crawl({"/": page("/map.xml"), "/map.xml": urlset("/a", content_type=content_type), "/a": page()})
        equal(result.outcomes, {"/": "ok", "/map.xml": "ok", "/a": "ok"})


def test_sitemap_off():
    answers = {"/robots.txt": robots("Sitemap: /no"), "/": page("/map.xml"), "/map.xml": urlset("/no")}
    result = crawl(answers, "--sitemap", "off")
    equal(result.outcomes, {"/": "ok", "/map.xml": "ok"})
    equal(crawl({**answers, "/no": page()}, "--no-robots", "--sitemap", "auto").outcomes,
          {"/": "ok", "/map.xml": "ok", "/no": "ok"})


def test_a_feed_that_is_linked():
    """Markup in CDATA sections of a feed is ignored, whether or not sitemaps are read."""
    feed = ("<rss><channel><link>/a</link><item><link>/b</link><description><![CDATA[<p><img src=/no>]]></description>"
            "</item></channel></rss>")
    for content_type in "application/xml", "text/xml", "application/rss+xml; charset=utf-8", "application/atom+xml":
        answers = {"/": page("/feed"), "/feed": response(feed, content_type=content_type), "/a": page(), "/b": page()}
        for options in (), ("--sitemap", "off"):
            result = crawl(answers, *options)
            equal((content_type, result.outcomes), (content_type, {"/": "ok", "/feed": "ok", "/a": "ok", "/b": "ok"}))
            equal(result.links_of("/feed")[0]["element"], "link")


def test_sitemap_of_the_command_line():
    feed = "<feed><entry><link href='/a'/></entry></feed>"
    answers = {"/": page(), "/a": page(), "/b": page(), "/feed": response(feed, content_type="application/atom+xml"),
               "/list": response("/b", content_type="text/plain")}
    with Site(answers) as site:
        result = Crawl(site.url, "--sitemap", site.url + "feed", "--sitemap", site.url + "list", "--sitemap", "off")
        equal(result.outcomes, {"/": "ok", "/a": "ok", "/b": "ok", "/feed": "ok", "/list": "ok"})
        equal(result.pages["/a"]["depth"], 1)
        result = Crawl(site.url + "feed")
        equal(result.outcomes, {"/feed": "ok", "/a": "ok"})
        code, out, _ = run("-f", "jsonl", "--sitemap", site.url + "list")
        equal(code, WELL)
        equal([json.loads(line)["url"] for line in out.splitlines() if '"type":"page"' in line],
              [site.url + "list", site.url + "b"])
        code, _, err = run("--sitemap", "", site.url)
        equal(code, USAGE)
        contains(err, "it takes a URL, a file, auto or off")
        equal(run("--sitemap", "auto")[0], USAGE)
        contains(run("--sitemap", site.url + "feed", "explain", site.url + "a")[1], site.url + "a\n")


def test_feeds_have_bases():
    feed = '<feed xml:base="/blog/"><entry xml:base="2026/"><link href="a.html"/></entry><link href="b.html"/></feed>'
    result = crawl({"/": page("/feed"), "/feed": response(feed, content_type="application/xml"),
                    "/blog/2026/a.html": page()})
    equal({path: verdict for path, verdict in result.outcomes.items() if verdict != "ok"}, {"/blog/b.html": "broken/status"})
    contains(result.outcomes, "/blog/2026/a.html")


def test_documents_in_srcdoc_are_searched():
    """Links in srcdoc documents are found, but their ids do not belong to the page."""
    inner = "&lt;base href=/d/>&lt;a href=a>x&lt;/a>&lt;img src=&quot;/b.png&quot;>&lt;p id=y>"
    result = crawl({"/": html(f'<iframe srcdoc="{inner}"></iframe><a href=#y>'), "/d/a": page()})
    equal(result.outcomes, {"/": "ok", "/d/a": "ok", "/b.png": "broken/status", "/#y": "fragment/no-such-id"})


def test_sitemaps_of_other_hosts_are_checked():
    with Site({"/map": urlset("/no")}) as other:
        result = crawl({"/robots.txt": robots(f"Sitemap: {other.url}map"), "/": page()})
        equal((result.status, other.requests), (WELL, ["/map"]))


def test_sitemaps_that_are_malformed():
    bomb = "<!DOCTYPE urlset [<!ENTITY a 'x'>]>" + URLSET[21:] % "<url><loc>/no</loc></url>"
    answers = {"/robots.txt": robots(*(f"Sitemap: /{i}" for i in range(1, 6))), "/": page(), "/a": page(),
               "/1": response("<urlset><url><loc>/a</loc></url><url>", content_type="text/xml"),
               "/2": response(bomb, content_type="text/xml"), "/3": html("no sitemap"),
               "/4": response("\0\1\2", content_type="image/png"), "/5": response("", content_type="text/plain")}
    result = crawl(answers)
    equal(result.status, BROKEN)
    equal(result.outcomes, {"/": "ok", "/a": "ok", **{f"/{i}": "error/unreadable" for i in range(1, 6)}})
    equal(result.message("/1"), "malformed: line 1: no element found")
    contains(result.message("/2"), "declarations, which are refused")
    equal(result.message("/3"), "not a sitemap, but an HTML page")
    equal([result.message(path) for path in ("/4", "/5")], ["not searched: it is not a sitemap"] * 2)
    contains(result.out, "/1  malformed: line 1: no element found")


def test_named_sitemaps_that_are_malformed():
    """If a sitemap is named explicitly, with --sitemap, as a start URL or as a file, malformed XML and incomplete gzip
    data are errors. XML that is not a sitemap causes a warning."""
    bare = response("<urlset><url><loc>/a?x=1&y=2</loc></url><url><loc>/b</loc></url></urlset>",
                    content_type="application/xml")
    whole = gzip.compress(b"/a\n/b\n" * 9999)
    torn = whole[:-20]
    for answer, words in ((bare, "line 1: not well-formed"), (html("not found"), "an HTML page"),
                          (response(torn, content_type="application/gzip"), "its gzip data is cut off"),
                          (response(whole[:-8] + b"x" * 8, content_type="application/gzip"), "its gzip data is damaged")):
        with Site({"/": page(), "/map": answer, "/a": page(), "/b": page()}) as site:
            result = Crawl(site.url, "--sitemap", site.url + "map")
            equal((result.status, result.outcomes["/map"]), (BROKEN, "error/unreadable"))
            contains(result.message("/map"), words)
            contains(result.out, words)
    with Site({"/map": bare}) as site:
        equal(Crawl(site.url + "map").outcomes["/map"], "error/unreadable")
    with Site({"/": page(), "/map": response(whole + whole + b"\0" * 512, content_type="application/gzip"),
               "/a": page(), "/b": page()}) as site:  # two gzip members and padding
        equal(Crawl(site.url, "--sitemap", site.url + "map").pages["/map"]["links"], 39996)
    with tempfile.TemporaryDirectory() as folder:
        for name, text, status in (("bad.xml", "<urlset><url>", BROKEN), ("book.xml", "<book/>", WELL),
                                   ("page.xml", "<html>&nbsp;</html>", WELL)):
            pathlib.Path(folder, name).write_text(text, encoding="utf-8")
            code, out, err = run(name, cwd=folder)
            equal((name, code), (name, status))
            contains(out + err, name)
        equal(run("--sitemap", "book.xml", cwd=folder)[0], BROKEN)


def test_a_long_sitemap_is_read_to_the_limit_of_the_protocol():
    many = urlset(*(f"/{i % 10}" for i in range(50001)))
    long = response("/a\n" + " " * (17 << 20) + "/b", content_type="text/plain")
    answers = {"/robots.txt": robots("Sitemap: /many", "Sitemap: /long"), "/": page(), "/many": many, "/long": long,
               "/a": page(), "/b": page(), **{f"/{i}": page() for i in range(10)}}
    result = crawl(answers)
    equal(result.status, WELL)
    equal(result.pages["/many"]["links"], 50000)
    contains(result.message("/many"), "more than 50,000 URLs")
    equal(result.outcomes["/b"], "ok")


def test_a_compressed_sitemap_is_read_to_the_same_limit():
    """A sitemap may be compressed, with gzip as its type or as its Content-Encoding. If a sitemap is too long, the
    report mentions that only a part was read."""
    text = b"/a\n" + b" " * (51 << 20) + b"\n/b"
    packed = gzip.compress(text, 1)
    for answer, words in (
            (response(packed, content_type="application/gzip"),
             "not searched to its end: it is longer than 50 MiB, and no more than that is read"),
            (response(packed, content_type="text/plain", headers=["Content-Encoding: gzip"]),
             "searched only in part: it is longer than 52428800 bytes"),
            (response(gzip.compress(text, 0), content_type="application/gzip"),  # uncompressed
             "searched only in part: it is longer than 52428800 bytes")):
        result = crawl({"/robots.txt": robots("Sitemap: /map"), "/": page(), "/map": answer, "/a": page()}, "-v")
        equal((result.status, result.outcomes["/map"], result.outcomes["/a"]), (WELL, "ok", "ok"))
        contains(result.out, "/map  " + words)


def test_sitemaps_do_not_count_for_max_pages():
    result = crawl({"/robots.txt": robots("Sitemap: /map"), "/": page("/a"), "/map": urlset("/b"),
                    "/a": page(), "/b": page()}, "--max-pages", "3")
    equal({path: reported for path, reported in result.outcomes.items() if reported != "ok"}, {})
    result = crawl({"/robots.txt": robots("Sitemap: /map"), "/": page(), "/map": urlset("/b"), "/b": page()},
                   "--max-depth", "1")
    equal(result.outcomes, {"/": "ok", "/map": "ok", "/b": "skipped/depth"})


def test_sitemaps_keep_to_the_rules():
    with Site({}) as site:
        site.answers.update({"/robots.txt": robots("User-agent: *", "Disallow: /map", "Sitemap: /map", "Sitemap: http://",
                                                   "Sitemap: /map2"), "/": page(), "/map2": urlset("http://[", "mailto:x")})
        result = Crawl(site.url, "--exclude", "map2")
    equal(result.outcomes, {"/": "ok", "/map": "skipped/robots", "http://": "broken/not-a-url", "/map2": "skipped/excluded"})


# ---- local files ---------------------------------------------------------------------


def check_files(files, *arguments):
    """Return (exit status, {target: verdict}) for targets in the folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        for file, text in files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(text if isinstance(text, bytes) else text.encode())
        code, out, _ = run("-f", "jsonl", *arguments, cwd=folder)
        records = [json.loads(line) for line in out.splitlines()]
    return code, {r["target"].removeprefix(folder.as_uri() + "/"): r["verdict"]
                  for r in records if r["type"] == "verdict"}


def test_files_of_style_sheets():
    files = {"a.html": "<link rel=stylesheet href=/css/a.css>", "css/a.css": "url(../x.png);@import 'b.css'",
             "css/b.css": "url(gone)", "x.png": ""}
    equal(check_files(files, "."), (BROKEN, {"a.html": "ok", "css/a.css": "ok", "css/b.css": "ok", "x.png": "ok",
                                             "css/gone": "broken"}))
    equal(check_files(files, "--no-css", "."), (WELL, {"a.html": "ok", "css/a.css": "ok"}))
    equal(check_files(files, "css/b.css"), (BROKEN, {"css/b.css": "ok", "css/gone": "broken"}))


def test_files_of_sitemaps():
    files = {"a.html": "x", "map.xml": URLSET % "<url><loc>http://h.invalid/a.html</loc></url><url><loc>/gone</loc></url>",
             "list.txt": "a.html\ngone2\n", "map.xml.gz": gzip.compress(b"a.html\n")}
    equal(check_files(files, "map.xml", "--base-url", "http://h.invalid/", "--external", "skip"),
          (BROKEN, {"map.xml": "ok", "a.html": "ok", "gone": "broken"}))
    equal(check_files(files, "--sitemap", "list.txt"), (BROKEN, {"list.txt": "ok", "a.html": "ok", "gone2": "broken"}))
    equal(check_files(files, "--sitemap", "map.xml.gz"), (WELL, {"map.xml.gz": "ok", "a.html": "ok"}))
    equal(check_files(files, "."), (WELL, {"a.html": "ok"}))
    below = {"site/" + name: text for name, text in files.items()}
    equal(check_files(below, "--sitemap", "site/map.xml", "site", "--base-url", "http://h.invalid/", "--external", "skip"),
          (BROKEN, {"site/map.xml": "ok", "site/a.html": "ok", "site/gone": "broken"}))


if __name__ == "__main__":
    sys.exit(run_tests({name: fn for name, fn in globals().items() if getattr(fn, "__module__", "") == "__main__"},
                       sys.argv[2:], at_a_time=4))
