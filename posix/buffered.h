/*
 * buffered.h - FILEs of the C library in a task. The buffer stays the C library's;
 * filling and flushing it is done here, with a read and a write that suspend the task.
 *
 *     struct posix__use use;
 *
 *     if (posix__straight_in(file))          the byte is buffered, or not our FILE
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
 * A task's lock on a FILE; recursive. The caller has it on its stack. flockfile()
 * allocates it.
 */
struct posix__use {
    FILE *file;
    const coil_task *task;
    unsigned depth; /* how many uses are nested in this one */
    struct posix__use *outer, *next;
};

/*
 * Wait until no other task of this thread and no other thread uses the FILE; then it is
 * this task's until posix__end_use(). False, and errno is ECANCELED, if the task was
 * cancelled.
 */
bool posix__begin_use(struct posix__use *use, FILE *file);
void posix__end_use(struct posix__use *use);

/* The FILE is about to be closed: drop this task's flockfile(). */
void posix__forget(FILE *file);

/* False for a stream in memory (open_memstream) or of callbacks (fopencookie). */
bool posix__has_descriptor(const FILE *file);

/*
 * True if the C library may do the whole call, because it will not wait or because coil
 * does not handle the FILE. The three functions are for any call, for reading one byte,
 * and for writing one byte.
 */
bool posix__straight(const FILE *file);
bool posix__straight_in(const FILE *file);
bool posix__straight_out(const FILE *file);

/*
 * Take a byte from the buffer, or put one into it, if no other thread has the FILE's lock:
 * the C library's getc() and putc() would block this one. False: it is locked, or the
 * buffer is empty or full, or the FILE is not ours.
 */
bool posix__get_at_once(FILE *file, int *c);
bool posix__put_at_once(FILE *file, int c);

/* ---- the buffer: only between posix__begin_use() and posix__end_use() -------------- */

/* Fill an empty buffer. 1: there is something to read, 0: end of file, -1: failed. End
 * and failure are noted in the FILE. */
int posix__fill(FILE *file);

/* The number of bytes in the buffer. */
size_t posix__available(const FILE *file);

/* Read into `to`, not into the buffer, which is empty; returns as posix__fill() does.
 * Only if posix__reads_past() is true. */
bool posix__reads_past(const FILE *file);
ssize_t posix__read_past(FILE *file, void *to, size_t n);

/* Copy into the buffer, and write it as the buffering mode of the FILE demands. Returns
 * the number of bytes taken; if less than n, the failure is noted in the FILE. */
size_t posix__put(FILE *file, const void *from, size_t n);

/* Write what the buffer holds; 0 or -1. */
int posix__drain(FILE *file);

/* Drop what the buffer holds unwritten. */
void posix__discard(FILE *file);

#endif
