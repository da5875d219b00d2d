#!/usr/bin/env python3
"""Parse coil-crawl's machine-readable reports with other programs: junit, sarif, csv, markdown, html.

    test_formats.py COIL_CRAWL [TEST...]

The reports are compared with the records of the same crawl. The HTML report is also opened in chromium(1) if chromium
is installed (scripts/install-deps browser).
"""
import base64
import collections
import csv
import hashlib
import html as html_entities
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

from check import Skip, contains, equal, run_tests
from crawling import BROKEN, NOTHING, WELL, run
from server import Site, hang_up, html as html_page, page, redirect, response, status

HERE = pathlib.Path(__file__).resolve().parent
FORMATS = ["jsonl", "junit", "sarif", "csv", "markdown", "html"]
HOSTILE = [
    "<script>document.title='pwned'</script>",
    "\"><img src=x onerror=document.title='pwned'>",
    "' onmouseover='document.title=1' x='",
    "javascript:document.title='pwned'",
    "]]></failure><failure message='pwned'>",
    "=HYPERLINK(\"http://evil/\",\"click\")",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "[click](http://evil/) {0} `code` **bold** @somebody #1 :boom:",
    "a|b\\|c<!--", "</table></details><h1>pwned</h1>", "&lt;b&gt;&amp;lt;",
    "\u202eexe.gpj", "\x01\x1b[31mred", "http://u:secret@h:pwned/",
]


class Reports:
    """Run a crawl, and parse all of its reports."""

    def __init__(self, *arguments, cwd=None, formats=FORMATS):
        with tempfile.TemporaryDirectory() as folder:
            wanted = [word for name in formats for word in ("-f", f"{name}:{folder}/{name}")]
            self.status, self.out, self.err = run("-q", *wanted, *arguments, cwd=cwd)
            self.texts = {name: pathlib.Path(folder, name).read_bytes().decode("utf-8")
                          for name in formats}
            if "junit" in formats:
                self.lint = validate_junit(pathlib.Path(folder, "junit"))
        self.records = [json.loads(line) for line in self.texts["jsonl"].splitlines()]

    def of(self, kind):
        return [record for record in self.records if record["type"] == kind]

    def broken_links(self, verdicts=("broken", "fragment", "error", "timeout")):
        """Return (page, line, column, text) of each broken link, from the records."""
        reported = {(r["target"], r["fragment"]): r for r in self.of("verdict")}
        return sorted((r["page"], r["line"], r["column"], r["text"]) for r in self.of("link")
                      if reported[r["target"] or r["text"], r["fragment"]]["verdict"] in verdicts)

    def rows(self):
        """Return the rows of the CSV report as dicts."""
        lines = self.texts["csv"].split("\r\n")
        equal((lines.pop(), "\n" in "".join(lines)), ("", False))
        return list(csv.DictReader(lines, strict=True))

    def cases(self):
        return list(ET.fromstring(self.texts["junit"]).iter("testcase"))

    def results(self):
        return json.loads(self.texts["sarif"])["runs"][0]["results"]


def validate_junit(path):
    """Return the error message of xmllint, "" if the report is valid, or None if xmllint is not installed."""
    if shutil.which("xmllint") is None:
        return None
    done = subprocess.run(["xmllint", "--nonet", "--noout", "--schema", HERE / "junit.xsd", path],
                          capture_output=True, text=True, timeout=60, check=False)
    return "" if done.returncode == 0 else done.stderr


def answers():
    """Return the answers of a site with every kind of finding."""
    return {"/": page("/a", "/gone", "/a#no", "http://", "mailto:x@y", "/moved", "/for-now", "/chain"),
            "/a": html_page('\n<p><i id=x></i>\n  <a href="/gone#y">x</a> <img src="/dead">'
                            '<a href="/to-gone">x</a><a href="/moved">x</a>'),
            "/dead": hang_up, "/moved": redirect("/a", 301), "/for-now": redirect("/a", 302),
            "/chain": redirect("/moved", 308), "/to-gone": redirect("/gone", 301)}


