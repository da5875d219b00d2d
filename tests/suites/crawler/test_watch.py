#!/usr/bin/env python3
"""Test how a crawl can be watched: with --status, SIGUSR1, and Ctrl-\.

    test_watch.py COIL_CRAWL

Prometheus' client library for Python parses /metrics if the library is installed.
"""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from check import Skip, contains, equal, run_tests  # noqa: E402
from crawling import BROKEN, FAILED, USAGE, WELL, run, started, wait_until  # noqa: E402
from server import Site, html, page, status  # noqa: E402


class Held:
    """An answer that the server does not send before the test releases it."""

    def __init__(self, answer):
        self.answer, self.asked, self.go = answer, threading.Event(), threading.Event()

    def __call__(self, *_):
        self.asked.set()
        self.go.wait(60)
        return self.answer


def ask(address, target="/", method="GET"):
    """Send a request. Returns (status, headers, body)."""
    connection = http.client.HTTPConnection(address, timeout=30)
    with contextlib.closing(connection):
        connection.request(method, target)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()


def send(address, bytes_sent):
    """Send bytes. Returns the first line of the answer."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(bytes_sent)
        return connection.makefile("rb").readline().decode().strip()


@contextlib.contextmanager
def watched(*arguments, at="0"):
    """Start a crawl. Yields the process and the address of its status page."""
    with started("--status", at, *arguments) as process:
        line = process.stderr.readline()
        found = re.fullmatch(r"coil-crawl: status at http://(\S+)/\n", line)
        assert found, line
        yield process, found[1]


@contextlib.contextmanager
def held_crawl(*arguments):
    """Start a crawl of four URLs, and hold back the answer for one of them. Yields the process, the address of the
    status page, the held answer, and the site."""
    held = Held(html("<i id=x></i>"))
    with Site({"/": page("/a", "/gone", "/held#x"), "/a": html("x"), "/gone": status(404), "/held": held}) as site:
        with watched(*arguments, site.url) as (process, address):
            try:
                assert held.asked.wait(60)
                wait_until(lambda: json.loads(ask(address, "/status.json")[2])["checked"] == 3)
                yield process, address, held, site
            finally:
                held.go.set()


def test_numbers_while_it_runs():
    with held_crawl() as (process, address, held, site):
        code, headers, body = ask(address, "/status.json")
        equal((code, headers["Content-Type"], headers["Cache-Control"]), (200, "application/json", "no-store"))
        reported = json.loads(body)
        verdicts = {word: n for word, n in reported["verdicts"].items() if n > 0}
        numbers = [reported[name] for name in ("schema", "known", "checked", "bad", "queued", "retrying")]
        equal(numbers, [1, 4, 3, 1, 0, 0])
        equal(reported["in_flight"], {"site": 1, "external": 0})
        equal(verdicts, {"ok": 2, "broken": 1})
        equal((reported["pages"], reported["links"]), (2, 3))  # a missing target is not a page
        assert reported["received_bytes"] > 0 and 0 < reported["seconds"] < 60
        assert 1 << 20 < reported["memory_bytes"] < 1 << 30, reported["memory_bytes"]
        host, = reported["busiest"]
        equal((reported["hosts"], reported["delayed_hosts"], host["origin"], host["state"], host["in_flight"],
               host["queued"], host["delay"], host["troubled"]),
              (1, 0, site.url.rstrip("/"), "asked", 1, 0, 0.0, False))
        held.go.set()
        equal(process.wait(60), BROKEN)
    try:
        ask(address)
        raise AssertionError("it still listens")
    except ConnectionError:
        pass


def test_a_page_for_people():
    with held_crawl() as (_, address, _, site):
        code, headers, body = ask(address)
        equal((code, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        contains(headers["Content-Security-Policy"], "default-src 'none'")
        contains(body, "<td>3 of 4")
        contains(body, "<th scope=row>broken<td>1")
        contains(body, f"<th scope=row>{site.url.rstrip('/')}<td>asked<td>0<td>1")
        equal(ask(address, "/?x=1")[0], 200)
        code, headers, body = ask(address, method="HEAD")
        equal((code, body), (200, ""))
        assert int(headers["Content-Length"]) > 500


READER = """
import sys
from prometheus_client.parser import text_string_to_metric_families
for family in text_string_to_metric_families(sys.stdin.read()):
    for sample in family.samples:
        print(sample.name, ",".join(f'{k}="{v}"' for k, v in sample.labels.items()), sample.value, sep="\\t")
"""


def samples_of(text):
    """Return {(name, labels): value}, parsed by Prometheus' library for Python."""
    done = subprocess.run(["/usr/bin/python3", "-c", READER], input=text, capture_output=True, text=True, check=False)
    if "No module named 'prometheus_client'" in done.stderr:
        raise Skip("python3-prometheus-client is not installed")
    equal(done.stderr, "")
    return {(name, labels): float(value)
            for name, labels, value in (line.split("\t") for line in done.stdout.splitlines())}


