/*
 * io_uring_op.c - an operation, from the queue to its result.
 *
 *              start               the kernel
 *   submitted ------> IN_KERNEL ---------------------> its result: complete()
 *                      ^     |
 *                again |     | it would block, and does not wait by itself
 *                      |     v
 *                   IN_KERNEL | POLLS: ready, or cancelled
 *
 * Most operations wait in the kernel. Some do not, on descriptors that do not block
 * (terminals, eventfds): those are polled for, and submitted again.
 *
 * A few are system calls of ours:
 * - accepting, as long as connections are there to be had: one for each would be one for
 *   each turn else. Only with none is it submitted, to wait. (Multishot would accept what
 *   nobody has asked for.)
 * - connecting a local socket, which never takes time, but fails if the queue is full;
 *   the kernel's workers would wait then.
 * - sendfile(2), which the kernel has not got as an operation;
 * - writing to what is not a socket, where the kernel has no RWF_NOSIGNAL: a broken pipe
 *   would kill.
 */
#include "io_uring.h"

#include "../../base/fault.h"
#include "../../base/kernel.h"
#include "../loop.h"
#include "try.h"

#include <fcntl.h>
#include <poll.h>

/* What read(2) and the others take at once; sqe->len has 32 bits. */
#define LONGEST ((size_t)0x7ffff000)

static enum coil__direction direction_of(const struct coil__op *op)
{
    switch (op->kind) {
    case COIL__OP_WRITE:
    case COIL__OP_WRITEV:
    case COIL__OP_SEND:
    case COIL__OP_SENDMSG:
    case COIL__OP_CONNECT:
    case COIL__OP_SENDFILE:
        return COIL__OUT;
    default:
        return COIL__IN;
    }
}

/* ---- what can be done, and what is made to fail ------------------------------------ */

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
    [COIL__OP_SEND] = {IORING_OP_SEND, ECONNRESET,
                       "send(op->fd, op->buf, op->len, op->flags)"},
    [COIL__OP_RECVMSG] = {IORING_OP_RECVMSG, ECONNRESET,
                          "recvmsg(op->fd, op->buf, op->flags)"},
    [COIL__OP_SENDMSG] = {IORING_OP_SENDMSG, ECONNRESET,
                          "sendmsg(op->fd, op->buf, op->flags)"},
    [COIL__OP_ACCEPT] = {IORING_OP_ACCEPT, EMFILE, "accept4(op->fd, ...)"},
    [COIL__OP_CONNECT] = {IORING_OP_CONNECT, ENETUNREACH, "connect(op->fd, op->addr)"},
    [COIL__OP_SENDFILE] = {IORING_OP_NOP, EIO, "sendfile(op->fd, op->fd2)"},
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

static bool kernel_knows(const struct coil__uring *u, const struct coil__op *op)
{
    return (int)op->kind < KINDS && kinds[op->kind].opcode != IORING_OP_NOP &&
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
        return direction_of(op) == COIL__OUT ? POLLOUT : POLLIN;
    return (op->events & COIL_READABLE ? POLLIN : 0u) |
           (op->events & COIL_WRITABLE ? POLLOUT : 0u);
}