def crawl(*options):
    with Site(answers()) as site:
        reports = Reports(*options, "--max-tries", "1", site.url)
        reports.url = site.url
    equal((reports.status, reports.err), (BROKEN, ""))
    return reports


# ---- all say what the records say -----------------------------------------------------


def test_every_format_has_its_own_report():
    # If the options accepted the name of a format that reports.c does not list, coil-crawl would write the text report
    # for it.
    refused = run("-f", "none", "http://127.0.0.1:1/")[2]
    names = re.findall("[a-z]+", refused.partition(" is none of ")[2])
    equal(set(FORMATS) <= set(names), True)
    with Site(answers()) as site:
        reports = Reports("--max-tries", "1", site.url, formats=names)
    equal(sorted(name for name in names if reports.texts[name] == reports.texts["text"]), ["text"])


def test_all_formats_tell_the_same_links():
    reports = crawl()
    expected = reports.broken_links()
    equal(len(expected), 6)
    equal(sorted((r["page"], int(r["line"]), int(r["column"]), r["text"]) for r in reports.rows()
                 if r["verdict"] in ("broken", "fragment", "error", "timeout")), expected)
    equal(sorted((r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
                  r["locations"][0]["physicalLocation"]["region"]["startLine"],
                  r["locations"][0]["physicalLocation"]["region"]["startColumn"])
                 for r in reports.results()), [link[:3] for link in expected])
    equal(sorted((case.get("classname"), case.get("name")) for case in reports.cases()
                 if case.find("failure") is not None or case.find("error") is not None),
          sorted((url, f"{line}:{column} {text}") for url, line, column, text in expected))
    broken = Document(reports.texts["html"]).tables["broken"]
    path = {reports.url: "/", reports.url + "a": "/a"}
    equal(sorted((row[0], row[1], row[2]) for row in broken),
          sorted((path[url], f"{line}:{column}", f"{text} {'img src' if 'dead' in text else 'a href'}")
                 for url, line, column, text in expected))


def test_all_formats_have_the_same_figures():
    """All formats report the same numbers. A target that is reached only through redirects is not counted."""
    with Site({**answers(), "/picture": response("x", content_type="image/png"),
               "/": page("/a", "/gone", "/gone", "/a#no", "/to-gone", "/picture")}) as site:
        reports = Reports("--max-tries", "1", site.url)
        text = run("-v", "--max-tries", "1", site.url)[1]
        with tempfile.TemporaryDirectory() as folder:
            annotations = run("-f", "github", "--max-tries", "1", site.url, cwd=folder)[1].splitlines()
    summary = reports.of("summary")[0]
    reported = collections.Counter(r["verdict"] for r in reports.of("verdict"))
    equal({k: v for k, v in summary["verdicts"].items() if v > 0}, reported)
    bad = sum(reported[verdict] for verdict in ("broken", "fragment", "error"))
    links = len(reports.broken_links())
    equal((summary["pages"], summary["links"], summary["targets"], bad, links), (2, 10, 9, 5, 7))
    for line in ("3 broken     404 Not Found  (2 URLs, 5 links)", "1 error", "2 pages, 10 links, 9 targets"):
        contains(text, line)
    contains(reports.texts["markdown"], f"## {bad} broken targets, {links} links on ")
    contains(reports.texts["markdown"], "2 pages, 10 links, 9 targets in ")
    contains(reports.texts["markdown"], "| 3 | 2 | 5 | broken |")
    equal(Document(reports.texts["html"]).tables["totals"][2][:4], ["3", "2", "5", "broken"])
    contains(reports.texts["html"], f"<title>{bad} broken targets, {links} links on ")
    properties = json.loads(reports.texts["sarif"])["runs"][0]["properties"]
    equal(properties, {"pages": 2, "links": 10, "targets": 9, "brokenTargets": bad, "brokenLinks": links})
    equal(sum(case.find("failure") is not None or case.find("error") is not None for case in reports.cases()), links)
    equal(sum(row["verdict"] in ("broken", "fragment", "error") for row in reports.rows()), links)
    equal(len(annotations), links)


