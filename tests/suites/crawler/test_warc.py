#!/usr/bin/env python3
"""Check that --warc writes all requests and responses to an archive that other programs can read.

    test_warc.py COIL_CRAWL

This script parses WARC 1.1 itself. In addition, a test parses the archive with Webrecorder's warcio for Node. This test
is skipped if npm cannot install warcio in the build folder.
"""

import base64
import gzip
import hashlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from check import Skip, contains, equal, run_tests  # noqa: E402
from crawling import BROKEN, FAILED, PROGRAM, USAGE, WELL, run, started, wait_until  # noqa: E402
from server import CLOSE, Site, cut, html, page, redirect, response, slow, status  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
MODULES = pathlib.Path(PROGRAM).resolve().parents[1] / "warc"
READER = "warcio@2.4.11"


class Record:
    def __init__(self, offset, length, text):
        head, _, rest = text.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        equal(first, "WARC/1.1")
        self.offset, self.length = offset, length
        self.fields = dict(line.split(": ", 1) for line in lines)
        n = int(self.fields["Content-Length"])
        self.block = rest[:n]
        equal(rest[n:], b"\r\n\r\n")
        self.type, self.url = self.fields["WARC-Type"], self.fields.get("WARC-Target-URI")
        equal(self.fields["WARC-Block-Digest"], digest_of(self.block))

    @property
    def path(self):
        return "/" + self.url.split("/", 3)[3]

    @property
    def payload(self):
        return self.block.partition(b"\r\n\r\n")[2]


