/*
 * io_uring.c - the backend for io_uring, on Linux 5.11 and later.
 *
 *   submit ---> queue ---.                       ,--> complete() of an operation
 *   cancel ---> todo ----+-> one io_uring_enter -+--> a buffer of bytes received ahead
 *   watches --> to arm --'   a turn, in poll()   `--> a watch's callback made ready
 *
 * If a task must wait for an operation, the operation is added to a queue in memory
 * shared with the kernel. The next poll submits the whole queue and fetches all
 * completions, in one system call.
 *
 * Invariants
 * 1. An operation in the kernel ends only with the kernel's completion: cancelling it
 *    only requests that the kernel end it. For an operation on a descriptor, the kernel
 *    only polls: a poll always ends on request, and uses none of the operation's memory.
 *    For an operation on a file, the kernel uses this memory until the operation has
 *    ended (io_uring_op.c).
 * 2. A descriptor has at most one operation per direction, as in all backends. In
 *    addition, a descriptor may have a multishot receive in the kernel
 *    (io_uring_receive.c), or one
 *    poll for each watched direction (io_uring_watch.c).
 * 3. Before a descriptor is released, by detach() or when a watch ends, all its requests
 *    in the kernel are cancelled, and completions are handled until all these requests
 *    have ended. So a completion cannot be mistaken for one of the next descriptor with
 *    that number, and close(2) closes the file at once.
 * 4. If a completion needs a second step (because a read found nothing, or a poll
 *    reported the descriptor as ready), the same poll() performs it. So if poll() finds
 *    no events, none were pending.
 * 5. poll() calls no functions of the program, so the table of descriptors does not move
 *    while completions are handled.
 *
 * Start reading at coil__uring_poll() in io_uring_round.c, and at submit() below.
 */
#include "io_uring_round.h"

#include "../../base/fault.h"
#include "../loop.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- attach and detach ------------------------------------------------------------- */

static int attach(struct coil__backend *backend, int fd)
{
    struct coil__uring *u = coil__uring_of(backend);
    struct coil__descriptor *d;
    struct stat about;
    int rc = coil__descriptor_claim(&backend->descriptors, fd, COIL__ATTACHED, &d);

    if (rc == 0)
        rc = coil__uring_need(u);
    if (rc < 0)
        return rc;
    if (COIL__CALL(ENOMEM, fstat(fd, &about)) < 0)
        return -errno;
    d->is_socket = S_ISSOCK(about.st_mode);
    d->more = true;
    d->use = COIL__ATTACHED;
    return 0;
}

static void detach(struct coil__backend *backend, int fd)
{
    struct coil__uring *u = coil__uring_of(backend);
    struct coil__descriptor *d = coil__descriptor_find(&u->backend.descriptors, fd);
    int failures = 0;

    if (d == NULL || d->use != COIL__ATTACHED)
        return;
    while (failures < COIL__URING_FAILURES) {
        bool ops = coil__uring_end_ops(u, fd, d);

        coil__uring_call_off(u, fd, d);
        if (!ops && !d->receiving)
            break;
        failures = coil__uring_await_end(u, failures);
        d->ending = false;
    }
    if (failures == COIL__URING_FAILURES)
        coil__uring_finish_ops(u, d);
    coil__uring_drop_queued(u, d);
    coil__descriptor_release(d);
}

/*
 * End the multishot receive, and return the number of bytes received ahead. The last
 * completion of the multishot receive may contain some of these bytes.
 */
static size_t settle(struct coil__backend *backend, int fd, int *error)
{
    struct coil__uring *u = coil__uring_of(backend);
    struct coil__descriptor *d = coil__descriptor_find(&u->backend.descriptors, fd);
    int failures = 0;

    *error = 0;
    if (d == NULL || d->use != COIL__ATTACHED)
        return 0;
    coil__uring_receive_plainly(d);
    while (d->receiving && failures < COIL__URING_FAILURES) {
        coil__uring_call_off(u, fd, d);
        failures = coil__uring_await_end(u, failures);
        d->ending = false;
    }
    if (d->ended && d->end < 0)
        *error = d->end;
    return coil__uring_queued_bytes(u, d);
}

/* ---- operations -------------------------------------------------------------------- */

