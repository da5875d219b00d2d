/*
 * out.h - a report that survives: whole lines, in order, whatever ends the program.
 *
 *     struct out out;
 *     int rc = out_open(&out, "crawl.jsonl");    "-" is stdout
 *
 *     out_print(&out, "{\"n\":%d}\n", 1);
 *     out_flush(&out);                          each second: what is whole is written
 *     rc = out_close(&out);
 *
 * The first failure stays: whatever follows writes nothing and returns it again, so that it may
 * be asked for once, at the end. Writing blocks the thread while the reader of a pipe or a
 * terminal takes nothing; signals come through.
 */
#ifndef CRAWLER_OUT_H
#define CRAWLER_OUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct out {
    int fd;           /* that was given, or the same file opened anew */
    const char *name; /* for complaints; borrowed */
    bool is_owned;    /* out_close() closes it */
    bool is_file;     /* a regular one: writing never waits for a reader */
    char *bytes;
    size_t n, capacity;  /* of bytes */
    size_t written;      /* of them */
    atomic_size_t whole; /* the end of the last whole line among them */
    atomic_flag is_busy; /* somebody writes */
    int rc;              /* the first failure */
};

/* A file that is made or emptied; `path` is borrowed. 0 or a negative errno. */
int out_open(struct out *out, const char *path);

/* On a descriptor that stays the caller's. 0 or -ENOMEM. */
int out_open_fd(struct out *out, int fd, const char *name);

/* Each returns out->rc. */
int out_write(struct out *out, const char *bytes, size_t n);
int out_put(struct out *out, const char *text);
int out_print(struct out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Room for n bytes, NULL after a failure; what is put there counts when it is committed. For
 * whole lines only.
 */
char *out_reserve(struct out *out, size_t n);
void out_commit(struct out *out, const char *end);

/* A text of somebody else's, for people: control characters become '?'. */
int out_put_plain(struct out *out, const char *text, size_t n);

/* The same of a URL, or of a text with URLs in it, whose passwords become "***". */
int out_put_url(struct out *out, const char *url);

/* What is to be written is not all there: as if writing had failed with rc. Returns out->rc. */
int out_fail(struct out *out, int rc);

/* Hand the whole lines to the kernel. */
int out_flush(struct out *out);

/*
 * For a signal's handler that ends the program afterwards: write the whole lines, for a
 * second at most if nobody reads them. Nothing else may be done with `out` then, and other
 * threads that try to, stop. (Async-signal-safe)
 */
void out_flush_in_handler(struct out *out);

/* Write everything and close. Returns out->rc; zeroes are accepted. */
int out_close(struct out *out);

#endif
