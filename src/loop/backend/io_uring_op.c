/*
 * io_uring_op.c - the life of an operation, from the queue to its result.
 *
 * ON DESCRIPTORS. The kernel only polls the descriptor. When the descriptor is ready,
 * coil makes the operation's system call, which does not block (loop/operation.c).
 *
 *   submitted --> the call --> would block --> IN_KERNEL: a poll --> the call --> result
 *                                                  ^                   |
 *                                                  `--- would block ---'
 *
 * So a request to end such an operation always succeeds, because the kernel can always
 * cancel a poll. If the kernel performed a send or a receive itself, a request that came
 * while a kernel worker was between two attempts would be lost. Moreover, the kernel
 * never uses the memory of an operation on a descriptor.
 *
 * The call of a COIL__OP_READABLE is poll(2). This call is necessary because urgent data
 * ends the kernel's poll, although there is nothing to read.
 *
 * An operation makes its call before it polls, except for a receive after another receive
 * that took all available bytes (io_uring_receive.c).
 *
 * If the call would still block after two polls in a row, a third poll would end
 * immediately, too. There are two possible causes:
 *
 * - The poll ended with an event that was not requested: POLLRDHUP, which is always
 *   reported after the peer has shut down its sending side. In that case the next poll is
 *   a multishot poll (STAYS), which reports the current events once, and later only
 *   changes. This poll stays in the kernel until the call is done (DONE).
 *
 * - The poll reports the requested event although the call would block: an unconnected
 *   local socket is writable while its receiver's queue is full. In that case, and on
 *   kernels without multishot polls, a time-out replaces the poll (PAUSES), and the call
 *   is repeated after 1 ms, 2 ms, ... 16 ms.
 *
 * ON FILES. The kernel performs these operations itself, most of them in its worker
 * threads. Some may take a long time, such as opening a FIFO, or moving bytes out of a
 * pipe. A request to end an operation interrupts the worker. If the request comes while
 * the operation is between two steps, no worker is running, so the request has no effect
 * and must be repeated. Operations that coil has requested to end are in u->ending. If a
 * request had no effect, the requests for all operations in u->ending are repeated after
 * a time-out (REMIND).
 */
#include "io_uring_op.h"

#include "../loop.h"

#include <poll.h>

/* ---- submitting to the kernel ------------------------------------------------------ */

/* Return false if the queue is full. */
static bool queue_op(struct coil__uring *u, struct coil__op *op)
{
    struct io_uring_sqe *entry = coil__uring_entry(u);

    if (entry == NULL)
        return false;
    coil__uring_prepare(entry, op);
    coil__uring_set_state(op, coil__uring_state(op) | COIL__URING_IN_KERNEL);
    return true;
}

static bool is_ending(const struct coil__op *op)
{
    return (coil__uring_state(op) & (COIL__URING_CANCELLED | COIL__URING_DETACHED)) != 0;
}

/* ---- the wait, and its end --------------------------------------------------------- */

void coil__uring_enlist(struct coil__uring *u, struct coil__descriptor *d,
                        struct coil__op *op, uintptr_t state)
{
    coil__list_init(&op->link);
    if (d == NULL) {
        state |= COIL__URING_FILE;
        coil__loop_expect(coil_loop_current(), 1); /* stops a virtual clock */
        coil__list_push(&u->files, &op->link);
    } else if (op->kind != COIL__OP_POLL) {
        d->ops[coil__op_direction(op)] = op;
    } else {
        coil__descriptor_enlist_poll(d, op);
    }
    coil__uring_set_state(op, state);
    u->backend.in_use++;
}

void coil__uring_finish(struct coil__uring *u, struct coil__op *op, ssize_t result)
{
    struct coil__descriptor *d = coil__descriptor_find(&u->backend.descriptors, op->fd);

    if (coil__uring_state(op) & COIL__URING_DONE)
        result = op->result;
    else if (is_ending(op) && result == -EINTR)
        result = -ECANCELED; /* coil's request interrupted a kernel worker */
    if ((coil__uring_state(op) & COIL__URING_DETACHED) && result == -ECANCELED)
        result = -EBADF;
    u->backend.in_use--;
    coil__list_remove(&op->link);
    if (coil__uring_state(op) & COIL__URING_FILE) {
        coil__loop_expect(coil_loop_current(), -1);
    } else {
        for (int i = 0; i < 2; i++)
            if (d->ops[i] == op)
                d->ops[i] = NULL;
        if (d->use == COIL__BORROWED && coil__descriptor_is_idle(d))
            coil__descriptor_release(d);
    }
    op->result = result;
    op->complete(op);
}