def test_every_page_that_links_to_what_is_broken_is_named():
    """Reports list every page that links to a missing target, even if there are more than a hundred links."""
    names = [f"/p{n}" for n in range(7)]
    with Site({"/": page(*names), **{name: page(*["/missing"] * 40) for name in names}}) as site:
        reports = Reports(site.url)
        text = run("-v", site.url)[1]
        annotations = run("-f", "github", site.url)[1]
    pages = {r["page"] for r in reports.of("link") if r["text"] == "/missing"}
    equal(pages, {site.url + name[1:] for name in names})
    equal({row["page"] for row in reports.rows()}, pages)
    equal({case.get("classname") for case in reports.cases()}, pages | {"coil-crawl"})
    equal({r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in reports.results()}, pages)
    for name in names:
        contains(text, f" {name}:1:41  /missing")
        contains(annotations, f"{name}:1:41)")
        contains(reports.texts["html"], f'">{name}</a>')
        contains(reports.texts["markdown"], f"{name}</code>")
    contains(reports.texts["html"], "280 links")
    equal({row["links"] for row in reports.rows()}, {"280"})


def test_links_of_headers_have_no_line():
    with Site({"/": response("", headers=["Link: </gone>; rel=next"])}) as site:
        reports = Reports("--max-tries", "1", site.url)
        url = site.url
    case = next(case for case in reports.cases() if case.find("failure") is not None)
    equal(case.get("name"), "header /gone")
    contains(case.find("failure").text, f"{url}:header: /gone")
    contains(reports.texts["markdown"], "</a>:header | ")
    equal([row[:2] for row in Document(reports.texts["html"]).tables["broken"]], [["/", "header"]])


def test_the_same_whatever_the_order_of_the_crawl():
    """The CSV reports of two crawls of a site differ only in the port of its server."""
    def csv_of(*options):
        reports = crawl(*options)
        port = reports.url.split(":")[2].rstrip("/")
        return reports.texts["csv"].replace(port, "PORT")
    equal(csv_of("--max-tasks", "1"), csv_of("--max-tasks", "10"))


def test_redirects_to_update():
    """Only links with a permanent redirect are listed, with the target of the last permanent redirect in the
    chain."""
    reports = crawl()
    rows = [(r["text"], r["leads_to"]) for r in reports.rows() if r["verdict"] == "redirect"]
    end = reports.url + "a"
    equal(rows, [("/moved", end), ("/chain", end), ("/moved", end)])
    moved = Document(reports.texts["html"]).tables["moved"]
    equal([(row[0], row[3], row[4]) for row in moved],
          [("/", "/moved", "/a"), ("/", "/chain", "/a"), ("/a", "/moved", "/a")])
    equal([r["leads_to"] for r in reports.rows() if r["text"] == "/to-gone"], [reports.url + "gone"])


