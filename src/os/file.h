/*
 * file.h (internal) - files, as their neighbours see them.
 */
#ifndef COIL_OS_FILE_H
#define COIL_OS_FILE_H

#include "file_op.h"

#include <coil/file.h>

/* What statx(2) is asked for. */
#define COIL__STATX_MASK (STATX_BASIC_STATS | STATX_BTIME)

/* What no call on files moves more of than at once: read(2), notes. */
#define COIL__FILE_STEP ((size_t)0x7ffff000)

/* One operation, whose fd is filled in. -EBADF if the file is closed. */
ssize_t coil__file_op(coil_file *file, struct coil__op *op);

/*
 * Replace the six X that `name` ends in and call make(name, arg), again with other names
 * while that is -EEXIST. Returns what it returned; -EINVAL if there are no six X.
 */
int coil__path_make(char *name, int (*make)(const char *name, void *arg), void *arg);

/*
 * A file that is being written, by coil_write_file() and coil_copy_file(): at `path`
 * itself, or, with COIL_FILE_ATOMIC, beside it.
 */
struct coil__target {
    coil_file *file;
    const char *path;
    char *beside; /* its name until it takes its place; NULL: `path` itself */
    unsigned flags;
};

/*
 * Open it. `mode` is that of a file that is made; one that will replace another takes
 * that one's. open_flags are for a file that is there: O_TRUNC, O_APPEND.
 */
int coil__target_open(struct coil__target *target, const char *path, mode_t mode,
                      unsigned flags, int open_flags);

/* Finish and close it. With rc < 0 give it up, as far as it is beside; returns the rc. */
int coil__target_close(struct coil__target *target, int rc);

#endif
