/*
 * io_uring.c - completions as the kernel has them: Linux 5.11 and later.
 *
 *   submit ---> queue ---.                       ,--> complete() of an operation
 *   cancel ---> todo ----+-> one io_uring_enter -+--> a buffer for who reads ahead
 *   watches --> to arm --'   a turn, in poll()   `--> a watch's callback made ready
 *
 * What a task asks for is put into a queue in memory shared with the kernel; the next
 * poll hands all of it over and fetches what has completed, in one system call. Only what
 * seldom waits is tried first (io_uring_op.c).
 *
 * Invariants
 * 1. An operation in the kernel is completed by what the kernel says of it and by nothing
 *    else: until then its buffer is the kernel's. Cancelling asks the kernel.
 * 2. At most one operation a direction, as everywhere; besides them a descriptor may have
 *    a multishot receive in the kernel (io_uring_receive.c), or one poll for each
 *    direction that is watched (io_uring_watch.c).
 * 3. Before a descriptor is given up all that the kernel has of it has ended: detach()
 *    and the end of a watch cancel, and reap until that is so. Hence no completion can be
 *    taken for one of the next descriptor with that number, and close(2) really closes.
 * 4. What needs a second step (a read that found nothing; a poll that said go) takes it
 *    in the same poll(), so that a look that found nothing means that there is nothing.
 * 5. Nothing here runs a user's code: the table stands still while completions are dealt
 *    with.
 *
 * Start reading at poll_once() and at coil__uring_submit().
 */
#include "io_uring.h"

#include "../../base/fault.h"
#include "../loop.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANY_WAITS 8 /* then a loop has come to stay */

/* ---- the table -------------------------------------------------------------------- */

int coil__uring_find_or_grow(struct coil__uring *u, int fd, struct coil__uring_fd **out)
{
    size_t size = u->table_size != 0 ? u->table_size : 64;
    struct coil__uring_fd *table;

    if (fd < 0)
        return -EBADF;
    while (size <= (size_t)fd)
        size *= 2;
    if (size > u->table_size) {
        table = coil__realloc(u->table, size * sizeof *table);
        if (table == NULL)
            return -ENOMEM;
        memset(table + u->table_size, 0, (size - u->table_size) * sizeof *table);
        u->table = table;
        u->table_size = size;
    }
    *out = &u->table[fd];
    return 0;
}

void coil__uring_give_up(struct coil__uring_fd *d)
{
    memset(d, 0, sizeof *d);
}

/* ---- attaching -------------------------------------------------------------------- */

/* Refuses what epoll(7) refuses: reading a file is an operation of another kind. */
static int attach(struct coil__backend *backend, int fd)
{
    struct coil__uring *u = coil__uring_of(backend);
    struct coil__uring_fd *d;
    struct stat about;
    int rc = coil__uring_find_or_grow(u, fd, &d);

    if (rc == 0)
        rc = coil__uring_need(u);
    if (rc < 0)
        return rc;
    if (d->use != COIL__URING_UNUSED)
        return -EBUSY;
    if (COIL__CALL(ENOMEM, fstat(fd, &about)) < 0)
        return -errno;
    if (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))
        return -EPERM;
    d->is_socket = S_ISSOCK(about.st_mode);
    d->use = COIL__URING_ATTACHED;
    return 0;
}

static void detach(struct coil__backend *backend, int fd)
{
    struct coil__uring *u = coil__uring_of(backend);
    struct coil__uring_fd *d = coil__uring_find(u, fd);
    int failures = 0;

    if (d == NULL || d->use != COIL__URING_ATTACHED)
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
    coil__uring_give_up(d);
}