def test_baseline_and_fail_on():
    with Site(answers()) as site, tempfile.TemporaryDirectory() as folder:
        baseline = os.path.join(folder, "baseline")
        run("-q", "-f", f"jsonl:{baseline}", "--max-tries", "1", site.url)
        reports = Reports("--baseline", baseline, "--max-tries", "1", site.url)
        equal(reports.status, WELL)
        equal([r["verdict"] for r in reports.rows()], [])
        equal((len(reports.results()), len(reports.cases())), (0, 1))
        contains(reports.texts["markdown"], "are in the baseline")
        site.answers["/new"] = page("/gone", "/dead")
        site.answers["/a"] = page("/gone#y", "/dead", "/new", "/gone")
        site.answers["/to-gone"] = site.answers["/gone"] = status(404)
        reports = Reports("--baseline", baseline, "--max-tries", "1", site.url)
        new = sorted([("/new", "/dead"), ("/new", "/gone"), ("/a", "/gone")])
        short = lambda url: url.removeprefix(site.url.rstrip("/"))
        equal(reports.status, BROKEN)
        equal(sorted((short(row["page"]), row["text"]) for row in reports.rows()), new)
        equal(sorted((short(case.get("classname")), case.get("name").split()[1]) for case in reports.cases()
                     if case.get("classname") != "coil-crawl"), new)
        equal(len(reports.results()), 3)
        contains(reports.texts["html"], "<title>2 broken targets, 3 links on ")
        text = run("--baseline", baseline, "--max-tries", "1", "-v", site.url)[1]
        contains(text, "/new  2 links\n    1:41    /gone  404 Not Found\n    2:10    /dead  ")
        contains(text, "/a:4:10  /gone  404 Not Found\n")
        annotations = run("--baseline", baseline, "--max-tries", "1", "-f", "github", site.url)[1]
        equal(len(annotations.splitlines()), 3)
        site.answers.update(answers())
        reports = Reports("--fail-on", "redirect", "--max-tries", "1", site.url)
        equal(reports.status, BROKEN)
        equal({r["level"] for r in reports.results() if r["ruleId"].startswith("redirect-")}, {"error"})
        equal({r["level"] for r in reports.results() if not r["ruleId"].startswith("redirect-")},
              {"warning"})
        equal({case.find("skipped") is not None for case in reports.cases()
               if case.find("failure") is None}, {False, True})


def test_all_is_well_and_nothing_could_be_fetched():
    with Site({"/": page()}) as site:
        reports = Reports(site.url)
        equal(reports.status, WELL)
    equal(([c.get("name") for c in reports.cases()], reports.results(), reports.rows()),
          (["the crawl"], [], []))
    contains(reports.texts["markdown"], "## No broken links on ")
    contains(reports.texts["html"], "<h1>No broken links on ")
    with Site({"/": status(500)}) as site:
        reports = Reports("--max-tries", "1", site.url)
        equal(reports.status, NOTHING)
        equal([(c.get("name"), c[0].tag) for c in reports.cases()],
              [("the crawl", "error"), (site.url, "failure")])
    equal(json.loads(reports.texts["sarif"])["runs"][0]["invocations"][0]["executionSuccessful"], False)
    contains(reports.texts["html"], "Nothing could be fetched")


def test_reports_may_go_to_stdout_and_cannot_be_written():
    with Site({"/": page("gone")}) as site:
        for name, begin in (("junit", "<?xml"), ("sarif", '{"$schema"'), ("csv", "page,line"),
                            ("markdown", "## 1 broken target, 1 link on"), ("html", "<!DOCTYPE html>")):
            code, out, err = run("-f", name, site.url)
            equal((name, code, err, out[:len(begin)]), (name, BROKEN, "", begin))
            code, out, err = run("-q", "-f", f"{name}:/dev/full", site.url)
            equal((name, code, err), (name, 1, "coil-crawl: /dev/full: No space left on device\n"))


def test_answers_are_records():
    reports = crawl()
    reported = reports.of("answer")
    equal({r["url"] for r in reported}, {r["url"] for r in reports.of("page")})
    for record in reported:
        assert 0 <= record["at"] and 0 <= record["seconds"] < 60 and record["tries"] == 1, record
    equal({r["status"] for r in reported if r["url"].endswith("/dead")}, {None})


# ---- JUnit ----------------------------------------------------------------------------


def check_junit(reports):
    if reports.lint is None:
        print("xmllint is not installed: the report was not validated")
    equal(reports.lint or "", "")
    root = ET.fromstring(reports.texts["junit"])
    sums = {"tests": 0, "failures": 0, "errors": 0}
    for suite in root:
        own = {"tests": len(suite), "failures": len(suite.findall("testcase/failure")),
               "errors": len(suite.findall("testcase/error"))}
        equal({key: int(suite.get(key)) for key in own}, own)
        equal(int(suite.get("skipped")), len(suite.findall("testcase/skipped")))
        sums = {key: sums[key] + own[key] for key in sums}
    equal({key: int(root.get(key)) for key in sums}, sums)
    names = [(suite.get("name"), case.get("classname"), case.get("name"))
             for suite in root for case in suite]
    equal(len(set(names)), len(names))  # GitLab merges findings with the same name