void coil__uring_again(struct coil__uring *u, struct coil__op *op)
{
    coil__list_remove(&op->link);
    coil__list_push(&u->todo, &op->link);
}

ssize_t coil__uring_start(struct coil__uring *u, struct coil__op *op)
{
    if (!queue_op(u, op))
        coil__uring_again(u, op); /* retry in the next round, when the queue has room */
    return -EINPROGRESS;
}

/* ---- completions ------------------------------------------------------------------- */

static int found_of(const struct coil__op *op, int events)
{
    unsigned found = 0;

    if (events & (POLLIN | POLLHUP | POLLERR))
        found |= COIL_READABLE;
    if (events & (POLLOUT | POLLHUP | POLLERR))
        found |= COIL_WRITABLE;
    return (int)(found & op->events);
}

/*
 * Finish a COIL__OP_POLL whose events have occurred. The kernel may report events such as
 * POLLRDHUP that poll(2) would not report. In that case, `revents` is not set.
 */
static void finish_found(struct coil__uring *u, struct coil__op *op, int events)
{
    if ((events & ~(POLLIN | POLLOUT)) == 0)
        op->revents = (short)events;
    coil__uring_finish(u, op, found_of(op, events));
}

/* Poll again, or pause. Called if the call would block after a poll or a time-out. */
static void poll_again(struct coil__uring *u, struct coil__op *op, int events)
{
    uintptr_t state = coil__uring_state(op);
    bool requested = (events & (int)coil__uring_poll_events(op)) != 0;

    if (state & COIL__URING_PAUSES)
        state += COIL__URING_PAUSED;
    else if (!(state & COIL__URING_IN_VAIN))
        state |= COIL__URING_IN_VAIN;
    else if (requested || !coil__uring_has(u, COIL__URING_MULTISHOT))
        state |= COIL__URING_PAUSES;
    else
        state |= COIL__URING_STAYS;
    coil__uring_set_state(op, state);
    coil__uring_again(u, op);
}

/*
 * Store the result. In the next round, request the end of the multishot poll, which is
 * still in the kernel.
 */
static void end_poll(struct coil__uring *u, struct coil__op *op, ssize_t result)
{
    op->result = result;
    coil__uring_set_state(op, coil__uring_state(op) | COIL__URING_DONE);
    coil__uring_again(u, op);
}

/*
 * Called after the poll has reported an event, or the time-out has ended: make the
 * operation's call. If the poll has failed, or the operation's end was requested, finish
 * the operation without a call. `more` is true if a multishot poll stays in the kernel.
 */
static void finish_poll(struct coil__uring *u, struct coil__op *op, int result, bool more)
{
    struct coil__descriptor *d = coil__descriptor_find(&u->backend.descriptors, op->fd);
    ssize_t done;

    if ((coil__uring_state(op) & COIL__URING_PAUSES) && result == -ETIME)
        result = 0;
    if (result < 0 || is_ending(op)) {
        coil__uring_finish(u, op, result < 0 ? result : -ECANCELED);
        return;
    }
    done = coil__descriptor_call(d, op);
    coil__uring_learn(d, op, done);
    if (done != -EINPROGRESS && more)
        end_poll(u, op, done);
    else if (done != -EINPROGRESS)
        coil__uring_finish(u, op, done);
    else if (!more)
        poll_again(u, op, result);
}

/*
 * Convert the kernel's internal errors for an interrupted call (include/linux/errno.h) to
 * -EINTR. io_uring returns some of them, such as ERESTARTSYS when opening a FIFO (Linux
 * 6.18).
 */
static int as_interrupted(int result)
{
    enum { ERESTARTSYS = 512, ERESTART_RESTARTBLOCK = 516 };

    return result <= -ERESTARTSYS && result >= -ERESTART_RESTARTBLOCK ? -EINTR : result;
}

/*
 * True if the operation was interrupted, but not by a request to end it. A close must not
 * be repeated: see close(2).
 */
static bool must_repeat(const struct coil__op *op, int result)
{
    return result == -EINTR && op->kind != COIL__OP_CLOSE && !is_ending(op);
}

