#!/usr/bin/env python3
"""coil-crawl against servers that do as the test says.

    test_crawl.py COIL_CRAWL [TEST...]

$COIL_WRAPPER, if set, is put before the command: "valgrind -q --error-exitcode=99".
"""
import json
import os
import pty
import resource
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time

from check import Skip, contains, equal, run_tests
from scripted import Site, cut, hang_up, html, page, redirect, response, slow, status

WELL, FAILED, BROKEN, USAGE, NOTHING, INTERRUPTED = 0, 1, 2, 3, 4, 6
PROGRAM = os.path.abspath(sys.argv[1])
WRAPPER = shlex.split(os.environ.get("COIL_WRAPPER", ""))
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}


class Crawl:
    """One run: its exit status, its output, and its JSON by path."""

    def __init__(self, url, *options, interrupt_when=None, environment=None,
                 interrupt_again_when=None):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "crawl.jsonl")
            command = [*WRAPPER, PROGRAM, "-f", f"jsonl:{file}", *options, url]
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env={**ENVIRONMENT, **(environment or {})})
            if interrupt_when is not None:
                wait_until(interrupt_when)
                process.send_signal(signal.SIGINT)
            if interrupt_again_when is not None:
                wait_until(lambda: interrupt_again_when(file) or process.poll() is not None)
                process.send_signal(signal.SIGINT)
            self.out, self.err = process.communicate(timeout=60)
            self.status = process.returncode
            self.urls = {}
            if os.path.exists(file):
                with open(file, encoding="utf-8") as lines:
                    self.records = [json.loads(line) for line in lines]
                equal(len({r["url"] for r in self.records}), len(self.records))
                self.urls = {"/" + r["url"].split("/", 3)[-1]: r for r in self.records}

    def statuses(self):
        return {path: record["status"] for path, record in self.urls.items()}


def wait_until(condition):
    end = time.monotonic() + 30
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it did not happen within 30 s")
        time.sleep(0.01)


def crawl(answers, *options):
    with Site(answers) as site:
        result = Crawl(site.url, *options)
        result.site = site
        return result


# ---- which pages are visited ---------------------------------------------------------


def test_link():
    result = crawl({"/": page("/foo"), "/foo": page()})
    equal(result.status, WELL)
    equal(result.site.requests, ["/", "/foo"])
    equal(result.statuses(), {"/": 200, "/foo": 200})
    equal(result.urls["/"]["links"], 1)
    equal(result.urls["/"]["new_links"], 1)
    equal(result.urls["/foo"]["depth"], 1)
    contains(result.out, "2 pages")


def test_link_cycle():
    result = crawl({"/": page("/foo"), "/foo": page("/", "/foo#here")})
    equal(result.status, WELL)
    equal(result.site.requests, ["/", "/foo"])
    equal(result.urls["/foo"]["links"], 2)
    equal(result.urls["/foo"]["new_links"], 0)


def test_every_url_is_fetched_once_however_it_is_written():
    links = ["/a", "/a", "a", "./a", "/x/../a", "/a#one", "/a#two", "//{}/a", "/%2e/a",
             " /a ", "/\na", "\\a"]
    with Site({}) as site:
        links = [link.replace("{}", site.address) for link in links]
        site.answers.update({"/": page(*links), "/a": page()})
        result = Crawl(site.url)
    equal(site.requests, ["/", "/a"])
    equal(result.urls["/"]["links"], 1)
    equal(result.status, WELL)


