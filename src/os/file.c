/*
 * file.c - files: opening, reading, writing, seeking and closing.
 *
 * A file is a descriptor with a reference count: one reference for the owner and one for
 * each call in progress.
 *
 *   open --- coil_file_close() --> closed --- the last call leaves --> close(2)
 *     |                              ^  |                                 ^
 *     `------ coil_file_destroy() ---'  `-- the last reference goes ------'
 *
 * Invariants
 * 1. The descriptor is not closed while a call on the file is in progress: a thread may
 *    be about to use the number, which the kernel could give to another file after
 *    close(2).
 * 2. A call that consists of several steps checks before each step whether the file was
 *    closed, so coil_file_close() waits for at most one step.
 * 3. leave_file() stores the number of bytes in `transferred`, and after that the call
 *    returns without suspending, so each caller reads the count of its own call.
 * 4. Calls at the file's position take turns, first come, first served, because io_uring
 *    does not order them, and two reads might get the same bytes. Calls on FIFOs and
 *    terminals, which have no position, must not take turns, because a reader may be
 *    waiting for bytes that another task is about to write.
 */
#include "file.h"

#include "../base/fault.h"
#include "../kernel/files.h"
#include "../loop/leak.h"
#include "../task/failure.h"
#include "../task/wait.h"

#include <coil/lock.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

struct coil_file {
    int fd;              /* -1: the descriptor is closed */
    bool closed;         /* no new call may begin */
    bool knows_position; /* has_position is set: see learn_position() */
    bool has_position;   /* false for a FIFO, a socket or a terminal */
    coil_lock position;  /* held by the call at the file's position */
    unsigned references, calls;
    bool destroyed; /* the owner has dropped its reference */
    size_t transferred;
    struct coil__wait *closer; /* the wait of coil_file_close() until `calls` is 0 */
    struct coil__ahead ahead;  /* used by file_line.c; see struct coil__ahead */
};

/* ---- opening ----------------------------------------------------------------------- */

static coil_file *create_file(void)
{
    coil_file *file = coil__alloc_zeroed(sizeof *file);

    if (file != NULL) {
        file->fd = -1;
        file->references = 1;
        coil_lock_init(&file->position);
    }
    return file;
}

static void take_descriptor(coil_file *file, int fd)
{
    static const struct coil__leak_kind kind = {"a file", "descriptor", "destroyed"};

    coil__leak_note(&kind, file, fd, NULL);
    file->fd = fd;
}

int coil_file_open(const char *path, int flags, mode_t mode, coil_file **out)
{
    COIL__REQUIRE(path, "a path");
    COIL__REQUIRE(out, "an output pointer");
    coil_file *file = create_file();
    ssize_t fd;

    *out = NULL;
    if (file == NULL)
        return coil__failed(-ENOMEM);
    fd = coil__file_do(&(struct coil__op){.kind = COIL__OP_OPEN,
                                          .fd = AT_FDCWD,
                                          .path = path,
                                          .flags = flags | O_CLOEXEC,
                                          .mode = mode});
    if (fd < 0) {
        coil__free(file);
        return coil__explain((int)fd, "cannot open '%s'", path);
    }
    take_descriptor(file, (int)fd);
    *out = file;
    return 0;
}

int coil_file_adopt(int fd, coil_file **out)
{
    COIL__REQUIRE(out, "an output pointer");
    coil_file *file;

    *out = NULL;
    if (COIL__CALL(EBADF, fcntl(fd, F_GETFD)) < 0)
        return coil__explain(-errno, "cannot adopt descriptor %d as a file", fd);
    file = create_file();
    if (file == NULL)
        return coil__failed(-ENOMEM);
    take_descriptor(file, fd);
    *out = file;
    return 0;
}

struct opening {
    int flags;
    coil_file **out;
};

static int open_new(const char *name, void *arg)
{
    const struct opening *opening = arg;

    return coil_file_open(name, opening->flags | O_RDWR | O_CREAT | O_EXCL, 0600,
                          opening->out);
}

int coil_mkstemp(char *name, coil_file **out)
{
    COIL__REQUIRE(name, "a name");
    COIL__REQUIRE(out, "an output pointer");
    *out = NULL;
    return coil__path_make(name, open_new, &(struct opening){.out = out});
}

