"""Parse traces in Perfetto's format, which consists of protocol buffers.

read(bytes) returns a Trace. The fields and their numbers are in perfetto_trace.proto in Perfetto's sources.
"""

import collections
import struct

Span = collections.namedtuple('Span', 'track name category begin end arguments arrows')
Instant = collections.namedtuple('Instant', 'track name at arguments arrows')

CATEGORIES, NAMES, KEYS = 1, 2, 3  # lists of interned texts
STATE_CLEARED = 1
SLICE_BEGIN, SLICE_END, INSTANT = 1, 2, 3


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Return the fields of a message: a dictionary of lists."""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 1:
            value, at = struct.unpack_from('<Q', data, at)[0], at + 8
        else:
            assert tag & 7 == 2, f'wire type {tag & 7}'
            length, at = varint(data, at)
            assert at + length <= len(data)
            value, at = data[at:at + length], at + length
        found[tag >> 3].append(value)
    return found


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class Trace:
    def __init__(self, data):
        self.loops = {}  # names, by the identifiers of tracks
        self.tracks = {}  # (name of the loop, name, rank)
        self.spans = []
        self.instants = []
        self.texts = {}  # the keys are (sequence, list, number)
        self.open = {}  # spans that have begun, by track
        for packet in fields(data)[1]:
            self.read_packet(fields(packet))
        assert not self.open, self.open

    def read_packet(self, packet):
        sequence, time = packet[10][0], packet.get(8, [None])[0]
        if packet[13] == [STATE_CLEARED]:
            self.texts[sequence] = {}
        texts = self.texts[sequence]
        for interned in packet[12]:
            for list_number, entries in fields(interned).items():
                for entry in map(fields, entries):
                    key = list_number, entry[1][0]
                    assert key not in texts, 'a number was used again'
                    texts[key] = entry[2][0].decode()
        for track in map(fields, packet[60]):
            self.read_track(track)
        for event in map(fields, packet[11]):
            self.read_event(event, time, texts)

    def read_track(self, track):
        uuid, name = track[1][0], track[2][0].decode()
        assert uuid not in self.tracks and uuid not in self.loops
        if track[5]:
            self.tracks[uuid] = self.loops[track[5][0]], name, track[12][0]
        else:
            self.loops[uuid] = name

    def read_event(self, event, time, texts):
        kind, track = event[9][0], self.tracks[event[11][0]]
        if kind == SLICE_END:
            name, category, begin, arguments, arrows = self.open.pop(track)
            assert begin <= time
            self.spans.append(Span(track, name, category, begin, time, arguments, arrows))
            return
        name = texts[NAMES, event[10][0]]
        arguments = {}
        for argument in map(fields, event[4]):
            value = argument[6][0].decode() if argument[6] else signed(argument[4][0])
            arguments[texts[KEYS, argument[1][0]]] = value
        if kind == SLICE_BEGIN:
            assert track not in self.open, 'spans of one track overlap'
            self.open[track] = name, texts[CATEGORIES, event[3][0]], time, arguments, event[48]
        else:
            assert kind == INSTANT, kind
            self.instants.append(Instant(track, name, time, arguments, event[47]))


def read(data):
    return Trace(data)
