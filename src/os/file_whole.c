/*
 * file_whole.c - files as a whole: read to the end, written at once.
 *
 * A target is a file that is being written. Beside its path it is a new file under a
 * random name in the same directory, so that rename(2) can put it in its place.
 *
 *   open --> written --> fsync --> close --> rename --> (fsync of the directory)
 *     `---------`----------`---------`---------`--> unlink, shielded; rc as it was
 */
#include "file.h"

#include <coil/path.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- reading ----------------------------------------------------------------------- */

struct contents {
    char *data;
    size_t n, size, max;
};

#define FIRST_BYTES ((size_t)4096)

/* Room for `size` bytes, and the '\0' behind them. */
static int make_room(struct contents *c, size_t size)
{
    char *data = coil__realloc(c->data, size + 1);

    if (data == NULL)
        return -ENOMEM;
    c->data = data;
    c->size = size;
    return 0;
}

/*
 * What statx(2) says is room for, and one byte more, which finds the end without another
 * look. Files of /proc say 0.
 */
static int make_first_room(struct contents *c, coil_file *file)
{
    struct statx st;
    int rc = coil_file_stat(file, &st);

    if (rc < 0)
        return rc;
    if (S_ISDIR(st.stx_mode))
        return -EISDIR;
    if (S_ISREG(st.stx_mode) && st.stx_size > c->max)
        return -EFBIG;
    return make_room(c, st.stx_size > 0 ? (size_t)st.stx_size + 1 : FIRST_BYTES);
}

static int read_to_end(struct contents *c, coil_file *file)
{
    ssize_t n;
    int rc;

    for (;;) {
        if (c->n == c->size) {
            rc = make_room(c, c->size * 2);
            if (rc < 0)
                return rc;
        }
        n = coil_file_read(file, c->data + c->n, c->size - c->n);
        if (n <= 0)
            return (int)n;
        c->n += (size_t)n;
        if (c->n > c->max)
            return -EFBIG;
    }
}

int coil_read_file(const char *path, size_t max, void **data, size_t *n)
{
    struct contents c = {.max = max != 0 ? max : SIZE_MAX / 4};
    coil_file *file;
    int rc = coil_file_open(path, O_RDONLY, 0, &file);

    if (rc < 0)
        return rc;
    rc = make_first_room(&c, file);
    if (rc == 0)
        rc = read_to_end(&c, file);
    coil_file_destroy(file);
    if (rc < 0) {
        coil__free(c.data);
        return rc;
    }
    c.data[c.n] = '\0';
    *data = c.data;
    *n = c.n;
    return 0;
}

/* ---- targets ----------------------------------------------------------------------- */

/* The bytes of `path` up to its last '/', that included. */
static int directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? (int)(slash - path) + 1 : 0;
}

struct making {
    coil_file **file;
    mode_t mode;
};

static int make_beside(const char *name, void *arg)
{
    const struct making *making = arg;

    return coil_file_open(name, O_WRONLY | O_CREAT | O_EXCL, making->mode, making->file);
}

static int open_beside(struct coil__target *target, mode_t mode)
{
    static const char pattern[] = ".coil-XXXXXX";
    int length = directory_length(target->path);
    size_t size = (size_t)length + sizeof pattern;
    int rc;

    target->beside = coil__alloc(size);
    if (target->beside == NULL)
        return -ENOMEM;
    snprintf(target->beside, size, "%.*s%s", length, target->path, pattern);
    rc = coil__path_make(target->beside, make_beside,
                         &(struct making){&target->file, mode});
    if (rc < 0)
        coil__free(target->beside);
    return rc;
}

/* One that will take the place of a file gets that one's mode, whatever the umask. */
static int open_atomic(struct coil__target *target, mode_t mode)
{
    struct statx there;
    int found = coil_stat(target->path, 0, &there);
    int rc;

    if (found == 0 && S_ISDIR(there.stx_mode))
        return -EISDIR;
    if (found == 0 && target->flags & COIL_FILE_EXCLUSIVE)
        return -EEXIST;
    if (found < 0 && found != -ENOENT)
        return found;
    if (found == 0)
        mode = there.stx_mode & 0777;
    rc = open_beside(target, mode);
    if (rc == 0 && found == 0)
        rc = coil_file_chmod(target->file, mode);
    else
        return rc;
    return rc < 0 ? coil__target_close(target, rc) : 0;
}

int coil__target_open(struct coil__target *target, const char *path, mode_t mode,
                      unsigned flags, int open_flags)
{
    *target = (struct coil__target){.path = path, .flags = flags};
    if (flags & COIL_FILE_ATOMIC)
        return open_atomic(target, mode);
    if (flags & COIL_FILE_EXCLUSIVE)
        open_flags |= O_EXCL;
    return coil_file_open(path, O_WRONLY | O_CREAT | open_flags, mode, &target->file);
}

static int sync_directory(const char *path)
{
    char name[4096];
    int length = directory_length(path);
    coil_file *directory;
    int rc;

    if ((size_t)length >= sizeof name)
        return -ENAMETOOLONG;
    snprintf(name, sizeof name, "%.*s", length, path);
    rc = coil_file_open(length > 0 ? name : ".", O_RDONLY | O_DIRECTORY, 0, &directory);
    if (rc < 0)
        return rc;
    rc = coil_file_sync(directory, false);
    coil_file_destroy(directory);
    return rc;
}

int coil__target_close(struct coil__target *target, int rc)
{
    bool exclusive = target->flags & COIL_FILE_EXCLUSIVE;

    if (rc == 0 && target->flags & (COIL_FILE_ATOMIC | COIL_FILE_SYNC))
        rc = coil_file_sync(target->file, false);
    if (rc == 0)
        rc = coil_file_close(target->file);
    coil_file_destroy(target->file);
    target->file = NULL;
    if (target->beside != NULL) {
        if (rc == 0)
            rc = coil_rename(target->beside, target->path,
                             exclusive ? RENAME_NOREPLACE : 0);
        if (rc < 0)
            coil__file_finish(&(struct coil__op){
                .kind = COIL__OP_UNLINK, .fd = AT_FDCWD, .path = target->beside});
        coil__free(target->beside);
    }
    if (rc == 0 && target->flags & COIL_FILE_SYNC)
        rc = sync_directory(target->path);
    return rc;
}

/* ---- writing ----------------------------------------------------------------------- */

static bool flags_are_valid(unsigned flags)
{
    const unsigned all =
        COIL_FILE_ATOMIC | COIL_FILE_EXCLUSIVE | COIL_FILE_SYNC | COIL_FILE_APPEND;

    return !(flags & ~all) && !(flags & COIL_FILE_APPEND && flags & COIL_FILE_ATOMIC);
}

int coil_write_file(const char *path, const void *data, size_t n, mode_t mode,
                    unsigned flags)
{
    struct coil__target target;
    ssize_t rc;

    if (!flags_are_valid(flags))
        return -EINVAL;
    rc = coil__target_open(&target, path, mode, flags,
                           flags & COIL_FILE_APPEND ? O_APPEND : O_TRUNC);
    if (rc < 0)
        return (int)rc;
    rc = coil_file_write(target.file, data, n);
    return coil__target_close(&target, rc < 0 ? (int)rc : 0);
}
