#!/usr/bin/env python3
"""A proxy that answers for all other hosts, for http and https URLs. outside.mjs computes the same answers.

    outside.py

Prints "listening on HOST:PORT". The proxy's certificates are invalid, so clients must not check them.
"""

import http.server
import pathlib
import ssl
import subprocess
import tempfile

THERE = 'http://there.example'
PAGE = b'<!DOCTYPE html><title>x</title><p id=known>x <a href=/never>x</a>'
CLOSE = object()
# Each kind of answer has the status for HEAD (CLOSE, or None if it is the same as for GET), the status for GET, and a
# header.
KINDS = [(None, 200, None)] * 3 + [
    (405, 200, None),
    (None, 404, None), (None, 403, None),
    (None, 301, ('Location', THERE + '/ok/moved')), (None, 302, ('Location', THERE + '/gone')),
    (CLOSE, 200, None),
    (None, 500, None), (None, 403, ('cf-mitigated', 'challenge')), (None, 429, None), (None, 999, None),
    (None, 308, ('Location', THERE + '/step')), (None, 302, ('Location', 'mailto:x@y')),
    (404, 200, None)]


def kind_of(text):
    total = 0
    for byte in text.encode('latin-1'):
        total = (total * 31 + byte) % 65521
    return KINDS[total % len(KINDS)]


def answer_of(host, path):
    if host != 'there.example':
        return kind_of(host + path)
    name = path.partition('?')[0]
    if name == '/step':
        return None, 302, ('Location', '/ok/step')
    return None, 200 if name.startswith('/ok/') else 404, None


def certified():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=x',
             '-keyout', f'{folder}/key', '-out', f'{folder}/certificate'],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        context.load_cert_chain(f'{folder}/certificate', f'{folder}/key')
    return context


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True
    context = None
    host = None  # inside a tunnel

    def do_CONNECT(self):
        self.send_response(200)
        self.end_headers()
        self.host = self.path.removesuffix(':443')
        self.connection = self.context.wrap_socket(self.connection, server_side=True)
        self.rfile = self.connection.makefile('rb')
        self.wfile = self.connection.makefile('wb', 0)
        self.close_connection = False

    def do_GET(self):
        # Parse the request line, because self.path has only one slash if the URL's path begins with two.
        host, path = self.host, self.requestline.split()[1]
        if host is None:
            host, slash, path = path.split('://')[1].partition('/')
            path = slash + path
        head, status, header = answer_of(host, path)
        if self.command == 'HEAD' and head is CLOSE:
            self.close_connection = True
            return
        self.send_response(head if self.command == 'HEAD' and head else status)
        self.send_header('Content-Type', 'text/html')
        self.send_header('Content-Length', str(len(PAGE)))
        if header is not None:
            self.send_header(*header)
        self.end_headers()
        if self.command == 'GET':
            self.wfile.write(PAGE)

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


class Proxy(http.server.ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, *_):
        pass  # the client has disconnected


if __name__ == '__main__':
    Handler.context = certified()
    proxy = Proxy(('127.0.0.1', 0), Handler)
    print('listening on %s:%d' % proxy.server_address, flush=True)
    proxy.serve_forever()
