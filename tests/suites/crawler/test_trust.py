#!/usr/bin/env python3
"""Check guarantees of coil-crawl: hosts do not delay each other, output is complete after signals and on full disks,
and each host gets only its own headers.

    test_trust.py COIL_CRAWL [TEST...]

The tests do not depend on the speed of the machine, except for waits of at most thirty seconds.
"""
import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

from check import Skip, contains, equal, run_tests
from crawling import (BROKEN, FAILED, INTERRUPTED, NOTHING, PATIENCE, WELL, run, started,
                      together, wait_until)
from hostile import certified, retry_after
from server import NOT_FOUND, Server, html, page, redirect, slow


class Crawl:
    """A running crawl that the test observes."""

    def __init__(self, *arguments, jsonl=None, **options):
        self.stack = contextlib.ExitStack()
        self.folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        self.file = jsonl or os.path.join(self.folder, "crawl.jsonl")
        self.process = self.stack.enter_context(
            started("-f", f"jsonl:{self.file}", "-f", "text", *arguments, **options))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()

    def signal(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def end(self, seconds=PATIENCE):
        """Wait until the crawl ends, and set out, err and records. Returns the exit status."""
        self.out, self.err = self.process.communicate(timeout=seconds)
        self.status = self.process.returncode
        with open(self.file, encoding="utf-8") as lines:
            self.text = lines.read()
        self.records = [json.loads(line) for line in self.text.split("\n")[:-1]]
        return self.status

    def of(self, kind):
        return [record for record in self.records if record["type"] == kind]

    def verdicts(self):
        return {"/" + record["target"].split("/", 3)[-1]: record["verdict"]
                for record in self.of("verdict")}


def many(count, answer, prefix="/"):
    """Return the answers of a site with `count` pages, and an index that links to them."""
    names = [f"{prefix}{n}" for n in range(count)]
    return {"/": page(*names), **{name: answer for name in names}}


def time_of(server, path, nth=0):
    return [request.time for request in server.requests if request.path == path][nth]


# ---- nobody waits for a server that asks for time ------------------------------------------------


def test_a_retry_holds_no_worker():
    """While twenty pages on one host are unavailable for three seconds, pages on another host are fetched, although
    there are more failing pages than workers."""
    with Server(many(20, retry_after("3"), "/bad")) as bad, \
            Server(many(100, page(), "/good"), host="127.0.0.2") as good, \
            Crawl("--max-tasks", "4", bad.origin + "/", good.origin + "/") as crawl:
        wait_until(lambda: len(set(good.paths())) == 101 and "/bad0" in bad.paths())
        crawl.signal(signal.SIGTERM)
        equal(crawl.end(), INTERRUPTED)
        first_bad = min(r.time for r in bad.requests if r.path.startswith("/bad"))
        retries = [r.time for r in bad.requests if r.path.startswith("/bad")
                   and r.time > first_bad + 2.5]
    first_good = min(time_of(good, f"/good{n}") for n in range(100))
    assert not retries or first_good < min(retries), (first_good, retries)


def test_a_failing_host_leaves_the_workers_to_others():
    """If 100,000 URLs of one host fail, the pages on another host must still be fetched."""
    with Server({"/": page(*(f"/bad{n}" for n in range(100000)))},
                otherwise=html("no", status=503)) as bad, \
            Server(many(100, together(7, page()), "/good"), host="127.0.0.2") as good, \
            Crawl("--max-tasks", "8", bad.origin + "/", good.origin + "/") as crawl:
        bad.answers["/robots.txt"] = NOT_FOUND
        wait_until(lambda: len(set(good.paths())) == 101)
        crawl.signal(signal.SIGTERM)
        equal(crawl.end(), INTERRUPTED)
    assert good.most_active >= 7, good.most_active


def test_retry_after_pauses_the_host():
    """Retry-After pauses requests to the whole host, not only to the page that was refused."""
    answers = {"/": page("/first", *(f"/{n}" for n in range(20))),
               "/first": [retry_after("2"), page()]}
    with Server(answers, otherwise=page()) as site, \
            Crawl("--max-tasks", "1", site.origin + "/") as crawl:
        site.answers["/robots.txt"] = NOT_FOUND
        equal(crawl.end(), WELL)
        times = [r.time for r in site.requests]
    failed = time_of(site, "/first")
    after = min(t for t in times if t > failed)
    assert after - failed > 1.9, after - failed
    equal(crawl.verdicts()["/first"], "ok")


def test_a_long_retry_after_is_not_waited_for():
    with Server({"/": page("/x", "/y"), "/x": retry_after("86400"), "/y": page()}) as site, \
            Crawl(site.origin + "/") as crawl:
        equal(crawl.end(), BROKEN)
    equal(site.paths().count("/x"), 1)
    equal(crawl.verdicts(), {"/": "ok", "/x": "broken", "/y": "ok"})


def test_other_hosts_are_asked_a_few_at_a_time():
    with Server(many(30, together(2, page())), host="127.0.0.2") as other, \
            Server({"/": page(*(f"{other.origin}/{n}" for n in range(30)))}) as site, \
            Crawl("--max-tasks", "20", site.origin + "/") as crawl:
        equal(crawl.end(), WELL)
    equal(other.most_active, 2)
    equal(len(other.requests), 30)


def test_max_tasks():
    with Server(many(60, together(6, page()))) as site, \
            Crawl("--max-tasks", "6", site.origin + "/") as crawl:
        equal(crawl.end(), WELL)
    equal(site.most_active, 6)


# ---- how much -------------------------------------------------------------------------------------


def test_max_duration_ends_the_crawl():
    """When the time limit has passed, the crawl ends, and the skipped links are reported."""
    with Server({}, otherwise=lambda c, r: c.sendall(
            NOT_FOUND if r.path == "/robots.txt" else page(*(f"{r.path.rstrip('/')}x{n}" for n in range(3))))) as site, \
            Crawl("--max-duration", "1", "--max-tasks", "2", site.origin + "/") as crawl:
        crawl.end()
    assert any((r["verdict"], r["reason"]) == ("skipped", "time") for r in crawl.of("verdict"))


def test_max_pages():
    with Server(many(20, page())) as site, Crawl("--max-pages", "5", site.origin + "/") as crawl:
        equal(crawl.end(), WELL)
    equal(len(site.paths()), 5)
    equal([r["reason"] for r in crawl.of("verdict") if r["verdict"] == "skipped"], ["pages"] * 16)


def test_max_depth_takes_the_shortest_way():
    """The crawl first finds a path of three links to /c, and later a path of two links."""
    with Server({"/": page("/a", "/z"), "/a": page("/b"), "/b": page("/c"), "/c": page("/d"),
                 "/d": page("/e"), "/z": slow(0.3, page("/c"))}) as site, \
            Crawl("--max-depth", "3", site.origin + "/") as crawl:
        equal(crawl.end(), WELL)
    equal(crawl.verdicts(), {"/": "ok", "/a": "ok", "/b": "ok", "/c": "ok", "/d": "ok", "/z": "ok",
                             "/e": "skipped"})


# ---- what is left behind --------------------------------------------------------------------------


def endless_site():
    """Return a server for an endless site: each page links to a missing page and to two new pages."""
    def answer(connection, request):
        if request.path == "/robots.txt" or request.path.startswith("/gone"):
            connection.sendall(NOT_FOUND)
            return
        n = int(request.path[1:] or 0)
        connection.sendall(page(f"/gone{n}", f"/{2 * n + 1}", f"/{2 * n + 2}"))
    return Server({}, otherwise=answer)


def ends_in_order(number):
    with endless_site() as site, Crawl(site.origin + "/") as crawl:
        wait_until(lambda: len(site.requests) > 50)
        crawl.signal(number)
        equal(crawl.end(), INTERRUPTED)
    contains(crawl.err, "interrupted")
    contains(crawl.out, "gone")
    equal(crawl.records[0]["type"], "start")
    equal(crawl.records[-1]["type"], "summary")
    equal(crawl.records[-1]["exit"], INTERRUPTED)
    links = {r["target"] for r in crawl.of("link")}
    verdicts = [r["target"] for r in crawl.of("verdict")]
    equal(len(verdicts), len(set(verdicts)))
    equal(links - set(verdicts), set())
    assert any((r["verdict"], r["reason"]) == ("unchecked", "interrupted")
               for r in crawl.of("verdict"))


def test_sigint_ends_in_order():
    ends_in_order(signal.SIGINT)


def test_sigterm_ends_in_order():
    ends_in_order(signal.SIGTERM)


def test_sighup_ends_in_order():
    ends_in_order(signal.SIGHUP)


def check_what_was_told(crawl, status):
    """Check that the first record is the start, that many pages follow, and that no target has two verdicts. If the
    program ended in order after a signal, the last record is the summary."""
    equal(crawl.records[0]["type"], "start")
    assert len(crawl.records) > 50 and len(crawl.of("page")) > 10, len(crawl.records)
    verdicts = [(r["target"], r["fragment"]) for r in crawl.of("verdict")]
    equal(len(verdicts), len(set(verdicts)))
    if status == INTERRUPTED:
        equal(crawl.records[-1]["type"], "summary")


def test_two_signals_at_any_distance():
    """The second signal may end the program at once, but all lines that it has written must be complete."""
    numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    for at, distance in enumerate([0, 0, 0, 0.0005, 0.001, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1]):
        first, second = numbers[at % 3], numbers[(at + 1) % 3]
        with endless_site() as site, Crawl(site.origin + "/") as crawl:
            wait_until(lambda site=site: len(site.requests) > 50)
            crawl.signal(first)
            time.sleep(distance)
            crawl.signal(second)
            status = crawl.end()
        assert status in (INTERRUPTED, -first, -second), (distance, status)
        assert crawl.text.endswith("\n"), (distance, crawl.text[-80:])
        check_what_was_told(crawl, status)


def test_signals_while_nothing_happens():
    with Server({"/": lambda c, _: time.sleep(30)}) as site, Crawl(site.origin + "/") as crawl:
        wait_until(lambda: site.paths())
        crawl.signal(signal.SIGTERM)
        equal(crawl.end(), INTERRUPTED)
    equal(crawl.records[-1]["type"], "summary")


def test_kill_leaves_whole_lines():
    """After SIGKILL, the lines of the last second may be missing, but all other lines must be complete."""
    with endless_site() as site, Crawl(site.origin + "/") as crawl:
        wait_until(lambda: os.path.exists(crawl.file) and os.path.getsize(crawl.file) > 100000)
        crawl.signal(signal.SIGKILL)
        equal(crawl.end(), -signal.SIGKILL)
    whole = crawl.text[:crawl.text.rfind("\n") + 1]
    assert len(whole) > 90000, len(whole)
    equal(json.loads(whole.split("\n")[0])["type"], "start")
    for line in whole.split("\n")[:-1]:
        json.loads(line)


def test_lines_come_while_the_crawl_goes_on():
    with Server({"/": page("/x"), "/x": lambda c, _: time.sleep(30)}) as site, \
            Crawl(site.origin + "/") as crawl:
        wait_until(lambda: os.path.exists(crawl.file) and os.path.getsize(crawl.file) > 0)
        with open(crawl.file, encoding="utf-8") as lines:
            kinds = [json.loads(line)["type"] for line in lines]
    assert "start" in kinds, kinds


def test_a_report_that_cannot_be_written():
    if not os.path.exists("/dev/full"):
        raise Skip("there is no /dev/full")
    with Server(many(300, page("/gone"))) as site, open("/dev/full", "w", encoding="utf-8") as full:
        for arguments, options in (
                ((), {"stdout": full}),
                (("-q",), {"stdout": full}),
                (("-f", "jsonl:-"), {"stdout": full}),
                (("-f", "jsonl:/dev/full"), {"stdout": subprocess.PIPE}),
                (("-f", "text:/dev/full"), {"stdout": subprocess.PIPE}),
                (("-f", "github"), {"stdout": full})):
            status, _, err = run(*arguments, site.origin + "/", **options)
            equal((arguments, status), (arguments, FAILED))
            contains(err, "No space left")


def test_jsonl_goes_to_stdout():
    with Server({"/": page("/gone")}) as site:
        status, out, _ = run("-f", "jsonl:-", site.origin + "/", stdout=subprocess.PIPE)
        same, also_out, _ = run("-f", "jsonl", site.origin + "/", stdout=subprocess.PIPE)
    equal((status, same), (BROKEN, BROKEN))
    for text in (out, also_out):
        records = [json.loads(line) for line in text.split("\n")[:-1]]
        equal((records[0]["type"], records[-1]["type"]), ("start", "summary"))


def test_nobody_reads_the_report():
    with Server({"/": page("/gone")}) as site, tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "crawl.jsonl")
        read_end, write_end = os.pipe()
        os.close(read_end)
        run("-f", f"jsonl:{file}", "-f", "text", site.origin + "/", stdout=write_end)
        os.close(write_end)
        with open(file, encoding="utf-8") as lines:
            kinds = [json.loads(line)["type"] for line in lines]
    equal((kinds[0], kinds[-1]), ("start", "summary"))


