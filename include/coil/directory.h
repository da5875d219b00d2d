/*
 * coil/directory.h - list a directory, without blocking the loop.
 *
 *     coil_directory *d;
 *     coil_directory_entry e;
 *     rc = coil_directory_open("/etc", &d);
 *     if (rc < 0)
 *         return rc;
 *     while ((rc = coil_directory_next(d, &e)) > 0)
 *         puts(e.name);
 *     coil_directory_destroy(d);
 *
 * The order of entries is not defined; "." and ".." are left out. An entry that is made
 * or removed during the listing may be in it or not; all others are in it once. The
 * kernel is asked for many entries at a time. (readdir(3); Python: os.scandir)
 */
#ifndef COIL_DIRECTORY_H
#define COIL_DIRECTORY_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_directory coil_directory;

typedef struct coil_directory_entry {
    const char *name; /* borrowed until the next call on the directory */
    uint64_t inode;
    unsigned char type; /* DT_REG, DT_DIR, DT_LNK, ... of <dirent.h>; DT_UNKNOWN: it was
                           gone before that could be asked */
} coil_directory_entry;

/* *out is the caller's. -ENOTDIR if it is not a directory; else as coil_file_open(). */
COIL_SUSPENDS int coil_directory_open(const char *path, coil_directory **out);

/*
 * The next entry: 1; or 0 at the end. Its type is asked of the file system where the
 * directory does not tell it. One call at a time: -EBUSY. After a failure it can be
 * called again.
 */
COIL_SUSPENDS int coil_directory_next(coil_directory *directory,
                                      coil_directory_entry *out);

/* Begin again: list the directory as it is now. */
COIL_SUSPENDS int coil_directory_rewind(coil_directory *directory);

/* The descriptor, borrowed, for openat(2) and its like. */
COIL_API int coil_directory_fd(const coil_directory *directory);

/* Free it; NULL is accepted. Never suspends. A call that is in it ends first. */
COIL_API void coil_directory_destroy(coil_directory *directory);

#ifdef __cplusplus
}
#endif

#endif
