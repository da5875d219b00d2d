/*
 * io_uring_entry.c - an operation as an entry of the queue.
 *
 * What is left out here the kernel has no operation for, or one that does not do what the
 * system call does; the file lane makes that call (os/file_op.c).
 */
#include "io_uring.h"

#include "../../base/fault.h"
#include "../../base/kernel.h"

#include <coil/loop.h>

#include <fcntl.h>
#include <poll.h>

/* What read(2) and the others take at once; sqe->len has 32 bits. */
#define LONGEST ((size_t)0x7ffff000)

/* ---- what can be done, and what is made to fail ------------------------------------ */

/* What is tried by a call, or made by one, fails there. */
static const struct {
    uint8_t opcode; /* NOP: the kernel has none for it */
    int error;      /* that an order to fail has it fail with */
    const char *call;
} kinds[] = {
    [COIL__OP_READ] = {IORING_OP_READ, EIO, "read(op->fd, op->buf, op->len)"},
    [COIL__OP_WRITE] = {IORING_OP_WRITE, EIO, "write(op->fd, op->buf, op->len)"},
    [COIL__OP_WRITEV] = {IORING_OP_WRITEV, EIO, "writev(op->fd, op->buf, op->len)"},
    [COIL__OP_RECV] = {IORING_OP_RECV, ECONNRESET,
                       "recv(op->fd, op->buf, op->len, op->flags)"},
    [COIL__OP_RECVMSG] = {IORING_OP_RECVMSG, ECONNRESET,
                          "recvmsg(op->fd, op->buf, op->flags)"},
    [COIL__OP_CONNECT] = {IORING_OP_CONNECT, ENETUNREACH, "connect(op->fd, op->addr)"},
    [COIL__OP_POLL] = {IORING_OP_POLL_ADD, ENOMEM, "poll(op->fd)"},
    [COIL__OP_PREAD] = {IORING_OP_READ, EIO, "pread(op->fd, op->buf, op->len)"},
    [COIL__OP_PWRITE] = {IORING_OP_WRITE, EIO, "pwrite(op->fd, op->buf, op->len)"},
    [COIL__OP_FSYNC] = {IORING_OP_FSYNC, EIO, "fsync(op->fd)"},
    [COIL__OP_OPEN] = {IORING_OP_OPENAT, EMFILE, "openat(op->fd, op->path)"},
    [COIL__OP_CLOSE] = {IORING_OP_CLOSE, 0, NULL},
    [COIL__OP_STATX] = {IORING_OP_STATX, EIO, "statx(op->fd, op->path)"},
    [COIL__OP_RENAME] = {IORING_OP_RENAMEAT, EIO, "renameat2(op->fd, op->path)"},
    [COIL__OP_UNLINK] = {IORING_OP_UNLINKAT, EIO, "unlinkat(op->fd, op->path)"},
    [COIL__OP_MKDIR] = {IORING_OP_MKDIRAT, EIO, "mkdirat(op->fd, op->path)"},
    [COIL__OP_SPLICE] = {IORING_OP_SPLICE, EIO, "splice(op->fd, op->fd2, op->len)"},
    [COIL__OP_TRUNCATE] = {COIL__IORING_OP_FTRUNCATE, EIO, "ftruncate(op->fd)"},
    [COIL__OP_ALLOCATE] = {IORING_OP_FALLOCATE, ENOSPC, "fallocate(op->fd)"},
    [COIL__OP_LINK] = {IORING_OP_LINKAT, EIO, "linkat(op->fd, op->path)"},
    [COIL__OP_SYMLINK] = {IORING_OP_SYMLINKAT, EIO, "symlinkat(op->path, op->fd2)"},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

int coil__uring_struck(const struct coil__op *op)
{
    if (!coil__call_fails(kinds[op->kind].error, kinds[op->kind].call))
        return 0;
    /* Interrupted, it would be made again; told to come back, it would wait. */
    return errno == EINTR || errno == EAGAIN ? 0 : -errno;
}

/*
 * At the file's own position the kernel reads and writes without its lock, and does not
 * move it if an error follows a short transfer (6.18): what comes next would go to the
 * wrong place.
 */
static bool needs_position(const struct coil__op *op)
{
    return (op->kind == COIL__OP_PREAD || op->kind == COIL__OP_PWRITE) && op->offset < 0;
}

bool coil__uring_can(const struct coil__uring *u, const struct coil__op *op)
{
    return !needs_position(op) && (int)op->kind < KINDS &&
           kinds[op->kind].opcode != IORING_OP_NOP &&
           (u->known_ops >> kinds[op->kind].opcode & 1) != 0;
}

/* ---- into the queue --------------------------------------------------------------- */

static unsigned length(const struct coil__op *op)
{
    return (unsigned)(op->len < LONGEST ? op->len : LONGEST);
}

static unsigned poll_events(const struct coil__op *op)
{
    if (op->kind != COIL__OP_POLL)
        return coil__op_direction(op) == COIL__OUT ? POLLOUT : POLLIN;
    return (op->events & COIL_READABLE ? POLLIN : 0u) |
           (op->events & COIL_WRITABLE ? POLLOUT : 0u);
}

static void prepare_file(struct io_uring_sqe *entry, const struct coil__op *op,
                         unsigned write_flags)
{
    switch (op->kind) {
    case COIL__OP_PREAD:
        io_uring_prep_read(entry, op->fd, op->buf, length(op), (uint64_t)op->offset);
        break;
    case COIL__OP_PWRITE:
        io_uring_prep_write(entry, op->fd, op->buf, length(op), (uint64_t)op->offset);
        entry->rw_flags = (int)write_flags;
        break;
    case COIL__OP_FSYNC:
        io_uring_prep_fsync(entry, op->fd, op->flags != 0 ? IORING_FSYNC_DATASYNC : 0);
        break;
    case COIL__OP_OPEN:
        /* At once by a worker: tried here first, a FIFO without a peer would fail. */
        io_uring_prep_openat(entry, op->fd, op->path, op->flags | O_CLOEXEC, op->mode);
        if (!(op->flags & O_NONBLOCK))
            entry->flags = IOSQE_ASYNC;
        break;
    case COIL__OP_CLOSE:
        io_uring_prep_close(entry, op->fd);
        break;
    case COIL__OP_STATX:
        io_uring_prep_statx(entry, op->fd, op->path, op->flags, op->mode, op->buf);
        break;
    case COIL__OP_RENAME:
        io_uring_prep_renameat(entry, op->fd, op->path, op->fd2, op->path2,
                               (unsigned)op->flags);
        break;
    case COIL__OP_UNLINK:
        io_uring_prep_unlinkat(entry, op->fd, op->path, op->flags);
        break;
    case COIL__OP_MKDIR:
        io_uring_prep_mkdirat(entry, op->fd, op->path, op->mode);
        break;
    case COIL__OP_TRUNCATE:
        io_uring_prep_rw(COIL__IORING_OP_FTRUNCATE, entry, op->fd, NULL, 0,
                         (uint64_t)op->offset);
        break;
    case COIL__OP_ALLOCATE:
        io_uring_prep_fallocate(entry, op->fd, op->flags, op->offset, (off_t)op->len);
        break;
    case COIL__OP_LINK:
        io_uring_prep_linkat(entry, op->fd, op->path, op->fd2, op->path2, op->flags);
        break;
    case COIL__OP_SYMLINK:
        io_uring_prep_symlinkat(entry, op->path, op->fd2, op->path2);
        break;
    default:
        io_uring_prep_splice(entry, op->fd, op->offset, op->fd2, op->offset2, length(op),
                             (unsigned)op->flags);
        break;
    }
}

/*
 * MSG_DONTWAIT would only have the kernel give up: who waits is the task. Not MSG_WAITALL
 * for sends: how far a long write has come is to be seen while it goes on.
 */
static void prepare_call(struct io_uring_sqe *entry, const struct coil__op *op,
                         unsigned write_flags)
{
    int flags = op->flags & ~MSG_DONTWAIT;

    switch (op->kind) {
    case COIL__OP_READ:
        io_uring_prep_read(entry, op->fd, op->buf, length(op), (uint64_t)-1);
        break;
    case COIL__OP_WRITE:
        io_uring_prep_write(entry, op->fd, op->buf, length(op), (uint64_t)-1);
        entry->rw_flags = (int)write_flags;
        break;
    case COIL__OP_WRITEV:
        io_uring_prep_writev(entry, op->fd, op->buf, (unsigned)op->len, (uint64_t)-1);
        entry->rw_flags = (int)write_flags;
        break;
    case COIL__OP_RECV:
        io_uring_prep_recv(entry, op->fd, op->buf, length(op), flags);
        break;
    case COIL__OP_SEND:
        io_uring_prep_send(entry, op->fd, op->buf, length(op), flags | MSG_NOSIGNAL);
        break;
    case COIL__OP_RECVMSG:
        io_uring_prep_recvmsg(entry, op->fd, op->buf,
                              (unsigned)(flags | MSG_CMSG_CLOEXEC));
        break;
    case COIL__OP_SENDMSG:
        io_uring_prep_sendmsg(entry, op->fd, op->buf, (unsigned)(flags | MSG_NOSIGNAL));
        break;
    case COIL__OP_ACCEPT:
        io_uring_prep_accept(entry, op->fd, op->addr, op->addrlen,
                             SOCK_NONBLOCK | SOCK_CLOEXEC);
        break;
    case COIL__OP_CONNECT:
        io_uring_prep_connect(entry, op->fd, op->addr, *op->addrlen);
        break;
    default:
        prepare_file(entry, op, write_flags);
        break;
    }
}

void coil__uring_prepare(struct coil__uring *u, struct io_uring_sqe *entry,
                         const struct coil__op *op)
{
    if (op->kind == COIL__OP_POLL || (coil__uring_state(op) & COIL__URING_POLLS))
        io_uring_prep_poll_add(entry, op->fd, poll_events(op));
    else
        prepare_call(entry, op,
                     coil__uring_state(op) & COIL__URING_QUIET ? u->quiet_flag : 0);
    entry->user_data = (uintptr_t)op;
}
