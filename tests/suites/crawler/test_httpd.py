#!/usr/bin/env python3
"""Test the responses of examples/httpd byte by byte.

test_httpd.py HTTPD [TEST...]
"""
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time

from check import contains, equal, run_tests

PROGRAM = os.path.abspath(sys.argv[1])
WRAPPER = shlex.split(os.environ.get("COIL_WRAPPER", ""))
BIG = bytes(range(256)) * 4000


class Server:
    """Run httpd with a temporary folder of files. At the end, SIGINT must stop it with status 0."""

    def __init__(self, prepare=None, limit=None):
        self.prepare, self.limit = prepare, limit

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        root = os.path.join(self.folder.name, "root")
        os.makedirs(os.path.join(root, "sub", "empty"))
        self.write("root/index.html", b"<h1>home</h1>")
        self.write("root/sub/index.html", b"<h1>sub</h1>")
        self.write("root/a b.txt", b"spaced")
        self.write("root/style.css", b"")
        self.write("root/big.png", BIG)
        self.write("root/.hidden", b"dots are fine")
        self.write("secret", b"secret")
        os.mkfifo(os.path.join(root, "pipe"))
        self.process = subprocess.Popen([*WRAPPER, PROGRAM, root], stdout=subprocess.PIPE,
                                        text=True, preexec_fn=self.limit)
        line = self.process.stdout.readline()
        assert line.startswith("listening on 127.0.0.1:"), line
        self.port = int(line.rsplit(":", 1)[1])
        return self

    def __exit__(self, kind, *_):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.folder.cleanup()
        if kind is None:
            equal(code, 0)

    def write(self, name, content):
        with open(os.path.join(self.folder.name, name), "wb") as file:
            file.write(content)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def exchange(self, request):
        """Send bytes, shut down the sending side, and return all received bytes."""
        with self.connect() as connection:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            return receive_all(connection)

    def get(self, target, method="GET", headers="", version="HTTP/1.1"):
        host = "Host: x\r\n" if version == "HTTP/1.1" else ""
        answer = self.exchange(
            f"{method} {target} {version}\r\n{host}{headers}\r\n".encode("latin-1"))
        return Answer(answer)


def receive_all(connection):
    pieces = []
    while piece := connection.recv(65536):
        pieces.append(piece)
    return b"".join(pieces)


def receive_answer(connection):
    """Receive one complete answer, which may arrive in several pieces."""
    received = connection.recv(65536)
    while True:
        head, end, body = received.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: *(\d+)", head)
        if end and len(body) >= int(length[1] if length else 0):
            return received
        piece = connection.recv(65536)
        assert piece, received
        received += piece


class Answer:
    def __init__(self, answer):
        head, _, self.rest = answer.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        self.status = int(lines[0].split()[1]) if lines[0] else None
        self.headers = dict(line.split(": ", 1) for line in lines[1:])
        length = int(self.headers.get("Content-Length", 0))
        self.body, self.rest = self.rest[:length], self.rest[length:]


def test_files():
    with Server() as server:
        answer = server.get("/")
        equal((answer.status, answer.body), (200, b"<h1>home</h1>"))
        equal(answer.headers["Content-Type"], "text/html; charset=utf-8")
        equal(server.get("/index.html?query#x").body, b"<h1>home</h1>")
        equal(server.get("/a%20b.txt").body, b"spaced")
        equal(server.get("/a%20b.txt").headers["Content-Type"],
              "text/plain; charset=utf-8")
        equal(server.get("/style.css").headers["Content-Length"], "0")
        equal(server.get("//sub//./index.html").body, b"<h1>sub</h1>")
        equal(server.get("/.hidden").headers["Content-Type"], "application/octet-stream")
        equal(server.get("http://x/sub/").body, b"<h1>sub</h1>")


def test_large_files():
    with Server() as server:
        answer = server.get("/big.png")
        equal(answer.headers["Content-Type"], "image/png")
        assert answer.body == BIG
        equal(answer.rest, b"")


def test_folders():
    with Server() as server:
        answer = server.get("/sub")
        equal((answer.status, answer.headers["Location"]), (301, "/sub/"))
        equal(server.get("//sub").headers["Location"], "/sub/")
        equal(server.get("/sub/").body, b"<h1>sub</h1>")
        equal(server.get("/sub/empty/").status, 404)
        equal(server.get("/index.html/").status, 404)


def test_nothing_outside_the_folder():
    with Server() as server:
        for target in ("/../secret", "/%2e%2e/secret", "/sub/../../secret", "/..%2fsecret",
                       "/sub/%2E%2E/..//secret", "/..", "//../secret", "/./../secret"):
            answer = server.get(target)
            equal((target, answer.status), (target, 404))
            assert b"secret" not in answer.body
        equal(server.get("/..\\secret").status, 404)
        equal(server.get("/sub/..%00/secret").status, 400)
        equal(server.get("../secret").status, 400)


def test_no_files():
    with Server() as server:
        for target in ("/nothing", "/pipe", "/index.html/x", "/" + "a" * 300):
            equal((target, server.get(target).status), (target, 404))
        contains(server.get("/nothing").body, b"404 Not Found")


