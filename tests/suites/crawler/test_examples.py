#!/usr/bin/env python3
"""Run the programs in examples/ and check their output.

test_examples.py FOLDER [TEST...]
"""
import contextlib
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
import time

from check import Skip, contains, equal, run_tests

FOLDER = os.path.abspath(sys.argv[1])
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples")
WRAPPER = shlex.split(os.environ.get("COIL_WRAPPER", ""))


def output_of(name, *arguments, env=None):
    done = subprocess.run([*WRAPPER, os.path.join(FOLDER, name), *arguments],
                          capture_output=True, text=True, timeout=60, env=env)
    equal(done.returncode, 0)
    return done.stdout, done.stderr


def lines_of(name, *arguments):
    out, err = output_of(name, *arguments)
    equal(err, "")
    return out.splitlines()


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


def test_sync():
    with tempfile.TemporaryDirectory() as folder:
        origin, copy = os.path.join(folder, "from"), os.path.join(folder, "to")
        os.mkdir(origin)
        os.mkdir(copy)
        with subprocess.Popen([*WRAPPER, os.path.join(FOLDER, "sync"), origin, copy],
                              stdout=subprocess.PIPE, text=True) as sync:
            try:
                equal(sync.stdout.readline(), f"watching {origin}\n")
                os.makedirs(os.path.join(origin, "a/b"))
                with open(os.path.join(origin, "a/b/new"), "w") as file:
                    file.write("text")
                for line in sync.stdout:
                    if "new: done" in line and os.path.getsize(os.path.join(copy, "a/b/new")):
                        break
                os.rename(os.path.join(origin, "a"), os.path.join(origin, "c"))
                for line in sync.stdout:
                    if "moved" in line:
                        break
                with open(os.path.join(copy, "c/b/new")) as file:
                    equal(file.read(), "text")
            finally:
                sync.send_signal(signal.SIGINT)


def test_proxy_hands_on_both_directions_and_their_ends():
    with socket.create_server(("127.0.0.1", 0)) as target:
        port = str(target.getsockname()[1])
        with subprocess.Popen([*WRAPPER, os.path.join(FOLDER, "proxy"), "0", "127.0.0.1", port],
                              stdout=subprocess.PIPE, text=True) as proxy:
            try:
                entrance = int(proxy.stdout.readline().split()[-1])
                client = socket.create_connection(("localhost", entrance), timeout=60)
                server, _ = target.accept()
                with client, server:
                    client.sendall(b"a question" * 10000)
                    client.shutdown(socket.SHUT_WR)
                    equal(len(read_all(server)), 100000)
                    server.sendall(b"an answer" * 10000)  # once the other direction has ended
                    server.shutdown(socket.SHUT_WR)
                    equal(read_all(client), b"an answer" * 10000)
            finally:
                proxy.send_signal(signal.SIGINT)
                proxy.wait(60)


@contextlib.contextmanager
def graceful_conversation():
    """Start the service, open a connection to it, and receive one answer."""
    with subprocess.Popen([*WRAPPER, os.path.join(FOLDER, "graceful")],
                          stdout=subprocess.PIPE, text=True) as service:
        try:
            port = int(service.stdout.readline().split()[-1])
            with socket.create_connection(("localhost", port), timeout=60) as client:
                client.sendall(b"one\n")
                equal(client.recv(100), b"one!\n")
                yield service, port, client
            equal(service.wait(60), 0)
        finally:
            service.kill()


def test_graceful_lets_conversations_end():
    with graceful_conversation() as (service, port, client):
        service.send_signal(signal.SIGTERM)
        while accepts(port):
            time.sleep(0.01)
        client.sendall(b"two\n")  # within its time
        equal(client.recv(100), b"two!\n")
        client.close()
        equal(service.stdout.read(), "ended in good order by Terminated\n")


def test_graceful_cancels_what_does_not_end():
    with graceful_conversation() as (service, _, client):
        service.send_signal(signal.SIGHUP)
        equal(read_all(client), b"closing time\n")
        equal(service.stdout.read(), "ended in good order by Hangup\n")


def accepts(port):
    try:
        socket.create_connection(("localhost", port), timeout=60).close()
        return True
    except OSError:
        return False


def read_all(connection):
    connection.settimeout(60)
    return b"".join(iter(lambda: connection.recv(65536), b""))


