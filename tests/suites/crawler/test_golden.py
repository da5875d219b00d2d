#!/usr/bin/env python3
"""Test coil-crawl's text output: each file in golden/ is the complete output of one command.

    test_golden.py COIL_CRAWL [TEST...]
    COIL_GOLDEN=update test_golden.py COIL_CRAWL     # writes the files again; review the changes before a commit

In these files, addresses, times and sizes are replaced by placeholders.
"""
import os
import pathlib
import re
import sys
import tempfile

from check import equal, run_tests
from crawling import run
from server import Site, html, page, redirect, response, status

GOLDEN = pathlib.Path(__file__).parent / "golden"
UPDATE = os.environ.get("COIL_GOLDEN") == "update"


def site_answers(other):
    """Return answers that cause each layout of the report: a target with many links, a page with many broken links,
    a folder, a fragment, and a redirect loop. Every verdict occurs."""
    pages = {f"/p{n}.html": html('<nav>\n<a href="/search?q=">x</a></nav>'
                                 f'<p id=here><a href="p{n + 1}.html#here">next</a>') for n in range(8)}
    folder = "".join(f'\n<img src="/img/{n}.png">' for n in range(5))
    return {
        "/": page("p0.html", "list.html", "moved", "old", "circle", "mailto:x@y", "/private/a", "?PHPSESSID=a1b2",
                  other + "well", other + "gone", other + "403#x", other + "well#f", "http://a b/"),
        **pages,
        "/p8.html": html("<p>" + folder + '<a href="p0.html#there">x</a>'),
        "/p9.html": html("<p>" + folder),
        "/list.html": html("".join(f'\n<p><a href="gone{n}/a.html">x</a>' for n in range(12)) +
                           '\n<a href="p9.html">x</a>' + "\n<a href='/" + "long/" * 30 + "'>x</a>"),
        "/moved": redirect("/list.html", 301), "/old": redirect("/older"), "/older": redirect("/gone"),
        "/circle": redirect("/elcric"), "/elcric": redirect("/circle"),
        "/robots.txt": response("User-agent: *\nDisallow: /private\n", content_type="text/plain")}


def without_chance(text, words):
    for address, word in words.items():
        text = text.replace(address, word)
    text = re.sub(r"[\d.,]+ (?:[kMG]?B|bytes) in [\d.]+ s$", "N kB in N s", text, flags=re.M)
    return re.sub(r"coil-crawl [\d.]+, libcurl.*", "coil-crawl N, libcurl", text)


def check_golden(name, text):
    file = GOLDEN / f"{name}.txt"
    if UPDATE:
        file.write_text(text, encoding="utf-8")
    equal(text, file.read_text(encoding="utf-8"))


def crawled(name, *options, expected=2):
    other_answers = {"/well": page(), "/403": status(403)}
    with Site(other_answers, host="127.0.0.2") as other, Site() as site:
        site.answers = site_answers(other.url)
        code, out, err = run("--max-tasks", "1", "--max-tries", "1", *options,
                             *([] if "explain" in options else [site.url]))
        words = {site.address: "site.example", other.address: "other.example"}
    equal((code, err if "-vv" not in options else ""), (expected, ""))
    check_golden(name, without_chance(out, words))


def test_the_report():
    crawled("report")


def test_the_report_with_colours():
    crawled("report-colours", "--color", "always")


def test_the_whole_report():
    crawled("report-v", "-v")


def test_the_report_of_everything():
    crawled("report-vv", "-vv")


def test_the_quiet_report():
    crawled("report-q", "-q")


def test_the_report_of_other_failures():
    crawled("report-fail-on", "--fail-on", "fragment,blocked,skipped")


def test_annotations():
    crawled("github", "-f", "github")


def test_a_report_of_files():
    files = {"index.md": "# A\n\n[a](docs/a.md#one) [b](docs/b.md) [c](#b) <https://x.example/>\n",
             "docs/a.md": "## One\n\n[up](../index.md#a) ![p](p.png)\n",
             "docs/c.html": "<a href=/index.md>x</a>\n<a href=a.md#two>x</a>"}
    for name, format_name in (("files", "text"), ("files-github", "github")):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in files.items():
                file = pathlib.Path(folder, path)
                file.parent.mkdir(exist_ok=True)
                file.write_text(text, encoding="utf-8")
            code, out, err = run("--offline", "--max-tasks", "1", "-f", format_name, ".", cwd=folder)
        equal((code, err), (2, ""))
        check_golden(name, without_chance(out, {}))


def test_explanations():
    rules = response("User-agent: *\nDisallow: /no\nAllow: /no/but\nCrawl-delay: 2\n", content_type="text/plain")
    answers = {"/": page(), "/no/but": redirect("/a", 301), "/a": html("<p id=x>"), "/robots.txt": rules}
    reported = []
    with Site(answers) as site, Site({"/": page(), "/403": status(403)}, host="127.0.0.2") as other:
        for options, urls in (((), ("", "#top", "a#x", "a#y", "gone", "no/x", "no/but", "no/but#x")),
                              (("--exclude", "a$", "--include", "/a"), ("a", "aa")),
                              (("--max-url-length", "32"), ("long/" * 9,)),
                              (("--no-robots", "-H", "A: b", "--delay", "10ms"), ("no/x",))):
            for url in urls:
                reported.append(run(*options, "--max-tries", "1", "explain", site.url + url))
        for options, url in (((), ""), ((), "403"), ((), "#x"), (("--fragments", "all"), "#x"),
                             (("--external", "skip"), ""), (("--external", "get", "-a", "127.0.0.2=403"), "403"),
                             (("--offline",), ""), (("--exclude-private",), "")):
            reported.append(run(*options, "--max-tries", "1", "explain", other.url + url, site.url))
        words = {site.address: "site.example", other.address: "other.example"}
    equal({(code, err) for code, _, err in reported}, {(0, "")})
    check_golden("explain", without_chance("\n".join(out for _, out, _ in reported), words))


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[2:]))