/* A receive may end with what it has just got, so it is asked to end, and waited for. */
static size_t settle(struct coil__backend *backend, int fd, int *error)
{
    struct coil__uring *u = coil__uring_of(backend);
    struct coil__uring_fd *d = coil__uring_find(u, fd);
    int failures = 0;

    *error = 0;
    if (d == NULL || d->use != COIL__URING_ATTACHED)
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

/* ---- polling ---------------------------------------------------------------------- */

static void deal_with(struct coil__uring *u, const struct io_uring_cqe *cqe)
{
    int fd = (int)(cqe->user_data >> 3);

    switch (cqe->user_data & COIL__URING_TAGS) {
    case COIL__URING_OP:
        coil__uring_completed(u, (struct coil__op *)(uintptr_t)cqe->user_data, cqe->res);
        break;
    case COIL__URING_RECEIVE:
        coil__uring_received(u, fd, cqe->res, cqe->flags);
        break;
    case COIL__URING_WATCH_IN:
        coil__uring_watched(u, fd, COIL__IN, cqe->res);
        break;
    case COIL__URING_WATCH_OUT:
        coil__uring_watched(u, fd, COIL__OUT, cqe->res);
        break;
    default:
        break;
    }
}

static const struct io_uring_cqe *completion(const struct io_uring_cq *cq, unsigned i)
{
    return &cq->cqes[i & cq->ring_mask];
}

static bool is_receive(const struct io_uring_cqe *cqe)
{
    return (cqe->user_data & COIL__URING_TAGS) == COIL__URING_RECEIVE;
}

/* The operation that waits for this; or NULL. */
static const struct coil__op *op_of(const struct coil__uring *u,
                                    const struct io_uring_cqe *cqe)
{
    if (is_receive(cqe))
        return coil__uring_find(u, (int)(cqe->user_data >> 3))->ops[COIL__IN];
    if ((cqe->user_data & COIL__URING_TAGS) == COIL__URING_OP)
        return (const struct coil__op *)(uintptr_t)cqe->user_data;
    return NULL;
}

static void prefetch_descriptor(const struct coil__uring *u,
                                const struct io_uring_cqe *cqe)
{
    if (is_receive(cqe))
        COIL__PREFETCH(coil__uring_find(u, (int)(cqe->user_data >> 3)));
}

static void prefetch_waiter(const struct coil__op *op)
{
    if (op != NULL)
        coil__op_prefetch_waiter(op);
}

/* Of n completions: the first step of the i-th, and the later ones of those before it. */
static void prefetch(const struct coil__uring *u, unsigned n, unsigned i, unsigned ahead)
{
    const struct io_uring_cq *cq = &u->ring.cq;
    unsigned head = *cq->khead;

    if (i < n)
        prefetch_descriptor(u, completion(cq, head + i));
    if (i - ahead < n)
        coil__op_prefetch(op_of(u, completion(cq, head + i - ahead)));
    if (i - 2 * ahead < n)
        prefetch_waiter(op_of(u, completion(cq, head + i - 2 * ahead)));
}

/*
 * With many connections all that is touched here is out of the caches, and each piece
 * tells where the next one is. So a completion takes four steps, some others apart: while
 * one is dealt with, what they need is on its way.
 */
static void deal_with_all(struct coil__uring *u)
{
    enum { MANY = 256, AHEAD_MOST = 8 };
    const struct io_uring_cq *cq = &u->ring.cq;
    unsigned head = *cq->khead;
    unsigned n = io_uring_smp_load_acquire(cq->ktail) - head;
    unsigned ahead = n < AHEAD_MOST ? n : AHEAD_MOST;

    if (u->backend.in_use < MANY)
        ahead = 0;
    for (unsigned i = 0; i < n + 3 * ahead; i++) {
        if (ahead > 0)
            prefetch(u, n, i, ahead);
        if (i - 3 * ahead < n)
            deal_with(u, completion(cq, head + i - 3 * ahead));
    }
    io_uring_smp_store_release(cq->khead, head + n);
}

int coil__uring_reap(struct coil__uring *u, int64_t timeout_ns)
{
    int rc;

    coil__uring_do(u);
    rc = coil__uring_enter(u, timeout_ns);
    deal_with_all(u);
    return rc;
}

/* Who waits asks again after a while: a request to end that met its operation on the way
   from one step to the next may have been in vain. */
int coil__uring_await_end(struct coil__uring *u, int failures)
{
    return coil__uring_reap(u, COIL_MSEC(10)) < 0 ? failures + 1 : 0;
}

/*
 * A loop that waits again and again gets its ring after all, or tries to: ppoll(2) wakes
 * it 50 us late, as prctl(2) tells of PR_SET_TIMERSLACK, and the ring does not.
 */
static bool has_come_to_stay(struct coil__uring *u, int64_t timeout_ns)
{
    if (timeout_ns == 0 || ++u->waits_alone < MANY_WAITS)
        return false;
    u->waits_alone = 0;
    return coil__uring_map(u) == 0;
}

static int poll_once(struct coil__backend *backend, int64_t timeout_ns)
{
    struct coil__uring *u = coil__uring_of(backend);
    int rc;

    if (COIL__UNLIKELY(!u->mapped) && !has_come_to_stay(u, timeout_ns))
        return coil__uring_poll_alone(u, timeout_ns);
    coil__uring_arm_watches(u);
    do {
        rc = coil__uring_reap(u, timeout_ns);
        timeout_ns = 0;
    } while (rc == 0 && !coil__list_empty(&u->todo));
    return rc;
}

/*
 * Not the ring's own descriptor: while completions wait to be worked on (DEFER_TASKRUN)
 * that is readable, but who waits for it already is not woken. An eventfd is written to
 * by the kernel then; and by us, if something is there before.
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
    coil__uring_enter(u, 0);
    if (read(u->event_fd, &count, sizeof count) < 0 && errno != EAGAIN)
        return -errno;
    count = 1;
    if (coil__uring_has_more(u) && write(u->event_fd, &count, sizeof count) < 0)
        return -errno;
    return u->event_fd;
}

/* ---- the backend ------------------------------------------------------------------ */

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
    coil__list_init(&u->files);
    *out = &u->backend;
    return 0;
}

/*
 * Streams that nobody destroyed may have operations in the kernel still, on the stacks of
 * tasks that will never run again: those end, and nobody is told.
 */
static void destroy(struct coil__backend *backend)
{
    struct coil__uring *u = coil__uring_of(backend);
    int failures = 0;

    while (failures < COIL__URING_FAILURES && coil__uring_abandon_ops(u))
        failures = coil__uring_await_end(u, failures);
    for (size_t fd = 0; fd < u->table_size; fd++)
        detach(backend, (int)fd);
    coil__uring_close(u);
    if (u->event_fd >= 0)
        close(u->event_fd);
    coil__uring_free_buffers(u);
    coil__free(u->table);
    coil__free(u);
}

const struct coil__backend_class coil__backend_io_uring = {
    .name = "io_uring",
    .create = create,
    .destroy = destroy,
    .attach = attach,
    .detach = detach,
    .settle = settle,
    .submit = coil__uring_submit,
    .cancel = coil__uring_cancel,
    .watch = coil__uring_watch,
    .poll = poll_once,
    .pollable = pollable,
};