/* Return 0 if the operation may be started, otherwise -EBADF or -EBUSY. */
static int check_op(const struct coil__descriptor *d, const struct coil__op *op)
{
    if (d == NULL || d->use != COIL__ATTACHED)
        return -EBADF;
    return d->ops[coil__op_direction(op)] != NULL ? -EBUSY : 0;
}

static bool is_receive(const struct coil__op *op)
{
    return op->kind == COIL__OP_READ || op->kind == COIL__OP_RECV ||
           op->kind == COIL__OP_RECVMSG || op->kind == COIL__OP_READABLE;
}

static ssize_t submit(struct coil__backend *backend, struct coil__op *op)
{
    struct coil__uring *u = coil__uring_of(backend);
    struct coil__descriptor *d;
    int rc;

    if (op->kind >= COIL__OP_POLL) { /* works without attach() */
        rc = coil__uring_need(u);
        if (rc < 0)
            return rc;
        return op->kind == COIL__OP_POLL ? coil__uring_submit_poll(u, op)
                                         : coil__uring_submit_file(u, op);
    }
    d = coil__descriptor_find(&u->backend.descriptors, op->fd);
    rc = check_op(d, op);
    if (rc < 0)
        return rc;
    if (is_receive(op))
        return coil__uring_receive(u, d, op);
    return coil__uring_submit_call(u, d, op);
}

/*
 * For operations on files the result is always -EINPROGRESS, because only the kernel or a
 * thread can perform them without blocking.
 */
static ssize_t attempt(struct coil__backend *backend, struct coil__op *op)
{
    struct coil__uring *u = coil__uring_of(backend);
    struct coil__descriptor *d;
    ssize_t result;

    if (op->kind > COIL__OP_POLL)
        return -EINPROGRESS;
    if (op->kind == COIL__OP_POLL) {
        result = coil__descriptor_claim_poll(&u->backend.descriptors, op, &d);
        return result < 0 ? result : coil__op_call(op);
    }
    d = coil__descriptor_find(&u->backend.descriptors, op->fd);
    result = check_op(d, op);
    if (result == 0 && is_receive(op)) {
        if (coil__uring_receive_is_unclear(d))
            coil__uring_reap(u, 0);
        return coil__uring_attempt_receive(u, d, op);
    }
    return result < 0 ? result : coil__descriptor_call(d, op);
}

/* ---- watches ----------------------------------------------------------------------- */

/*
 * Cancel the poll of a watch, and wait for its end. Otherwise the poll would keep the
 * file open in the kernel.
 */
static void disarm(struct coil__uring *u, int fd, struct coil__descriptor *d,
                   enum coil__direction direction)
{
    int failures = 0;

    while ((d->armed & coil__uring_bit_of(direction)) &&
           failures < COIL__URING_FAILURES) {
        coil__uring_call_off_watch(u, fd, direction);
        failures = coil__uring_await_end(u, failures);
    }
    d->armed &= (uint8_t)~coil__uring_bit_of(direction);
    d->pauses &= (uint8_t)~coil__uring_bit_of(direction);
}

static int end_watch(struct coil__uring *u, int fd, struct coil__descriptor *d,
                     enum coil__direction direction)
{
    disarm(u, fd, d, direction);
    if (coil__descriptor_is_idle(d) && d->to_arm != 0)
        coil__uring_do_not_arm(u, fd);
    return 0;
}

/*
 * Cancel all armed polls, and arm new ones. The program may have closed the descriptor
 * without removing its watches, so the polls may refer to an older descriptor with this
 * number. The old polls must not make a watcher ready.
 */
static void forget_armed(struct coil__uring *u, int fd, struct coil__descriptor *d)
{
    for (int i = 0; i < 2; i++) {
        struct coil__runnable *watcher = d->watchers[i];

        d->watchers[i] = NULL;
        disarm(u, fd, d, (enum coil__direction)i);
        d->watchers[i] = watcher;
        if (watcher != NULL)
            coil__uring_arm_soon(u, fd, d, (enum coil__direction)i);
    }
}

/* The first watch is for the loop's own wake-up, which does not need the ring. */
static int watch(struct coil__backend *backend, int fd, struct coil__descriptor *d,
                 enum coil__direction direction, bool anew)
{
    struct coil__uring *u = coil__uring_of(backend);
    int rc;

