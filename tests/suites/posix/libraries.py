#!/usr/bin/env python3
"""libraries.py BUILD - test Debian's hiredis, libpq and libcurl in 100 tasks.

Starts redis-server, PostgreSQL and a slow HTTP server in a temporary folder. The servers listen on sockets in that
folder or on a port that the kernel chooses. The program tests/suites/posix/libraries runs against these servers three
times: linked with libcoil-posix, with libcoil-posix preloaded, and without libcoil-posix. Libraries that are not
installed are skipped with a message. Ends with `N passed, N failed`.
"""

import contextlib
import ctypes
import http.server
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'harness'))
sys.dont_write_bytecode = True

import afresh  # noqa: E402

WAIT_S = 0.3
POSTGRES = sorted(pathlib.Path('/usr/lib/postgresql').glob('*/bin'))
LIBC = ctypes.CDLL(None)


class Skip(Exception):
    pass


# ---- servers -------------------------------------------------------------------------

def die_with_parent(signo):
    """Return a function for a child process to call, so that the kernel sends it `signo` when its parent dies."""
    def prepare():
        LIBC.prctl(1, signo, 0, 0, 0)
    return prepare


@contextlib.contextmanager
def server(command, stop, log, **options):
    """Run a server. At the end of the `with` block, stop the server with the signal `stop`, and kill it if it does not
    stop."""
    with open(log, 'wb') as output:
        process = subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT,
                                   start_new_session=True,
                                   preexec_fn=die_with_parent(stop), **options)
    try:
        yield process
    finally:
        process.send_signal(stop)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for_socket(path, process, log):
    """Wait until a process listens on the socket."""
    for _ in range(600):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise RuntimeError(f'{path.name}: the server did not start: ' + pathlib.Path(log).read_text())


@contextlib.contextmanager
def redis(folder):
    if shutil.which('redis-server') is None:
        raise Skip('redis-server is not installed')
    path, log = folder / 'redis', folder / 'redis.log'
    command = ['redis-server', '--port', '0', '--unixsocket', path, '--save', '',
               '--appendonly', 'no', '--dir', folder]
    with server(command, signal.SIGTERM, log) as process:
        wait_for_socket(path, process, log)
        yield {'REDIS_SOCKET': str(path)}


def unprivileged():
    """Return the options and the name of the user for PostgreSQL, which refuses to run as root."""
    if os.geteuid() != 0:
        return {}, pwd.getpwuid(os.geteuid()).pw_name
    for name in 'postgres', 'nobody':
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            return {'user': user.pw_uid, 'group': user.pw_gid, 'extra_groups': []}, name
    raise Skip('there is no user that PostgreSQL could run as')


@contextlib.contextmanager
def postgres(folder):
    if not POSTGRES:
        raise Skip('PostgreSQL is not installed')
    as_user, name = unprivileged()
    home, log = folder / 'postgres', folder / 'postgres.log'
    home.mkdir()
    if as_user:
        os.chown(home, as_user['user'], as_user['group'])
    subprocess.run([POSTGRES[-1] / 'initdb', '--no-sync', '--auth=trust',
                    f'--username={name}', '-D', home / 'data'], check=True, cwd=home,
                   stdout=subprocess.DEVNULL, **as_user)
    command = [POSTGRES[-1] / 'postgres', '-D', home / 'data', '-k', home,
               '-c', 'listen_addresses=', '-c', 'max_connections=150', '-c', 'fsync=off',
               '-c', 'shared_buffers=16MB', '-c', 'autovacuum=off']
    with server(command, signal.SIGQUIT, log, cwd=home, **as_user) as process:
        wait_for_socket(home / '.s.PGSQL.5432', process, log)
        yield {'POSTGRES_SERVER': f"host='{home}' user={name} dbname=postgres"}


class SlowHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        time.sleep(WAIT_S)
        with contextlib.suppress(OSError):  # the client did not wait
            self.send_response(200)
            self.send_header('Content-Length', '5')
            self.end_headers()
            self.wfile.write(b'slow\n')

    def log_message(self, *args):
        pass


class SlowServer(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 200


class SlowServerV6(SlowServer):
    address_family = socket.AF_INET6


@contextlib.contextmanager
def listening(server, address):
    listener = server((address, 0), SlowHandler)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    try:
        yield listener.server_port
    finally:
        listener.shutdown()
        listener.server_close()


@contextlib.contextmanager
def slow_http(_folder):
    with listening(SlowServer, '127.0.0.1') as port:
        yield {'HTTP_SERVER': f'http://127.0.0.1:{port}/'}


def find_name():
    """Return a host name of this machine, and its address. The name must not be localhost, because libcurl would
    resolve it without a lookup."""
    for name in 'ip6-localhost', 'ip6-loopback', socket.gethostname():
        with contextlib.suppress(OSError):
            family, *_, where = socket.getaddrinfo(name, 0, type=socket.SOCK_STREAM)[0]
            with socket.socket(family) as trial:
                trial.bind((where[0], 0))
            return name, family, where[0]
    raise Skip('no name of this machine can be looked up')


@contextlib.contextmanager
def slow_http_by_name(_folder):
    name, family, address = find_name()
    kind = SlowServerV6 if family == socket.AF_INET6 else SlowServer
    with listening(kind, address) as port:
        yield {'NAMED_HTTP_SERVER': f'http://{name}:{port}/'}


# ---- the programs --------------------------------------------------------------------

def run(name, command, environment):
    """Run the program and print its results. Returns how many checks passed, and how many failed."""
    print(f'-- {name}')
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300)
    *lines, last = done.stdout.splitlines() or ['']
    print('\n'.join(lines))
    found = re.fullmatch(r'(\d+) passed, (\d+) failed', last)
    if found is None or (done.returncode != 0 and found[2] == '0'):
        print(f'{last}\nended with {done.returncode}')
        return 0, 1
    return int(found[1]), int(found[2])


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else 'build').resolve()
    programs = build / 'tests' / 'suites' / 'posix'
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    passed = failed = skipped = 0

    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o711)
        environment = dict(os.environ)
        for start in redis, postgres, slow_http, slow_http_by_name:
            try:
                environment.update(stack.enter_context(start(folder)))
            except Skip as reason:
                skipped += 1
                print(f'left out: {reason}')
        # LD_PRELOAD is split at spaces, so use a file name without a folder.
        preloaded = dict(environment, LD_PRELOAD='libcoil-posix.so',
                         LD_LIBRARY_PATH=str(build / 'posix'))
        for name, command, env in (
                ('linked', [programs / 'posix-libraries'], environment),
                ('preloaded', [programs / 'posix-libraries-alone'], preloaded),
                ('without', [programs / 'posix-libraries-alone', '--alone'],
                 environment)):
            counts = run(name, command, env)
            passed += counts[0]
            failed += counts[1]
    print(f'{passed} passed, {failed} failed' + (f', {skipped} skipped' * (skipped > 0)))
    return failed > 0


if __name__ == '__main__':
    afresh.begin()
    sys.exit(main())
