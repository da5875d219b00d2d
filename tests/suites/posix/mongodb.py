"""mongodb.py - a server that speaks enough of MongoDB's protocol for libmongoc, because Debian
has no MongoDB.

The server answers `hello`, `ping` and `find`. The answer to `find` comes after a tenth of a second, and is one
document with twice the number `n` of the filter. (MongoDB's documentation, "MongoDB Wire Protocol"; bsonspec.org)
"""

import contextlib
import socketserver
import struct
import threading
import time

REPLY, QUERY, MSG = 1, 2004, 2013
DOUBLE, STRING, DOCUMENT, ARRAY, BOOL, NULL, INT32, INT64 = 1, 2, 3, 4, 8, 10, 16, 18
BINARY, OBJECT_ID, DATE, TIMESTAMP = 5, 7, 9, 17
SIZES = {DOUBLE: 8, BOOL: 1, NULL: 0, INT32: 4, INT64: 8, OBJECT_ID: 12, DATE: 8, TIMESTAMP: 8}


def encode(document):
    made = b''
    for name, value in document.items():
        key = name.encode() + b'\0'
        if isinstance(value, bool):
            made += bytes([BOOL]) + key + bytes([value])
        elif isinstance(value, int):
            made += bytes([INT32]) + key + struct.pack('<i', value)
        elif isinstance(value, str):
            text = value.encode() + b'\0'
            made += bytes([STRING]) + key + struct.pack('<i', len(text)) + text
        elif isinstance(value, list):
            made += bytes([ARRAY]) + key + encode({str(i): v for i, v in enumerate(value)})
        else:
            made += bytes([DOCUMENT]) + key + encode(value)
    return struct.pack('<i', len(made) + 5) + made + b'\0'


def decode(data):
    """Return the document as a dict. Numbers, strings and documents are decoded; other values are None."""
    document, at = {}, 4
    while data[at] != 0:
        kind, end = data[at], data.index(b'\0', at + 1)
        name, at, value = data[at + 1:end].decode(), end + 1, None
        size = SIZES.get(kind) if kind in SIZES else struct.unpack_from('<i', data, at)[0]
        if kind == INT32:
            value = struct.unpack_from('<i', data, at)[0]
        elif kind in (DOCUMENT, ARRAY):
            value = decode(data[at:at + size])
        elif kind == STRING:
            value, size = data[at + 4:at + 3 + size].decode(), size + 4
        elif kind == BINARY:
            size += 5
        document[name], at = value, at + size
    return document


HELLO = {'ismaster': True, 'isWritablePrimary': True, 'maxBsonObjectSize': 1 << 24,
         'maxMessageSizeBytes': 48000000, 'maxWriteBatchSize': 100000, 'minWireVersion': 0,
         'maxWireVersion': 13, 'ok': 1}


def answer(command):
    if 'find' not in command:
        return HELLO if {'hello', 'isMaster', 'ismaster'} & set(command) else {'ok': 1}
    time.sleep(0.1)
    found = {'twice': 2 * command['filter']['n']}
    return {'cursor': {'firstBatch': [found], 'id': 0, 'ns': 'db.c'}, 'ok': 1}


class Handler(socketserver.StreamRequestHandler):
    def send(self, to, code, body):
        self.wfile.write(struct.pack('<iiii', 16 + len(body), 0, to, code) + body)

    def handle(self):
        with contextlib.suppress(ConnectionError):
            while len(header := self.rfile.read(16)) == 16:
                length, number, _, code = struct.unpack('<iiii', header)
                body = self.rfile.read(length - 16)
                if code == QUERY:  # flags, the collection's name, two numbers, a document
                    command = decode(body[body.index(b'\0', 4) + 9:])
                    self.send(number, REPLY, struct.pack('<iqii', 8, 0, 0, 1)
                              + encode(answer(command)))
                elif code == MSG:  # flags, a section of kind 0
                    self.send(number, MSG, bytes(5) + encode(answer(decode(body[5:]))))
                else:
                    return


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 200


@contextlib.contextmanager
def listening():
    """Run the server. Yields the port."""
    with Server(('127.0.0.1', 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()
