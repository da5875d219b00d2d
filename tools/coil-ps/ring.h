/*
 * ring.h - traces the loops of a process, or reads their traces in a core:
 * docs/design/trace.md.
 */
#ifndef COIL_PS_RING_H
#define COIL_PS_RING_H

#include "snapshot.h"

#include <stdio.h>

struct tracing {
    struct image *image;
    const struct table *tables; /* the copies of coil, at most TABLES_MAX */
    size_t table_count;
    int pid;             /* 0: a core */
    int64_t duration_ns; /* duration of the trace; unused for a core */
    struct snapshot_options options;
    const char *path; /* the output file, for its format; NULL: stdout */
};

/*
 * Trace a process, or read the traces in a core, and write the events to `out`. SIGINT
 * ends the trace of a process early. On failure, returns false with a message in `why`.
 */
bool ring_trace(const struct tracing *tracing, FILE *out, char *why, size_t size);

#endif