def digest_of(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def records_of(path):
    """Return the records, one for each gzip member. The file must end with a complete member."""
    data, at, records = pathlib.Path(path).read_bytes(), 0, []
    while at < len(data):
        member = zlib.decompressobj(31)
        text = member.decompress(data[at:])
        assert member.eof, "the last record is not whole"
        length = len(data) - at - len(member.unused_data)
        records.append(Record(at, length, text))
        at += length
    return records


def index_of(path):
    lines = pathlib.Path(str(path) + ".cdxj").read_text("ascii").splitlines()
    return [(key, date, json.loads(rest)) for key, date, rest in (line.split(" ", 2) for line in lines)]


def archive_of(site, *options, expected=WELL, path=None):
    """Crawl the site, and return the records and the index of its archive."""
    with tempfile.TemporaryDirectory() as folder:
        path = path or os.path.join(folder, "a.warc.gz")
        code, _, err = run("--warc", path, *options, site.url)
        equal((code, err), (expected, ""))
        return records_of(path), index_of(path)


def of_type(records, kind):
    return {record.path: record for record in records if record.type == kind}


def test_what_went_over_the_wire():
    chunked = (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
               b"5\r\n<p>he\r\n3;x=y\r\nllo\r\n0\r\nX-Trailer: z\r\n\r\n")
    zipped = gzip.compress(b"<p>small</p>" * 100, mtime=0)
    answers = {
        "/": page("/chunked", "/zipped", "/moved", "/gone", "/data"),
        "/robots.txt": response("User-agent: *\nDisallow:\n", content_type="text/plain"),
        "/chunked": chunked, "/zipped": response(zipped, headers=["Content-Encoding: gzip"]),
        "/moved": redirect("/"), "/gone": status(404),
        "/data": response(bytes(range(256)) * 1000, content_type="application/octet-stream")}
    with Site(answers) as site:
        records, index = archive_of(site, "-H", "X-A: b", expected=BROKEN)
        origin = site.url.rstrip("/")
    equal(records[0].type, "warcinfo")
    contains(records[0].block.decode(), "software: coil-crawl/0.1.0\r\nformat: WARC File Format 1.1\r\n")
    equal(len({record.fields["WARC-Record-ID"] for record in records}), len(records))
    responses, requests = of_type(records, "response"), of_type(records, "request")
    equal(sorted(responses), sorted(requests))
    equal({path: record.block for path, record in responses.items()}, answers)
    equal(responses["/chunked"].fields["WARC-Payload-Digest"], digest_of(b"<p>hello"))
    equal(responses["/zipped"].fields["WARC-Payload-Digest"], digest_of(zipped))
    for path, record in responses.items():
        equal(record.url, origin + path)
        equal(record.fields["Content-Type"], "application/http;msgtype=response")
        equal(requests[path].fields["WARC-Concurrent-To"], record.fields["WARC-Record-ID"])
        assert requests[path].block.startswith(f"GET {path} HTTP/1.1\r\nHost: ".encode()), requests[path].block
        contains(requests[path].block.decode(), "X-A: b\r\n")
        assert requests[path].block.endswith(b"\r\n\r\n")
    equal([line[0] for line in index], sorted(line[0] for line in index))
    reported = {line["url"]: line for _, _, line in index}
    equal({url.removeprefix(origin): (line["status"], line["mime"]) for url, line in reported.items()},
          {"/": ("200", "text/html"), "/robots.txt": ("200", "text/plain"), "/chunked": ("200", "text/html"),
           "/zipped": ("200", "text/html"), "/moved": ("302", "unk"), "/gone": ("404", "text/html"),
           "/data": ("200", "application/octet-stream")})
    for record in responses.values():
        line = reported[record.url]
        equal((int(line["offset"]), int(line["length"]), line["digest"], line["filename"]),
              (record.offset, record.length, record.fields["WARC-Payload-Digest"], "a.warc.gz"))


def test_a_body_that_was_there_before_is_told_where():
    same = html("the same")
    with Site({"/": page("/a", "/b", "/empty", "/empty2"), "/a": same, "/b": same, "/empty": response(b""),
               "/empty2": response(b"")}) as site:
        records, index = archive_of(site, "--no-robots", "--max-tasks", "1")
    first, revisit = of_type(records, "response")["/a"], of_type(records, "revisit")["/b"]
    equal(len(of_type(records, "revisit")), 1)
    equal(revisit.fields["WARC-Profile"], "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest")
    equal((revisit.fields["WARC-Refers-To"], revisit.fields["WARC-Refers-To-Target-URI"],
           revisit.fields["WARC-Refers-To-Date"], revisit.fields["WARC-Payload-Digest"]),
          (first.fields["WARC-Record-ID"], first.url, first.fields["WARC-Date"], first.fields["WARC-Payload-Digest"]))
    equal(revisit.block, same.partition(b"\r\n\r\n")[0] + b"\r\n\r\n")
    equal([line["mime"] for _, _, line in index if line["url"].endswith("/b")], ["warc/revisit"])


def test_what_is_not_whole_says_so():
    long = response("x" * 300000)
    with Site({"/": page("/long", "/cut", "/late"), "/long": long, "/cut": cut(long, 1000),
               "/late": slow(60, b"")}) as site:
        records, _ = archive_of(site, "--no-robots", "--max-tries", "1", "--max-body-size", "100k", "--max-time", "2s",
                                expected=BROKEN)
    responses = of_type(records, "response")
    equal({path: record.fields.get("WARC-Truncated") for path, record in responses.items()},
          {"/": None, "/long": "length", "/cut": "disconnect"})
    assert responses["/cut"].block == long[:1000]
    assert long.startswith(responses["/long"].block)


def test_links_that_leave_the_site():
    """If a HEAD request fails, a GET request follows, and the archive contains both. The archived GET response ends
    after its headers."""
    with Site({"/x": html("other"), "/y": html("y" * 400000), "HEAD /y": status(405)}) as other, \
            Site({"/": page(other.url + "x", other.url + "y")}) as site:
        records, index = archive_of(site, "--no-robots", "--max-tasks", "1")
    requests = [(record.path, record.block.split(b" ")[0]) for record in records
                if record.type == "request" and record.url.startswith(other.url)]
    equal(sorted(requests), [("/x", b"HEAD"), ("/y", b"GET"), ("/y", b"HEAD")])
    of_other = [record for record in records if record.type == "response" and record.url.startswith(other.url)]
    equal([record.payload for record in of_other if record.path == "/x"], [b""])
    equal({record.fields.get("WARC-Truncated") for record in of_other if record.path == "/y"},
          {None, "unspecified"})
    equal(len(index), 4)


def test_through_a_proxy_what_it_is_asked_is_not_kept():
    with Site({}) as proxy:
        proxy.otherwise = html("by proxy")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.warc.gz")
            code, _, err = run("-x", proxy.url, "--no-robots", "--warc", path, "http://far.example/")
            equal((code, err), (WELL, ""))
            records = records_of(path)
    equal([record.url for record in records], [None, "http://far.example/", "http://far.example/"])


def test_a_password_in_a_url_is_not_in_what_names_it():
    with Site({"/": page("/a"), "/a": html("a")}) as site, tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.warc.gz")
        equal(run("-q", "--no-robots", "--warc", path, site.url.replace("://", "://me:secret@"))[0], WELL)
        records, index = records_of(path), index_of(path)
    assert len(index) == 2 and "secret" not in str(index), index
    for record in records:
        assert "secret" not in str(record.fields), record.fields
    contains(of_type(records, "request")["/"].block.decode(), "Authorization: Basic ")


def test_interim_answers_are_no_part_of_it():
    final = html("final")
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\n"
    with Site({"/": lambda *_: early + final}) as site:
        records, _ = archive_of(site, "--no-robots")
    equal(of_type(records, "response")["/"].block, final)


def test_a_request_that_is_sent_again_is_one():
    """If the server closes the connection instead of answering, the request is sent again. The archive contains this
    request once."""
    def once(connection, request):
        counts[request.path] = counts.get(request.path, 0) + 1
        return CLOSE if counts[request.path] == 1 else html("x")
    counts = {}
    with Site({"/": page("/a"), "/a": once}) as site:
        records, _ = archive_of(site, "--no-robots", "--max-tasks", "1")
    equal(len([record for record in records if record.type == "request" and record.path == "/a"]), 1)
    equal(of_type(records, "response")["/a"].payload, html("x").partition(b"\r\n\r\n")[2])


def test_killed_and_gone_on_with():
    """When a crawl is resumed after a kill, a partial record is removed, and finished requests are not repeated."""
    answers = {"/": page(*(f"/{n}" for n in range(60))), **{f"/{n}": html(f"page {n} " * 500) for n in range(60)}}
    answers["/30"] = slow(60, html("late"))
    with tempfile.TemporaryDirectory() as folder, Site(answers) as site:
        path, state = os.path.join(folder, "a.warc.gz"), os.path.join(folder, "state")
        with started("-d", state, "--state-interval", "0", "--warc", path, "--no-robots", "--max-tasks", "1",
                     site.url) as process:
            wait_until(lambda: "GET /30" in site.asked)
            process.send_signal(signal.SIGKILL)
            process.wait(60)
        with open(path, "ab") as file:
            file.write(gzip.compress(b"WARC/1.1\r\nWARC-Type: request\r\n")[:-9])
        with open(path + ".cdxj", "a", encoding="ascii") as file:
            file.write("half a li")
        site.answers["/30"] = html("in time")
        code, _, err = run("resume", state, "--warc", path)
        equal((code, err), (WELL, ""))
        records, index = records_of(path), index_of(path)
    responses = [record.path for record in records if record.type in ("response", "revisit")]
    equal(sorted(set(responses)), sorted(set(answers)))
    equal([record.type for record in records].count("warcinfo"), 2)
    equal(len(index), len(responses))
    equal([line[0] for line in index], sorted(line[0] for line in index))
    assert len(responses) <= len(answers) + 1, "what was done was asked for again"


def test_recheck_keeps_what_has_not_changed_as_such():
    def answer(connection, request):
        if request.headers.get("if-none-match") == '"1"':
            return response(b"", status="304 Not Modified", headers=['ETag: "1"'], length=False)
        return html("x", headers=['ETag: "1"'])
    with tempfile.TemporaryDirectory() as folder, Site({"/": answer}) as site:
        path, state = os.path.join(folder, "a.warc.gz"), os.path.join(folder, "state")
        equal(run("-q", "-d", state, "--no-robots", site.url)[0], WELL)
        equal(run("-q", "recheck", state, "--warc", path)[0], WELL)
        records = records_of(path)
    revisit = of_type(records, "revisit")["/"]
    equal(revisit.fields["WARC-Profile"], "http://netpreserve.org/warc/1.1/revisit/server-not-modified")
    contains(revisit.block.decode(), "HTTP/1.1 304 Not Modified\r\n")


def little_room():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))


