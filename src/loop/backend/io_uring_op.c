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
 * Two are tried by a system call of ours, and submitted only if they have to wait:
 * - accepting: submitted, it would be one connection a turn. (Multishot would accept what
 *   nobody has asked for.)
 * - sending, which seldom has to: a task that need not be suspended and resumed, and the
 *   peer's waiting for the end of the turn, cost more than the call.
 *
 * A few are always system calls of ours:
 * - connecting a local socket, which never takes time, but fails if the queue is full;
 *   the kernel's workers would wait then.
 * - sendfile(2), which the kernel has not got as an operation;
 * - writing to what is not a socket, where the kernel has no RWF_NOSIGNAL: a broken pipe
 *   would kill.
 */
#include "io_uring.h"

#include "../loop.h"
#include "try.h"

#include <poll.h>

/* ---- into the queue --------------------------------------------------------------- */

/* False if the queue has no room. */
static bool queue_op(struct coil__uring *u, struct coil__op *op)
{
    struct io_uring_sqe *entry = coil__uring_entry(u);
    uintptr_t state = coil__uring_state(op);

    if (entry == NULL)
        return false;
    coil__uring_prepare(u, entry, op);
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
        d->ops[coil__op_direction(op)] = op;
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

/* The kernel has no RWF_NOSIGNAL. Others may be on their way, and come here too. */
static void write_without_flag(struct coil__uring *u, struct coil__op *op)
{
    uintptr_t state = coil__uring_state(op) & ~(uintptr_t)COIL__URING_QUIET;

    u->features &= ~(unsigned)COIL__URING_NO_SIGNAL;
    if (op->kind != COIL__OP_PWRITE)
        state |= COIL__URING_POLLS | COIL__URING_BY_CALL;
    coil__uring_set_state(op, state);
    coil__uring_again(u, op);
}

void coil__uring_completed(struct coil__uring *u, struct coil__op *op, int result)
{
    uintptr_t state = coil__uring_state(op);

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
    } else if (result == -EOPNOTSUPP && (state & COIL__URING_QUIET)) {
        write_without_flag(u, op);
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

static bool writes(const struct coil__op *op)
{
    return op->kind == COIL__OP_WRITE || op->kind == COIL__OP_WRITEV ||
           op->kind == COIL__OP_PWRITE;
}

/* What is not done by a call of ours. */
static ssize_t submit_plain(struct coil__uring *u, struct coil__uring_fd *d,
                            struct coil__op *op)
{
    bool quiet = writes(op) && coil__uring_has(u, COIL__URING_NO_SIGNAL);

    return start_new(u, d, op, quiet ? COIL__URING_QUIET : 0);
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

/* At once, if that can be; else the kernel has it wait. */
static ssize_t submit_unless_done(struct coil__uring *u, struct coil__uring_fd *d,
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
    if (!coil__uring_can(u, op))
        return -EOPNOTSUPP;
    /* An order to fail does not strike a close, whose failure changes nothing. */
    rc = op->kind != COIL__OP_CLOSE ? coil__uring_struck(op) : 0;
    return rc < 0 ? rc : submit_plain(u, NULL, op);
}

ssize_t coil__uring_submit(struct coil__backend *backend, struct coil__op *op)
{
    struct coil__uring *u = coil__uring_of(backend);
    struct coil__uring_fd *d;
    int rc;

    if (op->kind >= COIL__OP_POLL) { /* needs no attach() */
        rc = coil__uring_need(u);
        if (rc < 0)
            return rc;
        return op->kind == COIL__OP_POLL ? submit_poll(u, op) : submit_file(u, op);
    }
    d = coil__uring_find(u, op->fd);
    if (d == NULL || d->use != COIL__URING_ATTACHED)
        return -EBADF;
    if (d->ops[coil__op_direction(op)] != NULL)
        return -EBUSY;
    switch (op->kind) {
    case COIL__OP_READ:
    case COIL__OP_RECV:
    case COIL__OP_RECVMSG:
        return coil__uring_receive(u, d, op);
    case COIL__OP_ACCEPT:
    case COIL__OP_SEND:
    case COIL__OP_SENDMSG:
        return submit_unless_done(u, d, op);
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
    return rc < 0 ? rc : submit_plain(u, d, op);
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
        struct coil__uring_fd *d = &u->table[i / 2];
        struct coil__op *op = d->ops[i % 2];

        if (op == NULL || d->use == COIL__URING_WATCHED)
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
