/*
 * file.h (internal) - parts of coil_file that several source files in this folder share.
 */
#ifndef COIL_OS_FILE_H
#define COIL_OS_FILE_H

#include "../io/file_op.h"

#include <coil/file.h>

/* The fields that coil requests from statx(2). */
#define COIL__STATX_MASK (STATX_BASIC_STATS | STATX_BTIME)

/*
 * The maximum number of bytes that one read(2) or write(2) transfers on Linux (read(2),
 * notes).
 */
#define COIL__FILE_STEP ((size_t)0x7ffff000)

/* Bytes read ahead of the file's position, in order to find the ends of lines. */
struct coil__ahead {
    char *bytes; /* NULL until the first read */
    size_t size, count;
    int64_t offset;   /* offset of bytes[0] in the file */
    unsigned changes; /* number of calls that have changed the file's bytes */
    /* value of `changes` when `bytes` was read: if they differ, `bytes` is stale */
    unsigned seen;
};

/*
 * Begin and end a call at the file's position. coil__file_enter_position() suspends until
 * no other such call is in progress. Fails with -ESPIPE if the file has no position, or
 * with -EBADF if the file is closed. If this function succeeds,
 * coil__file_leave_position() must follow, with the number of bytes transferred.
 */
int coil__file_enter_position(coil_file *file, struct coil__ahead **ahead,
                              const char *caller);
void coil__file_leave_position(coil_file *file, size_t transferred);

/*
 * Perform one operation of a call on the file. Sets op->fd. Fails with -EBADF if the file
 * is closed.
 */
ssize_t coil__file_step(coil_file *file, struct coil__op *op);

/*
 * Perform a call on the file that consists of one operation. Sets op->fd. Fails with
 * -EBADF if the file is closed.
 */
ssize_t coil__file_op(coil_file *file, struct coil__op *op, const char *caller);

/*
 * Replace the six X at the end of `name` with random characters and call make(name, arg).
 * If make() fails with -EEXIST, try up to 100 names. Returns the result of make(), or
 * -EINVAL if `name` does not end in six X. After a failure the six characters are X
 * again.
 */
int coil__path_make(char *name, int (*make)(const char *name, void *arg), void *arg);

/*
 * The file that coil_write_file() or coil_copy_file() writes: `path` itself, or, with
 * COIL_FILE_ATOMIC, a new file in the same directory, which is renamed to `path` at the
 * end.
 */
struct coil__target {
    coil_file *file;
    const char *path;
    /* the new file's name until the rename, or NULL if `path` itself is written */
    char *beside;
    unsigned flags;
};

/* Like coil_stat(), but never changes the task's last error. */
int coil__target_look(const char *path, struct statx *out);

/*
 * Open the target. If a new file is created, it gets `mode`, or the mode of the existing
 * file that it will replace. Without COIL_FILE_ATOMIC, open_flags (such as O_TRUNC or
 * O_APPEND) are passed to open(2).
 */
int coil__target_open(struct coil__target *target, const char *path, mode_t mode,
                      unsigned flags, int open_flags);

/*
 * Close the target. If rc is 0, first sync the file as the target's flags require, and
 * then rename a new file to `path`. If rc is negative, or if one of these steps fails,
 * remove the new file. Returns rc or the error of the step.
 */
int coil__target_close(struct coil__target *target, int rc);

#endif