/* Create a file and unlink it immediately, for file systems without O_TMPFILE. */
static int open_and_unlink(const char *directory, coil_file **out)
{
    static const char pattern[] = "/coil-XXXXXX";
    char *name = coil__alloc(strlen(directory) + sizeof pattern);
    int rc;

    if (name == NULL)
        return coil__failed(-ENOMEM);
    strcpy(stpcpy(name, directory), pattern);
    rc = coil_mkstemp(name, out);
    if (rc == 0) {
        rc = (int)coil__file_finish(
            &(struct coil__op){.kind = COIL__OP_UNLINK, .fd = AT_FDCWD, .path = name});
        if (rc < 0) {
            coil_file_destroy(*out);
            *out = NULL;
        }
    }
    coil__free(name);
    return rc;
}

int coil_file_open_temporary(const char *directory, coil_file **out)
{
    COIL__REQUIRE(out, "an output pointer");
    int rc;

    if (directory == NULL)
        directory = secure_getenv("TMPDIR");
    if (directory == NULL || *directory == '\0')
        directory = "/tmp";
    rc = coil_file_open(directory, coil__files_unnamed() | O_RDWR, 0600, out);
    /*
     * open(2) fails with EISDIR if the kernel does not support O_TMPFILE, and with
     * EOPNOTSUPP if the file system does not.
     */
    return rc == -EOPNOTSUPP || rc == -EISDIR ? open_and_unlink(directory, out) : rc;
}

/* ---- random names ------------------------------------------------------------------ */

static int fill_in(char *x, size_t n)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    unsigned char random[8];

    if (COIL__CALL(ENOSYS, getrandom(random, n, 0)) != (ssize_t)n)
        return coil__explain(-errno, "getrandom(2) failed to make a random name");
    for (size_t i = 0; i < n; i++)
        x[i] = letters[random[i] % (sizeof letters - 1)];
    return 0;
}

int coil__path_make(char *name, int (*make)(const char *name, void *arg), void *arg)
{
    static const char pattern[] = "XXXXXX";
    const size_t n = sizeof pattern - 1;
    size_t length = strlen(name);
    int rc;

    if (length < n || strcmp(name + length - n, pattern) != 0)
        return coil__failed(-EINVAL);
    for (int tries = 0; tries < 100; tries++) {
        rc = fill_in(name + length - n, n);
        if (rc == 0)
            rc = make(name, arg);
        if (rc != -EEXIST)
            break;
    }
    if (rc < 0)
        memcpy(name + length - n, pattern, n);
    return rc;
}

/* ---- calls ------------------------------------------------------------------------- */

/*
 * Drop a reference. Releasing the last reference frees the file, and closes it if it is
 * still open.
 */
static void release_file(coil_file *file)
{
    if (--file->references > 0)
        return;
    if (file->fd >= 0)
        close(file->fd);
    coil__free(file->ahead.bytes);
    coil__free_object(file);
}

static int enter_file(coil_file *file, const char *caller)
{
    if (COIL__UNLIKELY(file->references == 0))
        coil__misuse_gone(caller);
    if (file->closed)
        return coil__failed(-EBADF);
    coil__file_require_task(caller);
    file->references++;
    file->calls++;
    return 0;
}

static void leave_file(coil_file *file, size_t transferred)
{
    file->transferred = transferred;
    if (--file->calls == 0 && file->closer != NULL)
        coil__wait_complete(file->closer, 0);
    release_file(file);
}

/*
 * Find out whether the file has a position, when a call first depends on it: many files
 * are only copied. lseek(2) does not block here, because no other call at the file's
 * position is in progress yet.
 */
static void learn_position(coil_file *file)
{
    if (!file->knows_position)
        file->has_position = lseek(file->fd, 0, SEEK_CUR) >= 0;
    file->knows_position = true;
}

/*
 * Like enter_file(), but for a call at `offset`. If `offset` is -1, the call is at the
 * file's position, and waits for its turn. Fails with -ESPIPE if an offset is given for a
 * file without a position, such as a pipe, as pread(2) does. (io_uring would ignore the
 * offset.)
 */
static int enter_at(coil_file *file, int64_t offset, const char *caller)
{
    int rc = enter_file(file, caller);

    if (rc < 0)
        return rc;
    learn_position(file);
    if (offset >= 0)
        rc = file->has_position ? 0 : coil__failed(-ESPIPE);
    else if (file->has_position)
        rc = coil_lock_acquire(&file->position);
    if (rc < 0)
        leave_file(file, 0);
    return rc;
}

static void leave_at(coil_file *file, int64_t offset, size_t transferred)
{
    if (offset < 0 && file->has_position)
        coil_lock_release(&file->position);
    leave_file(file, transferred);
}

static bool changes_bytes(enum coil__op_kind kind)
{
    return kind == COIL__OP_PWRITE || kind == COIL__OP_TRUNCATE ||
           kind == COIL__OP_ALLOCATE;
}

