"""A web server with a script: what to answer to each path, written down by the test.

    with Site({"/": page("a", "b"), "/a": redirect("b"), "/b": status(404)}) as site:
        run(site.url)
        site.requests        # the paths asked for, in order

An answer is bytes to send, or a function of the connection that does as it likes.
"""
import socket
import threading
import time


def response(body=b"", code=200, content_type="text/html", headers=()):
    if isinstance(body, str):
        body = body.encode()
    lines = [f"HTTP/1.1 {code} Whatever", f"Content-Length: {len(body)}", *headers]
    if content_type is not None:
        lines.append(f"Content-Type: {content_type}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def html(body, **options):
    return response("<!DOCTYPE html><title>x</title>" + body, **options)


def page(*links):
    return html("".join(f'<a href="{link}">x</a>\n' for link in links))


def redirect(location, code=302):
    return response(code=code, content_type=None, headers=[f"Location: {location}"])


def status(code):
    return html(str(code), code=code)


def slow(seconds, answer):
    def send(connection):
        time.sleep(seconds)
        connection.sendall(answer)

    return send


def cut(answer, keep):
    """Send the first bytes only, then close."""

    def send(connection):
        connection.sendall(answer[:keep])
        raise ConnectionAbortedError

    return send


def hang_up(connection):
    raise ConnectionAbortedError


class Site:
    def __init__(self, answers, host="127.0.0.1"):
        self.answers = answers
        self.requests = []
        self.headers = []
        self.lock = threading.Lock()
        self.active = 0
        self.most_active = 0
        self.connections = 0
        self.listener = socket.create_server((host, 0), backlog=128)
        self.address = "%s:%d" % self.listener.getsockname()
        self.url = f"http://{self.address}/"

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection):
        with connection:
            try:
                while self.serve_request(connection):
                    pass
            except OSError:
                pass

    def serve_request(self, connection):
        head = b""
        while b"\r\n\r\n" not in head:
            piece = connection.recv(65536)
            if not piece:
                return False
            head += piece
        path = head.split(b" ")[1].decode()
        with self.lock:
            self.requests.append(path)
            self.headers.append(head.decode())
            self.active += 1
            self.most_active = max(self.most_active, self.active)
            answer = self.answers.get(path, status(404))
            if isinstance(answer, list):  # one after the other, the last for good
                answer = answer.pop(0) if len(answer) > 1 else answer[0]
        try:
            if callable(answer):
                answer(connection)
            else:
                connection.sendall(answer)
        finally:
            with self.lock:
                self.active -= 1
        return True
