/*
 * trace_perfetto.c - writes a trace in Perfetto's own format.
 *
 * The file is a protocol buffer: a list of packets, which may be in any order. Each track
 * is described once. A span consists of two packets, one for its beginning and one for
 * its end. The events of a loop are one sequence of packets. In a sequence, a name is
 * written once, with a number, and later packets contain only the number.
 *
 * Format: protos/perfetto/trace/trace_packet.proto of Perfetto v50, and the files that it
 * imports.
 */
#include "trace_writer.h"

#include "../base/base.h"

#include <string.h>

/* Numbers of fields. */
enum { TRACE_PACKET = 1 };
enum {
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60
};
enum {
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PARENT = 5,
    TRACK_CHILD_ORDERING = 11,
    TRACK_RANK = 12
};
enum {
    EVENT_CATEGORY = 3,
    EVENT_ARGUMENT = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_FLOWS = 47,
    EVENT_ENDING_FLOWS = 48
};
enum { ARGUMENT_KEY = 1, ARGUMENT_INTEGER = 4, ARGUMENT_TEXT = 6 };
enum { INTERNED_NUMBER = 1, INTERNED_TEXT = 2 };

/* Values of fields. */
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum { EXPLICIT_ORDER = 3 };

/* The lists of interned texts: numbers of fields of InternedData. */
enum list { CATEGORIES = 1, EVENT_NAMES = 2, ARGUMENT_KEYS = 3 };

#define MESSAGE_BYTES 1024 /* more than the longest packet: it has four short texts */
#define TEXT_BYTES 160
#define TEXTS_MAX 1024 /* texts that are remembered; others are written again */

struct message {
    size_t length;
    unsigned char bytes[MESSAGE_BYTES];
};

/* A text of this sequence that has a number. */
struct interned {
    uint32_t number; /* 0: unused */
    uint8_t list;
    char text[TEXT_BYTES];
};

/* The state of a sequence. */
struct sequence {
    uint32_t number_count;
    bool has_packets;
    struct message new_texts; /* InternedData of the next packet */
    struct interned texts[TEXTS_MAX];
};

/* ---- protocol buffers -------------------------------------------------------------- */

enum wire_type { VARINT = 0, FIXED64 = 1, BYTES = 2 };

static void put_byte(struct message *m, unsigned char byte)
{
    if (m->length < sizeof m->bytes)
        m->bytes[m->length++] = byte;
}

static void put_varint(struct message *m, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(m, (unsigned char)(value | 0x80));
    put_byte(m, (unsigned char)value);
}

static void put_tag(struct message *m, unsigned field, enum wire_type type)
{
    put_varint(m, field << 3 | type);
}

static void put_number(struct message *m, unsigned field, uint64_t value)
{
    put_tag(m, field, VARINT);
    put_varint(m, value);
}

static void put_fixed64(struct message *m, unsigned field, uint64_t value)
{
    put_tag(m, field, FIXED64);
    for (int i = 0; i < 8; i++)
        put_byte(m, (unsigned char)(value >> (8 * i)));
}

static void put_bytes(struct message *m, unsigned field, const void *bytes, size_t count)
{
    put_tag(m, field, BYTES);
    put_varint(m, count);
    for (size_t i = 0; i < count; i++)
        put_byte(m, ((const unsigned char *)bytes)[i]);
}

static void put_text(struct message *m, unsigned field, const char *text)
{
    put_bytes(m, field, text, strnlen(text, TEXT_BYTES - 1));
}

static void put_message(struct message *m, unsigned field, const struct message *inner)
{
    put_bytes(m, field, inner->bytes, inner->length);
}

/* ---- packets ----------------------------------------------------------------------- */

/*
 * Write a packet of the loop's sequence, including texts that were not yet written.
 * `field` is the field number of the packet's content.
 */
static void write_packet(struct coil__trace_writer *w, const int64_t *time,
                         unsigned field, const struct message *content)
{
    struct sequence *sequence = w->state;
    struct message packet = {0}, head = {0};

    if (time != NULL)
        put_number(&packet, PACKET_TIMESTAMP, *time > 0 ? (uint64_t)*time : 0);
    put_number(&packet, PACKET_SEQUENCE, (uint64_t)w->loop + 1);
    put_number(&packet, PACKET_FLAGS,
               sequence->has_packets ? NEEDS_STATE : STATE_CLEARED);
    if (sequence->new_texts.length > 0)
        put_message(&packet, PACKET_INTERNED, &sequence->new_texts);
    put_message(&packet, field, content);
    put_tag(&head, TRACE_PACKET, BYTES);
    put_varint(&head, packet.length);
    fwrite(head.bytes, 1, head.length, w->out);
    fwrite(packet.bytes, 1, packet.length, w->out);
    sequence->has_packets = true;
    sequence->new_texts.length = 0;
}

static unsigned hash_text(enum list list, const char *text)
{
    unsigned hash = list;

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash ^ hash >> 15;
}