def test_metrics():
    with held_crawl() as (_, address, _, site):
        code, headers, body = ask(address, "/metrics")
        equal((code, headers["Content-Type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
        reported = samples_of(body)
        origin = site.url.rstrip("/")
        for name, labels, value in [
                ("coil_crawl_urls_known", "", 4), ("coil_crawl_urls_checked_total", "", 3),
                ("coil_crawl_urls_queued", "", 0), ("coil_crawl_pages_total", "", 2),
                ("coil_crawl_links_total", "", 3), ("coil_crawl_hosts", "", 1),
                ("coil_crawl_requests_in_flight", 'class="site"', 1),
                ("coil_crawl_requests_in_flight", 'class="external"', 0),
                ("coil_crawl_verdicts", 'verdict="broken"', 1), ("coil_crawl_verdicts", 'verdict="ok"', 2),
                ("coil_crawl_host_in_flight", f'host="{origin}"', 1),
                ("coil_crawl_host_delay_seconds", f'host="{origin}"', 0)]:
            equal((name, labels, reported.get((name, labels))), (name, labels, value))
        assert reported["process_resident_memory_bytes", ""] > 1 << 20
        for line in body.splitlines():
            assert re.fullmatch(r'# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"\})? [-+0-9.e]+', line), line


def test_passwords_are_not_told():
    """If the URL of a host contains a password, each format masks it."""
    with Site({"/": page("/a"), "/a": html("")}) as site:
        with watched("--delay", "100s", "--no-robots", site.url.replace("//", "//user:s3cret@")) as (process, address):
            wait_until(lambda: json.loads(ask(address, "/status.json")[2])["queued"] == 1)
            for path in "/", "/status.json", "/metrics":
                reported = ask(address, path)[2]
                contains(reported, "//user:***@")
                assert "s3cret" not in reported, reported
            process.send_signal(signal.SIGINT)
            process.wait(60)


def test_delays_and_queues_are_told():
    """The status page shows delays and queues, here of three pages that wait because of the delay between requests."""
    with Site({"/": page("/a", "/b", "/c"), "/a": html(""), "/b": html(""), "/c": html("")}) as site:
        with watched("--delay", "100s", "--no-robots", site.url) as (process, address):
            wait_until(lambda: json.loads(ask(address, "/status.json")[2])["queued"] == 3)
            reported = json.loads(ask(address, "/status.json")[2])
            host, = reported["busiest"]
            equal((host["state"], host["queued"], host["delay"], reported["delayed_hosts"]), ("delayed", 3, 100.0, 1))
            assert 0 < host["wait"] <= 100, host
            process.send_signal(signal.SIGUSR1)
            contains(process.stderr.readline(), "coil-crawl: 1 of 4 checked, 0 bad, 3 queued, 0 in flight")
            process.send_signal(signal.SIGINT)
            process.wait(60)


def test_what_is_no_request_is_refused():
    with held_crawl() as (process, address, held, _):
        equal(ask(address, "/no")[0], 404)
        equal(ask(address, "/metrics/")[0], 404)
        equal(ask(address, method="POST")[0], 405)
        equal(send(address, b"x\r\n\r\n"), "HTTP/1.1 400 Bad Request")
        equal(send(address, b"GET / HTTP/2.0\r\n\r\n"), "HTTP/1.1 400 Bad Request")
        equal(send(address, b"GET http://x/ HTTP/1.1\r\n\r\n"), "HTTP/1.1 400 Bad Request")
        equal(send(address, b"GET  HTTP/1.1\r\n\r\n"), "HTTP/1.1 400 Bad Request")
        equal(send(address, b"GET / HTTP/1.1\r\nX: " + b"x" * 9000 + b"\r\n\r\n"),
              "HTTP/1.1 431 Request Header Fields Too Large")
        equal(send(address, b"GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 400 Bad Request")
        equal(send(address, b"GET /\0 HTTP/1.1\r\n\r\n"), "HTTP/1.1 400 Bad Request")
        held.go.set()
        equal(process.wait(60), BROKEN)
        equal(process.stderr.read(), "")


def test_clients_that_say_nothing_do_not_hold_the_crawl():
    with held_crawl() as (process, address, held, _):
        host, _, port = address.rpartition(":")
        silent = [socket.create_connection((host, int(port))) for _ in range(40)]
        silent[0].close()
        silent[1].sendall(b"GET / HT")
        held.go.set()
        equal(process.wait(60), BROKEN)
        for connection in silent:
            connection.close()


def test_clients_that_send_half_a_request_keep_no_other_out():
    """When a new client connects, the oldest connection is closed, so clients with unfinished requests cannot block
    others."""
    with held_crawl() as (process, address, held, _):
        host, _, port = address.rpartition(":")
        halves = []
        for _ in range(200):
            halves.append(socket.create_connection((host, int(port)), timeout=30))
            halves[-1].sendall(b"GET / HTTP/1.1\r\nHost: ")
        begin = time.monotonic()
        for _ in range(3):
            equal(ask(address)[0], 200)
        assert time.monotonic() - begin < 8, time.monotonic() - begin
        equal(halves[0].recv(1), b"")  # closed
        halves[-1].sendall(b"localhost\r\n\r\n")
        equal(halves[-1].recv(12), b"HTTP/1.1 200")
        held.go.set()
        equal(process.wait(60), BROKEN)
        for connection in halves:
            connection.close()


def test_only_its_own_hosts_are_answered():
    """Requests for other host names are refused: another site could resolve its host name to the address of the status
    page (DNS rebinding)."""
    def answer_to(address, *headers, version="1.1"):
        return send(address, "\r\n".join([f"GET / HTTP/{version}", *headers, "", ""]).encode()).split(" ", 1)[1]

    for at, own in (("0", []), ("localhost:0", []), (f"{socket.gethostname()}:0", [socket.gethostname()])):
        try:
            socket.getaddrinfo(socket.gethostname(), 0)
        except OSError:
            continue
        with Site({"/": held_page()}) as site, watched(site.url, at=at) as (process, address):
            for host in ["127.0.0.1", "127.0.0.1:9100", "10.1.2.3", "[::1]", "[::1]:1", "localhost", "LOCALHOST:80", *own]:
                equal((at, host, answer_to(address, "Host: " + host)), (at, host, "200 OK"))
                equal(answer_to(address, f"X: y\r\nhOST:\t{host} "), "200 OK")
            for host in ("evil.example", "evil.example:9100", "127.0.0.1.evil.example", "localhost.evil.example", "::1", "[::1",
                         "localhost@evil.example", "user@localhost", "1.2.3", "", "xlocalhost"):
                equal((at, host, answer_to(address, "Host: " + host)), (at, host, "421 Misdirected Request"))
            equal(answer_to(address), "400 Bad Request")
            equal(answer_to(address, "Host: localhost", "Host: localhost"), "400 Bad Request")
            equal(answer_to(address, version="1.0"), "200 OK")
            equal(answer_to(address, "Host: evil.example", version="1.0"), "421 Misdirected Request")
            process.send_signal(signal.SIGINT)
            process.wait(60)


def held_page():
    def wait(connection, _):
        connection.recv(1)
    return wait


def test_sigusr1_prints_the_same():
    held = Held(html(""))
    with Site({"/": page("/held", "/gone"), "/held": held, "/gone": status(404)}) as site, \
            started(site.url) as process:
        assert held.asked.wait(60)
        wait_until(lambda: "GET /gone" in site.asked)
        process.send_signal(signal.SIGUSR1)
        assert re.fullmatch(r"coil-crawl: [12] of 3 checked, [01] bad, 0 queued, [12] in flight, \d+/s, "
                            r"\d+\.\d s, \d+\.\d MiB in memory\n", line := process.stderr.readline()), line
        assert re.fullmatch(r"  [12] pages, 2 links, 0\.0 MiB received\n", line := process.stderr.readline()), line
        contains(process.stderr.readline(), "  ok 1")
        contains(process.stderr.readline(), f"  {site.url.rstrip('/')}  asked, 0 queued, ")
        held.go.set()
        equal(process.wait(60), BROKEN)
        equal(process.stderr.read(), "")


def test_sigquit_prints_the_tasks():
    held = Held(html(""))
    with Site({"/": page("/held"), "/held": held}) as site, started(site.url) as process:
        assert held.asked.wait(60)
        process.send_signal(signal.SIGQUIT)
        assert re.match(r"coil: \d+ tasks?\n", line := process.stderr.readline()), line
        held.go.set()
        equal(process.wait(60), WELL)
        contains(process.stderr.read(), "- ")


def test_where_it_listens():
    with Site({"/": html("")}) as site:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            code, _, err = run("--status", str(port), site.url)
            equal(code, FAILED)
            contains(err, "--status: ")
            contains(err, "Address already in use")
        for wrong in ("", "x", "70000", "::1", "1:2:3", "host:", "[::1", "99999999999999999999", "-1", "80x"):
            code, _, err = run("--status", wrong, site.url)
            equal((wrong, code), (wrong, USAGE))
            contains(err, "--status")
        held = Held(html(""))
        site.answers["/"] = held
        if not socket.has_ipv6:
            raise Skip("there is no IPv6")
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError as error:
            raise Skip("there is no IPv6") from error
        with watched(site.url, at="[::1]:0") as (process, address):
            assert address.startswith("[::1]:"), address
            equal(ask(address)[0], 200)
            held.go.set()
            equal(process.wait(60), WELL)


def test_quiet_does_not_tell_where():
    with Site({"/": html("")}) as site:
        equal(run("-q", "--status", "0", site.url), (WELL, "", ""))


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[2:]))