def test_junit_is_what_gitlab_and_jenkins_read():
    reports = crawl()
    check_junit(reports)
    kinds = {case.get("name").split(" ")[1]: case[0].tag for case in reports.cases()
             if case.get("name") != "the crawl"}
    equal(kinds["/gone"], "failure")
    equal(kinds["/dead"], "error")
    failure = next(c for c in reports.cases() if c.get("name").endswith(" /to-gone")).find("failure")
    equal((failure.get("type"), failure.get("message")), ("broken/status", "404 Not Found"))
    contains(failure.text, f"redirects to: {reports.url}gone")


def make_files(folder, files):
    for name, text in files.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="surrogateescape")


def test_files_are_named_from_the_working_directory():
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder, {"docs/a b.md": "# A\n\nto [b](b.md) and [c](#c)\n", "x:y.html": "<a href=z>"})
        reports = Reports("--offline", ".", cwd=folder)
    check_junit(reports)
    equal({suite.get("file") for suite in ET.fromstring(reports.texts["junit"])}, {None, "docs/a b.md", "x:y.html"})
    equal({case.get("classname") for case in reports.cases()},
          {"coil-crawl", "docs/a b.md", "x:y.html"})
    locations = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]:
                 r["locations"][0]["physicalLocation"]["artifactLocation"]["uriBaseId"]
                 for r in reports.results()}
    equal(locations, {"docs/a%20b.md": "%SRCROOT%", "./x:y.html": "%SRCROOT%"})
    contains(reports.texts["markdown"], "<code>docs/a b.md</code>:3:8")
    equal({row[0] for row in Document(reports.texts["html"]).tables["broken"]},
          {"docs/a b.md", "x:y.html"})


# ---- SARIF ----------------------------------------------------------------------------


def check_sarif(log):
    """Check the rules of SARIF 2.1.0 and GitHub for the objects that the report contains."""
    equal(set(log), {"$schema", "version", "runs"})
    equal((log["version"], len(log["runs"])), ("2.1.0", 1))
    one = log["runs"][0]
    driver = one["tool"]["driver"]
    equal((driver["name"], one["columnKind"]), ("coil-crawl", "unicodeCodePoints"))
    for rule in driver["rules"]:
        for key in ("shortDescription", "fullDescription", "help"):
            assert rule[key]["text"].endswith("."), rule
        assert re.fullmatch(r"[A-Z][A-Za-z]+", rule["name"]), rule
        assert rule["defaultConfiguration"]["level"] in ("error", "warning"), rule
    equal(len({rule["id"] for rule in driver["rules"]}), len(driver["rules"]))
    for result in one["results"]:
        equal(driver["rules"][result["ruleIndex"]]["id"], result["ruleId"])
        assert result["level"] in ("error", "warning") and result["message"]["text"], result
        place = result["locations"][0]["physicalLocation"]
        region = place["region"]
        assert region["startLine"] >= 1, result
        if "startColumn" in region:
            assert region["endLine"] == region["startLine"], result
            assert region["endColumn"] >= region["startColumn"] >= 1, result
        assert re.fullmatch(r"[!-~]+", place["artifactLocation"]["uri"]), result
        assert re.fullmatch(r"[0-9a-f]{16}:[1-9]\d*",
                            result["partialFingerprints"]["primaryLocationLineHash"]), result
    prints = [r["partialFingerprints"]["primaryLocationLineHash"] for r in one["results"]]
    equal(len(set(prints)), len(prints))
    levels = [r["level"] for r in one["results"]]
    equal(levels, sorted(levels))  # errors first: GitHub shows the first 5,000


def test_sarif_is_what_github_reads():
    reports = crawl()
    log = json.loads(reports.texts["sarif"])
    check_sarif(log)
    result = next(r for r in reports.results() if r["message"]["text"].startswith("/a#no"))
    equal((result["ruleId"], result["message"]["text"]),
          ("fragment-no-such-id", "/a#no: no element has this id"))
    region = result["locations"][0]["physicalLocation"]["region"]
    equal(region["endColumn"] - region["startColumn"], len("/a#no"))
    invocation = log["runs"][0]["invocations"][0]
    equal((invocation["executionSuccessful"], invocation["exitCode"]), (True, BROKEN))