ssize_t coil__file_step(coil_file *file, struct coil__op *op)
{
    ssize_t result;

    if (file->closed)
        return coil__failed(-EBADF);
    op->fd = file->fd;
    result = coil__file_do(op);
    /* counted after the write, because a read during the write may return old bytes */
    if (changes_bytes(op->kind))
        file->ahead.changes++;
    return result;
}

int coil__file_enter_position(coil_file *file, struct coil__ahead **ahead,
                              const char *caller)
{
    int rc = enter_at(file, -1, caller);

    if (rc < 0 || file->has_position) {
        *ahead = &file->ahead;
        return rc;
    }
    leave_file(file, 0);
    return coil__failed(-ESPIPE);
}

void coil__file_leave_position(coil_file *file, size_t transferred)
{
    leave_at(file, -1, transferred);
}

ssize_t coil__file_op(coil_file *file, struct coil__op *op, const char *caller)
{
    ssize_t result = enter_file(file, caller);

    if (result < 0)
        return result;
    result = coil__file_step(file, op);
    leave_file(file, 0);
    return result;
}

/* ---- closing ----------------------------------------------------------------------- */

static int wait_for_calls(coil_file *file)
{
    static const struct coil__wait_class class = {.what = "file.close"};
    struct coil__wait wait;
    int rc;

    coil__wait_init(&wait, &class);
    file->closer = &wait;
    rc = coil__wait_park(&wait);
    file->closer = NULL;
    return rc;
}

int coil_file_close(coil_file *file)
{
    COIL__REQUIRE(file, "a file");
    struct coil__op op = {.kind = COIL__OP_CLOSE};
    int rc = 0;

    if (file->references == 0)
        coil__misuse_gone("coil_file_close");
    if (file->fd < 0)
        return 0;
    if (file->closer != NULL)
        return coil__failed(-EBUSY);
    file->closed = true;
    file->references++;
    if (file->calls > 0)
        rc = wait_for_calls(file);
    if (file->calls == 0) {
        op.fd = file->fd;
        file->fd = -1;
        rc = (int)coil__file_finish(&op);
    }
    release_file(file);
    return rc;
}

void coil_file_destroy(coil_file *file)
{
    if (file == NULL)
        return;
    if (file->destroyed)
        coil__misuse_gone("coil_file_destroy");
    coil__leak_forget(file);
    file->closed = file->destroyed = true;
    release_file(file);
}

int coil_file_fd(const coil_file *file)
{
    COIL__REQUIRE(file, "a file");
    if (file->references == 0)
        coil__misuse_gone(__func__);
    return file->closed ? -1 : file->fd;
}

/* ---- reading and writing ----------------------------------------------------------- */

/* Read or write at `offset`, or at the file's position if `offset` is -1. */
static ssize_t move(coil_file *file, enum coil__op_kind kind, void *buf, size_t n,
                    int64_t offset)
{
    return coil__file_step(
        file, &(struct coil__op){.kind = kind,
                                 .buf = buf,
                                 .len = n < COIL__FILE_STEP ? n : COIL__FILE_STEP,
                                 .offset = offset});
}

static ssize_t read_once(coil_file *file, void *buf, size_t n, int64_t offset,
                         const char *caller)
{
    ssize_t result = enter_at(file, offset, caller);

    if (result < 0)
        return result;
    result = move(file, COIL__OP_PREAD, buf, n, offset);
    leave_at(file, offset, result > 0 ? (size_t)result : 0);
    return result;
}

static ssize_t move_all(coil_file *file, enum coil__op_kind kind, void *buf, size_t n,
                        int64_t offset, const char *caller)
{
    ssize_t result = enter_at(file, offset, caller);
    size_t done = 0;

    if (result < 0)
        return result;
    while (done < n) {
        result = move(file, kind, (char *)buf + done, n - done,
                      offset < 0 ? -1 : offset + (int64_t)done);
        if (result == 0)
            result = kind == COIL__OP_PREAD ? coil__failed(-ENODATA) : coil__failed(-EIO);
        if (result < 0)
            break;
        done += (size_t)result;
    }
    leave_at(file, offset, done);
    return result < 0 ? result : (ssize_t)n;
}

ssize_t coil_file_read(coil_file *file, void *buf, size_t n)
{
    COIL__REQUIRE(file, "a file");
    COIL__REQUIRE_IF(n > 0, buf, "a buffer");
    return read_once(file, buf, n, -1, __func__);
}