def test_cafe():
    """Ctrl-\ prints what each task waits for. Ctrl-C ends the program."""
    with subprocess.Popen([*WRAPPER, os.path.join(FOLDER, "cafe")], text=True,
                          stderr=subprocess.PIPE) as cafe:
        equal(cafe.stderr.readline(), "open: press Ctrl-\\ to see who waits for what\n")
        cafe.send_signal(signal.SIGQUIT)
        equal(cafe.stderr.readline(), "coil: 6 tasks\n")
        tree = ""
        for line in cafe.stderr:
            tree += line
            if "- Barbara" in line:
                break
        for name, wait in [("main", "group"), ("cook", "sleep"), ("Ada", "sleep"),
                           ("Grace", "lock"), ("Edsger", "lock"), ("Barbara", "queue.put")]:
            assert re.search(f"- {name} waits .*: {wait}", tree), tree
        cafe.send_signal(signal.SIGINT)
        cafe.stderr.read()
    equal(cafe.returncode, 0)


def test_light():
    """In builds with ASan, coil must handle SIGSEGV instead of ASan: see docs/manual/light.md."""
    options = os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0"
    out, err = output_of("light", env={**os.environ, "ASAN_OPTIONS": options})
    equal(out, "100000 awake\n")
    assert re.match("100000 light tasks, [0-9]+ swapped out: [0-9]+ KiB", err), err


def test_sleepy():
    lines = lines_of("sleepy")
    equal(lines[:-1], [f"coroutine {number}: nap {nap}"
                       for nap in range(5) for number in range(5)])
    assert 0.5 <= float(lines[-1].split()[0]) < 2.4, lines[-1]  # not 2.5


def test_unmodified():
    if os.path.exists(os.path.join(FOLDER, "unmodified")):
        equal(lines_of("unmodified"), ["a b c at once"])


def test_own_errors():
    if os.path.exists(os.path.join(FOLDER, "own_errors")):
        equal(lines_of("own_errors"), ["too late", "failed"])


def test_hostile_echo():
    equal(lines_of("hostile_echo"), ["right answers only"])


def test_tested():
    lines = "\n".join(lines_of("tested"))
    assert re.fullmatch(r"allocations survived: \d+\nsystem calls survived: \d+", lines), lines


def test_context_is_of_each_request():
    lines = lines_of("context")
    for request in ("one", "two"):
        equal([line for line in lines if line.startswith(f"[{request}]")],
              [f"[{request}] began", f"[{request}] checked the password, on a thread",
               f"[{request}] asked the database, in a task of its own"])
    equal(lines[-1], "[none] outside of requests")


def test_blocking():
    equal(lines_of("blocking"), ["sum: 40000001", "answered meanwhile: yes"])


def test_pool_shares_three_connections():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        connections = []

        def serve(connection):
            with connection:
                for line in connection.makefile("rb"):
                    connection.sendall(line)

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    connections.append(listener.accept()[0])
                    threading.Thread(target=serve, args=connections[-1:], daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        equal(lines_of("pool", "127.0.0.1", str(listener.getsockname()[1])), ["10 answers"])
        assert 1 <= len(connections) <= 3, len(connections)


def test_fetch_gets_pages_at_once():
    if not os.path.exists(os.path.join(FOLDER, "fetch")):
        raise Skip("built without coil-http")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"

        def answer_two_at_once():
            two = [listener.accept()[0] for _ in range(2)]
            for connection in two:  # the server answers only after both requests
                connection.recv(4096)
            for connection in two:
                connection.sendall(b"HTTP/1.0 200 OK\r\n\r\nhello")
                connection.close()

        thread = threading.Thread(target=answer_two_at_once, daemon=True)
        thread.start()
        lines = lines_of("fetch", url + "a", url + "b")
        thread.join(60)
    equal(sorted(lines), [f"{url}{page}: 200, 5 bytes" for page in "ab"])


def test_traceback():
    text = "\n".join(lines_of("traceback"))
    lines = r"(\n    \w.*)+\n"
    assert re.fullmatch(r"'http' is not a port \(Invalid argument\)\n"
                        f"  in task 'config'{lines}  awaited by task 'server'{lines}"
                        f"  awaited by task 'main'{lines}", text + "\n"), text


def test_lines_of_files_and_of_any_input():
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"one\n\nthree")
        file.flush()
        numbered = "     1  one\n     2  \n     3  three\n"
        equal(output_of("lines", file.name), (numbered, ""))
        for backend in ("epoll", "io_uring", "poll", "select"):
            with open(file.name, "rb") as same, open("/dev/null", "rb") as nothing:
                equal(numbers(backend, stdin=same), numbered)
                equal(numbers(backend, stdin=nothing), "")
            equal(numbers(backend, input=b"one\n\nthree"), numbered)