def prints_of(text):
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder, {"a.html": text})
        reports = Reports("--offline", ".", cwd=folder)
    return {(r["locations"][0]["physicalLocation"]["region"]["startLine"], r["message"]["text"][:2]):
            r["partialFingerprints"]["primaryLocationLineHash"] for r in reports.results()}


def test_fingerprints_survive_lines_that_move():
    before = prints_of("<a href=b>x</a>\n<a href=c>x</a>\n<a href=b>x</a>")
    after = prints_of("\n\n<a href=b>x</a>\n<p>\n<a href=c>x</a>\n<a href=b>x</a>")
    equal([before[1, "b:"], before[2, "c:"], before[3, "b:"]],
          [after[3, "b:"], after[5, "c:"], after[6, "b:"]])
    equal((before[1, "b:"][-2:], before[3, "b:"][-2:]), (":1", ":2"))


# ---- hostile texts --------------------------------------------------------------------


def hostile_answers():
    links = "".join(f'<a href="{html_entities.escape(text)}">x</a>\n' for text in HOSTILE)
    return {"/": html_page(links + '<a href="/%3Cscript%3Epwned#<b>">x</a><a href="/to">x</a>'),
            "/to": redirect("<img src=x onerror=pwned>", 301)}


def hostile():
    with Site(hostile_answers()) as site:
        return Reports("--max-tries", "1", "--fail-on", "broken,fragment,error,skipped,unchecked",
                       site.url)


def test_hostile_texts_are_texts_everywhere():
    reports = hostile()
    check_junit(reports)
    check_sarif(json.loads(reports.texts["sarif"]))
    visible = [re.sub("[\x00-\x1f\u202e]", "\ufffd", text).replace("secret", "***")
               for text in HOSTILE]
    names = {case.get("name").partition(" ")[2] for case in reports.cases()}
    rows = {row["text"] for row in reports.rows()}
    document = Document(reports.texts["html"])
    cells = {row[2].removesuffix(" a href") for row in document.tables["broken"]}
    for text in visible:
        assert text in names, (text, names)
        assert ("'" + text if text[0] in "=+-@" else text) in rows, (text, rows)
        assert text in cells, (text, cells)
    for name, text in reports.texts.items():
        assert "secret" not in text, name
        hidden = re.search("[\x00-\x08\x0b-\x1f\u202e]", text.replace("\r\n", ""))
        assert not hidden or name == "jsonl", (name, hidden)


def test_no_cell_of_the_csv_is_a_formula():
    for row in hostile().rows():
        for value in row.values():
            assert value[:1] not in ("=", "+", "-", "@", "\t"), row


# ---- Markdown -------------------------------------------------------------------------


