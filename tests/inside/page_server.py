"""A small site, and functions that run the crawlers of examples/inside/crawl on it."""
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
    def handle_error(self, *_):
        pass  # a crawler may give up


def crawled_by(program):
    """Return a crawler's output, its other output, and the server, which has recorded the requests."""
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
