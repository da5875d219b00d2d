/*
 * trace_writer.h (internal) - the events of a trace, and the formats of its file.
 *
 * trace_replay.c passes the events of each loop to a struct coil__trace_writer, and the
 * functions of the format write them. Track 0 shows the loop, and track N the task with
 * the number N. Spans of the same track do not overlap, and are written in the order in
 * which they end. Spans of different tracks are not ordered.
 */
#ifndef COIL_LOOP_TRACE_WRITER_H
#define COIL_LOOP_TRACE_WRITER_H

#include "trace_file.h"

/* An argument of an event. If `text` is NULL, the value is `number`. */
struct coil__trace_argument {
    const char *key; /* NULL: the event has no such argument */
    const char *text;
    int64_t number;
};

/* Something that lasts from `begin` to `end`, in ns. */
struct coil__trace_span {
    const char *name, *category;
    uint32_t track;
    int64_t begin, end;
    struct coil__trace_argument argument;
    uint64_t arrow; /* number of the arrow that ends at this span; 0: none */
};

/* Something that happens at one point in time. */
struct coil__trace_instant {
    const char *name;
    uint32_t track;
    bool is_global; /* concerns all tracks of the loop */
    int64_t at;
    struct coil__trace_argument arguments[2];
};

/* The reason why a task became ready: it was woken or spawned by another track. */
struct coil__trace_arrow {
    uint64_t number; /* unique for the loop */
    const char *name;
    uint32_t from_track, to_track;
    int64_t from, to; /* in ns; each is inside a span of its track */
};

struct coil__trace_format {
    /* Begin and end a file, or the part that is added to an existing file. begin_file()
       returns false, and sets errno, if the file cannot be continued. */
    bool (*begin_file)(struct coil__trace_writer *writer, bool append);
    void (*end_file)(struct coil__trace_writer *writer);
    /* Begin and end the events of the loop writer->loop. begin_loop() returns false if
       there is no memory. */
    bool (*begin_loop)(struct coil__trace_writer *writer, const char *name);
    void (*end_loop)(struct coil__trace_writer *writer);
    void (*track)(struct coil__trace_writer *writer, uint32_t track, const char *name);
    void (*span)(struct coil__trace_writer *writer, const struct coil__trace_span *span);
    void (*instant)(struct coil__trace_writer *writer,
                    const struct coil__trace_instant *instant);
    void (*arrow)(struct coil__trace_writer *writer,
                  const struct coil__trace_arrow *arrow);
};

extern const struct coil__trace_format coil__trace_json, coil__trace_perfetto;

#endif
