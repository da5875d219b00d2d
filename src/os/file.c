/*
 * file.c - files.
 *
 * A file is a descriptor, and a count of who needs it: its owner, and each call in it.
 *
 *   open --- coil_file_close() --> closed --- the last call leaves --> close(2)
 *     |                              ^  |                                 ^
 *     `------ coil_file_destroy() ---'  `-- the last reference goes ------'
 *
 * Invariants
 * 1. The descriptor is not closed while a call is in the file: a thread may be about to
 *    use its number, which could be another file's by then.
 * 2. A call of several steps looks before each whether the file was closed, so that
 *    coil_file_close() waits for one step at most.
 * 3. `transferred` is written as a call leaves, and the call returns without suspending:
 *    so its caller finds its own.
 * 4. Calls at the position take turns, first come, first served: io_uring knows of no
 *    turns, and two reads would get the same bytes. Not those of a FIFO or terminal,
 * where a reader may wait for what somebody writes here.
 */
#include "file.h"

#include "../base/fault.h"
#include "../loop/loop.h"
#include "../task/wait.h"

#include <coil/lock.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

struct coil_file {
    int fd; /* -1: the descriptor is closed */
    bool closed;
    unsigned references, calls;
    bool has_position;
    coil_lock position; /* who uses it */
    size_t transferred;
    struct coil__wait *closer; /* waits until there are no calls */
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

/* Nobody uses it yet, so asking for the position does not wait. */
static void take_descriptor(coil_file *file, int fd)
{
    file->fd = fd;
    file->has_position = lseek(fd, 0, SEEK_CUR) >= 0;
}

int coil_file_open(const char *path, int flags, mode_t mode, coil_file **out)
{
    coil_file *file = create_file();
    ssize_t fd;

    if (file == NULL)
        return -ENOMEM;
    fd = coil__file_do(&(struct coil__op){.kind = COIL__OP_OPEN,
                                          .fd = AT_FDCWD,
                                          .path = path,
                                          .flags = flags | O_CLOEXEC,
                                          .mode = mode});
    if (fd < 0) {
        coil__free(file);
        return (int)fd;
    }
    take_descriptor(file, (int)fd);
    *out = file;
    return 0;
}

int coil_file_adopt(int fd, coil_file **out)
{
    coil_file *file;

    if (COIL__CALL(EBADF, fcntl(fd, F_GETFD)) < 0)
        return -errno;
    file = create_file();
    if (file == NULL)
        return -ENOMEM;
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
    return coil__path_make(name, open_new, &(struct opening){.out = out});
}

/* For file systems without O_TMPFILE: one that loses its name at once. */
static int open_and_unlink(const char *directory, coil_file **out)
{
    static const char pattern[] = "/coil-XXXXXX";
    char *name = coil__alloc(strlen(directory) + sizeof pattern);
    int rc;

    if (name == NULL)
        return -ENOMEM;
    strcpy(stpcpy(name, directory), pattern);
    rc = coil_mkstemp(name, out);
    if (rc == 0) {
        rc = (int)coil__file_finish(
            &(struct coil__op){.kind = COIL__OP_UNLINK, .fd = AT_FDCWD, .path = name});
        if (rc < 0)
            coil_file_destroy(*out);
    }
    coil__free(name);
    return rc;
}

int coil_file_open_temporary(const char *directory, coil_file **out)
{
    int rc;

    if (directory == NULL)
        directory = secure_getenv("TMPDIR");
    if (directory == NULL || *directory == '\0')
        directory = "/tmp";
    rc = coil_file_open(directory, O_TMPFILE | O_RDWR, 0600, out);
    /* open(2): EISDIR is of kernels, EOPNOTSUPP of file systems that have not got it. */
    return rc == -EOPNOTSUPP || rc == -EISDIR ? open_and_unlink(directory, out) : rc;
}

/* ---- names that are not there yet -------------------------------------------------- */

static int fill_in(char *x, size_t n)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    unsigned char random[8];

