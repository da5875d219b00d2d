"""Run a web server for a test, which provides a table of paths and answers.

    with Site({"/": page("a", "b"), "/a": redirect("b"), "/b": status(404)}) as site:
        run(site.url)
        site.requests        # the requested paths in order, without robots.txt
        site.asked           # "GET /a" and "HEAD /a", with robots.txt
        site.times           # the time of each entry of `asked`

An answer is the bytes to send, a list of answers, or a function. If the answer is a list, each request gets the next
answer of the list, and the last answer is repeated. A function is called with the connection and the request, and
returns the bytes to send, CLOSE or None. HEAD is answered with the headers of the answer to GET, unless the table has
an entry such as "HEAD /a".
"""

import contextlib
import dataclasses
import socket
import threading
import time
import typing

CLOSE = object()  # returned by a function to close the connection


@dataclasses.dataclass
class Request:
    method: str
    path: str
    headers: dict  # the keys are in lower case
    head: str
    time: float
    server: typing.Any


def response(body=b'', status=200, headers=(), content_type='text/html', length=True):
    """Return the bytes of an answer. `status` may include a reason phrase: '200 OK'."""
    body = body.encode() if isinstance(body, str) else body
    lines = [f'HTTP/1.1 {status if isinstance(status, str) else f"{status} Word"}']
    if content_type is not None:
        lines.append(f'Content-Type: {content_type}')
    if length:
        lines.append(f'Content-Length: {len(body)}')
    head = '\r\n'.join([*lines, *headers]).encode('utf-8', 'surrogateescape')
    return head + b'\r\n\r\n' + body


def html(body, **options):
    return response('<!DOCTYPE html><title>x</title>' + body, **options)


def page(*links, **options):
    return html(''.join(f'<a href="{link}">x</a>\n' for link in links), **options)


def redirect(location, status=302, headers=(), **options):
    return response(status=status, headers=[f'Location: {location}', *headers], content_type=None, **options)


def status(code):
    return html(str(code), status=code)


NOT_FOUND = html('not found', status='404 Not Found')


def slow(seconds, answer):
    def wait(*_):
        time.sleep(seconds)
        return answer
    return wait


def cut(answer, keep):
    """Send only the first bytes, and close the connection."""
    def send(connection, _):
        connection.sendall(answer[:keep])
        return CLOSE
    return send


def hang_up(*_):
    return CLOSE


class Server:
    """A server with a table of answers by path. Other paths get the answer `otherwise`. `requests` is the list of
    received Requests."""

    def __init__(self, answers=None, otherwise=NOT_FOUND, host='127.0.0.1', context=None, listener=None):
        self.answers = {} if answers is None else answers
        self.otherwise = otherwise
        self.context = context  # for TLS
        self.seen = []
        self.active = self.most_active = self.connections = 0
        self.lock = threading.Lock()
        self.listener = listener or socket.create_server((host, 0))
        self.listener.listen(512)
        self.port = self.listener.getsockname()[1]
        self.address = f'{host}:{self.port}'
        self.origin = f'{"https" if context else "http"}://{self.address}'
        self.url = self.origin + '/'

    def __enter__(self):
        self.acceptor = threading.Thread(target=self.accept, daemon=True)
        self.acceptor.start()
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)  # ends accept()
        # Join the thread before closing the listener. Otherwise, accept() could accept a connection to the next server,
        # whose listener may get the same descriptor.
        self.acceptor.join()
        self.listener.close()

    @property
    def requests(self):
        return self.seen

    def forget(self):
        self.seen.clear()

    def paths(self, method=None):
        return [request.path for request in self.seen
                if not request.path.endswith('/robots.txt') and method in (None, request.method)]

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection):
        with contextlib.suppress(OSError), connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            while self.serve_request(connection):
                pass

    def serve_request(self, connection):
        head = b''
        while b'\r\n\r\n' not in head:
            piece = connection.recv(65536)
            if not piece:
                return False
            head += piece
            if head[:1] == b'\x16':  # a client that speaks TLS to a server without it
                connection.sendall(response('', status='400 Bad Request'))
                return False
        request = self.parse(head.decode('latin-1'))
        with self.lock:
            self.seen.append(request)
            answer = self.answer_to(request)
            if isinstance(answer, list):
                answer = answer.pop(0) if len(answer) > 1 else answer[0]
            self.active += 1
            self.most_active = max(self.most_active, self.active)
        try:
            if callable(answer):
                answer = answer(connection, request)
        finally:
            with self.lock:  # the client may send its next request before this thread continues
                self.active -= 1
        return self.send(connection, request, answer)

    def answer_to(self, request):
        if request.method == 'HEAD' and 'HEAD ' + request.path in self.answers:
            return self.answers['HEAD ' + request.path]
        return self.answers.get(request.path, self.otherwise)

    def send(self, connection, request, answer):
        if answer is None or answer is CLOSE:
            return answer is None
        if request.method == 'HEAD':
            answer = answer[:answer.index(b'\r\n\r\n') + 4]
        connection.sendall(answer)
        return True

    def parse(self, head):
        first, *lines = head.split('\r\n')
        method, path, _ = first.split(' ')
        headers = dict((name.lower(), value.strip()) for name, _, value in
                       (line.partition(':') for line in lines if line))
        return Request(method, path, headers, head, time.monotonic(), self)


class Site(Server):
    """A server with properties that tests of coil-crawl compare, such as `requests` and `times`."""

    @property
    def requests(self):
        return self.paths()

    @property
    def asked(self):
        return [f'{request.method} {request.path}' for request in self.seen]

    @property
    def times(self):
        return [request.time for request in self.seen]

    @property
    def headers(self):
        return [request.head for request in self.seen if not request.path.endswith('/robots.txt')]