ssize_t coil_file_pread(coil_file *file, void *buf, size_t n, int64_t offset)
{
    COIL__REQUIRE(file, "a file");
    COIL__REQUIRE_IF(n > 0, buf, "a buffer");
    return offset < 0 ? coil__failed(-EINVAL) : read_once(file, buf, n, offset, __func__);
}

ssize_t coil_file_read_exact(coil_file *file, void *buf, size_t n)
{
    COIL__REQUIRE(file, "a file");
    COIL__REQUIRE_IF(n > 0, buf, "a buffer");
    return move_all(file, COIL__OP_PREAD, buf, n, -1, __func__);
}

ssize_t coil_file_pread_exact(coil_file *file, void *buf, size_t n, int64_t offset)
{
    COIL__REQUIRE(file, "a file");
    COIL__REQUIRE_IF(n > 0, buf, "a buffer");
    return offset < 0 ? coil__failed(-EINVAL)
                      : move_all(file, COIL__OP_PREAD, buf, n, offset, __func__);
}

ssize_t coil_file_write(coil_file *file, const void *buf, size_t n)
{
    COIL__REQUIRE(file, "a file");
    COIL__REQUIRE_IF(n > 0, buf, "a buffer");
    return move_all(file, COIL__OP_PWRITE, (void *)buf, n, -1, __func__);
}

ssize_t coil_file_pwrite(coil_file *file, const void *buf, size_t n, int64_t offset)
{
    COIL__REQUIRE(file, "a file");
    COIL__REQUIRE_IF(n > 0, buf, "a buffer");
    return offset < 0 ? coil__failed(-EINVAL)
                      : move_all(file, COIL__OP_PWRITE, (void *)buf, n, offset, __func__);
}

size_t coil_file_transferred(const coil_file *file)
{
    COIL__REQUIRE(file, "a file");
    if (file->references == 0)
        coil__misuse_gone(__func__);
    return file->transferred;
}

/* ---- position, metadata, space ----------------------------------------------------- */

int64_t coil_file_seek(coil_file *file, int64_t offset, int whence)
{
    COIL__REQUIRE(file, "a file");
    int64_t result = enter_at(file, -1, "coil_file_seek");

    if (result < 0)
        return result;
    result = coil__file_step(
        file,
        &(struct coil__op){.kind = COIL__OP_SEEK, .offset = offset, .flags = whence});
    leave_at(file, -1, 0);
    return result;
}

int coil_file_sync(coil_file *file, bool data_only)
{
    COIL__REQUIRE(file, "a file");
    return (int)coil__file_op(
        file, &(struct coil__op){.kind = COIL__OP_FSYNC, .flags = data_only}, __func__);
}

int coil_file_stat(coil_file *file, struct statx *out)
{
    COIL__REQUIRE(file, "a file");
    COIL__REQUIRE(out, "an output pointer");
    return (int)coil__file_op(file,
                              &(struct coil__op){.kind = COIL__OP_STATX,
                                                 .path = "",
                                                 .flags = AT_EMPTY_PATH,
                                                 .mode = COIL__STATX_MASK,
                                                 .buf = out},
                              __func__);
}

int coil_file_truncate(coil_file *file, int64_t length)
{
    COIL__REQUIRE(file, "a file");
    return (int)coil__file_op(
        file, &(struct coil__op){.kind = COIL__OP_TRUNCATE, .offset = length}, __func__);
}

int coil_file_allocate(coil_file *file, int mode, int64_t offset, int64_t n)
{
    COIL__REQUIRE(file, "a file");
    if (n <= 0)
        return coil__failed(-EINVAL);
    return (int)coil__file_op(
        file,
        &(struct coil__op){
            .kind = COIL__OP_ALLOCATE, .flags = mode, .offset = offset, .len = (size_t)n},
        __func__);
}

int coil_file_chmod(coil_file *file, mode_t mode)
{
    COIL__REQUIRE(file, "a file");
    return (int)coil__file_op(
        file, &(struct coil__op){.kind = COIL__OP_CHMOD, .mode = mode}, __func__);
}

int coil_file_chown(coil_file *file, uid_t user, gid_t group)
{
    COIL__REQUIRE(file, "a file");
    return (int)coil__file_op(
        file,
        &(struct coil__op){.kind = COIL__OP_CHOWN, .offset = user, .offset2 = group},
        __func__);
}

int coil_file_utimens(coil_file *file, const struct timespec times[2])
{
    COIL__REQUIRE(file, "a file");
    return (int)coil__file_op(
        file, &(struct coil__op){.kind = COIL__OP_UTIMENS, .buf = (void *)times},
        __func__);
}
