/*
 * operation.c - the system call of each operation, and the table of all operations.
 */
#include "operation.h"

#include "../base/fault.h"
#include "../kernel/files.h"
#include "../kernel/quiet_write.h"
#include "backend/io_uring_opcode.h"

#include <coil/loop.h>

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- on descriptors ---------------------------------------------------------------- */

static ssize_t run_read(const struct coil__op *op)
{
    return read(op->fd, op->buf, op->len);
}

static ssize_t run_write(const struct coil__op *op)
{
    return coil__write_quietly(op->fd, op->buf, op->len);
}

static ssize_t run_writev(const struct coil__op *op)
{
    return coil__writev_quietly(op->fd, op->buf, op->len);
}

static ssize_t run_recv(const struct coil__op *op)
{
    return recv(op->fd, op->buf, op->len, op->flags);
}

static ssize_t run_send(const struct coil__op *op)
{
    return send(op->fd, op->buf, op->len, op->flags | MSG_NOSIGNAL);
}

static ssize_t run_recvmsg(const struct coil__op *op)
{
    return recvmsg(op->fd, op->buf, op->flags | MSG_CMSG_CLOEXEC);
}

static ssize_t run_sendmsg(const struct coil__op *op)
{
    return sendmsg(op->fd, op->buf, op->flags | MSG_NOSIGNAL);
}