def test_a_report_that_cannot_be_written_leaves_the_others_whole():
    if not os.path.exists("/dev/full"):
        raise Skip("there is no /dev/full")
    links = "".join(f'<a href="/{n}">{"x" * 50}</a>' for n in range(2000))
    with tempfile.TemporaryDirectory() as folder, Server({"/": html(links)}) as site:
        file = os.path.join(folder, "crawl.jsonl")
        code, out, err = run("-f", "jsonl:/dev/full", "-f", f"jsonl:{file}", "-f", "text", "-vv",
                             site.origin + "/", stdout=subprocess.PIPE)
        with open(file, encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
    equal(code, FAILED)
    contains(err, "coil-crawl: /dev/full: No space left on device\n")
    equal(records[-1]["type"], "summary")
    verdicts = [r for r in records if r["type"] == "verdict"]
    targets = {r["target"] for r in records if r["type"] == "link"}
    equal({r["target"] for r in verdicts}, targets | {site.origin + "/"})
    equal(sum(records[-1]["verdicts"].values()), len(verdicts))
    contains(out, f"{len(verdicts) - 1:,} unchecked")


def test_the_summary_tells_of_another_report_that_cannot_be_written():
    if not os.path.exists("/dev/full"):
        raise Skip("there is no /dev/full")
    with tempfile.TemporaryDirectory() as folder, Server({"/": page()}) as site:
        file = os.path.join(folder, "crawl.jsonl")
        for other in ("text", "github"):
            code, _, _ = run("-f", f"jsonl:{file}", "-f", f"{other}:/dev/full", "--fail-on", "ok",
                             site.origin + "/", stdout=subprocess.PIPE)
            with open(file, encoding="utf-8") as lines:
                summary = json.loads(lines.readlines()[-1])
            equal((other, code, summary["type"], summary["exit"]), (other, FAILED, "summary", FAILED))


def test_signals_that_cannot_be_waited_for():
    """If no descriptor is left for signals, coil-crawl reports the error and exits."""
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))

    with tempfile.TemporaryDirectory() as folder:
        code, out, err = run("-f", f"jsonl:{folder}/x", "-f", "text", "http://127.0.0.1:1/",
                             stdout=subprocess.PIPE, preexec_fn=limit)
    equal((code, out), (FAILED, ""))
    equal(err, "coil-crawl: cannot wait for signals: Too many open files\n")


