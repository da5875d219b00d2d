"""Servers for the programs in examples/inside/crawl: one with a small site, and one with given responses."""
import contextlib
import http.server
import threading
import time

from programs import output_of

SITE = {"/": "/a /b /c", "/a": "/a/1 /a/2", "/b": "/a /b", "/c": "/ /c/long", "/a/1": "/",
        "/a/2": "/a/1 /missing", "/c/long": "/b", "/missing": ""}
FILLER = {"/c/long": 100_000}


def body_of(path):
    links = "".join(f'<a href="{link}">x</a>\n' for link in SITE[path].split())
    return (links + "." * FILLER.get(path, 0)).encode()


ALL_PAGES = "".join(f"{path} {len(body_of(path))}\n" for path in sorted(SITE))


class Answer(http.server.BaseHTTPRequestHandler):
    """Send the response in self.server.answers for the path: a status, headers and a body. If the response is None,
    close the connection without sending anything. Otherwise connections are kept open. The server counts
    connections."""
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.server.connections += 1

    def do_GET(self):
        self.server.requests.append(self.path)
        answer = self.server.answers.get(self.path, (404, {}, "gone"))
        if answer is None:
            self.close_connection = True
            return
        status, headers, body = answer
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with self.server.lock:
            self.server.requests.append(self.path)
            self.server.busy += 1
            self.server.most_at_once = max(self.server.most_at_once, self.server.busy)
        time.sleep(0.02)  # the delay that crawlers wait for
        with self.server.lock:
            self.server.busy -= 1
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body_of(self.path))

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True  # threads of connections that stay open

    def handle_error(self, *_):
        pass  # a crawler may give up


@contextlib.contextmanager
def serving(answers):
    """Start a server that sends these responses. The URL of the server is server.url."""
    with Server(("127.0.0.1", 0), Answer) as server:
        server.answers, server.requests, server.connections = answers, [], 0
        server.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def crawled_by(program):
    """Run a crawler. Returns its standard output, its standard error, and the server with the recorded requests."""
    with Server(("127.0.0.1", 0), Page) as server:
        server.lock = threading.Lock()
        server.requests, server.busy, server.most_at_once = [], 0, 0
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            out, err = output_of(program, "127.0.0.1", str(server.server_port), reports=True)
        finally:
            server.shutdown()
            thread.join()
    return out, err, server