static ssize_t run_accept(const struct coil__op *op)
{
    return accept4(op->fd, op->addr, op->addrlen, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/*
 * Return the result of a connection attempt: 0, or -1 and errno. If SO_ERROR is 0, the
 * attempt may still be in progress, because the event that led here may be older than the
 * attempt.
 */
static int find_out_whether_connected(int fd)
{
    struct sockaddr_storage peer;
    socklen_t peer_bytes = sizeof peer, error_bytes = sizeof(int);
    int error = 0;

    if (COIL__CALL(ENOBUFS, getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_bytes)) <
        0)
        return -1;
    if (error == 0 &&
        COIL__CALL(ENOBUFS, getpeername(fd, (struct sockaddr *)&peer, &peer_bytes)) < 0)
        error = errno == ENOTCONN ? EINPROGRESS : errno;
    errno = error;
    return error == 0 ? 0 : -1;
}

/*
 * After EINTR, the kernel continues to connect. Unlike in other calls, EAGAIN is a
 * failure: the queue of a local socket is full, or no port is free.
 */
static ssize_t run_connect(const struct coil__op *op)
{
    int rc;

    if (op->begun)
        return find_out_whether_connected(op->fd);
    rc = connect(op->fd, op->addr, *op->addrlen);
    if (rc < 0 && (errno == EALREADY || errno == EINTR))
        errno = EINPROGRESS;
    return rc;
}

static ssize_t run_sendfile(const struct coil__op *op)
{
    return coil__sendfile_quietly(op->fd, op->fd2, op->offset, op->len);
}

/*
 * Return the events in op->events that have occurred. A hang-up or an error counts as
 * both events.
 */
static ssize_t run_poll(const struct coil__op *op)
{
    struct pollfd p = {.fd = op->fd};
    int found = 0;

    p.events = (short)((op->events & COIL_READABLE ? POLLIN : 0) |
                       (op->events & COIL_WRITABLE ? POLLOUT : 0));
    if (poll(&p, 1, 0) < 0)
        return -1;
    if (p.revents & POLLNVAL) {
        errno = EBADF;
        return -1;
    }
    if (p.revents & (POLLIN | POLLHUP | POLLERR))
        found |= COIL_READABLE;
    if (p.revents & (POLLOUT | POLLHUP | POLLERR))
        found |= COIL_WRITABLE;
    found &= (int)op->events;
    if (found == 0) {
        errno = EAGAIN;
        return -1;
    }
    return found;
}

/* ---- on files ---------------------------------------------------------------------- */

static ssize_t run_pread(const struct coil__op *op)
{
    return op->offset == -1 ? read(op->fd, op->buf, op->len)
                            : pread(op->fd, op->buf, op->len, op->offset);
}

static ssize_t run_pwrite(const struct coil__op *op)
{
    return op->offset == -1 ? write(op->fd, op->buf, op->len)
                            : pwrite(op->fd, op->buf, op->len, op->offset);
}

static ssize_t run_fsync(const struct coil__op *op)
{
    return op->flags == 1 ? fdatasync(op->fd) : fsync(op->fd);
}

static ssize_t run_open(const struct coil__op *op)
{
    return openat(op->fd, op->path, op->flags | O_CLOEXEC, op->mode);
}

static ssize_t run_close(const struct coil__op *op)
{
    return close(op->fd);
}

static ssize_t run_statx(const struct coil__op *op)
{
    return coil__files_stat(op->fd, op->path, op->flags, op->mode, op->buf);
}

static ssize_t run_rename(const struct coil__op *op)
{
    return coil__files_rename(op->fd, op->path, op->fd2, op->path2, (unsigned)op->flags);
}

static ssize_t run_unlink(const struct coil__op *op)
{
    return unlinkat(op->fd, op->path, op->flags);
}

static ssize_t run_mkdir(const struct coil__op *op)
{
    return mkdirat(op->fd, op->path, op->mode);
}

static ssize_t run_splice(const struct coil__op *op)
{
    return coil__files_splice(op->fd, op->offset, op->fd2, op->offset2, op->len,
                              (unsigned)op->flags);
}

static ssize_t run_copy(const struct coil__op *op)
{
    return coil__files_copy(op->fd, op->offset, op->fd2, op->offset2, op->len);
}

static ssize_t run_seek(const struct coil__op *op)
{
    return lseek(op->fd, op->offset, op->flags);
}

static ssize_t run_truncate(const struct coil__op *op)
{
    return ftruncate(op->fd, op->offset);
}

static ssize_t run_allocate(const struct coil__op *op)
{
    return coil__files_allocate(op->fd, op->flags, op->offset, (int64_t)op->len);
}

static ssize_t run_chmod(const struct coil__op *op)
{
    return op->path != NULL ? fchmodat(op->fd, op->path, op->mode, 0)
                            : fchmod(op->fd, op->mode);
}

static ssize_t run_chown(const struct coil__op *op)
{
    uid_t user = (uid_t)op->offset;
    gid_t group = (gid_t)op->offset2;

    return op->path != NULL ? fchownat(op->fd, op->path, user, group, op->flags)
                            : fchown(op->fd, user, group);
}

static ssize_t run_utimens(const struct coil__op *op)
{
    const struct timespec *times = op->buf;

    return op->path != NULL ? utimensat(op->fd, op->path, times, op->flags)
                            : futimens(op->fd, times);
}

static ssize_t run_list(const struct coil__op *op)
{
    return coil__files_list(op->fd, op->buf, op->len);
}

static ssize_t run_link(const struct coil__op *op)
{
    return linkat(op->fd, op->path, op->fd2, op->path2, op->flags);
}

static ssize_t run_symlink(const struct coil__op *op)
{
    return symlinkat(op->path, op->fd2, op->path2);
}

static ssize_t run_readlink(const struct coil__op *op)
{
    return readlinkat(op->fd, op->path, op->buf, op->len);
}

/* ---- the table --------------------------------------------------------------------- */

/* clang-format off */
const struct coil__op_row coil__op_rows[COIL__OP_COUNT] = {
    [COIL__OP_READ] = {run_read, "read(op->fd, op->buf, op->len)", "read",
        .error = EIO, .direction = COIL__IN, .waits = EAGAIN,
        .moves_bytes = true},
    [COIL__OP_WRITE] = {run_write, "write(op->fd, op->buf, op->len)", "write",
        .error = EIO, .direction = COIL__OUT, .waits = EAGAIN,
        .moves_bytes = true},
    [COIL__OP_WRITEV] = {run_writev, "writev(op->fd, op->buf, op->len)", "write",
        .error = EIO, .direction = COIL__OUT, .waits = EAGAIN,
        .moves_bytes = true},
    [COIL__OP_RECV] = {run_recv, "recv(op->fd, op->buf, op->len, op->flags)", "read",
        .error = ECONNRESET, .direction = COIL__IN, .waits = EAGAIN,
        .moves_bytes = true},
    [COIL__OP_SEND] = {run_send, "send(op->fd, op->buf, op->len, op->flags)", "write",
        .error = ECONNRESET, .direction = COIL__OUT, .waits = EAGAIN,
        .moves_bytes = true},
    [COIL__OP_RECVMSG] = {run_recvmsg, "recvmsg(op->fd, op->buf, op->flags)", "receive",
        .error = ECONNRESET, .direction = COIL__IN, .waits = EAGAIN,
        .moves_bytes = true},
    [COIL__OP_SENDMSG] = {run_sendmsg, "sendmsg(op->fd, op->buf, op->flags)", "send",
        .error = ECONNRESET, .direction = COIL__OUT, .waits = EAGAIN,
        .moves_bytes = true},
    [COIL__OP_ACCEPT] = {run_accept, "accept4(op->fd, op->addr, op->addrlen)", "accept",
        .error = EMFILE, .direction = COIL__IN, .waits = EAGAIN},
    [COIL__OP_CONNECT] = {run_connect, "connect(op->fd, op->addr, *op->addrlen)",
        "connect", .error = ENETUNREACH, .direction = COIL__OUT, .waits = EINPROGRESS},
    [COIL__OP_SENDFILE] = {run_sendfile, "sendfile(op->fd, op->fd2, op->len)", "sendfile",
        .error = EIO, .direction = COIL__OUT, .waits = EAGAIN,
        .moves_bytes = true},
    [COIL__OP_READABLE] = {run_poll, "poll(op->fd)", "wait_readable",
        .error = ENOMEM, .direction = COIL__IN, .waits = EAGAIN},
    [COIL__OP_POLL] = {run_poll, "poll(op->fd)", "wait_fd",
        .error = ENOMEM, .opcode = COIL__URING_POLL_ADD, .waits = EAGAIN},

    [COIL__OP_PREAD] = {run_pread, "pread(op->fd, op->buf, op->len)", "read",
        "coil_file_read", .error = EIO, .opcode = COIL__URING_READ},
    [COIL__OP_PWRITE] = {run_pwrite, "pwrite(op->fd, op->buf, op->len)", "write",
        "coil_file_write", .error = ENOSPC, .opcode = COIL__URING_WRITE},
    [COIL__OP_FSYNC] = {run_fsync, "fsync(op->fd)", "fsync",
        "coil_file_sync", .error = EIO, .opcode = COIL__URING_FSYNC},
    [COIL__OP_OPEN] = {run_open, "openat(op->fd, op->path)", "open",
        "coil_file_open", .error = EMFILE, .opcode = COIL__URING_OPENAT},
    [COIL__OP_CLOSE] = {run_close, "close(op->fd)", "close",
        "coil_file_close", .opcode = COIL__URING_CLOSE,
        /* Linux closes the descriptor even after EINTR: see close(2) */
        .ends_interrupted = true},
    [COIL__OP_STATX] = {run_statx, "statx(op->fd, op->path)", "stat",
        "coil_stat", .error = EACCES, .opcode = COIL__URING_STATX},
    [COIL__OP_RENAME] = {run_rename, "renameat2(op->fd, op->path)", "rename",
        "coil_rename", .error = EACCES, .opcode = COIL__URING_RENAMEAT},
    [COIL__OP_UNLINK] = {run_unlink, "unlinkat(op->fd, op->path)", "unlink",
        "coil_unlink", .error = EACCES, .opcode = COIL__URING_UNLINKAT},
    [COIL__OP_MKDIR] = {run_mkdir, "mkdirat(op->fd, op->path)", "mkdir",
        "coil_mkdir", .error = ENOSPC, .opcode = COIL__URING_MKDIRAT},
    [COIL__OP_SPLICE] = {run_splice, "splice(op->fd, op->fd2, op->len)", "splice",
        "coil_copy_file", .error = EIO, .opcode = COIL__URING_SPLICE},
    [COIL__OP_COPY] = {run_copy, "copy_file_range(op->fd, op->fd2, op->len)", "copy",
        "coil_copy_file", .error = EXDEV},
    [COIL__OP_SEEK] = {run_seek, "lseek(op->fd, op->offset)", "seek",
        "coil_file_seek", .error = ESPIPE},
    [COIL__OP_TRUNCATE] = {run_truncate, "ftruncate(op->fd)", "truncate",
        "coil_file_truncate", .error = EIO, .opcode = COIL__URING_FTRUNCATE},
    [COIL__OP_ALLOCATE] = {run_allocate, "fallocate(op->fd)", "allocate",
        "coil_file_allocate", .error = ENOSPC, .opcode = COIL__URING_FALLOCATE},
    [COIL__OP_CHMOD] = {run_chmod, "fchmod(op->fd, op->mode)", "chmod",
        "coil_file_chmod", .error = EPERM},
    [COIL__OP_CHOWN] = {run_chown, "fchownat(op->fd, op->path)", "chown",
        "coil_file_chown", .error = EPERM},
    [COIL__OP_UTIMENS] = {run_utimens, "utimensat(op->fd, op->path)", "utimens",
        "coil_file_utimens", .error = EPERM},
    [COIL__OP_LIST] = {run_list, "getdents64(op->fd, op->buf, op->len)", "list",
        "coil_directory_next", .error = EIO},
    [COIL__OP_LINK] = {run_link, "linkat(op->fd, op->path)", "link",
        "coil_link", .error = EMLINK, .opcode = COIL__URING_LINKAT},
    [COIL__OP_SYMLINK] = {run_symlink, "symlinkat(op->path, op->fd2)", "symlink",
        "coil_symlink", .error = ENOSPC, .opcode = COIL__URING_SYMLINKAT},
    [COIL__OP_READLINK] = {run_readlink, "readlinkat(op->fd, op->path)", "readlink",
        "coil_readlink", .error = EACCES},
};
/* clang-format on */

/* ---- making the call --------------------------------------------------------------- */

ssize_t coil__op_call(const struct coil__op *op)
{
    const struct coil__op_row *row = &coil__op_rows[op->kind];
    ssize_t result;

    do
        result = row->error != 0 && coil__call_fails(row->error, row->call)
                     ? -1
                     : row->run(op);
    while (result < 0 && errno == EINTR && !row->ends_interrupted);
    if (result >= 0)
        return result;
    return errno == row->waits ? -EINPROGRESS : -errno;
}