def test_what_cannot_be_written():
    with tempfile.TemporaryDirectory() as folder, Site({"/": html("")}) as site:
        code, _, err = run("--warc", os.path.join(folder, "no/a.warc.gz"), site.url)
        equal(code, USAGE)
        contains(err, "no/a.warc.gz: No such file or directory")
        equal(site.asked, [])
        path = os.path.join(folder, "a.warc.gz")
        site.answers["/"] = html(random.Random(1).randbytes(40000).hex())
        code, _, err = run("--warc", path, site.url, preexec_fn=little_room)
        equal(code, FAILED)
        contains(err, "a.warc.gz: File too large")
        for record in records_of(path):
            assert record.type in ("warcinfo", "request", "response")
        site.answers["/"] = html("")
        equal(run("-q", "--warc", path, site.url)[0], WELL)
        equal(os.stat(path).st_mode & 0o777, 0o600)
        with open(path, "r+b") as file:
            file.truncate(100)
        equal(run("-q", "-d", os.path.join(folder, "s"), site.url)[0], WELL)
        code, _, err = run("resume", os.path.join(folder, "s"), "--warc", path)
        equal(code, USAGE)
        contains(err, "it is shorter than its index says")


def test_one_process_at_a_time():
    with tempfile.TemporaryDirectory() as folder, Site({"/": slow(60, b"")}) as site:
        path = os.path.join(folder, "a.warc.gz")
        with started("--warc", path, "--no-robots", site.url):
            wait_until(lambda: site.asked)
            code, _, err = run("--warc", path, site.url)
            equal(code, USAGE)
            contains(err, "a.warc.gz: another process is writing to it")


