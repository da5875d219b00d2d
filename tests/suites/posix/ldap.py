"""ldap.py - an LDAP server that accepts every bind, and answers each search after a tenth of a second, with one entry.
The protocol is in RFC 4511. All messages of this server are shorter than 128 bytes.
"""

import contextlib
import socketserver
import threading
import time

BIND, SEARCH = 0x60, 0x63
BOUND, ENTRY, DONE = 0x61, 0x64, 0x65
SEQUENCE, INTEGER, STRING, SET, ENUMERATED = 0x30, 0x02, 0x04, 0x31, 0x0a


def element(tag, *contents):
    content = b''.join(contents)
    return bytes([tag, len(content)]) + content


def message(number, tag, *contents):
    return element(SEQUENCE, element(INTEGER, number), element(tag, *contents))


SUCCESS = element(ENUMERATED, b'\0') + element(STRING) * 2


class Handler(socketserver.StreamRequestHandler):
    def receive(self):
        """Return the number, the tag and the content of the next request."""
        header = self.rfile.read(2)
        if len(header) < 2:
            raise ConnectionError
        body = self.rfile.read(header[1])
        number = body[2:2 + body[1]]
        operation = body[2 + body[1]:]
        return number, operation[0], operation[2:]

    def handle(self):
        with contextlib.suppress(ConnectionError):
            while True:
                number, tag, content = self.receive()
                if tag == BIND:
                    self.wfile.write(message(number, BOUND, SUCCESS))
                elif tag == SEARCH:
                    time.sleep(0.1)
                    name = content[2:2 + content[1]]  # the base object
                    values = element(SET, element(STRING, name.upper()))
                    attribute = element(SEQUENCE, element(STRING, b'cn'), values)
                    self.wfile.write(message(number, ENTRY, element(STRING, name),
                                             element(SEQUENCE, attribute))
                                     + message(number, DONE, SUCCESS))
                else:
                    return


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 200


@contextlib.contextmanager
def listening():
    server = Server(('127.0.0.1', 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