def test_fragment_query_and_empty_references():
    result = crawl({"/d/p?q": page("#f", "", "?r", "?"), "/d/p?r": page(),
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
    contains(result.out, "0 URLs of other sites")


def test_broken_html_is_read_as_browsers_do():
    result = crawl({"/": html("<table><a href=a><b><p><a href='b'>x</i></table><div "
                              "<a href=c><!-- <a href=no> --><a href=d"),
                    "/a": page(), "/b": page()})
    equal(sorted(result.site.requests), ["/", "/a", "/b"])


def test_other_hosts_are_counted_not_fetched():
    with Site({}) as other:
        result = crawl({"/": page(other.url, other.url + "x", "http://elsewhere.invalid/",
                                  "https://127.0.0.1/")})
        equal(other.requests, [])
    equal(result.status, WELL)
    equal(list(result.urls), ["/"])
    equal(result.urls["/"]["links"], 4)
    contains(result.out, "4 URLs of other sites")


def test_other_schemes_are_no_links():
    result = crawl({"/": page("mailto:a@b", "javascript:x()", "data:,x", "ftp://x/",
                              "tel:1")})
    equal(result.status, WELL)
    equal(result.urls["/"]["links"], 0)


def test_what_is_no_url_is_reported():
    result = crawl({"/": page("http://", "http://a b/", "http://127.0.0.1:99999/")})
    equal(result.status, BROKEN)
    equal(len(result.records), 4)
    contains(result.out, "this is not a URL\n    linked from http")


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
    equal(result.records[0]["url"], f"http://localhost:{port}/")


# ---- redirects ---------------------------------------------------------------------


def test_redirect():
    result = crawl({"/": page("/foo"), "/foo": redirect("/bar?x#y"), "/bar?x": page()})
    equal(result.status, WELL)
    equal(result.site.requests, ["/", "/foo", "/bar?x"])
    equal(result.urls["/foo"]["next_url"], result.site.url + "bar?x")
    equal(result.urls["/foo"]["status"], 302)
    contains(result.out, "1 redirect,")


def test_every_redirecting_status():
    codes = [301, 302, 303, 307, 308]
    answers = {f"/{c}": redirect(f"/to/{c}", c) for c in codes}
    answers.update({f"/to/{c}": page() for c in codes})
    result = crawl({"/": page(*answers), **answers})
    equal(result.status, WELL)
    equal(len(result.site.requests), 11)


def test_relative_redirect():
    result = crawl({"/": page("/a/b/c"), "/a/b/c": redirect("../d e"), "/a/d%20e": page()})
    equal(result.status, WELL)
    equal(result.site.requests[-1], "/a/d%20e")


def test_redirects_that_meet_go_on_as_one():
    result = crawl({"/": page("/foo", "/bar"), "/foo": redirect("/baz"),
                    "/bar": redirect("/baz"), "/baz": redirect("/quux"), "/quux": page()})
    equal(result.status, WELL)
    equal(sorted(result.site.requests), ["/", "/bar", "/baz", "/foo", "/quux"])
    equal(result.urls["/baz"]["referrers"], 2)


def test_redirect_circle():
    result = crawl({"/": page("/in"), "/in": redirect("/a"), "/a": redirect("/b"),
                    "/b": redirect("/a")})
    equal(result.status, BROKEN)
    equal(result.site.requests, ["/", "/in", "/a", "/b"])
    for path in ("/in", "/a", "/b"):
        contains(result.urls[path]["error"], "circle")
    contains(result.out, "3 broken")


def test_redirect_to_itself():
    result = crawl({"/": page("/a"), "/a": redirect("/a")})
    equal(result.status, BROKEN)
    equal(result.site.requests, ["/", "/a"])


def test_redirect_limit():
    answers = {f"/{n}": redirect(f"/{n + 1}") for n in range(1, 30)}
    result = crawl({"/": page("/1"), **answers}, "--max-redirect", "5")
    equal(result.site.requests, ["/"] + [f"/{n}" for n in range(1, 7)])
    contains(result.urls["/6"]["error"], "too many redirects")
    equal(result.status, BROKEN)


def test_redirect_without_or_with_a_bad_location():
    result = crawl({"/": page("/a", "/b", "/c"),
                    "/a": response(code=301, content_type=None),
                    "/b": redirect("http://"), "/c": redirect("mailto:x@y")})
    equal(result.status, BROKEN)
    contains(result.urls["/a"]["error"], "to nowhere")
    contains(result.urls["/b"]["error"], "not a URL")
    equal(result.urls["/c"]["error"], None)


def test_redirect_to_another_site():
    with Site({"/": page()}) as other:
        result = crawl({"/": page("/a"), "/a": redirect(other.url)})
        equal(other.requests, [])
        equal(result.status, WELL)
        equal(result.urls["/a"]["next_url"], other.url)


def test_start_may_move_to_a_sibling():
    with Site({"/": page("/a"), "/a": status(404)}) as other:
        result = crawl({"/": redirect(other.url)})
        equal(other.requests, ["/", "/a"])
        equal(result.status, BROKEN)


def test_start_may_not_move_to_a_stranger():
    result = crawl({"/": redirect("http://elsewhere.invalid/")})
    equal(result.status, NOTHING)
    contains(result.err, "another site")


def test_referrers_are_told_through_redirects():
    result = crawl({"/": page("/a"), "/a": redirect("/gone")})
    equal(result.status, BROKEN)
    url = result.site.url
    contains(result.out, f"{url}gone\n    404\n    redirected from {url}a\n"
                         f"        linked from {url}\n")


# ---- what goes wrong -----------------------------------------------------------------


def test_broken_links():
    result = crawl({"/": page("/a", "/gone", "/oops"), "/a": page("/gone"),
                    "/oops": status(500)})
    equal(result.status, BROKEN)
    equal(result.statuses(), {"/": 200, "/a": 200, "/gone": 404, "/oops": 500})
    equal(result.urls["/gone"]["referrers"], 2)
    equal([r.rsplit("/", 1)[1] for r in result.urls["/gone"]["referrer_urls"]], ["", "a"])
    url = result.site.url
    contains(result.out, f"{url}gone\n    404\n    linked from {url}\n"
                         f"    linked from {url}a\n")
    contains(result.out, "2 broken")


def test_error_pages_are_not_searched():
    result = crawl({"/": page("/gone"), "/gone": html("<a href=more>", code=404)})
    equal(result.site.requests, ["/", "/gone"])


def test_many_referrers():
    names = [f"/{n}" for n in range(150)]
    result = crawl({"/": page(*names), **{name: page("/gone") for name in names}})
    equal(result.urls["/gone"]["referrers"], 150)
    equal(len(result.urls["/gone"]["referrer_urls"]), 100)
    contains(result.out, "and 145 more")


def test_start_that_fails():
    with Site({}) as site:
        equal(Crawl(site.url).status, NOTHING)
    result = Crawl(site.url, "--max-tries", "2")  # nobody listens there any more
    equal(result.status, NOTHING)
    equal(result.records[0]["status"], None)
    equal(result.records[0]["tries"], 2)
    contains(result.out, "1 broken")
    contains(result.err, "nothing could be fetched")


def test_unknown_host():
    result = Crawl("http://does-not-exist.invalid/")
    equal(result.status, NOTHING)
    equal(result.records[0]["tries"], 1)
    contains(result.records[0]["error"], "resolve")


def test_network_errors_are_tried_again():
    # libcurl asks once more by itself where a connection had been used before.
    result = crawl({"/": page("/flaky", "/dead"),
                    "/flaky": [hang_up, hang_up, page()], "/dead": hang_up})
    equal(result.status, BROKEN)
    equal(result.site.requests.count("/flaky"), 3)
    equal(result.urls["/flaky"]["status"], 200)
    assert result.urls["/flaky"]["tries"] > 1
    equal(result.urls["/dead"]["tries"], 3)
    equal(result.urls["/dead"]["status"], None)


def test_answers_are_not_tried_again():
    result = crawl({"/": page("/a", "/b"), "/a": status(404), "/b": status(501)})
    equal(sorted(result.site.requests), ["/", "/a", "/b"])


def test_max_tries():
    result = crawl({"/": page("/dead"), "/dead": hang_up}, "--max-tries", "1")
    equal(result.urls["/dead"]["tries"], 1)


def test_body_cut_off():
    result = crawl({"/": page("/a"), "/a": cut(page(*["/x"] * 50), 300)},
                   "--max-tries", "2")
    equal(result.status, BROKEN)
    equal(result.site.requests, ["/", "/a", "/a"])
    assert result.urls["/a"]["error"], result.urls["/a"]


def test_timeout():
    result = crawl({"/": page("/slow", "/a"), "/slow": slow(10, page()), "/a": page()},
                   "--timeout", "1.5", "--max-tries", "1")
    equal(result.status, BROKEN)
    contains(result.urls["/slow"]["error"], "no answer within 1.5 s")
    equal(result.urls["/a"]["status"], 200)


def test_not_http():
    result = crawl({"/": page("/a"), "/a": lambda c: c.sendall(b"SSH-2.0-hello\r\n\r\n")},
                   "--max-tries", "1", "--timeout", "2")
    equal(result.status, BROKEN)
    assert result.urls["/a"]["error"]


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
    result = crawl({"/": page("/a", "/b", "/c", "/d", "/e"),
                    "/a": response('<a href="/no">', content_type="text/plain"),
                    "/b": response('<a href="/no">', content_type="application/json"),
                    "/c": response('<a href="/yes"/>',
                                   content_type="Application/XHTML+xml; charset=UTF-8"),
                    "/d": response('<a href="/no">', content_type=None),
                    "/e": response('<a href="/no">', content_type="text/html5"),
                    "/yes": page()})
    equal(sorted(result.site.requests), ["/", "/a", "/b", "/c", "/d", "/e", "/yes"])
    equal(result.urls["/a"]["content_type"], "text/plain")
    equal(result.urls["/a"]["links"], 0)
    contains(result.out, "3 pages, 4 other files")


def test_encoding_is_noted():
    result = crawl({"/": html("", content_type='text/html; charset="big5"'),})
    equal(result.urls["/"]["encoding"], "big5")
    equal(crawl({"/": page()}).urls["/"]["encoding"], None)


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

    def endless(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n"
                           b"Content-Length: 100000000\r\n\r\n")
        while sum(sent) < 100000000:
            sent.append(connection.send(bytes(65536)))

    result = crawl({"/": page("/big", "/small"), "/big": endless,
                    "/small": response(b"x" * 1000, content_type="image/png")})
    equal(result.status, WELL)
    equal(result.urls["/big"]["size"], 100000000)
    equal(result.urls["/small"]["size"], 1000)
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
    answer = response(b"", content_type='a/b; charset="x\\y"; \xff\x01\t')
    result = crawl({"/": answer})
    contains(result.urls["/"]["content_type"], "\ufffd\x01")


# ---- the program -------------------------------------------------------------------


def test_max_tasks():
    names = [f"/{n}" for n in range(30)]
    answers = {name: slow(0.02, page()) for name in names}
    result = crawl({"/": page(*names), **answers}, "--max-tasks", "3")
    equal(result.site.most_active, 3)
    equal(len(result.site.requests), 31)
    result = crawl({"/": page(*names), **answers}, "--max-tasks", "200")
    equal(len(result.site.requests), 31)


def test_few_descriptors_break_no_link():
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))

    names = [f"/{n}" for n in range(100)]
    with Site({"/": page(*names), **{n: slow(0.01, page()) for n in names}}) as site:
        done = subprocess.run([*WRAPPER, PROGRAM, "--max-tasks", "100", site.url],
                              capture_output=True, text=True, env=ENVIRONMENT,
                              preexec_fn=limit)
    equal((done.returncode, done.stderr), (WELL, ""))
    contains(done.stdout, "101 pages")


