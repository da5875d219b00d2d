/*
 * directory.c - what is in a directory.
 *
 * Entries come by getdents64(2), as many as a buffer holds at a time: one trip to a
 * thread for some hundreds. An offset of the kernel's goes with each, so that entries
 * made or removed between two trips confuse nothing.
 */
#include "file.h"

#include <coil/directory.h>

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define BUFFER_BYTES ((size_t)32 * 1024)

/* As getdents64(2) fills them in; headers lack it. */
struct kernel_entry {
    uint64_t inode;
    int64_t offset;
    unsigned short bytes;
    unsigned char type;
    char name[];
};

struct coil_directory {
    coil_file *file;
    bool busy, destroyed; /* a call is in it; and will free it */
    size_t position, filled;
    _Alignas(struct kernel_entry) char buffer[BUFFER_BYTES];
};

int coil_directory_open(const char *path, coil_directory **out)
{
    coil_directory *directory = coil__alloc(sizeof *directory);
    int rc;

    if (directory == NULL)
        return -ENOMEM;
    directory->busy = directory->destroyed = false;
    directory->position = directory->filled = 0;
    rc = coil_file_open(path, O_RDONLY | O_DIRECTORY, 0, &directory->file);
    if (rc < 0)
        coil__free(directory);
    else
        *out = directory;
    return rc;
}

static int enter(coil_directory *directory)
{
    if (directory->busy)
        return -EBUSY;
    directory->busy = true;
    return 0;
}

static void leave(coil_directory *directory)
{
    directory->busy = false;
    if (directory->destroyed)
        coil_directory_destroy(directory);
}

void coil_directory_destroy(coil_directory *directory)
{
    if (directory == NULL)
        return;
    directory->destroyed = true;
    if (directory->busy)
        return;
    coil_file_destroy(directory->file);
    coil__free(directory);
}

int coil_directory_fd(const coil_directory *directory)
{
    return coil_file_fd(directory->file);
}

/* ---- reading ----------------------------------------------------------------------- */

/* More of them: 1, or 0 at the end. */
static int fill(coil_directory *directory)
{
    ssize_t n =
        coil__file_op(directory->file, &(struct coil__op){.kind = COIL__OP_LIST,
                                                          .buf = directory->buffer,
                                                          .len = BUFFER_BYTES});

    if (directory->destroyed)
        return -EBADF;
    if (n == -ENOENT) /* the directory itself was removed */
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

/* The next that is not "." or "..". */
static int next_entry(coil_directory *directory, const struct kernel_entry **out)
{
    const struct kernel_entry *entry;
    int rc;

    do {
        if (directory->position == directory->filled) {
            rc = fill(directory);
            if (rc <= 0)
                return rc;
        }
        entry = (const void *)(directory->buffer + directory->position);
        directory->position += entry->bytes;
    } while (is_dots(entry->name));
    *out = entry;
    return 1;
}

/* Not every file system keeps the type in the directory. */
static int find_out_type(coil_directory *directory, const char *name, unsigned char *type)
{
    struct statx st;
    int rc = (int)coil__file_op(directory->file,
                                &(struct coil__op){.kind = COIL__OP_STATX,
                                                   .path = name,
                                                   .flags = AT_SYMLINK_NOFOLLOW,
                                                   .mode = STATX_TYPE,
                                                   .buf = &st});

    if (directory->destroyed)
        return -EBADF;
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
    if (rc < 0) /* the same one again, next time */
        directory->position = (size_t)((const char *)entry - directory->buffer);
    return rc < 0 ? rc : 1;
}

int coil_directory_next(coil_directory *directory, coil_directory_entry *out)
{
    int rc = enter(directory);

    if (rc < 0)
        return rc;
    rc = next_of(directory, out);
    leave(directory);
    return rc;
}

int coil_directory_rewind(coil_directory *directory)
{
    int rc = enter(directory);

    if (rc < 0)
        return rc;
    directory->position = directory->filled = 0;
    rc = (int)coil_file_seek(directory->file, 0, SEEK_SET);
    leave(directory);
    return rc;
}