void coil__uring_completed(struct coil__uring *u, struct coil__op *op, int result,
                           unsigned flags)
{
    bool more = (flags & IORING_CQE_F_MORE) != 0;
    uintptr_t state = coil__uring_state(op);

    result = as_interrupted(result);
    if (more && (is_ending(op) || (state & COIL__URING_DONE)))
        return; /* the multishot poll is about to end */
    if (!more)
        coil__uring_set_state(op, state & ~(uintptr_t)COIL__URING_IN_KERNEL);
    if (state & COIL__URING_DONE)
        coil__uring_finish(u, op, result);
    else if (op->kind < COIL__OP_POLL)
        finish_poll(u, op, result, more);
    else if (op->kind == COIL__OP_POLL && !more && result >= 0 &&
             found_of(op, result) != 0)
        finish_found(u, op, result);
    else if (must_repeat(op, result))
        coil__uring_again(u, op);
    else if (op->kind == COIL__OP_POLL)
        finish_poll(u, op, result, more);
    else
        coil__uring_finish(u, op, result);
}

/* ---- submit ------------------------------------------------------------------------ */

static ssize_t start_new(struct coil__uring *u, struct coil__descriptor *d,
                         struct coil__op *op)
{
    coil__uring_enlist(u, d, op, 0);
    return coil__uring_start(u, op);
}

/*
 * Submit a COIL__OP_POLL, which needs no attach(): it borrows a descriptor that is not in
 * use.
 */
ssize_t coil__uring_submit_poll(struct coil__uring *u, struct coil__op *op)
{
    struct coil__descriptor *d;
    int rc = coil__descriptor_claim_poll(&u->backend.descriptors, op, &d);

    if (rc == 0)
        rc = coil__uring_injected_failure(op);
    if (rc < 0)
        return rc;
    d->use = COIL__BORROWED;
    return start_new(u, d, op);
}

/*
 * True if the operation is a splice from a stream with bytes received ahead. The splice
 * would skip these bytes and move later ones.
 */
static bool would_overtake(const struct coil__uring *u, const struct coil__op *op)
{
    const struct coil__descriptor *d =
        coil__descriptor_find(&u->backend.descriptors, op->fd);

    return op->kind == COIL__OP_SPLICE && d != NULL && d->use == COIL__ATTACHED &&
           (d->receiving || d->queued > 0);
}

ssize_t coil__uring_submit_file(struct coil__uring *u, struct coil__op *op)
{
    int rc;

    if (would_overtake(u, op))
        return -EBUSY;
    if (!coil__uring_can(u, op))
        return -EOPNOTSUPP;
    rc = coil__uring_injected_failure(op);
    return rc < 0 ? rc : start_new(u, NULL, op);
}

ssize_t coil__uring_submit_call(struct coil__uring *u, struct coil__descriptor *d,
                                struct coil__op *op)
{
    ssize_t result = coil__descriptor_call(d, op);

    coil__uring_learn(d, op, result);
    if (result != -EINPROGRESS)
        return result;
    if (op->kind == COIL__OP_CONNECT)
        op->begun = true;
    return start_new(u, d, op);
}

/* ---- cancel ------------------------------------------------------------------------ */

static void request_end(struct coil__uring *u, struct coil__op *op, uintptr_t why)
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
    request_end(coil__uring_of(backend), op, COIL__URING_CANCELLED);
}

/* Return false if the queue is full. */
static bool request_end_by_kernel(struct coil__uring *u, struct coil__op *op)
{
    struct io_uring_sqe *entry = coil__uring_entry(u);

    if (entry == NULL)
        return false;
    io_uring_prep_cancel(entry, op, 0);
    entry->user_data = COIL__URING_CANCEL;
    coil__list_push(&u->ending, &op->link);
    return true;
}

/*
 * Submit an operation that was removed from `todo`, or request its end. Return false if
 * the queue is full.
 */
static bool do_next(struct coil__uring *u, struct coil__op *op)
{
    if (is_ending(op) || (coil__uring_state(op) & COIL__URING_DONE)) {
        if (coil__uring_state(op) & COIL__URING_IN_KERNEL)
            return request_end_by_kernel(u, op);
        coil__uring_finish(u, op, -ECANCELED);
        return true;
    }
    if (!queue_op(u, op))
        return false;
    if (coil__uring_state(op) & COIL__URING_FILE)
        coil__list_push(&u->files, &op->link);
    return true;
}

