/*
 * out.h - write a report. Whatever ends the program, no complete line is lost.
 *
 *     struct out out;
 *     int rc = out_open(&out, "crawl.jsonl");      // "-" is stdout
 *
 *     out_print(&out, "{\"n\":%d}\n", 1);
 *     out_flush(&out);             // once a second: write the complete lines
 *     rc = out_close(&out);
 *
 * After the first error, nothing more is written, and every call returns that error, so
 * one check at the end is enough. Writing to a pipe or terminal blocks the thread until
 * the reader reads, but signals are handled during that time.
 */
#ifndef CRAWLER_OUT_H
#define CRAWLER_OUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct out {
    int fd;           /* descriptor of the caller, or of the same file opened again */
    const char *name; /* the file's name for messages, not copied */
    bool is_owned;    /* out_close() closes fd */
    bool is_file;     /* fd is a regular file, so writes need not wait for a reader */
    char *bytes;
    size_t n, capacity;  /* used and allocated size of `bytes` */
    size_t written;      /* number of bytes already written */
    atomic_size_t whole; /* offset of the end of the last complete line */
    atomic_flag is_busy; /* lock for writing or moving bytes */
    int rc;              /* the first error */
};

/*
 * Create or truncate a file. `path` is borrowed. Returns 0 or a negative errno.
 */
int out_open(struct out *out, const char *path);

/*
 * Write to a descriptor, which the caller must not close before out_close(). Returns 0 or
 * -ENOMEM.
 */
int out_open_fd(struct out *out, int fd, const char *name);

/* Append text. Each function returns out->rc. */
int out_write(struct out *out, const char *bytes, size_t n);
int out_put(struct out *out, const char *text);
int out_print(struct out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Return space for n bytes, or NULL after an error. The caller writes complete lines to
 * this space, and passes their end to out_commit(), which appends them.
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

/*
 * Set out->rc to `rc`, unless it already is an error. Called if the output is incomplete,
 * although no write has failed. Returns out->rc.
 */
int out_fail(struct out *out, int rc);

/* Write the complete lines to the file. */
int out_flush(struct out *out);

/*
 * Write the complete lines, waiting at most a second for a reader. Async-signal-safe: to
 * be called in a signal handler that is about to end the program. Afterwards `out` must
 * not be used: other threads that try to use it will hang.
 */
void out_flush_in_handler(struct out *out);

/* Write all bytes and close the file. Returns out->rc. A zeroed struct is accepted. */
int out_close(struct out *out);

#endif
