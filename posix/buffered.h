/*
 * buffered.h - use FILEs of the C library in a task. These functions fill and flush the C
 * library's buffer with reads and writes that suspend the task.
 *
 *     struct posix__use use;
 *
 *     if (posix__libc_handles_get(file))     the byte is buffered, or not our FILE
 *         return NEXT(getc)(file);
 *     if (!posix__begin_use(&use, file))     errno is ECANCELED
 *         return EOF;
 *     if (posix__fill(file) > 0)
 *         ...take bytes from the buffer: that does not wait
 *     posix__end_use(&use);
 */
#ifndef POSIX_BUFFERED_H
#define POSIX_BUFFERED_H

#include "waiting.h"

#include <stdio.h>

/* ---- the use of a FILE by one task ------------------------------------------------- */

/*
 * A task's recursive lock on a FILE. This struct is usually on the caller's stack, but
 * flockfile() allocates it.
 */
struct posix__use {
    FILE *file;
    const coil_task *task;
    unsigned depth; /* number of uses nested in this one */
    struct posix__use *outer, *next;
};

/*
 * Wait until no other task of this thread and no other thread uses the FILE. After that,
 * this task owns the FILE until posix__end_use(). If the task was cancelled, returns
 * false with errno ECANCELED.
 */
bool posix__begin_use(struct posix__use *use, FILE *file);
void posix__end_use(struct posix__use *use);

/* Drop this task's flockfile(), because the FILE is about to be closed. */
void posix__forget(FILE *file);

/* False for streams made by open_memstream() or fopencookie(). */
bool posix__has_descriptor(const FILE *file);

/*
 * True if the C library can perform the whole call, either because the call will not
 * wait, or because coil does not handle this FILE. The first function is for any call,
 * the second for a call that reads one byte, and the third for a call that writes one
 * byte.
 */
bool posix__libc_handles(const FILE *file);
bool posix__libc_handles_get(const FILE *file);
bool posix__libc_handles_put(const FILE *file);

/*
 * Take a byte from the buffer, or put a byte into it, unless another thread has locked
 * the FILE. (While another thread holds the lock, the C library's getc() and putc() would
 * block this thread.) Returns false if the FILE is locked, the buffer is empty or full,
 * or coil does not handle the FILE.
 */
bool posix__get_at_once(FILE *file, int *c);
bool posix__put_at_once(FILE *file, int c);

/* ---- the buffer: only between posix__begin_use() and posix__end_use() -------------- */

/* Fill an empty buffer. Returns 1 if there are bytes to read, 0 at the end of the file,
 * or -1 after a failure. In the last two cases, the FILE's flags are set. */
int posix__fill(FILE *file);

/* Return the number of bytes in the buffer. */
size_t posix__available(const FILE *file);

/*
 * Read into `to` instead of the buffer, which must be empty. Returns like posix__fill().
 * Call this only if posix__reads_past() is true.
 */
bool posix__reads_past(const FILE *file);
ssize_t posix__read_past(FILE *file, void *to, size_t n);

/*
 * Copy bytes into the buffer, and write the buffer when the FILE's buffering mode
 * requires it. Returns the number of bytes copied or written. If fewer than n bytes were
 * copied or written, the FILE's error flag is set.
 */
size_t posix__put(FILE *file, const void *from, size_t n);

/* Write the content of the buffer. Returns 0 or -1. */
int posix__drain(FILE *file);

/* Drop the bytes in the buffer that have not been written. */
void posix__discard(FILE *file);

#endif