def test_interrupt():
    names = [f"/{n}" for n in range(200)]
    answers = {name: slow(0.05, page("/gone")) for name in names}
    with Site({"/": page(*names), **answers}) as site:
        result = Crawl(site.url, "--max-tasks", "2",
                       interrupt_when=lambda: len(site.requests) > 10)
    equal(result.status, INTERRUPTED)
    contains(result.err, "interrupted")
    contains(result.out, " URLs: ")
    equal(result.urls["/0"]["status"], 200)
    assert 5 < len(result.records) < 100, len(result.records)


def test_interrupt_among_new_links():
    """A page may have come just then, and its links find the queue shut."""
    answers = {f"/{n}": page(f"/{2 * n + 1}", f"/{2 * n + 2}") for n in range(3000)}
    for _ in range(5):
        with Site({"/": page("/0"), **answers}) as site:
            result = Crawl(site.url, interrupt_when=lambda: len(site.requests) > 20)
        equal(result.status, INTERRUPTED)
        contains(result.err, "interrupted")


def test_interrupt_twice():
    """The second one finds the JSON on the disk: before what is under way has ended."""
    names = [f"/{n}" for n in range(200)]
    answers = {name: slow(0.05, page("/gone")) for name in names}
    with Site({"/": page(*names), **answers}) as site:
        result = Crawl(site.url, "--max-tasks", "2",
                       interrupt_when=lambda: len(site.requests) > 10,
                       interrupt_again_when=os.path.getsize)
    assert result.status in (INTERRUPTED, -signal.SIGINT), result.status
    equal(result.urls["/0"]["status"], 200)
    assert 5 < len(result.records) < 100, len(result.records)