class Rendered(html.parser.HTMLParser):
    """Parsed HTML: the cells of each table, the tags, and the link targets."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.tags, self.links = [], set(), []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.links += [value for name, value in attributes if name == "href"]
        assert not any(name.startswith("on") for name, _ in attributes), attributes
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.removesuffix("\n")


def render(markdown):
    if shutil.which("cmark-gfm") is None:
        raise Skip("there is no cmark-gfm")
    extensions = [word for name in ("table", "autolink", "strikethrough", "tagfilter")
                  for word in ("-e", name)]
    return Rendered(subprocess.run(["cmark-gfm", "--unsafe", *extensions], input=markdown,
                                   capture_output=True, text=True, timeout=60, check=True).stdout)


def test_markdown_renders_as_it_is_meant():
    rendered = render(crawl().texts["markdown"])
    equal([row[:2] for row in rendered.rows[:2]], [["targets", "URLs"], ["2", "2"]])
    contains([cell for row in rendered.rows for cell in row], "404 Not Found")
    equal(rendered.tags - {"h2", "code", "p", "table", "thead", "tbody", "tr", "th", "td", "a",
                           "details", "summary"}, set())


def test_markdown_of_hostile_texts_has_no_marks():
    reports = hostile()
    rendered = render(reports.texts["markdown"])
    equal(rendered.tags & {"script", "img", "b", "strong", "em", "h1", "del"}, set())
    assert all(link.startswith("http://127.0.0.1:") for link in rendered.links), rendered.links
    cells = {row[1].strip() for row in rendered.rows if len(row) == 3}
    for text in HOSTILE:
        if len(text) < 100 and text.isprintable() and "secret" not in text:
            assert text in cells, (text, cells)
    equal({len(row) for row in rendered.rows}, {3, 5})  # the totals have five


def test_markdown_is_bounded():
    links = [f"/gone/{n}/{'[' * 60}" for n in range(3000)]
    moved = {f"/moved/{n}": redirect("/", 301) for n in range(1000)}
    with Site({"/": page(*links, *moved), **moved}) as site:
        text = Reports("--max-tasks", "50", site.url).texts["markdown"]
    assert 30000 < len(text.encode()) <= 60000, len(text.encode())
    reported = text.count("404 Not Found</code> |\n")
    contains(text, f"and {3000 - reported} more")
    contains(text, "<details><summary>Moved permanently: links to update: 1000</summary>")
    contains(text, "</details>")


# ---- HTML -----------------------------------------------------------------------------


class Document(html.parser.HTMLParser):
    """A parsed HTML report: the cells of each section's table, the links, and the files that the report loads."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.loads, self.links, self.ids, self.open = {}, [], [], [], []
        self.policy = self.section = None
        self.contents = {"style": "", "script": ""}
        self.feed(text)
        self.close()
        equal(self.open, [])

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        assert not any(name.startswith("on") or name == "style" for name in attributes), attributes
        self.loads += [attributes[name] for name in ("src", "srcset", "data", "action") if name in attributes]
        if tag in ("link", "iframe", "img", "object", "base", "form"):
            self.loads.append(tag)
        if tag == "a":
            self.links.append(attributes["href"])
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "section":
            self.section = attributes["id"]
            self.tables[self.section] = []
        if tag == "tr":
            self.tables[self.section].append([])
        if tag in ("td", "th"):
            self.tables[self.section][-1].append("")
        if tag not in ("meta", "input", "rect"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        equal(tag, "rect")

    def handle_endtag(self, tag):
        equal(self.open.pop(), tag)
        if tag == "thead":
            self.tables[self.section].pop()

    def handle_data(self, data):
        if self.open and self.open[-1] in self.contents:
            self.contents[self.open[-1]] += data
        elif "td" in self.open and self.section:
            self.tables[self.section][-1][-1] += data


def digest_of(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_html_is_one_file_that_loads_nothing():
    document = Document(crawl().texts["html"])
    equal(document.loads, [])
    assert "url(" not in document.contents["style"] and "@import" not in document.contents["style"]
    equal(re.findall(r"fetch|XMLHttp|WebSocket|import|innerHTML|eval|src", document.contents["script"]), [])
    for name, text in document.contents.items():  # crawler/report/html_style.h
        contains(document.policy, f"{name}-src '{digest_of(text)}'")
    contains(document.policy, "default-src 'none'")
    equal(set(document.tables), {"totals", "broken", "warnings", "moved", "hosts", "timeline"})
    equal(len(set(document.ids)), len(document.ids))
    for link in document.links:
        assert link.startswith("http://127.0.0.1:") or link[1:] in document.ids, link


def test_html_has_totals_hosts_and_a_timeline():
    reports = crawl()
    document = Document(reports.texts["html"])
    sums = {}
    for count, _, _, verdict, _ in document.tables["totals"]:
        sums[verdict] = sums.get(verdict, 0) + int(count)
    equal(sums, {k: v for k, v in reports.of("summary")[0]["verdicts"].items() if v})
    host, mean, slowest, count, failed = document.tables["hosts"][0]
    equal((host, int(count)), (reports.url.split("/")[2], len(reports.of("answer"))))
    assert mean.endswith(" ms") and slowest.endswith(" ms") and int(failed) == 2, document.tables
    contains(reports.texts["html"], f"{len(reports.of('answer'))} in all, 2 of them failed")


def test_html_is_bounded():
    files = {f"{n}.html": "".join(f'<a href="gone{n}-{i}">x</a>\n' for i in range(200)) for n in range(60)}
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder, files)
        text = Reports("--offline", ".", cwd=folder, formats=["jsonl", "html"]).texts["html"]
    document = Document(text)
    equal(len(document.tables["broken"]), 10000)
    contains(text, "<p>and 2000 more</p>")


# ---- in a browser ---------------------------------------------------------------------


def browse(path, fragment="", options=()):
    """Open a report in chromium. Returns the document after its scripts have run."""
    if shutil.which("chromium") is None:
        raise Skip("chromium is not installed (scripts/install-deps browser)")
    with tempfile.TemporaryDirectory() as profile:
        return subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
             "--virtual-time-budget=10000", *options, "--dump-dom",
             pathlib.Path(path).as_uri() + fragment],
            capture_output=True, text=True, timeout=300, check=True).stdout