    if (d->watchers[direction] == NULL)
        return end_watch(u, fd, d, direction);
    rc = u->watched ? coil__uring_need(u) : 0;
    if (rc < 0)
        return rc;
    if (COIL__CALL(EBADF, fcntl(fd, F_GETFD)) < 0)
        return -errno;
    u->watched = true;
    if (anew)
        forget_armed(u, fd, d);
    else
        coil__uring_arm_soon(u, fd, d, direction);
    return 0;
}

/* ---- guest mode -------------------------------------------------------------------- */

/*
 * Return an eventfd, to which the kernel writes when there is a completion. The ring's
 * own descriptor cannot be used: with DEFER_TASKRUN it becomes readable when completions
 * wait to be processed, but without waking a host that is already waiting for it. If
 * there are completions already, this function writes to the eventfd.
 */
static int pollable(struct coil__backend *backend)
{
    struct coil__uring *u = coil__uring_of(backend);
    uint64_t count = 1;
    int rc = coil__uring_need(u);

    if (rc < 0)
        return rc;
    if (u->event_fd < 0) {
        rc = coil__uring_open_event_fd(u);
        if (rc < 0)
            return rc;
    }
    coil__uring_arm_watches(u);
    coil__uring_do(u);
    coil__uring_offer_buffers(u);
    coil__uring_enter(u, 0);
    rc = read(u->event_fd, &count, sizeof count) < 0 ? -errno
                                                     : coil__uring_renew_event_fd(u);
    if (rc < 0 && rc != -EAGAIN)
        return rc;
    count = 1;
    if (coil__uring_has_more(u) && write(u->event_fd, &count, sizeof count) < 0)
        return -errno;
    return u->event_fd;
}

/* ---- the backend ------------------------------------------------------------------- */

static int create(struct coil__backend **out)
{
    struct coil__uring *u = coil__alloc_zeroed(sizeof *u);
    int rc;

    if (u == NULL)
        return -ENOMEM;
    rc = coil__uring_open(u);
    if (rc < 0) {
        coil__free(u);
        return rc;
    }
    u->backend.class = &coil__backend_io_uring;
    u->first_to_arm = u->event_fd = -1;
    coil__list_init(&u->todo);
    coil__list_init(&u->ending);
    coil__list_init(&u->files);
    *out = &u->backend;
    return 0;
}

/*
 * Operations of streams that were never destroyed may still be in the kernel, and on the
 * stacks of tasks that will never run again. End these operations without calling
 * complete(). Until a file operation has ended, the kernel may write its result to the
 * stack, even if the memory was reused. If the kernel refuses all further calls, it is
 * impossible to detect the end of such an operation, so abort.
 */
static void destroy(struct coil__backend *backend)
{
    struct coil__uring *u = coil__uring_of(backend);
    int failures = 0;

    while (failures < COIL__URING_FAILURES && coil__uring_abandon_ops(u))
        failures = coil__uring_await_end(u, failures);
    if (u->dead < 0 && coil__uring_uses_memory(u))
        coil__misuse("io_uring_enter() fails (%s), and the kernel is still working on a "
                     "file, and would write to freed memory",
                     strerror(-u->dead));
    for (size_t fd = 0; fd < backend->descriptors.count; fd++)
        detach(backend, (int)fd);
    coil__uring_close(u);
    if (u->event_fd >= 0)
        close(u->event_fd);
    coil__uring_free_buffers(u);
    coil__free(u);
}

/*
 * The ring is not unmapped, because its memory is not mapped in the child
 * (coil__uring_map()).
 */
static void forked(struct coil__backend *backend)
{
    struct coil__uring *u = coil__uring_of(backend);

    close(u->ring.ring_fd);
    if (u->event_fd >= 0)
        close(u->event_fd);
}

const struct coil__backend_class coil__backend_io_uring = {
    .name = "io_uring",
    .create = create,
    .destroy = destroy,
    .attach = attach,
    .detach = detach,
    .settle = settle,
    .submit = submit,
    .attempt = attempt,
    .cancel = coil__uring_cancel,
    .watch = watch,
    .poll = coil__uring_poll,
    .pollable = pollable,
    .forked = forked,
};