def test_interrupt_while_nothing_happens():
    with Site({"/": slow(20, page())}) as site:
        begin = time.monotonic()
        result = Crawl(site.url, interrupt_when=lambda: site.requests)
        assert time.monotonic() - begin < 10
    equal(result.status, INTERRUPTED)
    equal(result.records, [])


def test_quiet_and_verbose():
    result = crawl({"/": page("/gone")}, "--quiet")
    equal(result.out, f"{result.site.url}gone\n    404\n    linked from {result.site.url}\n")
    equal(crawl({"/": page()}, "-q").out, "")
    result = crawl({"/": page("/gone")}, "-vv")
    contains(result.err, f"404 {result.site.url}gone")


def read_to_end(terminal):
    """One read may return a part only; a terminal that nobody writes to ends with EIO."""
    shown = b""
    try:
        while piece := os.read(terminal, 65536):
            shown += piece
    except OSError:
        pass
    return shown.decode()


def test_progress_on_a_terminal_only():
    with Site({"/": page("/a"), "/a": slow(0.5, page())}) as site:
        equal(Crawl(site.url).err, "")
        try:
            mine, its = pty.openpty()
        except OSError as error:
            raise Skip(f"no terminal to be had: {error}") from error
        done = subprocess.run([*WRAPPER, PROGRAM, site.url], stdout=subprocess.PIPE,
                              stderr=its, env=ENVIRONMENT)
        os.close(its)
        shown = read_to_end(mine)
        os.close(mine)
    equal(done.returncode, WELL)
    contains(shown, "1 of 2 URLs")
    assert shown.endswith("\r\x1b[K"), shown


def run(*arguments):
    done = subprocess.run([*WRAPPER, PROGRAM, *arguments], capture_output=True, text=True,
                          env=ENVIRONMENT)
    return done.returncode, done.stdout, done.stderr


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


def test_report_that_cannot_be_written():
    if not os.path.exists("/dev/full"):
        return
    with Site({"/": page()}) as site:
        code, _, err = run("-f", "jsonl:/dev/full", site.url)
    equal(code, FAILED)
    contains(err, "No space left")


def test_json_is_there_even_if_nobody_reads_the_report():
    with Site({"/": page("/gone")}) as site, tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "crawl.jsonl")
        read_end, write_end = os.pipe()
        os.close(read_end)
        subprocess.run([*WRAPPER, PROGRAM, "-f", f"jsonl:{file}", site.url],
                       stdout=write_end, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        os.close(write_end)
        with open(file, encoding="utf-8") as lines:
            equal(len([json.loads(line) for line in lines]), 2)


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[2:]))