# ---- by others ---------------------------------------------------------------------------


def need_reader():
    if not shutil.which("node") or not shutil.which("npm"):
        raise Skip("Node and npm are not installed")
    if (MODULES / "node_modules/warcio/package.json").exists():
        return
    MODULES.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--prefix", MODULES, "--ignore-scripts", "--no-audit", "--no-fund", READER]
    try:
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        raise Skip(f"npm cannot install {READER}") from None


def test_warcio_reads_the_same():
    need_reader()
    same = html("the same")
    answers = {
        "/": page("/a", "/b?z=1&A=2&m", "/B/", "/zipped", "/gone", "/c%C3%A4?", "/d?phpx=1"),
        "/a": same, "/b?z=1&A=2&m": same, "/B/": html("B"), "/c%C3%A4?": html("c"), "/d?phpx=1": html("d"),
        "/zipped": response(gzip.compress(b"<p>zipped</p>"), headers=["Content-Encoding: gzip"]), "/gone": status(404)}
    with tempfile.TemporaryDirectory() as folder, Site(answers) as site:
        path = os.path.join(folder, "a.warc.gz")
        equal(run("-q", "--no-robots", "--max-tasks", "1", "--warc", path, site.url)[0], BROKEN)
        done = subprocess.run(["node", HERE / "warc_read.mjs", MODULES / "node_modules", path], check=True,
                              stdout=subprocess.PIPE, text=True, timeout=120)
        ours, index = records_of(path), index_of(path)
    reported = [json.loads(line) for line in done.stdout.splitlines()]
    theirs = [record for record in reported if "type" in record]
    equal([(record["type"], record["url"] or None, record["id"], record["date"]) for record in theirs],
          [(record.type, record.url, record.fields["WARC-Record-ID"], record.fields["WARC-Date"]) for record in ours])
    payloads = {record["url"]: record["payload"] for record in theirs if record["type"] == "response"}
    equal(payloads[site.url + "zipped"], "<p>zipped</p>")
    contains(payloads[site.url + "a"], "the same")
    lines = [line["line"] for line in reported if "line" in line and line["line"].get("status") != "undefined"]
    ours = {(line["url"], line["offset"], line["length"], line["digest"], line["status"]): (key, date)
            for key, date, line in index}
    # Remove the slash that warcio, unlike coil-crawl, adds at the end of the key.
    theirs = {(line["url"], line["offset"], line["length"], line.get("digest", "").removeprefix("sha1:"),
               line["status"]): (line["urlkey"].replace("/b/", "/b"), line["timestamp"]) for line in lines}
    ours = {(*key[:3], key[3].removeprefix("sha1:"), key[4]): value for key, value in ours.items()}
    equal(ours, theirs)


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[2:]))