# ---- headers that servers receive -----------------------------------------------------------------------------


def values_sent(server, header):
    return {request.headers.get(header) for request in server.requests}


def test_headers_go_to_the_start_alone():
    with Server({}, otherwise=page(), host="127.0.0.2") as other, Server({}) as site:
        site.answers = {"/": page("/a", "/away", other.origin + "/x"), "/a": page(),
                        "/away": redirect(other.origin + "/y")}
        with Crawl("-H", "X-Token: secret", "-b", "crumb=secret", "-u", "user:secret",
                   site.origin + "/") as crawl:
            equal(crawl.end(), WELL)
    assert "/x" in other.paths() and "/y" in other.paths(), other.paths()
    for header, value in (("x-token", "secret"), ("cookie", "crumb=secret"),
                          ("authorization", "Basic dXNlcjpzZWNyZXQ=")):
        equal(values_sent(site, header), {value})
        equal(values_sent(other, header), {None})
    assert "secret" not in crawl.out + crawl.err + crawl.text


def test_the_same_host_on_another_port_is_not_the_start():
    with Server({}, otherwise=page()) as other, Server({}) as site:
        site.answers = {"/": page(other.origin + "/x")}
        with Crawl("-H", "X-Token: secret", "-u", "user:secret", site.origin + "/") as crawl:
            equal(crawl.end(), WELL)
    equal(values_sent(other, "x-token"), {None})
    equal(values_sent(other, "authorization"), {None})