/* Return the number of a text. A new text is added to the next packet. */
static uint32_t intern(struct coil__trace_writer *w, enum list list, const char *text)
{
    struct sequence *sequence = w->state;
    struct interned *slot = &sequence->texts[hash_text(list, text) % TEXTS_MAX];
    struct message entry = {0};

    if (slot->number != 0 && slot->list == list && strcmp(slot->text, text) == 0)
        return slot->number;
    *slot = (struct interned){++sequence->number_count, (uint8_t)list, ""};
    snprintf(slot->text, sizeof slot->text, "%s", text);
    put_number(&entry, INTERNED_NUMBER, slot->number);
    put_text(&entry, INTERNED_TEXT, text);
    put_message(&sequence->new_texts, list, &entry);
    return slot->number;
}

/*
 * Return the identifier of a track. Never 0, which identifies the track of the whole
 * trace.
 */
static uint64_t uuid_of(const struct coil__trace_writer *w, uint32_t track)
{
    return ((uint64_t)w->loop + 1) << 33 | track;
}

static uint64_t uuid_of_loop(const struct coil__trace_writer *w)
{
    return uuid_of(w, 0) | UINT64_C(1) << 32;
}

static uint64_t flow_of(const struct coil__trace_writer *w, uint64_t arrow)
{
    return ((uint64_t)w->loop + 1) << 40 | arrow;
}

/* ---- events ------------------------------------------------------------------------ */

static void put_argument(struct coil__trace_writer *w, struct message *event,
                         const struct coil__trace_argument *argument)
{
    struct message m = {0};

    if (argument->key == NULL)
        return;
    put_number(&m, ARGUMENT_KEY, intern(w, ARGUMENT_KEYS, argument->key));
    if (argument->text != NULL)
        put_text(&m, ARGUMENT_TEXT, argument->text);
    else
        put_number(&m, ARGUMENT_INTEGER, (uint64_t)argument->number);
    put_message(event, EVENT_ARGUMENT, &m);
}

static struct message begin_event(struct coil__trace_writer *w, unsigned type,
                                  uint32_t track, const char *name)
{
    struct message event = {0};

    put_number(&event, EVENT_TYPE, type);
    put_number(&event, EVENT_TRACK, uuid_of(w, track));
    if (name != NULL)
        put_number(&event, EVENT_NAME, intern(w, EVENT_NAMES, name));
    return event;
}

static void put_span(struct coil__trace_writer *w, const struct coil__trace_span *span)
{
    struct message event = begin_event(w, SLICE_BEGIN, span->track, span->name);

    put_number(&event, EVENT_CATEGORY, intern(w, CATEGORIES, span->category));
    put_argument(w, &event, &span->argument);
    if (span->arrow != 0)
        put_fixed64(&event, EVENT_ENDING_FLOWS, flow_of(w, span->arrow));
    write_packet(w, &span->begin, PACKET_EVENT, &event);
    event = begin_event(w, SLICE_END, span->track, NULL);
    write_packet(w, &span->end, PACKET_EVENT, &event);
}

static void put_instant(struct coil__trace_writer *w,
                        const struct coil__trace_instant *instant)
{
    struct message event = begin_event(w, INSTANT, instant->track, instant->name);

    for (size_t i = 0; i < 2; i++)
        put_argument(w, &event, &instant->arguments[i]);
    write_packet(w, &instant->at, PACKET_EVENT, &event);
}

/*
 * Write the beginning of the arrow. The end of the arrow is written as part of the span
 * at which it ends.
 */
static void put_arrow(struct coil__trace_writer *w, const struct coil__trace_arrow *arrow)
{
    struct message event = begin_event(w, INSTANT, arrow->from_track, arrow->name);

    put_fixed64(&event, EVENT_FLOWS, flow_of(w, arrow->number));
    write_packet(w, &arrow->from, PACKET_EVENT, &event);
}

/* ---- files, loops and tracks ------------------------------------------------------- */

static bool begin_file(struct coil__trace_writer *w, bool append)
{
    return !append || fseek(w->out, 0, SEEK_END) == 0;
}

static void end_file(struct coil__trace_writer *w)
{
    (void)w;
}

static bool begin_loop(struct coil__trace_writer *w, const char *name)
{
    struct message track = {0};

    w->state = coil__alloc_zeroed(sizeof(struct sequence));
    if (w->state == NULL)
        return false;
    put_number(&track, TRACK_UUID, uuid_of_loop(w));
    put_text(&track, TRACK_NAME, name);
    put_number(&track, TRACK_CHILD_ORDERING, EXPLICIT_ORDER);
    write_packet(w, NULL, PACKET_TRACK, &track);
    return true;
}

static void end_loop(struct coil__trace_writer *w)
{
    coil__free(w->state);
    w->state = NULL;
}

static void put_track(struct coil__trace_writer *w, uint32_t track, const char *name)
{
    struct message m = {0};

    put_number(&m, TRACK_UUID, uuid_of(w, track));
    put_number(&m, TRACK_PARENT, uuid_of_loop(w));
    put_text(&m, TRACK_NAME, name);
    put_number(&m, TRACK_RANK, track);
    write_packet(w, NULL, PACKET_TRACK, &m);
}

const struct coil__trace_format coil__trace_perfetto = {.begin_file = begin_file,
                                                        .end_file = end_file,
                                                        .begin_loop = begin_loop,
                                                        .end_loop = end_loop,
                                                        .track = put_track,
                                                        .span = put_span,
                                                        .instant = put_instant,
                                                        .arrow = put_arrow};