def numbers(backend, **options):
    done = subprocess.run([*WRAPPER, os.path.join(FOLDER, "lines")], stdout=subprocess.PIPE,
                          timeout=60, env={**os.environ, "COIL_BACKEND": backend}, **options)
    if backend != "io_uring" or done.returncode == 0:  # the sandbox may forbid it
        equal(done.returncode, 0)
        return done.stdout.decode()
    return numbers("epoll", **options)


def test_station():
    equal(lines_of("station"), ["5 readings, now 24 degrees"])


def test_at_most():
    def at_most(*arguments):
        return subprocess.run([*WRAPPER, os.path.join(FOLDER, "at_most"), *arguments],
                              capture_output=True, text=True, timeout=60)

    done = at_most("60", "echo begun; exit 3")
    if "pidfds" in done.stderr:
        raise Skip("this kernel does not have pidfds")
    equal((done.returncode, done.stdout), (3, "begun\n"))
    # The shell exits at once, but its child must still be killed.
    for seconds in ("0.5", "5", "50"):  # long enough for the shell to start
        done = at_most(seconds, "echo begun; sleep 3600 & echo $!")
        if done.stdout.count("\n") == 2:
            break
    pid = done.stdout.split()[-1]
    equal((done.returncode, done.stdout), (124, f"begun\n{pid}\n"))
    end = time.monotonic() + 60
    while is_alive(pid) and time.monotonic() < end:
        time.sleep(0.01)
    assert not is_alive(pid), pid


def test_limited():
    done = subprocess.run([*WRAPPER, os.path.join(FOLDER, "limited"),
                           "test -t 1 && ulimit -t; exit 3"], capture_output=True, timeout=60)
    if b"pidfds" in done.stderr or b"terminal" in done.stderr:
        raise Skip("this kernel does not have pidfds, or no terminal can be opened")
    equal((done.returncode, done.stdout), (3, b"1\r\n"))


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().split()[2] != "Z"
    except OSError:
        return False


def test_knock():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def greet():
            with listener.accept()[0] as connection:
                connection.sendall(b"welcome\n")

        threading.Thread(target=greet, daemon=True).start()
        equal(lines_of("knock", "127.0.0.1", str(port), str(port)), [f"{port}: says welcome"])
    equal(lines_of("knock", "127.0.0.1", str(port), str(port)), [f"{port}: closed"])


def certificate(folder):
    """Create a certificate for localhost, and its key in the same folder."""
    pem = os.path.join(folder, "localhost.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", pem + ".key",
                    "-out", pem], check=True, capture_output=True)
    return pem


