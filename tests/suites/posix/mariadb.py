"""mariadb.py - a server for MariaDB's protocol, with which MariaDB's connector is tested without the large server
package.

The server accepts every login, and answers `select N * M from (select sleep(SECONDS)) as t` after SECONDS. Every other
command is answered with an OK packet. (MariaDB's documentation, "Clientserver Protocol")
"""

import contextlib
import re
import socketserver
import struct
import threading
import time

PLUGIN = b'mysql_native_password\0'
QUIT, QUERY = 1, 3
LONG_PASSWORD, PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH = 1, 0x200, 0x8000, 0x80000
CAPABILITIES = LONG_PASSWORD | PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH
AUTOCOMMIT, UTF8, LONGLONG = 2, 33, 8
OK = struct.pack('<BBBHH', 0, 0, 0, AUTOCOMMIT, 0)
EOF = struct.pack('<BHH', 0xfe, 0, AUTOCOMMIT)
SELECT = re.compile(rb'select (\d+) \* (\d+) from \(select sleep\(([\d.]+)\)\) as t')


def text(value):
    """Return the string with its length as a prefix."""
    return bytes([len(value)]) + value


def greeting():
    return (b'\x0a5.5.5-10.11.0-MariaDB\0' + struct.pack('<I', 1) + b'saltsalt\0'
            + struct.pack('<HBHHB', CAPABILITIES & 0xffff, UTF8, AUTOCOMMIT,
                          CAPABILITIES >> 16, 21)
            + bytes(10) + b'saltsaltsalt\0' + PLUGIN)


def column(name):
    return (text(b'def') + text(b'') * 3 + text(name) + text(b'') + b'\x0c'
            + struct.pack('<HIBHBH', UTF8, 20, LONGLONG, 0, 0, 0))


class Handler(socketserver.StreamRequestHandler):
    def receive(self):
        """Read the next packet and return its payload. Packets are numbered, and the first packet of the answer has the
        next number."""
        header = self.rfile.read(4)
        if len(header) < 4:
            raise ConnectionError
        self.number = header[3] + 1
        return self.rfile.read(int.from_bytes(header[:3], 'little'))

    def send(self, *packets):
        for packet in packets:
            length = len(packet).to_bytes(3, 'little')
            self.wfile.write(length + bytes([self.number]) + packet)
            self.number += 1

    def answer(self, command):
        found = SELECT.fullmatch(command[1:]) if command[0] == QUERY else None
        if found is None:
            return self.send(OK)
        time.sleep(float(found[3]))
        product = str(int(found[1]) * int(found[2])).encode()
        return self.send(b'\x01', column(b'product'), EOF, text(product), EOF)

    def handle(self):
        self.number = 0
        with contextlib.suppress(ConnectionError):
            self.send(greeting())
            self.receive()
            self.send(OK)
            while (command := self.receive())[0] != QUIT:
                self.answer(command)


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
