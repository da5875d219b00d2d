#!/usr/bin/env python3
"""The examples, and what they print.

    test_examples.py FOLDER [TEST...]
"""
import os
import re
import shlex
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading

from check import contains, equal, run_tests

FOLDER = os.path.abspath(sys.argv[1])
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples")
WRAPPER = shlex.split(os.environ.get("COIL_WRAPPER", ""))


def lines_of(name):
    done = subprocess.run([*WRAPPER, os.path.join(FOLDER, name)], capture_output=True,
                          text=True, timeout=60)
    equal((done.returncode, done.stderr), (0, ""))
    return done.stdout.splitlines()


def test_hello():
    equal(lines_of("hello"), ["hello, Ada", "hello, Grace", "goodbye, Ada",
                              "goodbye, Grace"])


def test_await_in_c():
    lines = lines_of("await_in_c")
    equal(sorted(lines[:2]), ["sorted: adfghjks", "sorted: eiqrtuwy"])
    equal(lines[2:], ["at the same time: yes", "others ran meanwhile: yes"])


def test_closing_time():
    equal(lines_of("closing_time"),
          ["ready: 7", "served 1", "served 2", "'main' says: closing time", "cleaned up: yes",
           "ended with 0"])


def test_sleepy():
    lines = lines_of("sleepy")
    equal(lines[:-1], [f"coroutine {number}: nap {nap}"
                       for nap in range(5) for number in range(5)])
    assert 0.5 <= float(lines[-1].split()[0]) < 1.5, lines[-1]  # not 2.5


def test_unmodified():
    if os.path.exists(os.path.join(FOLDER, "unmodified")):
        equal(lines_of("unmodified"), ["a b c at once"])


def test_hostile_echo():
    equal(lines_of("hostile_echo"), ["right answers only"])


def test_tested():
    lines = "\n".join(lines_of("tested"))
    assert re.fullmatch(r"allocations survived: \d+\nsystem calls survived: \d+", lines), lines


def test_traceback():
    text = "\n".join(lines_of("traceback"))
    lines = r"(\n    \w.*)+\n"
    assert re.fullmatch("Invalid argument: 'http' is no port\n"
                        f"  in task 'config'{lines}  awaited by task 'server'{lines}"
                        f"  awaited by task 'main'{lines}", text + "\n"), text


def test_toy_sleep():
    lines = lines_of("toy_sleep")
    pattern = (r"an event: sleep for another 0\.0\d s\n" * 2
               + r"ended after 0\.[1-9] s: well rested")
    assert re.fullmatch(pattern, "\n".join(lines)), lines


def test_toy_run():
    lines = lines_of("toy_run")
    equal(lines[:-1], [f"coroutine {number}: nap {nap}"
                       for nap in range(3) for number in range(5)])
    assert 0.15 <= float(lines[-1].split()[0]) < 0.7, lines[-1]


def https_server(folder):
    """One that answers a single request; returns its port, its thread, its certificate."""
    pem = os.path.join(folder, "localhost.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", pem + ".key",
                    "-out", pem], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, pem + ".key")
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        with listener, listener.accept()[0] as plain:
            try:
                with context.wrap_socket(plain, server_side=True) as s:
                    head = s.recv(4096).split(b"\r\n")
                    s.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + head[0] + b"\n")
                    s.unwrap()
            except OSError:
                pass  # it was refused, as it should be

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return str(listener.getsockname()[1]), thread, pem


def https_get(*arguments):
    return subprocess.run([*WRAPPER, os.path.join(FOLDER, "https_get"), *arguments],
                          capture_output=True, text=True, timeout=60)


def test_https_get():
    with tempfile.TemporaryDirectory() as folder:
        port, thread, pem = https_server(folder)
        done = https_get("127.0.0.1", port, "/page", pem)
        if "built without OpenSSL" in done.stderr:
            socket.create_connection(("127.0.0.1", int(port))).close()
        thread.join()
        if "built without OpenSSL" in done.stderr:
            return
        equal(done.stdout, "HTTP/1.0 200 OK\n\nGET /page HTTP/1.0\n")
        contains(done.stderr, "TLSv1.3")
        equal(done.returncode, 0)
        port, thread, pem = https_server(folder)
        done = https_get("127.0.0.1", port, "/page")  # not the system's to trust
        thread.join()
        contains(done.stderr, "the certificate of '127.0.0.1' is refused: self-signed")
        equal(done.returncode, 1)


def test_own_awaitable():
    lines = lines_of("own_awaitable")
    equal((lines[0], lines[2]), ("egg: 42", "gave up on the roast"))


def test_echo():
    process = subprocess.Popen([*WRAPPER, os.path.join(FOLDER, "echo")],
                               stdout=subprocess.PIPE, text=True)
    port = int(process.stdout.readline().rsplit(":", 1)[1])
    clients = [socket.create_connection(("127.0.0.1", port), timeout=10)
               for _ in range(50)]
    for number, client in enumerate(reversed(clients)):
        client.sendall(b"line %d\n" % number)
    for number, client in enumerate(reversed(clients)):
        equal(client.recv(100), b"line %d\n" % number)
    for client in clients[1:]:
        client.close()
    process.send_signal(signal.SIGINT)
    equal(process.wait(timeout=20), 0)
    equal(clients[0].recv(1), b"")
    clients[0].close()
    process.stdout.close()


def test_they_stay_short_and_on_public_headers():
    for name in os.listdir(SOURCES):
        if not name.endswith(".c"):
            continue
        with open(os.path.join(SOURCES, name), encoding="utf-8") as file:
            text = file.read()
        assert "../src" not in text, name
        if not name.startswith("http"):
            assert text.count("\n") < 80, f"{name} has {text.count(chr(10))} lines"


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[2:]))