def test_secure_echo():
    with tempfile.TemporaryDirectory() as folder:
        pem = certificate(folder)
        with subprocess.Popen([*WRAPPER, os.path.join(FOLDER, "secure_echo"), pem, pem + ".key",
                               "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as server:
            line = server.stdout.readline()
            if line == "" and "built without OpenSSL" in server.stderr.read():
                raise Skip("built without OpenSSL")
            try:
                port = int(line.split()[-1])
                context = ssl.create_default_context(cafile=pem)
                equal(secure_answer(context, port), b"hello")
                context.maximum_version = ssl.TLSVersion.TLSv1_2
                context.set_ciphers("AES128-GCM-SHA256")  # without forward secrecy
                try:
                    assert not secure_answer(context, port)
                except OSError:
                    pass
            finally:
                server.send_signal(signal.SIGTERM)
            equal(server.wait(60), 0)


def secure_answer(context, port):
    with socket.create_connection(("localhost", port), timeout=60) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as s:
            s.sendall(b"hello")
            answer = s.recv(100)
            s.unwrap()
            return answer


def https_server(folder):
    """Serve a single HTTPS request. Returns the port, the thread and the certificate."""
    pem = certificate(folder)
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
                pass  # the client refused it, as expected

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
        done = https_get("127.0.0.1", port, "/page")  # the system does not trust this authority
        thread.join()
        contains(done.stderr, "the certificate of '127.0.0.1' is refused: self-signed")
        equal(done.returncode, 1)


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


@contextlib.contextmanager
def example_server(name, *arguments, **options):
    """Start an example that prints its port at the end of a line, and end it with SIGINT at the end of the `with`
    block."""
    with subprocess.Popen([*WRAPPER, os.path.join(FOLDER, name), *arguments],
                          stdout=subprocess.PIPE, text=True, **options) as server:
        try:
            yield server, int(server.stdout.readline().split()[-1])
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(60)


def dial(port):
    return socket.create_connection(("localhost", port), timeout=60)


def test_keep_alive_ends_idle_connections_at_once_and_busy_ones_with_an_answer():
    with example_server("keep_alive") as (server, port):
        with dial(port) as idle, dial(port) as busy:
            for client in (idle, busy):
                client.sendall(b"0\n")
                equal(client.recv(100), b"done\n")
            busy.sendall(b"1000\n")
            time.sleep(0.2)  # if the request comes too late, the connection was idle
            server.send_signal(signal.SIGTERM)
            equal(read_all(idle), b"")
            contains(read_all(busy).decode(), "done, goodbye")
        equal(server.wait(60), 0)


def test_lend_passes_an_open_file():
    with tempfile.TemporaryDirectory() as folder:
        file, path = os.path.join(folder, "file"), os.path.join(folder, "socket")
        with open(file, "w", encoding="utf-8") as text:
            text.write("first\nsecond\n")
        with subprocess.Popen([*WRAPPER, os.path.join(FOLDER, "lend"), path, file],
                              stdout=subprocess.PIPE, text=True) as lender:
            try:
                while not os.path.exists(path):
                    time.sleep(0.01)
                os.unlink(file)  # the descriptor suffices
                equal(lines_of("lend", path), ["first"])
                contains(lender.stdout.readline(), f"of user {os.getuid()} asks")
            finally:
                lender.send_signal(signal.SIGINT)


def test_virtual_hosts_chooses_and_reloads_certificates():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.example", "b.example"):
            make_host(folder, name)
        with example_server("virtual_hosts", "0", "a.example", "b.example", cwd=folder,
                            env={**os.environ, "SSLKEYLOGFILE": folder + "/keys"}
                            ) as (server, port):
            equal(subject_of(port, "a.example"), "a.example")
            equal(subject_of(port, "b.example"), "b.example")
            equal(subject_of(port, "unknown.example"), "a.example")
            make_host(folder, "b.example", subject="new")
            server.send_signal(signal.SIGHUP)
            equal(server.stdout.readline(), "reloaded\n")
            equal(subject_of(port, "b.example"), "new")
            os.unlink(os.path.join(folder, "b.example.pem"))
            server.send_signal(signal.SIGHUP)
            contains(server.stdout.readline(), "b.example.pem")
            equal(subject_of(port, "b.example"), "new")
            with open(folder + "/keys", encoding="ascii") as keys:
                contains(keys.read(), "CLIENT_TRAFFIC_SECRET_0")


def make_host(folder, name, subject=None):
    """Create a file that contains a certificate and its key."""
    pem = os.path.join(folder, name + ".pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={subject or name}",
                    "-keyout", pem + ".new", "-out", pem + ".cert"], check=True, capture_output=True)
    with open(pem + ".new", "ab") as both, open(pem + ".cert", "rb") as cert:
        both.write(cert.read())
    os.rename(pem + ".new", pem)


def subject_of(port, name):
    """Connect with this host name, and return the common name in the server's certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with dial(port) as plain, context.wrap_socket(plain, server_hostname=name) as s:
        equal(read_all(s), b"hello\n")
        der = s.getpeercert(True)
    done = subprocess.run(["openssl", "x509", "-inform", "der", "-noout", "-subject", "-nameopt",
                           "multiline"], input=der, check=True, capture_output=True)
    return done.stdout.decode().split("=")[-1].strip()


def test_chat():
    with example_server("chat") as (_, port):
        with dial(port) as one, dial(port) as two:
            lines_of_one, lines_of_two = one.makefile("rb"), two.makefile("rb")
            one.sendall(b"first\n")
            equal(lines_of_one.readline(), b"first\n")
            two.sendall(b"second\n")
            while lines_of_two.readline() != b"second\n":  # it may have been in the room earlier
                pass
            equal(lines_of_one.readline(), b"second\n")


def test_stock():
    equal(lines_of("stock"), ["20 in the cart"])


def test_udp_echo_answers_from_the_address_that_was_asked():
    with subprocess.Popen([*WRAPPER, os.path.join(FOLDER, "udp_echo")],
                          stdout=subprocess.PIPE, text=True) as process:
        try:
            port = int(process.stdout.readline().split()[-1])
            with socket.socket(type=socket.SOCK_DGRAM) as client:
                client.settimeout(60)
                for host in ("127.0.0.1", "127.0.0.2"):
                    client.sendto(b"where?", (host, port))
                    equal(client.recvfrom(100), (b"where?", (host, port)))
                client.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
                client.sendto(b"who?", ("127.255.255.255", port))
                equal(client.recvfrom(100), (b"who?", ("127.0.0.1", port)))
        finally:
            process.send_signal(signal.SIGINT)
        equal(process.wait(60), 0)


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
