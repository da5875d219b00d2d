/*
 * notices.h (internal) - notices from the kernel about changes to files.
 *
 * Each function returns a number or 0, or -1 with errno, like a system call.
 */
#ifndef COIL_KERNEL_NOTICES_H
#define COIL_KERNEL_NOTICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum coil__notice_kind {
    COIL__NOTICE_CREATED,
    COIL__NOTICE_MODIFIED,
    COIL__NOTICE_ATTRIBUTES,
    COIL__NOTICE_DELETED,
    COIL__NOTICE_MOVED_FROM,
    COIL__NOTICE_MOVED_TO,
    COIL__NOTICE_GONE,    /* the watched file itself was deleted, moved or unmounted */
    COIL__NOTICE_IGNORED, /* the kernel no longer watches the file */
    COIL__NOTICE_OVERFLOW,
    COIL__NOTICE_OTHER
};

struct coil__notice {
    int watch; /* the number that coil__notices_add() returned */
    enum coil__notice_kind kind;
    bool is_directory;
    uint32_t cookie;  /* equal for the two notices of a rename */
    const char *name; /* a name in the watched folder; "" for the folder or file itself */
};

/* The minimum size of the buffer for coil__notices_read(). */
#define COIL__NOTICES_BYTES 4096

/* Open a non-blocking, close-on-exec descriptor for notices. */
int coil__notices_open(void);

/*
 * Watch a path, and return the number of the watch. A path that is already watched keeps
 * its number. If `inside` is true, the path is a folder inside a tree, and is watched
 * only if it is really a folder and not a symbolic link.
 */
int coil__notices_add(int fd, const char *path, bool inside);

int coil__notices_remove(int fd, int watch);

/* Read the notice at buf[*position], and move the position past it. */
void coil__notices_take(const char *buf, size_t *position, struct coil__notice *out);

#endif
