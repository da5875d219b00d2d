/*
 * trace_file.h - writes traces to a file, as JSON or in Perfetto's format.
 *
 * coil-ps, too, uses these functions, for the traces of other processes.
 */
#ifndef COIL_LOOP_TRACE_FILE_H
#define COIL_LOOP_TRACE_FILE_H

#include "trace_record.h"

#include "../error/report.h"

#include <coil/loop.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Called for each task that exists. `fn` is the address of the task's function. */
typedef void coil__trace_visit_task(void *arg, uint32_t number, const char *name,
                                    uint64_t fn);

/*
 * A copy of a loop's records, and functions that read what the records refer to: texts
 * and tasks.
 */
struct coil__trace_copy {
    const struct coil__trace_record *records; /* oldest first */
    size_t count;
    struct coil__trace_clock clock;
    uint32_t id;   /* identifies the loop in the file */
    uint32_t loop; /* number of the loop; each copy of libcoil counts its own loops */
    int pid, thread;
    void *arg; /* passed to both functions */
    /* Copy a text of the traced process. Returns false if the text cannot be read. */
    bool (*text)(void *arg, uint64_t address, char *text, size_t size);
    void (*each_task)(void *arg, coil__trace_visit_task *visit, void *visit_arg);
};

/* A file that is being written. */
struct coil__trace_writer {
    FILE *out;
    const struct coil__trace_format *format;
    uint32_t loop; /* identifies the loop whose events are being written */
    /* State of the functions that write the file's format. */
    struct coil__report report;
    bool follows; /* the next event needs a comma before it */
    void *state;
};

/*
 * Begin and end a file. In between, call coil__trace_write_events() for each loop. The
 * ending of `path`, which may be NULL, determines the format: Perfetto's for ".pftrace"
 * and ".perfetto-trace", otherwise JSON. If `append` is true, `out` is an existing file
 * of the same format, whose events remain. coil__trace_begin_file() returns false, and
 * sets errno, if that file cannot be continued.
 */
bool coil__trace_begin_file(struct coil__trace_writer *writer, FILE *out,
                            const char *path, bool append);
void coil__trace_end_file(struct coil__trace_writer *writer);

/* Write the events of a loop. Returns 0 or -ENOMEM; the caller must check the file for
   errors. */
int coil__trace_write_events(struct coil__trace_writer *writer,
                             const struct coil__trace_copy *copy);

/*
 * Write the trace of `loop`, which is this thread's loop, to the file at `path`. If
 * `append` is true, keep the events that are already in that file. Returns 0 or a
 * negative errno.
 */
int coil__trace_write_file(coil_loop *loop, const char *path, bool append);

#endif
