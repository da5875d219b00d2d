/*
 * coil/directory.h - list a directory without blocking the loop.
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
 * The order of entries is not defined; "." and ".." are omitted. An entry that is created
 * or removed during the listing may be included or not; every other entry is included
 * once. Each system call reads many entries. (readdir(3); Python: os.scandir)
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
    /*
     * DT_REG, DT_DIR, DT_LNK, ... from <dirent.h>. DT_UNKNOWN means that the entry was
     * removed before its type could be read.
     */
    unsigned char type;
} coil_directory_entry;

/*
 * Open a directory. The caller owns *out. Fails with -ENOTDIR if the path is not a
 * directory, or like coil_file_open().
 */
COIL_SUSPENDS COIL_CHECKED int coil_directory_open(const char *path,
                                                   coil_directory **out);

/*
 * Read the next entry. Returns 1, or 0 at the end.
 *
 * If the directory does not store the type of an entry, coil reads it from the file
 * system. Fails with -EBUSY if another call is in progress. After a failure the call can
 * be repeated.
 */
COIL_SUSPENDS COIL_CHECKED int coil_directory_next(coil_directory *directory,
                                                   coil_directory_entry *out);

/* Start again from the first entry of the directory's current content. */
COIL_SUSPENDS int coil_directory_rewind(coil_directory *directory);

/* Return the descriptor, borrowed, for openat(2) and similar calls. */
COIL_API int coil_directory_fd(const coil_directory *directory);

/*
 * Free the directory; NULL is accepted. Never suspends. A call in progress completes
 * first.
 */
COIL_API void coil_directory_destroy(coil_directory *directory);

#ifdef __cplusplus
}
#endif

#endif