static void prepare_file(struct io_uring_sqe *entry, const struct coil__op *op,
                         int write_flags)
{
    switch (op->kind) {
    case COIL__OP_PREAD:
        io_uring_prep_read(entry, op->fd, op->buf, length(op), (uint64_t)op->offset);
        break;
    case COIL__OP_PWRITE:
        io_uring_prep_write(entry, op->fd, op->buf, length(op), (uint64_t)op->offset);
        entry->rw_flags = write_flags;
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
static void prepare(struct io_uring_sqe *entry, const struct coil__op *op,
                    int write_flags)
{
    int flags = op->flags & ~MSG_DONTWAIT;

    switch (op->kind) {
    case COIL__OP_READ:
        io_uring_prep_read(entry, op->fd, op->buf, length(op), (uint64_t)-1);
        break;
    case COIL__OP_WRITE:
        io_uring_prep_write(entry, op->fd, op->buf, length(op), (uint64_t)-1);
        entry->rw_flags = write_flags;
        break;
    case COIL__OP_WRITEV:
        io_uring_prep_writev(entry, op->fd, op->buf, (unsigned)op->len, (uint64_t)-1);
        entry->rw_flags = write_flags;
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

/* False if the queue has no room. */
static bool queue_op(struct coil__uring *u, struct coil__op *op)
{
    struct io_uring_sqe *entry = coil__uring_entry(u);
    uintptr_t state = coil__uring_state(op);

    if (entry == NULL)
        return false;
    if (op->kind == COIL__OP_POLL || (state & COIL__URING_POLLS))
        io_uring_prep_poll_add(entry, op->fd, poll_events(op));
    else
        prepare(entry, op, coil__uring_has(u, COIL__URING_NO_SIGNAL) ? RWF_NOSIGNAL : 0);
    entry->user_data = (uintptr_t)op;
    coil__uring_set_state(op, state | COIL__URING_IN_KERNEL);
    return true;
}

/* ---- waiting, and its end --------------------------------------------------------- */

void coil__uring_enlist(struct coil__uring *u, struct coil__uring_fd *d,
                        struct coil__op *op, uintptr_t state)
{
    coil__list_init(&op->link);
    if (d == NULL) {
        state |= COIL__URING_FILE;
        coil__loop_expect(coil_loop_current(), 1); /* a virtual clock waits for it */
        coil__list_push(&u->files, &op->link);
    } else if (op->kind != COIL__OP_POLL) {
        d->ops[direction_of(op)] = op;
    } else {
        if (op->events & COIL_READABLE)
            d->ops[COIL__IN] = op;
        if (op->events & COIL_WRITABLE)
            d->ops[COIL__OUT] = op;
    }
    coil__uring_set_state(op, state);
    u->backend.in_use++;
}

static void leave(struct coil__uring *u, struct coil__op *op)
{
    struct coil__uring_fd *d = coil__uring_find(u, op->fd);

    u->backend.in_use--;
    coil__list_remove(&op->link);
    if (coil__uring_state(op) & COIL__URING_FILE) {
        coil__loop_expect(coil_loop_current(), -1);
        return;
    }
    for (int i = 0; i < 2; i++)
        if (d->ops[i] == op)
            d->ops[i] = NULL;
    if (d->use == COIL__URING_BORROWED && d->ops[COIL__IN] == NULL &&
        d->ops[COIL__OUT] == NULL)
        coil__uring_give_up(d);
}

void coil__uring_finish(struct coil__uring *u, struct coil__op *op, ssize_t result)
{
    uintptr_t state = coil__uring_state(op);

    if ((state & (COIL__URING_CANCELLED | COIL__URING_DETACHED)) && result == -EINTR)
        result = -ECANCELED; /* one of the kernel's workers was interrupted for us */
    if ((state & COIL__URING_DETACHED) && result == -ECANCELED)
        result = -EBADF;
    leave(u, op);
    op->result = result;
    op->complete(op);
}

void coil__uring_again(struct coil__uring *u, struct coil__op *op)
{
    coil__uring_set_state(op, coil__uring_state(op) & ~(uintptr_t)COIL__URING_IN_KERNEL);
    coil__list_remove(&op->link);
    coil__list_push(&u->todo, &op->link);
}

ssize_t coil__uring_start(struct coil__uring *u, struct coil__op *op)
{
    if (!queue_op(u, op))
        coil__uring_again(u, op); /* the next round has room */
    return -EINPROGRESS;
}

/* ---- what the kernel said --------------------------------------------------------- */

static bool would_block(const struct coil__op *op, int result)
{
    if (op->kind == COIL__OP_CONNECT)
        return result == -EINPROGRESS || result == -EALREADY;
    return result == -EAGAIN && !(coil__uring_state(op) & COIL__URING_FILE);
}

static int found_of(const struct coil__op *op, int events)
{
    unsigned found = 0;

    if (events & (POLLIN | POLLHUP | POLLERR))
        found |= COIL_READABLE;
    if (events & (POLLOUT | POLLHUP | POLLERR))
        found |= COIL_WRITABLE;
    return (int)(found & op->events);
}

/* From now on, wait for the descriptor first. */
static void poll_for(struct coil__uring *u, struct coil__op *op)
{
    coil__uring_set_state(op, coil__uring_state(op) | COIL__URING_POLLS);
    coil__uring_again(u, op);
}

/* The descriptor is ready, it seems. */
static void polled(struct coil__uring *u, struct coil__op *op, int result)
{
    uintptr_t state = coil__uring_state(op);
    ssize_t done;

    if (result < 0 || (state & (COIL__URING_CANCELLED | COIL__URING_DETACHED))) {
        coil__uring_finish(u, op, result < 0 ? result : -ECANCELED);
    } else if (state & COIL__URING_BY_CALL) {
        done = coil__try_again(op);
        if (done == -EINPROGRESS)
            poll_for(u, op);
        else
            coil__uring_finish(u, op, done);
    } else {
        coil__uring_set_state(op, state & ~(uintptr_t)COIL__URING_POLLS);
        coil__uring_again(u, op);
    }
}

/* Interrupted though nobody asked it to end. A close is not made again: close(2). */
static bool to_be_made_again(const struct coil__op *op, int result)
{
    return result == -EINTR && op->kind != COIL__OP_CLOSE &&
           op->kind != COIL__OP_CONNECT &&
           !(coil__uring_state(op) & (COIL__URING_CANCELLED | COIL__URING_DETACHED));
}

static bool writes(const struct coil__op *op)
{
    return op->kind == COIL__OP_WRITE || op->kind == COIL__OP_WRITEV ||
           op->kind == COIL__OP_PWRITE;
}

void coil__uring_completed(struct coil__uring *u, struct coil__op *op, int result)
{
    uintptr_t state = coil__uring_state(op);

    COIL__PREFETCH(op->owner);
    COIL__PREFETCH(op->hint);
    coil__uring_set_state(op, state & ~(uintptr_t)COIL__URING_IN_KERNEL);
    if (COIL__LIKELY(result >= 0 && !(state & COIL__URING_POLLS))) {
        coil__uring_finish(u, op,
                           op->kind == COIL__OP_POLL ? found_of(op, result) : result);
    } else if (state & COIL__URING_POLLS) {
        polled(u, op, result);
    } else if (would_block(op, result)) {
        if (op->kind == COIL__OP_CONNECT)
            coil__uring_set_state(op, coil__uring_state(op) | COIL__URING_BY_CALL);
        poll_for(u, op);
    } else if (to_be_made_again(op, result)) {
        coil__uring_again(u, op);
    } else if (result == -EOPNOTSUPP && writes(op) &&
               coil__uring_has(u, COIL__URING_NO_SIGNAL)) {
        u->features &= ~(unsigned)COIL__URING_NO_SIGNAL;
        if (op->kind != COIL__OP_PWRITE)
            coil__uring_set_state(op, coil__uring_state(op) | COIL__URING_POLLS |
                                          COIL__URING_BY_CALL);
        coil__uring_again(u, op);
    } else {
        coil__uring_finish(u, op, result);
    }
}

/* ---- submitting ------------------------------------------------------------------- */

static ssize_t start_new(struct coil__uring *u, struct coil__uring_fd *d,
                         struct coil__op *op, uintptr_t state)
{
    coil__uring_enlist(u, d, op, state);
    return coil__uring_start(u, op);
}

/* COIL__OP_POLL needs no attach(): it borrows a descriptor that nobody else uses. */
static ssize_t submit_poll(struct coil__uring *u, struct coil__op *op)
{
    struct coil__uring_fd *d;
    int rc = coil__uring_find_or_grow(u, op->fd, &d);

    if (rc < 0)
        return rc;
    if (d->use != COIL__URING_UNUSED && d->use != COIL__URING_BORROWED)
        return -EBUSY;
    if ((op->events & COIL_READABLE && d->ops[COIL__IN] != NULL) ||
        (op->events & COIL_WRITABLE && d->ops[COIL__OUT] != NULL))
        return -EBUSY;
    rc = coil__uring_struck(op);
    if (rc < 0)
        return rc;
    d->use = COIL__URING_BORROWED;
    return start_new(u, d, op, 0);
}

/* By a system call of ours; if that would block, polled for, and called again. */
static ssize_t submit_call(struct coil__uring *u, struct coil__uring_fd *d,
                           struct coil__op *op)
{
    ssize_t result = coil__try_first(op);

    if (result != -EINPROGRESS)
        return result;
    return start_new(u, d, op, COIL__URING_POLLS | COIL__URING_BY_CALL);
}

static ssize_t submit_accept(struct coil__uring *u, struct coil__uring_fd *d,
                             struct coil__op *op)
{
    ssize_t result = coil__try_first(op);

    if (result != -EINPROGRESS)
        return result;
    return start_new(u, d, op, 0);
}

/* Moving bytes out of a stream past those that were received ahead. */
static bool would_overtake(const struct coil__uring *u, const struct coil__op *op)
{
    const struct coil__uring_fd *d = coil__uring_find(u, op->fd);

    return op->kind == COIL__OP_SPLICE && d != NULL && (d->receiving || d->queued > 0);
}

static ssize_t submit_file(struct coil__uring *u, struct coil__op *op)
{
    int rc;

    if (would_overtake(u, op))
        return -EBUSY;
    if (!kernel_knows(u, op) || needs_position(op))
        return -EOPNOTSUPP;
    /* An order to fail does not strike a close, whose failure changes nothing. */
    rc = op->kind != COIL__OP_CLOSE ? coil__uring_struck(op) : 0;
    return rc < 0 ? rc : start_new(u, NULL, op, 0);
}

ssize_t coil__uring_submit(struct coil__backend *backend, struct coil__op *op)
{
    struct coil__uring *u = coil__uring_of(backend);
    struct coil__uring_fd *d;
    int rc;

    if (op->kind == COIL__OP_POLL)
        return submit_poll(u, op);
    if (op->kind > COIL__OP_POLL)
        return submit_file(u, op);
    d = coil__uring_find(u, op->fd);
    if (d == NULL || d->use != COIL__URING_ATTACHED)
        return -EBADF;
    if (d->ops[direction_of(op)] != NULL)
        return -EBUSY;
    switch (op->kind) {
    case COIL__OP_READ:
    case COIL__OP_RECV:
    case COIL__OP_RECVMSG:
        return coil__uring_receive(u, d, op);
    case COIL__OP_ACCEPT:
        return submit_accept(u, d, op);
    case COIL__OP_SENDFILE:
        return submit_call(u, d, op);
    case COIL__OP_WRITE:
    case COIL__OP_WRITEV:
        if (!coil__uring_has(u, COIL__URING_NO_SIGNAL))
            return submit_call(u, d, op);
        break;
    case COIL__OP_CONNECT:
        if (op->addr->sa_family == AF_UNIX)
            return submit_call(u, d, op);
        break;
    default:
        break;
    }
    rc = coil__uring_struck(op);
    return rc < 0 ? rc : start_new(u, d, op, 0);
}

/* ---- cancelling ------------------------------------------------------------------- */

static void ask_to_end(struct coil__uring *u, struct coil__op *op, uintptr_t why)
{
    uintptr_t state = coil__uring_state(op) | why;

    coil__uring_set_state(op, state);
    if (state & COIL__URING_AHEAD) {
        coil__uring_finish(u, op, -ECANCELED);
        return;
    }
    coil__list_remove(&op->link);
    coil__list_push(&u->todo, &op->link);
}

void coil__uring_cancel(struct coil__backend *backend, struct coil__op *op)
{
    ask_to_end(coil__uring_of(backend), op, COIL__URING_CANCELLED);
}

/* False if the queue has no room. */
static bool do_next(struct coil__uring *u, struct coil__op *op)
{
    uintptr_t state = coil__uring_state(op);
    struct io_uring_sqe *entry;

    if (!(state & (COIL__URING_CANCELLED | COIL__URING_DETACHED)))
        return queue_op(u, op);
    if (!(state & COIL__URING_IN_KERNEL)) {
        coil__uring_finish(u, op, -ECANCELED);
        return true;
    }
    entry = coil__uring_entry(u);
    if (entry != NULL)
        io_uring_prep_cancel(entry, op, 0);
    return entry != NULL;
}

void coil__uring_do(struct coil__uring *u)
{
    struct coil__list *link;

    while ((link = coil__list_pop(&u->todo)) != NULL) {
        struct coil__op *op = COIL__CONTAINER(link, struct coil__op, link);
        bool is_file = coil__uring_state(op) & COIL__URING_FILE;

        if (is_file)
            coil__list_push(&u->files, link);
        if (do_next(u, op))
            continue;
        coil__list_remove(link);
        coil__list_push(&u->todo, link);
        return;
    }
}

static bool end_files(struct coil__uring *u, struct coil__list *list, int fd)
{
    bool found = false;

    COIL__LIST_EACH (link, list) {
        struct coil__op *op = COIL__CONTAINER(link, struct coil__op, link);

        if (!(coil__uring_state(op) & COIL__URING_FILE) ||
            (op->fd != fd && !(op->kind == COIL__OP_SPLICE && op->fd2 == fd)))
            continue;
        found = true;
        if (list != &u->todo)
            ask_to_end(u, op, COIL__URING_DETACHED);
        else
            coil__uring_set_state(op, coil__uring_state(op) | COIL__URING_DETACHED);
    }
    return found;
}

bool coil__uring_end_ops(struct coil__uring *u, int fd, struct coil__uring_fd *d)
{
    bool found = false;

    for (int i = 0; i < 2; i++)
        if (d->ops[i] != NULL)
            ask_to_end(u, d->ops[i], COIL__URING_DETACHED);
    found = d->ops[COIL__IN] != NULL || d->ops[COIL__OUT] != NULL;
    found |= end_files(u, &u->todo, fd);
    found |= end_files(u, &u->files, fd);
    return found;
}

static void tell_nobody(struct coil__op *op)
{
    (void)op;
}

bool coil__uring_abandon_ops(struct coil__uring *u)
{
    bool found = false;

    for (size_t i = 0; i < 2 * u->table_size; i++) {
        struct coil__op *op = u->table[i / 2].ops[i % 2];

        if (op == NULL)
            continue;
        op->complete = tell_nobody;
        ask_to_end(u, op, COIL__URING_CANCELLED);
        found = true;
    }
    COIL__LIST_EACH (link, &u->files) {
        ask_to_end(u, COIL__CONTAINER(link, struct coil__op, link),
                   COIL__URING_CANCELLED);
        found = true;
    }
    COIL__LIST_EACH (link, &u->todo)
        COIL__CONTAINER(link, struct coil__op, link)->complete = tell_nobody;
    return found || !coil__list_empty(&u->todo);
}

void coil__uring_finish_ops(struct coil__uring *u, struct coil__uring_fd *d)
{
    for (int i = 0; i < 2; i++)
        if (d->ops[i] != NULL)
            coil__uring_finish(u, d->ops[i], -ECANCELED);
}
