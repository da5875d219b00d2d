/*
 * out.h - write a report without losing complete lines, however the program ends.
 *
 *     struct out out;
 *     int rc = out_open(&out, "crawl.jsonl");      // "-" is stdout
 *
 *     out_print(&out, "{\"n\":%d}\n", 1);
 *     out_flush(&out);             // once a second: write the complete lines
 *     rc = out_close(&out);
 *
 * After the first error, writing stops and every call returns that error, so one check at
 * the end is enough. Writing to a pipe or terminal blocks the thread until the reader
 * reads. Signals are still handled during that time.
 */
#ifndef CRAWLER_OUT_H
#define CRAWLER_OUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct out {
    int fd;           /* the caller's descriptor, or the same file opened again */
    const char *name; /* the file's name for messages, not copied */
    bool is_owned;    /* out_close() closes fd */
    bool is_file;     /* fd is a regular file, so writing never waits for a reader */
    char *bytes;
    size_t n, capacity;  /* used and allocated size of `bytes` */
    size_t written;      /* number of bytes that are already written */
    atomic_size_t whole; /* offset of the end of the last complete line */
    atomic_flag is_busy; /* a lock for writing or moving bytes */
    int rc;              /* the first error */
};

/*
 * Create or truncate a file. `path` is borrowed. Returns 0 or a negative errno.
 */
int out_open(struct out *out, const char *path);

/* Write to a descriptor that the caller keeps open. Returns 0 or -ENOMEM. */
int out_open_fd(struct out *out, int fd, const char *name);

/* Append text. Each function returns out->rc. */
int out_write(struct out *out, const char *bytes, size_t n);
int out_put(struct out *out, const char *text);
int out_print(struct out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Return space for n bytes, or NULL after a failure. out_commit() appends the bytes that
 * were written to this space. Use the two functions only for complete lines.
 */
char *out_reserve(struct out *out, size_t n);
void out_commit(struct out *out, const char *end);

/* Write untrusted text for human readers: control characters become '?'. */
int out_put_plain(struct out *out, const char *text, size_t n);

/*
 * Write a URL, or text that contains URLs, for human readers. Control characters become
 * '?', and passwords become "***".
 */
int out_put_url(struct out *out, const char *url);

/* Record that the caller could not produce all of its output: set out->rc to `rc`, unless
   it already holds an error. Returns out->rc. */
int out_fail(struct out *out, int rc);

/* Write the complete lines to the file. */
int out_flush(struct out *out);

/*
 * Write the complete lines. Call this in a signal handler that is about to end the
 * program. Waits at most a second for a reader. Afterwards `out` must not be used: other
 * threads that try to use it will hang. (Async-signal-safe)
 */
void out_flush_in_handler(struct out *out);

/* Write all bytes and close the file. Returns out->rc. `out` may be zeroed. */
int out_close(struct out *out);

#endif
