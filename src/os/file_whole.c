/*
 * file_whole.c - reads or writes a whole file in one call.
 *
 * The target is the file that is written. An atomic write creates a new file with a
 * random name in the same directory, because rename(2) cannot move a file to another file
 * system.
 *
 *   open --> write --> fsync --> close --> rename --> (fsync of the directory)
 *     `--------`---------`---------`---------`--> after a failure: unlink, shielded from
 *                                                 cancellation; the first error is returned
 */
#include "file.h"

#include "../task/failure.h"

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

/* Make room for `size` bytes and a '\0'. */
static int make_room_in_contents(struct contents *c, size_t size)
{
    char *data = coil__realloc(c->data, size + 1);

    if (data == NULL)
        return coil__failed(-ENOMEM);
    c->data = data;
    c->size = size;
    return 0;
}

/*
 * Make room for one byte more than the size that statx(2) returns. A read that leaves
 * some of this room unused has reached the end of the file, so one allocation is usually
 * enough. For files in /proc, whose size is reported as 0, begin with FIRST_BYTES.
 */
static int make_first_room(struct contents *c, coil_file *file)
{
    struct statx st;
    int rc = coil_file_stat(file, &st);

    if (rc < 0)
        return rc;
    if (S_ISDIR(st.stx_mode))
        return coil__failed(-EISDIR);
    if (S_ISREG(st.stx_mode) && st.stx_size > c->max)
        return coil__failed(-EFBIG);
    return make_room_in_contents(c,
                                 st.stx_size > 0 ? (size_t)st.stx_size + 1 : FIRST_BYTES);
}

static int read_to_end(struct contents *c, coil_file *file)
{
    ssize_t n;
    int rc;

    for (;;) {
        if (c->n == c->size) {
            rc = make_room_in_contents(c, c->size * 2);
            if (rc < 0)
                return rc;
        }
        n = coil_file_read(file, c->data + c->n, c->size - c->n);
        if (n <= 0)
            return (int)n;
        c->n += (size_t)n;
        if (c->n > c->max)
            return coil__failed(-EFBIG);
    }
}

int coil_read_file(const char *path, size_t max, void **data, size_t *n)
{
    COIL__REQUIRE(path, "a path");
    COIL__REQUIRE(data, "an output pointer");
    COIL__REQUIRE(n, "an output pointer");
    struct contents c = {.max = max != 0 ? max : SIZE_MAX / 4};
    coil_file *file;
    int rc;

    *data = NULL;
    *n = 0;
    coil__task_require("coil_read_file");
    rc = coil_file_open(path, O_RDONLY, 0, &file);
    if (rc < 0)
        return rc;
    rc = make_first_room(&c, file);
    if (rc == 0)
        rc = read_to_end(&c, file);
    coil_file_destroy(file);
    if (rc < 0) {
        coil__free(c.data);
        return coil__explain(rc, "cannot read '%s'", path);
    }
    c.data[c.n] = '\0';
    *data = c.data;
    *n = c.n;
    return 0;
}

/* ---- targets ----------------------------------------------------------------------- */

/* Return the length of `path` up to and including its last '/'. */
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
        return coil__failed(-ENOMEM);
    snprintf(target->beside, size, "%.*s%s", length, target->path, pattern);
    rc = coil__path_make(target->beside, make_beside,
                         &(struct making){&target->file, mode});
    if (rc < 0)
        coil__free(target->beside);
    return rc;
}

int coil__target_look(const char *path, struct statx *out)
{
    struct coil__failure_kept kept;
    int rc;

    coil__failure_keep(&kept);
    rc = coil_stat(path, 0, out);
    coil__failure_put_back(&kept);
    return rc;
}

/*
 * Open a new file for an atomic write. If the new file will replace an existing file, it
 * gets the mode of that file, regardless of the umask.
 */
static int open_atomic(struct coil__target *target, mode_t mode)
{
    struct statx there;
    int found = coil__target_look(target->path, &there);
    int rc;

    if (found == 0 && S_ISDIR(there.stx_mode))
        return coil__failed(-EISDIR);
    if (found == 0 && target->flags & COIL_FILE_EXCLUSIVE)
        return coil__failed(-EEXIST);
    if (found < 0 && found != -ENOENT)
        return coil__explain(found, "cannot read the attributes of '%s'", target->path);
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

static int open_directory(const char *path, coil_file **out)
{
    char name[4096];
    int length = directory_length(path);

    if ((size_t)length >= sizeof name)
        return coil__failed(-ENAMETOOLONG);
    snprintf(name, sizeof name, "%.*s", length, path);
    return coil_file_open(length > 0 ? name : ".", O_RDONLY | O_DIRECTORY, 0, out);
}

/*
 * Sync the directory, even if the task is cancelled: the new content is already in place,
 * so the call must not fail with -ECANCELED.
 */
static int sync_directory(const coil_file *directory)
{
    return (int)coil__file_finish(
        &(struct coil__op){.kind = COIL__OP_FSYNC, .fd = coil_file_fd(directory)});
}

/*
 * Rename the new file to its final name. If the rename fails, or rc is an error, remove
 * the new file.
 */
static int rename_or_remove(struct coil__target *target, int rc)
{
    bool exclusive = target->flags & COIL_FILE_EXCLUSIVE;

    if (rc == 0)
        rc = coil_rename(target->beside, target->path, exclusive ? RENAME_NOREPLACE : 0);
    if (rc < 0)
        coil__file_finish(&(struct coil__op){
            .kind = COIL__OP_UNLINK, .fd = AT_FDCWD, .path = target->beside});
    coil__free(target->beside);
    return rc;
}

int coil__target_close(struct coil__target *target, int rc)
{
    coil_file *directory = NULL;

    if (rc == 0 && target->flags & (COIL_FILE_ATOMIC | COIL_FILE_SYNC))
        rc = coil_file_sync(target->file, false);
    if (rc == 0)
        rc = coil_file_close(target->file);
    coil_file_destroy(target->file);
    target->file = NULL;
    /* open the directory before the rename, because opening may fail */
    if (rc == 0 && target->flags & COIL_FILE_SYNC)
        rc = open_directory(target->path, &directory);
    if (target->beside != NULL)
        rc = rename_or_remove(target, rc);
    if (rc == 0 && directory != NULL)
        rc = sync_directory(directory);
    coil_file_destroy(directory);
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
    COIL__REQUIRE(path, "a path");
    COIL__REQUIRE_IF(n > 0, data, "a buffer");
    struct coil__target target;
    ssize_t rc;

    coil__task_require("coil_write_file");
    if (!flags_are_valid(flags))
        return coil__failed(-EINVAL);
    rc = coil__target_open(&target, path, mode, flags,
                           flags & COIL_FILE_APPEND ? O_APPEND : O_TRUNC);
    if (rc < 0)
        return (int)rc;
    rc = coil_file_write(target.file, data, n);
    return coil__explain(coil__target_close(&target, rc < 0 ? (int)rc : 0),
                         "cannot write '%s'", path);
}
