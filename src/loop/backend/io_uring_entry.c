/*
 * io_uring_entry.c - converts an operation to an entry of the submission queue. An
 * operation on a descriptor becomes a request to poll.
 *
 * If io_uring lacks an operation, or if its effect differs from that of the system call,
 * a thread of the file lane makes the system call instead (io/file_op.c).
 */
#include "io_uring_entry.h"

#include "../../base/fault.h"
#include "../../kernel/linux/constants.h"
#include "io_uring_opcode.h"

#include <coil/loop.h>

#include <fcntl.h>
#include <poll.h>

/*
 * The maximum number of bytes that read(2) transfers at once. (sqe->len has only 32
 * bits.)
 */
#define LONGEST ((size_t)0x7ffff000)

/* clang-format off */
#define AGREES(name, number) _Static_assert(IORING_OP_##name == (number), #name);
COIL__URING_OPCODES(AGREES)
#undef AGREES
/* clang-format on */

/* ---- supported operations, and injected failures ----------------------------------- */

int coil__uring_injected_failure(const struct coil__op *op)
{
    const struct coil__op_row *row = &coil__op_rows[op->kind];

    if (row->error == 0 || !coil__call_fails(row->error, row->call))
        return 0;
    /*
     * Ignore EINTR and EAGAIN, which are not failures: after EINTR a call is repeated,
     * and after EAGAIN its caller waits.
     */
    return errno == EINTR || errno == EAGAIN ? 0 : -errno;
}

/*
 * True if the operation uses the file's own position. In this case io_uring (Linux 6.18)
 * does not lock the position, and does not advance it if an error follows a short
 * transfer, so the next operation would use a wrong position.
 */
static bool needs_position(const struct coil__op *op)
{
    return (op->kind == COIL__OP_PREAD || op->kind == COIL__OP_PWRITE) && op->offset < 0;
}

bool coil__uring_can(const struct coil__uring *u, const struct coil__op *op)
{
    unsigned opcode = coil__op_rows[op->kind].opcode;

    return !needs_position(op) && opcode != IORING_OP_NOP &&
           (u->known_ops >> opcode & 1) != 0;
}

/* ---- filling in an entry ----------------------------------------------------------- */

static unsigned entry_length(const struct coil__op *op)
{
    return (unsigned)(op->len < LONGEST ? op->len : LONGEST);
}

unsigned coil__uring_poll_events(const struct coil__op *op)
{
    if (op->kind != COIL__OP_POLL)
        return coil__op_direction(op) == COIL__OUT ? POLLOUT : POLLIN;
    return (op->events & COIL_READABLE ? POLLIN : 0u) |
           (op->events & COIL_WRITABLE ? POLLOUT : 0u);
}

static void prepare_file(struct io_uring_sqe *entry, const struct coil__op *op)
{
    switch (op->kind) {
    case COIL__OP_PREAD:
        io_uring_prep_read(entry, op->fd, op->buf, entry_length(op),
                           (uint64_t)op->offset);
        break;
    case COIL__OP_PWRITE:
        io_uring_prep_write(entry, op->fd, op->buf, entry_length(op),
                            (uint64_t)op->offset);
        break;
    case COIL__OP_FSYNC:
        io_uring_prep_fsync(entry, op->fd, op->flags != 0 ? IORING_FSYNC_DATASYNC : 0);
        break;
    case COIL__OP_OPEN:
        /*
         * With IOSQE_ASYNC, a worker of the kernel performs the operation. Otherwise the
         * kernel would first try it without blocking, and opening a FIFO without a peer
         * would fail.
         */
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
        io_uring_prep_rw(COIL__URING_FTRUNCATE, entry, op->fd, NULL, 0,
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
        io_uring_prep_splice(entry, op->fd, op->offset, op->fd2, op->offset2,
                             entry_length(op), (unsigned)op->flags);
        break;
    }
}

void coil__uring_prepare_pause(struct io_uring_sqe *entry, unsigned n)
{
    static struct __kernel_timespec pauses[] = {{.tv_nsec = COIL_MSEC(1)},
                                                {.tv_nsec = COIL_MSEC(2)},
                                                {.tv_nsec = COIL_MSEC(4)},
                                                {.tv_nsec = COIL_MSEC(8)},
                                                {.tv_nsec = COIL_MSEC(16)}};
    const unsigned count = sizeof pauses / sizeof pauses[0];

    io_uring_prep_timeout(entry, &pauses[n < count ? n : count - 1], 0, 0);
}

void coil__uring_prepare(struct io_uring_sqe *entry, const struct coil__op *op)
{
    uintptr_t state = coil__uring_state(op);

    if (state & COIL__URING_FILE)
        prepare_file(entry, op);
    else if (state & COIL__URING_PAUSES)
        coil__uring_prepare_pause(entry, (unsigned)(state / COIL__URING_PAUSED));
    else if (state & COIL__URING_STAYS)
        io_uring_prep_poll_multishot(entry, op->fd, coil__uring_poll_events(op));
    else
        io_uring_prep_poll_add(entry, op->fd, coil__uring_poll_events(op));
    entry->user_data = (uintptr_t)op;
}