def test_head():
    with Server() as server:
        answer = server.get("/big.png", method="HEAD")
        equal(answer.status, 200)
        equal(answer.headers["Content-Length"], str(len(BIG)))
        equal(answer.body, b"")
        answer = server.get("/nothing", method="HEAD")
        equal((answer.status, answer.body), (404, b""))


def test_bad_requests():
    with Server() as server:
        for request in (b"GARBAGE\r\n\r\n", b"GET /\r\n\r\n", b"GET / HTTP/x y\r\n\r\n",
                        b"GET / HTTP/1.1\r\n\r\n",
                        b"GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
                        b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", b"GET %zz HTTP/1.1\r\n\r\n",
                        b"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n",
                        b"GET /%4 HTTP/1.1\r\nHost: x\r\n\r\n"):
            answer = server.exchange(request)
            equal((request, Answer(answer).status), (request, 400))
            equal(Answer(answer).headers["Connection"], "close")
        equal(server.get("/", version="HTTP/2.0").status, 505)


def test_other_methods():
    with Server() as server:
        answer = server.get("/", method="POST", headers="Content-Length: 5\r\n")
        equal((answer.status, answer.headers["Allow"]), (405, "GET, HEAD"))
        equal(answer.headers["Connection"], "close")
        equal(server.get("/", method="DELETE").status, 405)


def test_too_long():
    with Server() as server:
        equal(Answer(server.exchange(b"GET /" + b"a" * 100000)).status, 414)
        request = b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 20000 + b"\r\n"
        equal(Answer(server.exchange(request)).status, 431)


def test_keep_alive():
    with Server() as server, server.connect() as connection:
        for _ in range(3):
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = Answer(receive_answer(connection))
            equal(answer.body, b"<h1>home</h1>")
            equal(answer.headers["Connection"], "keep-alive")
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        contains(receive_all(connection), b"Connection: close")


def test_http_1_0():
    with Server() as server:
        with server.connect() as connection:
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
            answer = Answer(receive_all(connection))
            equal((answer.status, answer.headers["Connection"]), (200, "close"))
        with server.connect() as connection:
            connection.sendall(b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
            equal(Answer(receive_answer(connection)).headers["Connection"], "keep-alive")
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
            equal(Answer(receive_all(connection)).status, 200)


def test_pipelining():
    with Server() as server:
        one = b"GET /sub/ HTTP/1.1\r\nHost: x\r\n\r\n"
        answers = server.exchange(b"\r\n" + one * 50 + one[:-4])
        equal(answers.count(b"<h1>sub</h1>"), 50)


def test_a_byte_at_a_time():
    with Server() as server, server.connect() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in b"GET /sub/ HTTP/1.1\r\nHost: x\r\n\r\n":
            connection.sendall(bytes([byte]))
            time.sleep(0.001)
        equal(Answer(receive_answer(connection)).body, b"<h1>sub</h1>")


def test_many_clients_at_once():
    with Server() as server:
        idle = [server.connect() for _ in range(200)]
        equal(server.get("/").status, 200)
        for connection in idle:
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        for connection in idle:
            equal(Answer(receive_all(connection)).status, 200)
            connection.close()


def test_clients_that_go_away():
    with Server() as server:
        for _ in range(20):
            with server.connect() as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                      b"\1\0\0\0\0\0\0\0")  # close() resets
                connection.sendall(b"GET /big.png HTTP/1.1\r\nHost: x\r\n\r\n" * 3)
        equal(server.get("/").status, 200)


def test_out_of_descriptors():
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))

    with Server(limit=limit) as server:
        crowd = [server.connect() for _ in range(60)]
        time.sleep(0.3)
        for connection in crowd:
            connection.close()
        equal(server.get("/").status, 200)


def has_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        return True
    except OSError:
        return False


def test_addresses_and_usage():
    with tempfile.TemporaryDirectory() as folder:
        for address in ("localhost:0", "[::1]:0"):
            if "::" in address and not has_ipv6():
                continue
            process = subprocess.Popen([*WRAPPER, PROGRAM, folder, address],
                                       stdout=subprocess.PIPE, text=True)
            line = process.stdout.readline()
            process.send_signal(signal.SIGINT)
            equal(process.wait(timeout=60), 0)
            process.stdout.close()
            host, port = line.split()[2].rsplit(":", 1)
            equal(host, address.rsplit(":", 1)[0])
            assert int(port) > 0
        for arguments, code in (([], 3), ([folder, "nonsense"], 3),
                                ([folder + "/none"], 1), ([folder, "127.0.0.1:x"], 1)):
            done = subprocess.run([*WRAPPER, PROGRAM, *arguments], capture_output=True,
                                  timeout=120, check=False)
            equal((arguments, done.returncode), (arguments, code))


def test_ctrl_c_with_clients():
    with Server() as server:
        connection = server.connect()
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        contains(receive_answer(connection), b"home")
    equal(connection.recv(65536), b"")
    connection.close()


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[2:]))