def test_header_for_another_host():
    with Server({}, otherwise=page(), host="127.0.0.2") as other, \
            Server({}, otherwise=page(), host="127.0.0.3") as third, Server({}) as site:
        site.answers = {"/": page(other.origin + "/x", third.origin + "/x")}
        with Crawl("--header-for", f"127.0.0.2:{other.port}:Authorization: token x",
                   site.origin + "/") as crawl:
            equal(crawl.end(), WELL)
    equal(values_sent(other, "authorization"), {"token x"})
    equal(values_sent(third, "authorization"), {None})
    equal(values_sent(site, "authorization"), {None})


def test_a_header_for_a_host_replaces_the_one_for_all():
    """A request never has two headers with one name, because many servers refuse a second Authorization."""
    with Server({"/": page()}) as site:
        with Crawl("-H", "Authorization: Bearer x", "-H", "X-A: 1", "--header-for", "127.0.0.1:authorization: token y",
                   site.origin + "/") as crawl:
            equal(crawl.end(), WELL)
        heads = [request.head.lower() for request in site.requests]
    equal([(head.count("authorization:"), "authorization: token y" in head, "x-a: 1" in head) for head in heads],
          [(1, True, True)] * 2)


def test_a_login_of_the_start_is_for_links_without_one():
    """The user name and password in the start URL and the -H headers are sent with every request to the start host,
    although links do not contain them."""
    with Server({}, otherwise=page(), host="127.0.0.2") as other, Server({}) as site:
        site.answers = {"/": page(site.origin + "/a", other.origin + "/x"), "/a": page()}
        with Crawl("-H", "X-Token: secret", site.origin.replace("//", "//us%65r:s3%63ret@") + "/") as crawl:
            equal(crawl.end(), WELL)
    equal(sorted(site.paths()), ["/", "/a"])
    equal(values_sent(site, "authorization"), {"Basic dXNlcjpzM2NyZXQ="})
    equal(values_sent(site, "x-token"), {"secret"})
    equal(values_sent(other, "authorization") | values_sent(other, "x-token"), {None})


