"""Run coil-crawl as a process, without the user's configuration and proxies.

    status, out, err = run("--max-pages", "3", site.url)
    with started(site.url) as process: ...      # it runs while the test observes it

The path of coil-crawl is the first argument of the test. The command is prefixed with $COIL_WRAPPER, if it is set, for
example "valgrind -q --error-exitcode=99".
"""
import atexit
import contextlib
import functools
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

WELL, FAILED, BROKEN, USAGE, NOTHING, INTERRUPTED = 0, 1, 2, 3, 4, 6
PROGRAM = os.path.abspath(sys.argv[1])
WRAPPER = shlex.split(os.environ.get("COIL_WRAPPER", ""))
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
PATIENCE = 120  # seconds in which a process must end by itself
KEPT = {"page": ("url", "status", "content_type", "encoding", "size", "links", "searched"),
        "link": ("page", "text", "line", "column", "element", "attribute", "target", "fragment"),
        "redirect": ("url", "status", "location", "target"),
        "verdict": ("target", "fragment", "verdict", "reason", "status", "message")}


@contextlib.contextmanager
def started(*arguments, environment=None, **options):
    """Start coil-crawl. The process is terminated at the end of the `with` block, even if the test fails."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    process = subprocess.Popen([*WRAPPER, PROGRAM, "--no-config", *arguments], text=True,
                               env={**ENVIRONMENT, **(environment or {})}, **options)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        for pipe in filter(None, (process.stdout, process.stderr)):
            pipe.close()


@functools.cache
def preloadable(library):
    """Return a path of the library without spaces and colons, because these separate paths in
    LD_PRELOAD."""
    library = os.path.abspath(library)
    if not set(library) & set(" :"):
        return library
    folder = tempfile.mkdtemp(prefix="coil-", dir="/tmp")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.symlink(library, os.path.join(folder, "preloaded.so"))
    return os.path.join(folder, "preloaded.so")


def run(*arguments, **options):
    """Run coil-crawl until it exits. Returns its exit status and its output."""
    with started(*arguments, **options) as process:
        out, err = process.communicate(timeout=PATIENCE)
        return process.returncode, out, err


def wait_until(condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"it did not happen within {seconds} s")
        time.sleep(0.005)


def together(count, answer):
    """Return an answer that the server sends only once it has received `count` concurrent requests."""
    def send(_, request):
        wait_until(lambda: request.server.most_active >= count)
        return answer
    return send


def sets(file):
    """Return the records of a report, sorted, so that two reports can be compared regardless of their order."""
    with open(file, encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return sorted(json.dumps([r["type"], *(r[key] for key in KEPT[r["type"]])])
                  for r in records if r["type"] in KEPT)