/*
 * Submit a time-out, after which requests to end operations are repeated. Called after
 * such a request has had no effect.
 */
static void submit_reminder(struct coil__uring *u)
{
    static struct __kernel_timespec a_while = {.tv_nsec = COIL_MSEC(10)};
    struct io_uring_sqe *entry = coil__uring_entry(u);

    if (entry == NULL)
        return;
    io_uring_prep_timeout(entry, &a_while, 0, 0);
    entry->user_data = COIL__URING_REMIND;
    u->remind = COIL__URING_REMIND_SOON;
}

void coil__uring_do(struct coil__uring *u)
{
    struct coil__list *link;

    while ((link = coil__list_pop(&u->todo)) != NULL) {
        if (do_next(u, COIL__CONTAINER(link, struct coil__op, link)))
            continue;
        coil__list_push(&u->todo, link);
        return;
    }
    if (u->remind == COIL__URING_REMIND_WANTED)
        submit_reminder(u);
}

void coil__uring_cancelled(struct coil__uring *u, int result)
{
    if (result < 0 && u->remind == COIL__URING_REMIND_NOT)
        u->remind = COIL__URING_REMIND_WANTED;
}

void coil__uring_reminded(struct coil__uring *u)
{
    u->remind = COIL__URING_REMIND_NOT;
    coil__list_splice(&u->todo, &u->ending);
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
            request_end(u, op, COIL__URING_DETACHED);
        else
            coil__uring_set_state(op, coil__uring_state(op) | COIL__URING_DETACHED);
    }
    return found;
}

bool coil__uring_end_ops(struct coil__uring *u, int fd, struct coil__descriptor *d)
{
    bool found = false;

    for (int i = 0; i < 2; i++)
        if (d->ops[i] != NULL)
            request_end(u, d->ops[i], COIL__URING_DETACHED);
    found = !coil__descriptor_is_idle(d);
    found |= end_files(u, &u->todo, fd);
    found |= end_files(u, &u->ending, fd);
    found |= end_files(u, &u->files, fd);
    return found;
}

static void complete_silently(struct coil__op *op)
{
    (void)op;
}

static bool abandon_ops(struct coil__uring *u, struct coil__list *list)
{
    bool found = !coil__list_empty(list);

    COIL__LIST_EACH (link, list) {
        struct coil__op *op = COIL__CONTAINER(link, struct coil__op, link);

        op->complete = complete_silently;
        request_end(u, op, COIL__URING_CANCELLED);
    }
    return found;
}

bool coil__uring_abandon_ops(struct coil__uring *u)
{
    bool found = false;

    for (size_t i = 0; i < 2 * u->backend.descriptors.count; i++) {
        struct coil__descriptor *d =
            coil__descriptor_find(&u->backend.descriptors, (int)(i / 2));
        struct coil__op *op = d->ops[i % 2];

        if (op == NULL || d->use == COIL__WATCHED)
            continue;
        op->complete = complete_silently;
        request_end(u, op, COIL__URING_CANCELLED);
        found = true;
    }
    found |= abandon_ops(u, &u->files);
    found |= abandon_ops(u, &u->ending);
    COIL__LIST_EACH (link, &u->todo)
        COIL__CONTAINER(link, struct coil__op, link)->complete = complete_silently;
    return found || !coil__list_empty(&u->todo);
}

/*
 * The operations may end while the kernel still polls for them, because these polls do
 * not use the operations' memory. The completions of the polls will not be read.
 */
void coil__uring_finish_ops(struct coil__uring *u, struct coil__descriptor *d)
{
    for (int i = 0; i < 2; i++)
        if (d->ops[i] != NULL)
            coil__uring_finish(u, d->ops[i], -ECANCELED);
}

static bool is_used(const struct coil__list *list)
{
    COIL__LIST_EACH (link, list) {
        uintptr_t state =
            coil__uring_state(COIL__CONTAINER(link, const struct coil__op, link));

        if ((state & COIL__URING_FILE) && (state & COIL__URING_IN_KERNEL))
            return true;
    }
    return false;
}

bool coil__uring_uses_memory(const struct coil__uring *u)
{
    return is_used(&u->files) || is_used(&u->ending) || is_used(&u->todo);
}