def test_a_login_that_a_page_or_redirect_has_written_is_not_used():
    """A login in a link or redirect is never sent. The login of the start URL is sent instead, if there is one."""
    with Server({}, otherwise=page(), host="127.0.0.2") as other, Server({}) as site:
        evil = other.origin.replace("//", "//evil:pw@")
        own = site.origin.replace("//", "//evil:pw@")
        site.answers = {"/": page(evil + "/x", own + "/a", "/b", "/away", "/here"), "/a": page(), "/b": page(),
                        "/c": page(), "/away": redirect(evil + "/y"), "/here": redirect(own + "/c")}
        with Crawl(site.origin + "/") as crawl:
            equal(crawl.end(), WELL)
        equal(values_sent(site, "authorization") | values_sent(other, "authorization"), {None})
        equal(set(site.paths()), {"/", "/a", "/b", "/c", "/away", "/here"})
        equal(set(other.paths()), {"/x", "/y"})
        assert "pw@" not in crawl.out + crawl.err + crawl.text
        for server in (site, other):
            server.forget()
        with Crawl(site.origin.replace("//", "//me:secret@") + "/") as crawl:
            equal(crawl.end(), WELL)
        equal(values_sent(site, "authorization"), {"Basic bWU6c2VjcmV0"})
        equal(values_sent(other, "authorization"), {None})


def test_two_starts_have_a_login_each():
    with Server({}, otherwise=page()) as site:
        starts = [site.origin.replace("//", f"//{user}:pw@") + f"/{user}" for user in ("a", "b")]
        with Crawl("--no-robots", *starts) as crawl:
            equal(crawl.end(), WELL)
    equal({(r.path, r.headers.get("authorization")) for r in site.requests},
          {("/a", "Basic YTpwdw=="), ("/b", "Basic Yjpwdw==")})


def test_the_login_of_an_option_goes_first():
    with Server({}) as site:
        site.answers = {"/": page(site.origin + "/a"), "/a": page()}
        with Crawl("-u", "user:secret", site.origin.replace("//", "//a:b@") + "/") as crawl:
            equal(crawl.end(), WELL)
    equal({r.headers.get("authorization") for r in site.requests if r.path == "/a"}, {"Basic dXNlcjpzZWNyZXQ="})


