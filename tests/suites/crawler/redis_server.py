"""Start a redis-server for a test, on a local socket in a temporary folder, and connect a client to it.

    with redis_server() as path:
        client = Client(path)
        client("SET", "key", "value")           # b"OK"
        client.load("name", text)               # a script
        client.run("name", "key", "argument")

The server's data is deleted with the folder. The server is terminated when the test ends, even if
the test is killed.
"""
import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from check import Skip

LIBC = ctypes.CDLL(None)
PATIENCE = 60  # seconds in which an answer must arrive; on an idle machine it takes milliseconds


def die_with_parent():
    LIBC.prctl(1, signal.SIGKILL)


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"it did not happen within {PATIENCE} s")
        time.sleep(0.02)


def is_ready(path):
    """Return true once the server accepts connections and has loaded its data."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
        client.settimeout(PATIENCE)
        client.connect(path)
        client.sendall(b"PING\r\n")
        return client.recv(64).startswith((b"+PONG", b"-NOAUTH"))
    return False


def wait_for(path, process, log):
    end = time.monotonic() + PATIENCE
    while not is_ready(path):
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError("redis-server did not start: " + pathlib.Path(log).read_text())
        time.sleep(0.02)


@contextlib.contextmanager
def redis_server(*options, folder=None, path=None):
    """Start a server, and yield the path of its socket. Its files are in `folder`, or in a temporary folder if `folder`
    is None."""
    if shutil.which("redis-server") is None:
        raise Skip("redis-server is not installed")
    with tempfile.TemporaryDirectory(prefix="coil redis ") as own:
        path, log = path or os.path.join(own, "socket"), os.path.join(own, "log")
        command = ["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no",
                   "--dir", folder or own, *options]
        with open(log, "wb") as output:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                       preexec_fn=die_with_parent)
        try:
            wait_for(path, process, log)
            yield path
        finally:
            process.kill()
            process.wait()


class Failed(Exception):
    """Raised if Redis replies with an error."""


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")
        self.scripts = {}

    def close(self):
        self.file.close()
        self.socket.close()

    def __call__(self, *words):
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
        return self.reply()

    def reply(self):
        line = self.file.readline()[:-2]
        kind, rest = line[:1], line[1:]
        if kind == b"+":
            return rest
        if kind == b"-":
            raise Failed(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        raise Failed(f"what is {line!r}?")

    def load(self, name, text):
        self.scripts[name] = self("SCRIPT", "LOAD", text)

    def run(self, name, key, *arguments):
        return self("EVALSHA", self.scripts[name], 1, key, *arguments)
