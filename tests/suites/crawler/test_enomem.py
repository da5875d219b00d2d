#!/usr/bin/env python3
"""Run coil-crawl while one of its allocations fails. The program must exit with status 1 and a message, or report the
same findings as without the failure.

    test_enomem.py COIL_CRAWL_ENOMEM [--all | --few]

One allocation fails per run. Crawls of a server are run for a sample of their allocations, and other commands for every
ninth allocation, or every 36th with --few. With --all, each allocation fails in one of the runs. Builds with sanitizers
also check for leaks.
"""
import concurrent.futures
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from check import Skip, run_tests  # noqa: E402
from redis_server import redis_server  # noqa: E402
from server import Site, html, page, redirect, response, status  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
ALL, FEW = "--all" in sys.argv, "--few" in sys.argv
SAMPLE = 0 if ALL else 10 if FEW else 35
STEP = 1 if ALL else 36 if FEW else 9
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
KEPT = {"page": ("url", "status", "links"), "verdict": ("target", "fragment", "verdict", "reason")}


def answers(other):
    """Return answers that make coil-crawl use every kind of allocation. The result must not depend on the order of
    requests. Therefore only "/" links to /x, and only after a link to /x with a session id."""
    return {
        "/robots.txt": redirect("/rules"),
        "/rules": response("User-agent: *\nDisallow: /no\nSitemap: /maps\n", content_type="text/plain"),
        "/": page("/a#x", "/a#%79", "/moved#x", "/1", "/c1", "/no", "/gone", "http://", "mailto:x#y",
                  "/x?PHPSESSID=abc123", "/x", "/2026-01-02", "/" + "x" * 3000, "/out", other + "#x",
                  other + "late", "/entities", "/latin", "/excluded", "//\u00e4.invalid:0/"),
        "/a": html("<i id=x></i><i id=z></i>" + '<a href="/a#z">x</a>' * 300),
        "/x": page(other + "late#x", *(f"/many/{n}" for n in range(150))),
        "/moved": redirect("/a", 301), "/gone": [status(503), status(404)],
        "/c1": redirect("/c2"), "/c2": redirect("/c1"), "/out": redirect(other),
        **{f"/{n}": redirect(f"/{n + 1}") for n in range(1, 14)},
        "/entities": html('<base href="/b/"><a href="&auml;&#9731;?a b">x</a><img srcset="1 1x, 2 2x">'),
        "/maps": response("<sitemapindex><sitemap><loc>/map</loc></sitemap><sitemap><loc>/map.gz</loc></sitemap>"
                          "</sitemapindex>", content_type="text/xml"),
        "/map": response("<urlset><url><loc>/styles</loc></url></urlset>", content_type="application/xml"),
        "/map.gz": response(gzip.compress(b"/s.css\n/a"), content_type="application/gzip"),
        "/styles": html("<style>a{b:url(/moved)}</style><b style='a:url(\"/a\")'>x</b>",
                        headers=["Link: </s.css>; rel=next", "Refresh: 1; url=/a"]),
        "/s.css": response("@import '/s.css';a{b:url(x\\41 )}", content_type="text/css"),
        "/latin": response("<meta charset=shift_jis><a href=/\u3042>x</a>".encode("shift_jis")),
    }