def test_a_password_of_the_start_is_not_told():
    with Server({"/": page("/gone")}) as site:
        url = site.origin.replace("//", "//user:s3cret@") + "/"
        with Crawl("-vv", url) as crawl:
            equal(crawl.end(), BROKEN)
        explained = run("explain", url, stdout=subprocess.PIPE)
    equal(values_sent(site, "authorization"), {"Basic dXNlcjpzM2NyZXQ="})
    assert "s3cret" not in crawl.out + crawl.err + crawl.text
    contains(explained[1], "//user:***@")
    assert "s3cret" not in explained[1] + explained[2]


def test_a_password_is_not_told_in_complaints():
    url = "http://user:s3cret@h h/"
    for arguments in ([url], ["ftp://user:s3cret@h/"], ["-x", url, "h"], ["--base-url", url, "h"],
                      ["--root-dir", url, "h"], ["--cacert", url, "h"], ["-f", f"jsonl:{url}x", "127.0.0.1:1"],
                      ["--exclude", f"[{url}", "h"], ["--max-tasks", url, "h"], ["-a", f"{url}=200", "h"],
                      ["--header-for", f"{url}:A: b", "h"], ["--baseline", url, "h"], [f"--nothing={url}", "h"]):
        status, out, err = run(*arguments)
        equal((arguments, status, out, "s3cret" in err), (arguments, 3, "", False))


def test_user_agent():
    with Server({"/": page()}) as site, Crawl(site.origin + "/") as crawl:
        equal(crawl.end(), WELL)
    assert all(agent.startswith("coil-crawl/") for agent in values_sent(site, "user-agent"))
    with Server({"/": page()}) as site, Crawl("-A", "somebody", site.origin + "/") as crawl:
        equal(crawl.end(), WELL)
    equal(values_sent(site, "user-agent"), {"somebody"})


# ---- who is trusted ------------------------------------------------------------------------------


def test_certificates():
    """coil-crawl trusts the system's certificate authorities, or those in a file that an option or an environment
    variable names. --insecure trusts every certificate."""
    context, certificate = certified()
    with Server({"/": page()}, context=context) as site, \
            tempfile.NamedTemporaryFile("w", suffix=".pem", encoding="ascii") as file:
        file.write(certificate)
        file.flush()
        for arguments, environment, status in (
                ([], {}, NOTHING), (["-k"], {}, WELL), (["--cacert", file.name], {}, WELL),
                ([], {"SSL_CERT_FILE": file.name}, WELL),
                (["--cacert", "/dev/null"], {}, NOTHING)):
            with Crawl(*arguments, site.origin + "/", environment=environment) as crawl:
                equal((arguments, environment, crawl.end()), (arguments, environment, status))


def test_proxy():
    """The proxy receives complete URLs. Only the proxy receives its password."""
    with Server({}, otherwise=page()) as proxy:
        with Crawl("-x", proxy.origin.replace("//", "//user:s3cret@"), "--no-robots",
                   "http://site.invalid/") as crawl:
            equal(crawl.end(), WELL)
    equal(proxy.paths(), ["http://site.invalid/"])
    assert "s3cret" not in crawl.out + crawl.err + crawl.text
    with Server({"/": page()}) as site:
        with Crawl("-x", "http://127.0.0.1:1/", "--max-tries", "1", site.origin + "/") as crawl:
            equal(crawl.end(), NOTHING)
        with Crawl("-x", "", site.origin + "/",
                   environment={"http_proxy": "http://127.0.0.1:1/"}) as crawl:
            equal(crawl.end(), WELL)


# ---- exit statuses --------------------------------------------------------------------------------


def test_blocked_fails_only_if_asked_for():
    with Server({}, otherwise=html("", status=403), host="127.0.0.2") as other, Server({}) as site:
        site.answers = {"/": page(other.origin + "/x")}
        with Crawl(site.origin + "/") as crawl:
            equal(crawl.end(), WELL)
        with Crawl("--fail-on", "blocked", site.origin + "/") as crawl:
            equal(crawl.end(), BROKEN)


def test_a_start_that_fails():
    with Server({}) as site, Crawl(site.origin + "/") as crawl:
        equal(crawl.end(), NOTHING)
    with Crawl("--max-tries", "1", site.origin + "/") as crawl:  # the server has stopped
        equal(crawl.end(), NOTHING)
    equal([r["verdict"] for r in crawl.of("verdict")], ["error"])


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[2:]))
