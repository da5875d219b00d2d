/*
 * directory.c - reads the entries of a directory.
 *
 * getdents64(2), called on a thread, fills a buffer with a few hundred entries. Creating
 * or removing entries between two such calls does no harm, because the kernel identifies
 * the next entry by an offset.
 */
#include "file.h"

#include <coil/directory.h>

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define BUFFER_BYTES ((size_t)32 * 1024)

/* The layout that getdents64(2) writes. No header declares it (struct linux_dirent64). */
struct kernel_entry {
    uint64_t inode;
    int64_t offset;
    unsigned short bytes;
    unsigned char type;
    char name[];
};

struct coil_directory {
    coil_file *file;
    _Alignas(struct kernel_entry) char buffer[BUFFER_BYTES];
    bool busy;      /* a call on the directory is in progress */
    bool destroyed; /* destroyed by the owner: the call in progress frees it */
    size_t position, filled;
};

int coil_directory_open(const char *path, coil_directory **out)
{
    COIL__REQUIRE(path, "a path");
    COIL__REQUIRE(out, "an output pointer");
    coil_directory *directory = coil__alloc(sizeof *directory);
    int rc;

    *out = NULL;
    if (directory == NULL)
        return coil__failed(-ENOMEM);
    directory->busy = directory->destroyed = false;
    directory->position = directory->filled = 0;
    rc = coil_file_open(path, O_RDONLY | O_DIRECTORY, 0, &directory->file);
    if (rc < 0)
        coil__free(directory);
    else
        *out = directory;
    return rc;
}

static int enter_directory(coil_directory *directory, const char *caller)
{
    if (COIL__UNLIKELY(directory->destroyed))
        coil__misuse_gone(caller);
    if (directory->busy)
        return coil__failed(-EBUSY);
    directory->busy = true;
    return 0;
}

static void release_directory(coil_directory *directory)
{
    if (directory->busy)
        return;
    coil_file_destroy(directory->file);
    coil__free_object(directory);
}

static void leave_directory(coil_directory *directory)
{
    directory->busy = false;
    if (directory->destroyed)
        release_directory(directory);
}

void coil_directory_destroy(coil_directory *directory)
{
    if (directory == NULL)
        return;
    if (directory->destroyed)
        coil__misuse_gone("coil_directory_destroy");
    directory->destroyed = true;
    release_directory(directory);
}

int coil_directory_fd(const coil_directory *directory)
{
    COIL__REQUIRE(directory, "a directory");
    if (directory->destroyed)
        coil__misuse_gone("coil_directory_fd");
    return coil_file_fd(directory->file);
}

/* ---- reading ----------------------------------------------------------------------- */

/* Fill the buffer with the next entries. Returns 1, 0 at the end, or a negative errno. */
static int read_entries(coil_directory *directory)
{
    ssize_t n = coil__file_op(directory->file,
                              &(struct coil__op){.kind = COIL__OP_LIST,
                                                 .buf = directory->buffer,
                                                 .len = BUFFER_BYTES},
                              "coil_directory_next");

    if (directory->destroyed)
        return coil__failed(-EBADF);
    if (n == -ENOENT) /* the directory was removed */
        return 0;
    if (n <= 0)
        return (int)n;
    directory->position = 0;
    directory->filled = (size_t)n;
    return 1;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Find the next entry other than "." and "..". Returns 1, or 0 at the end. */
static int next_entry(coil_directory *directory, const struct kernel_entry **out)
{
    const struct kernel_entry *entry;
    int rc;

    do {
        if (directory->position == directory->filled) {
            rc = read_entries(directory);
            if (rc <= 0)
                return rc;
        }
        entry = (const void *)(directory->buffer + directory->position);
        directory->position += entry->bytes;
    } while (is_dots(entry->name));
    *out = entry;
    return 1;
}

/*
 * Determine the type of an entry with statx(2), because some file systems do not store
 * types in directories.
 */
static int find_out_type(coil_directory *directory, const char *name, unsigned char *type)
{
    struct statx st;
    int rc = (int)coil__file_op(directory->file,
                                &(struct coil__op){.kind = COIL__OP_STATX,
                                                   .path = name,
                                                   .flags = AT_SYMLINK_NOFOLLOW,
                                                   .mode = STATX_TYPE,
                                                   .buf = &st},
                                "coil_directory_next");

    if (directory->destroyed)
        return coil__failed(-EBADF);
    if (rc == 0)
        *type = (unsigned char)IFTODT(st.stx_mode);
    return rc == -ENOENT ? 0 : rc;
}

static int next_of(coil_directory *directory, coil_directory_entry *out)
{
    const struct kernel_entry *entry;
    int rc = next_entry(directory, &entry);

    if (rc <= 0)
        return rc;
    *out = (coil_directory_entry){
        .name = entry->name, .inode = entry->inode, .type = entry->type};
    if (out->type != DT_UNKNOWN)
        return 1;
    rc = find_out_type(directory, out->name, &out->type);
    if (rc < 0) /* the next call returns this entry again */
        directory->position = (size_t)((const char *)entry - directory->buffer);
    return rc < 0 ? rc : 1;
}

int coil_directory_next(coil_directory *directory, coil_directory_entry *out)
{
    COIL__REQUIRE(directory, "a directory");
    COIL__REQUIRE(out, "an output pointer");
    int rc = enter_directory(directory, __func__);

    if (rc < 0)
        return rc;
    rc = next_of(directory, out);
    leave_directory(directory);
    return rc;
}

int coil_directory_rewind(coil_directory *directory)
{
    COIL__REQUIRE(directory, "a directory");
    int rc = enter_directory(directory, __func__);

    if (rc < 0)
        return rc;
    directory->position = directory->filled = 0;
    rc = (int)coil_file_seek(directory->file, 0, SEEK_SET);
    leave_directory(directory);
    return rc;
}