    if (COIL__CALL(ENOSYS, getrandom(random, n, 0)) != (ssize_t)n)
        return -errno;
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
        return -EINVAL;
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

/* The last one closes it, if nobody has. */
static void release(coil_file *file)
{
    if (--file->references > 0)
        return;
    if (file->fd >= 0)
        close(file->fd);
    coil__free(file);
}

static int enter(coil_file *file)
{
    if (file->closed)
        return -EBADF;
    file->references++;
    file->calls++;
    return 0;
}

static void leave(coil_file *file, size_t transferred)
{
    file->transferred = transferred;
    if (--file->calls == 0 && file->closer != NULL)
        coil__wait_complete(file->closer, 0);
    release(file);
}

/*
 * enter() for a call at the position, which is -1 as an offset. Other offsets need one:
 * pread(2) says so of a pipe, a ring does not.
 */
static int enter_at(coil_file *file, int64_t offset)
{
    int rc = enter(file);

    if (rc < 0)
        return rc;
    if (offset >= 0)
        rc = file->has_position ? 0 : -ESPIPE;
    else if (file->has_position)
        rc = coil_lock_acquire(&file->position);
    if (rc < 0)
        leave(file, 0);
    return rc;
}

static void leave_at(coil_file *file, int64_t offset, size_t transferred)
{
    if (offset < 0 && file->has_position)
        coil_lock_release(&file->position);
    leave(file, transferred);
}

/* Between enter() and leave(). */
static ssize_t step(coil_file *file, struct coil__op *op)
{
    if (file->closed)
        return -EBADF;
    op->fd = file->fd;
    return coil__file_do(op);
}

ssize_t coil__file_op(coil_file *file, struct coil__op *op)
{
    ssize_t result = enter(file);

    if (result < 0)
        return result;
    result = step(file, op);
    leave(file, 0);
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
    struct coil__op op = {.kind = COIL__OP_CLOSE};
    int rc = 0;

    if (file->fd < 0)
        return 0;
    if (file->closer != NULL)
        return -EBUSY;
    file->closed = true;
    file->references++;
    if (file->calls > 0)
        rc = wait_for_calls(file);
    if (file->calls == 0) {
        op.fd = file->fd;
        file->fd = -1;
        rc = (int)coil__file_finish(&op);
    }
    release(file);
    return rc;
}

void coil_file_destroy(coil_file *file)
{
    if (file == NULL)
        return;
    file->closed = true;
    release(file);
}

int coil_file_fd(const coil_file *file)
{
    return file->closed ? -1 : file->fd;
}

/* ---- reading and writing ----------------------------------------------------------- */

/* An offset of -1 is the file's position. */
static ssize_t move(coil_file *file, enum coil__op_kind kind, void *buf, size_t n,
                    int64_t offset)
{
    return step(file, &(struct coil__op){.kind = kind,
                                         .buf = buf,
                                         .len = n < COIL__FILE_STEP ? n : COIL__FILE_STEP,
                                         .offset = offset});
}

static ssize_t read_some(coil_file *file, void *buf, size_t n, int64_t offset)
{
    ssize_t result = enter_at(file, offset);

    if (result < 0)
        return result;
    result = move(file, COIL__OP_PREAD, buf, n, offset);
    leave_at(file, offset, result > 0 ? (size_t)result : 0);
    return result;
}

static ssize_t move_all(coil_file *file, enum coil__op_kind kind, void *buf, size_t n,
                        int64_t offset)
{
    ssize_t result = enter_at(file, offset);
    size_t done = 0;

    if (result < 0)
        return result;
    while (done < n) {
        result = move(file, kind, (char *)buf + done, n - done,
                      offset < 0 ? -1 : offset + (int64_t)done);
        if (result == 0)
            result = kind == COIL__OP_PREAD ? -ENODATA : -EIO;
        if (result < 0)
            break;
        done += (size_t)result;
    }
    leave_at(file, offset, done);
    return result < 0 ? result : (ssize_t)n;
}

ssize_t coil_file_read(coil_file *file, void *buf, size_t n)
{
    return read_some(file, buf, n, -1);
}

ssize_t coil_file_pread(coil_file *file, void *buf, size_t n, int64_t offset)
{
    return offset < 0 ? -EINVAL : read_some(file, buf, n, offset);
}

ssize_t coil_file_read_exact(coil_file *file, void *buf, size_t n)
{
    return move_all(file, COIL__OP_PREAD, buf, n, -1);
}

ssize_t coil_file_pread_exact(coil_file *file, void *buf, size_t n, int64_t offset)
{
    return offset < 0 ? -EINVAL : move_all(file, COIL__OP_PREAD, buf, n, offset);
}

ssize_t coil_file_write(coil_file *file, const void *buf, size_t n)
{
    return move_all(file, COIL__OP_PWRITE, (void *)buf, n, -1);
}

ssize_t coil_file_pwrite(coil_file *file, const void *buf, size_t n, int64_t offset)
{
    return offset < 0 ? -EINVAL : move_all(file, COIL__OP_PWRITE, (void *)buf, n, offset);
}

size_t coil_file_transferred(const coil_file *file)
{
    return file->transferred;
}

/* ---- the rest ---------------------------------------------------------------------- */

int64_t coil_file_seek(coil_file *file, int64_t offset, int whence)
{
    return coil__file_op(
        file,
        &(struct coil__op){.kind = COIL__OP_SEEK, .offset = offset, .flags = whence});
}

int coil_file_sync(coil_file *file, bool data_only)
{
    return (int)coil__file_op(
        file, &(struct coil__op){.kind = COIL__OP_FSYNC, .flags = data_only});
}

int coil_file_stat(coil_file *file, struct statx *out)
{
    return (int)coil__file_op(file, &(struct coil__op){.kind = COIL__OP_STATX,
                                                       .path = "",
                                                       .flags = AT_EMPTY_PATH,
                                                       .mode = COIL__STATX_MASK,
                                                       .buf = out});
}

int coil_file_truncate(coil_file *file, int64_t length)
{
    return (int)coil__file_op(
        file, &(struct coil__op){.kind = COIL__OP_TRUNCATE, .offset = length});
}

int coil_file_allocate(coil_file *file, int mode, int64_t offset, int64_t n)
{
    if (n <= 0)
        return -EINVAL;
    return (int)coil__file_op(file, &(struct coil__op){.kind = COIL__OP_ALLOCATE,
                                                       .flags = mode,
                                                       .offset = offset,
                                                       .len = (size_t)n});
}

int coil_file_chmod(coil_file *file, mode_t mode)
{
    return (int)coil__file_op(file,
                              &(struct coil__op){.kind = COIL__OP_CHMOD, .mode = mode});
}