def shown(text, section):
    """Return the fourth cell of each visible row."""
    table = text.partition(f'<section id="{section}">')[2].partition("</section>")[0]
    table = table.partition("<tbody>")[2]
    return [re.sub("<[^>]*>", "", re.findall(r"<td.*?</td>", row, re.S)[3])
            for row in re.findall(r"<tr(?! hidden).*?</tr>", table, re.S)]


def test_a_browser_searches_and_sorts():
    reports = crawl()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "report.html")
        path.write_text(reports.texts["html"], encoding="utf-8")
        text = browse(path, "#q=GONE%20img")
        equal(shown(text, "broken"), [])
        text = browse(path, "#q=dead")
        equal(shown(text, "broken"), ["/dead"])
        contains(text, ">1 of ")
        equal(text.count("<button"), 5 + 6 + 6 + 5)
        # Remove the report's content security policy, which would block the script that the test inserts.
        clicks = """<script>
            const heads = document.querySelectorAll("#broken th");
            heads[3].click(); heads[3].querySelector("button").click();
            document.querySelector("#totals th").click();
            document.title = document.documentElement.scrollWidth + " of " + innerWidth;
            </script></body>"""
        path.write_text(re.sub("<meta http-equiv[^>]*>", "", reports.texts["html"])
                        .replace("</body>", clicks), encoding="utf-8")
        text = browse(path, options=["--window-size=500,900"])
        targets = shown(text, "broken")
    counts = [int(n) for n in re.findall(r'<tr><td class="n">(\d+)<', text.partition('id="totals"')[2].partition("</section>")[0])]
    equal(counts, sorted(counts))
    width, _, room = text.partition("<title>")[2].partition("</title>")[0].partition(" of ")
    assert int(width) <= int(room) <= 500, (width, room)  # the text is not clipped on a narrow screen
    equal(targets, sorted(targets, reverse=True))
    equal(len(set(targets)) > 3, True)


def test_a_browser_runs_nothing_that_pages_say():
    reports = hostile()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "report.html")
        path.write_text(reports.texts["html"], encoding="utf-8")
        text = browse(path)
        contains(text, "<title>")
        title = text.partition("<title>")[2].partition("</title>")[0]
        contains(title, " links on http://127.0.0.1:")
        equal((text.count("<script"), text.count("<img"), text.count("<h1")), (1, 0, 1))
        equal(re.findall(r'href="(?!#|http://127\.0\.0\.1:)[^"]*', text), [])
        # Even if a tag were not escaped, the content security policy must prevent it from running a script.
        path.write_text(reports.texts["html"].replace(
            "<main>", "<main><script>document.title = 'pwned'</script>"
                      "<img src=x onerror=\"document.title = 'pwned'\">"), encoding="utf-8")
        equal(browse(path).partition("<title>")[2].partition("</title>")[0], title)


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[2:]))