def crawl(site, folder, nth):
    """Crawl the site. Returns (exit status, stderr, findings)."""
    file, count = os.path.join(folder, f"{nth}.jsonl"), os.path.join(folder, f"{nth}.count")
    environment = {**ENVIRONMENT, "FAIL_ALLOCATION": str(nth), "ALLOCATIONS": count}
    done = subprocess.run(
        [PROGRAM, "--no-config", "-f", f"jsonl:{file}", "-f", "text", "-v", "--exclude", "/excluded",
         "-f", f"html:{os.path.join(folder, 'html')}{nth}",
         "--fragments", "all", "--obey-nofollow", "--obey-x-robots-tag", "-H", "X-A: b",
         "--max-depth", "5", "--max-tasks", "3", "--baseline", os.path.join(folder, "baseline"),
         "--cache", os.path.join(folder, f"cache{nth}"), site.url],
        capture_output=True, text=True, env=environment, timeout=60)
    found = set()
    if os.path.exists(file):
        with open(file, encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        found = {tuple(r[key] for key in KEPT[r["type"]]) for r in records if r["type"] in KEPT}
    made = 0  # after a crash the file is missing
    if os.path.exists(count):
        with open(count, encoding="utf-8") as lines:
            made = int(lines.read())
    return done.returncode, done.stderr, found, made


def complaint_of(code, err, found, whole):
    """Return an error message about an outcome, or None."""
    if "Sanitizer" in err or "runtime error" in err or code < 0:
        return f"status {code}\n{err}"
    if code == 1:
        good = err.startswith("coil-crawl: ") and "memory" in err.lower()
        return None if good else f"status {code} with {err!r}"
    if found != whole:
        other = set(map(str, found)) ^ set(map(str, whole))
        return f"status {code}, {err!r}; other results: {sorted(other)[:6]!r:.600}"
    return None


def need_program():
    if not os.path.exists(PROGRAM):
        raise Skip("this linker does not support --wrap")


def test_any_allocation():
    need_program()
    with tempfile.TemporaryDirectory() as folder, \
            Site({"/": html("<i id=x>"), "/late": html("<i id=x>")}) as other, \
            Site({}) as site:
        def try_one(nth):
            return nth, complaint_of(*crawl(site, folder, nth)[:3], whole)

        class Always(dict):
            def get(self, path, otherwise=None):
                answer = answers(other.url).get(path, otherwise)
                return answer[-1] if isinstance(answer, list) else answer

        site.answers = Always()
        with open(os.path.join(folder, "baseline"), "w", encoding="utf-8") as out:
            out.write('{"type":"start","schema":1,"version":"0","urls":[],"time":""}\n'
                      '{"type":"verdict","target":"x","fragment":null,"verdict":"broken"}\n')
        code, err, whole, count = crawl(site, folder, 0)
        assert code == 2 and not err and len(whole) > 100, (code, err, len(whole))
        assert count > 1000, count
        step = max(1, count // SAMPLE) if SAMPLE else 1
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            outcomes = list(pool.map(try_one, range(1, count + 1, step)))
    bad = [(nth, complaint) for nth, complaint in outcomes if complaint]
    print(f"{len(outcomes)} of {count} allocations failed")
    for nth, complaint in bad[:20]:
        print(f"without allocation {nth}: {complaint}")
    assert not bad, f"{len(bad)} of {len(outcomes)}"


def kept_crawl(site, folder, nth, *command):
    """Run a command on a saved crawl. Returns (exit status, stderr, findings, allocations)."""
    file, count = os.path.join(folder, f"{nth}.jsonl"), os.path.join(folder, f"{nth}.count")
    done = subprocess.run(
        [PROGRAM, "--no-config", "-f", f"jsonl:{file}", "-f", "text", *command],
        capture_output=True, text=True, timeout=60, check=False,
        env={**ENVIRONMENT, "FAIL_ALLOCATION": str(nth), "ALLOCATIONS": count})
    found = set()
    if os.path.exists(file):
        with open(file, encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        found = {tuple(r[key] for key in KEPT[r["type"]]) for r in records if r["type"] in KEPT}
        os.unlink(file)
    return done.returncode, done.stderr, found, int(read(count) or 0)


def test_a_kept_crawl_loses_nothing_for_want_of_memory():
    """If an allocation fails while a crawl is saved or resumed, the crawl can be resumed again, and gives the same
    result as a crawl without failures."""
    need_program()
    with tempfile.TemporaryDirectory() as folder, Site({"/": html("<i id=x>")}) as other, Site({}) as site:
        site.answers = {path: answer[-1] if isinstance(answer, list) else answer
                        for path, answer in answers(other.url).items()}
        start = ["--fragments", "all", "--max-tasks", "3", "--state-interval", "0"]

        def state_of(nth):
            return os.path.join(folder, f"state{nth}")

        def try_crawl(nth):
            reported = complaint_of(*kept_crawl(site, folder, nth, *start, "-d", state_of(nth), site.url)[:3], whole)
            code, err, found, _ = kept_crawl(site, folder, 0, "resume", state_of(nth)) \
                if os.path.exists(os.path.join(state_of(nth), "crawl.db")) else (2, "", whole, 0)
            if code == 3 and "there is no saved crawl" in err:
                return nth, reported
            return nth, reported or (None if (code, found) == (2, whole) else f"resume: {code}, {err!r}, {len(found)}")

        def try_command(command):
            def try_one(nth):
                shutil.copytree(state_of(0), state_of(nth), dirs_exist_ok=True)
                return nth, complaint_of(*kept_crawl(site, folder, nth, *command(state_of(nth)))[:3], whole)
            return try_one

        code, err, whole, count = kept_crawl(site, folder, 0, *start, "-d", state_of(0), site.url)
        assert code == 2 and not err and len(whole) > 100, (code, err, len(whole))
        bad = []
        for name, try_one, total in [
                ("crawl", try_crawl, count),
                *((name, try_command(lambda state, name=name: [name, state]),
                   kept_crawl(site, folder, 0, name, state_of(0))[3]) for name in ("report", "resume", "recheck"))]:
            step = max(1, total // (SAMPLE // 3)) if SAMPLE else 1
            bad += [(name, nth, reported) for nth, reported in map(try_one, range(1, total + 1, step)) if reported]
            for nth in range(1, total + 1):
                shutil.rmtree(state_of(nth), ignore_errors=True)
    assert not bad, f"{len(bad)}: {bad[:8]}"


def test_a_shared_crawl_loses_nothing_for_want_of_memory():
    """If an allocation fails, a worker must either exit with a message or finish the crawl. If a collector fails, the
    results must remain in Redis."""
    need_program()
    with tempfile.TemporaryDirectory() as folder, Site({"/": html("<i id=x>")}) as other, Site({}) as site, \
            redis_server() as path:
        site.answers = {name: answer[-1] if isinstance(answer, list) else answer
                        for name, answer in answers(other.url).items()}

        def frontier(name):
            return ["--frontier", f"unix://{path.replace(' ', '%20')}", "--crawl", name]

        def take_part(nth, name):
            done, count = run(nth, folder, "--fragments", "all", "--max-tasks", "3", *frontier(name), site.url)
            return done.returncode, done.stderr, count

        def try_member(nth):
            code, err, _ = take_part(nth, f"member{nth}")
            return nth, complaint_of(code, err, [code in (0, 1)], [True])

        def collect(nth, name):
            return kept_crawl(site, folder, nth, "collect", os.path.join(folder, name), *frontier(name))

        def try_collect(nth):
            name = f"collect{nth}"
            take_part(0, name)
            code, err, found, _ = collect(nth, name)
            reported = complaint_of(code, err, found, whole)
            if code == 1 and not reported:
                code, err, found, _ = collect(0, name)
                reported = None if (code, err, found) == (2, "", whole) else f"again: {code}, {err!r}, {len(found)}"
            shutil.rmtree(os.path.join(folder, name))
            return nth, reported

        code, err, member_count = take_part(0, "whole")
        assert code == 0 and "the crawl is over" in err, (code, err)
        code, err, whole, collect_count = collect(0, "whole")
        assert code == 2 and not err and len(whole) > 100, (code, err, len(whole))
        bad = []
        for name, try_one, total in (("member", try_member, member_count), ("collect", try_collect, collect_count)):
            step = max(1, total // (SAMPLE // 3)) if SAMPLE else 1
            bad += [(name, nth, reported) for nth, reported in map(try_one, range(1, total + 1, step)) if reported]
    assert not bad, f"{len(bad)}: {bad[:8]}"


# ---- without a server, so that each run allocates the same -----------------------------------------


def read(path):
    return pathlib.Path(path).read_text(encoding="utf-8") if os.path.exists(path) else ""


def run(nth, folder, *arguments, **options):
    """Run a command. Returns the outcome and the number of allocations."""
    count = os.path.join(folder, f"{nth}.count")
    done = subprocess.run(
        [PROGRAM, "--no-config", *arguments], capture_output=True, text=True, timeout=60, check=False,
        env={**ENVIRONMENT, "FAIL_ALLOCATION": str(nth), "ALLOCATIONS": count}, **options)
    return done, int(read(count) or 0)


def fail_each(try_one):
    """Call try_one(nth) for each allocation that should fail. try_one() returns (exit status, stderr, findings,
    allocations). Each of these runs must give the same findings as the run without a failure, or exit with a message.
    Returns the exit status and findings of the run without a failure."""
    status, err, whole, count = try_one(0)
    assert status != 1 and not err and count > 0, (status, err, count)
    wanted = range(1, count + 1, STEP)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(try_one, wanted))
    bad = []
    for nth, (code, err, reported, _) in zip(wanted, outcomes):
        complaint = complaint_of(code, err, [f"status {code}", *reported], [f"status {status}", *whole])
        if complaint:
            bad.append(f"without allocation {nth}: {complaint}")
    print(f"{len(wanted)} of {count} allocations failed")
    assert not bad, f"{len(bad)} of {count}\n" + "\n".join(bad[:20])
    return status, whole


def make_site(folder, files):
    for name, text in files.items():
        path = pathlib.Path(folder, "site", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def report(nth, folder, *options, formats=("text", "github")):
    files = {name: os.path.join(folder, f"{nth}.{name}") for name in formats}
    done, count = run(nth, folder, "--offline", "--max-tasks", "1",
                      *(word for name, file in files.items() for word in ("-f", f"{name}:{file}")),
                      *options, ".", cwd=os.path.join(folder, "site"))
    reported = [re.sub(r"\bin \d+\.?\d* m?s\b|time\w*=\"[^\"]*\"|\"\w+TimeUtc\":\"[^\"]*\"|, 20\d\d-[^,]*,", "",
                       read(file)) for file in files.values()]
    return done.returncode, done.stderr, reported, count


def test_a_report_is_whole_or_said_not_to_be():
    """Write a text report with every layout: a target with many links, a folder of targets, a page with many links,
    more rows than are listed, a long URL, and a password."""
    need_program()
    targets = ["gone", "in/1", "in/2", "in/3", "of/1", "of/2", "of/3", "x%20y", "b.html#no", "http://",
               "http://user:pass@h/" + "x" * 80, "long" * 20, *(f"only{n}/x" for n in range(9))]
    with tempfile.TemporaryDirectory() as folder:
        make_site(folder, {
            "a.html": "".join(f'<a href="{target}">x</a>\n' for target in targets),
            "b.html": '<a href="gone">x</a><a href="a.html">x</a><a href="mailto:x@y">x</a>',
            "c.html": '<a href="gone">x</a><a href="b.html#no">x</a>',
            "in/d.html": '<a href="../gone">x</a>'})
        for options in ([], ["-v", "--fail-on", "broken,fragment,unchecked"]):
            status, reported = fail_each(lambda nth, options=options: report(nth, folder, *options))
            assert status == 2 and all(reported), (status, reported)


def test_a_report_of_a_digest_is_whole_or_said_not_to_be():
    """Write reports from records of every kind: links before and after the verdicts of their targets, texts that are
    not the end of a URL, fragments, and invalid URLs."""
    need_program()
    with tempfile.TemporaryDirectory() as folder:
        make_site(folder, {
            "a.html": '<a href="gone">x</a><a href="b.html#no">x</a><a href="x%20y#%61">x</a><img src="in/./i">'
                      '<a href="http://">x</a><a href="' + "long" * 60 + '">x</a>',
            "b.html": '<a href="gone">x</a><a href="a.html">x</a><a href="mailto:x@y">x</a>',
            "in/d.html": "".join(f'<a href="../gone{n}">x</a>' for n in range(20))})
        status, reported = fail_each(lambda nth: report(
            nth, folder, "--fail-on", "broken,fragment,unchecked,skipped",
            formats=("junit", "sarif", "csv", "markdown", "html")))
        assert status == 2 and all("gone19" in text for text in reported), (status, reported)


def test_a_folder_is_whole_or_said_not_to_be():
    """Check a folder that contains a symbolic link to a page, and Markdown with every construct."""
    need_program()
    with tempfile.TemporaryDirectory() as folder:
        make_site(folder, {
            "../c.html": '<a href="gone2">x</a>', "d.html": '<base href="/e/"><a href="gone1">x</a>',
            "a.md": '---\nx: y\n---\n# A [b](gone3) ![c](gone4)\n\n[d] `e` <a href="gone5">f</a> [g][h]\n\n'
                    '[d]: gone6\n[h]: <gone7>\n\n<div id=i></div>\n\n# A b\n\nj[^k]\n\n[^k]: http://l/\n'})
        os.symlink("../c.html", os.path.join(folder, "site", "b.html"))
        status, reported = fail_each(lambda nth: report(nth, folder, "-v"))
        assert status == 2, status
        for nth in range(1, 8):
            assert f"gone{nth}" in reported[0], (nth, reported)


def test_what_the_baseline_has_does_not_fail_the_run():
    need_program()
    with tempfile.TemporaryDirectory() as folder:
        make_site(folder, {"a.html": '<a href="gone#x">x</a>'})
        baseline = os.path.join(folder, "baseline")
        assert report(0, folder, "-f", f"jsonl:{baseline}")[0] == 2
        status, _ = fail_each(lambda nth: report(nth, folder, "--baseline", baseline))
        assert status == 0, status


def test_an_explanation_is_whole_or_said_not_to_be():
    need_program()

    def explain(nth):
        done, count = run(nth, folder, "-H", "X-A: b", "explain", site.url + "no/page")
        return done.returncode, done.stderr, [done.stdout], count

    rules = response("User-agent: *\nDisallow: /no\n", content_type="text/plain")
    with tempfile.TemporaryDirectory() as folder, Site({"/robots.txt": rules}) as site:
        status, reported = fail_each(explain)
    assert status == 0 and "line 2 forbids it" in reported[0], (status, reported)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
