/*
 * io_uring_round.c - a round: submits the queue to the kernel and handles completions.
 */
#include "io_uring_round.h"

#include "../loop.h"

#define MANY_WAITS 8 /* number of waits after which a loop's ring is mapped */

/* ---- completions ------------------------------------------------------------------- */

static void handle(struct coil__uring *u, const struct io_uring_cqe *cqe)
{
    int fd = (int)(cqe->user_data >> 3);

    switch (cqe->user_data & COIL__URING_TAGS) {
    case COIL__URING_OP:
        coil__uring_completed(u, (struct coil__op *)(uintptr_t)cqe->user_data, cqe->res,
                              cqe->flags);
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
    case COIL__URING_CANCEL:
        coil__uring_cancelled(u, cqe->res);
        break;
    case COIL__URING_CALL_OFF:
        coil__uring_called_off(u, fd, cqe->res);
        break;
    case COIL__URING_REMIND:
        coil__uring_reminded(u);
        break;
    default:
        break;
    }
}

static const struct io_uring_cqe *completion_at(const struct io_uring_cq *cq, unsigned i)
{
    return &cq->cqes[i & cq->ring_mask];
}

static bool is_receive(const struct io_uring_cqe *cqe)
{
    return (cqe->user_data & COIL__URING_TAGS) == COIL__URING_RECEIVE;
}

/* Return the operation to which this completion belongs, or NULL. */
static const struct coil__op *op_of(const struct coil__uring *u,
                                    const struct io_uring_cqe *cqe)
{
    if (is_receive(cqe))
        return coil__descriptor_find(&u->backend.descriptors, (int)(cqe->user_data >> 3))
            ->ops[COIL__IN];
    if ((cqe->user_data & COIL__URING_TAGS) == COIL__URING_OP)
        return (const struct coil__op *)(uintptr_t)cqe->user_data;
    return NULL;
}

static void prefetch_descriptor(const struct coil__uring *u,
                                const struct io_uring_cqe *cqe)
{
    if (is_receive(cqe))
        COIL__PREFETCH(
            coil__descriptor_find(&u->backend.descriptors, (int)(cqe->user_data >> 3)));
}

static void prefetch_waiter(const struct coil__op *op)
{
    if (op != NULL)
        coil__op_prefetch_waiter(op);
}

/*
 * Prefetch memory for three completions: the descriptor's entry for completion i, the
 * operation for completion i - ahead, and the waiting task's memory for completion i - 2
 * * ahead. The number of completions is n.
 */
static void prefetch(const struct coil__uring *u, unsigned n, unsigned i, unsigned ahead)
{
    const struct io_uring_cq *cq = &u->ring.cq;
    unsigned head = *cq->khead;

    if (i < n)
        prefetch_descriptor(u, completion_at(cq, head + i));
    if (i - ahead < n)
        coil__op_prefetch(op_of(u, completion_at(cq, head + i - ahead)));
    if (i - 2 * ahead < n)
        prefetch_waiter(op_of(u, completion_at(cq, head + i - 2 * ahead)));
}

/*
 * With many connections, the memory that is used to handle a completion is no longer in
 * the processor's caches. This memory has three parts, which cannot be prefetched at the
 * same time, because each part contains the address of the next. So each completion is
 * prefetched in three steps, `ahead` completions apart, before it is handled.
 */
int coil__uring_reap(struct coil__uring *u, int64_t timeout_ns)
{
    enum { MANY = 256, AHEAD_MOST = 8 };
    const struct io_uring_cq *cq = &u->ring.cq;
    unsigned head, n, ahead = 0;
    int rc;

    if (COIL__UNLIKELY(u->dead < 0))
        return u->dead;
    coil__uring_do(u);
    coil__uring_offer_buffers(u);
    rc = coil__uring_enter(u, timeout_ns);
    head = *cq->khead;
    n = io_uring_smp_load_acquire(cq->ktail) - head;
    if (u->backend.in_use >= MANY)
        ahead = n < AHEAD_MOST ? n : AHEAD_MOST;
    for (unsigned i = 0; i < n + 3 * ahead; i++) {
        if (ahead > 0)
            prefetch(u, n, i, ahead);
        if (i - 3 * ahead < n)
            handle(u, completion_at(cq, head + i - 3 * ahead));
    }
    io_uring_smp_store_release(cq->khead, head + n);
    return rc;
}

/*
 * The caller must repeat its requests after each wait, because a request has no effect if
 * it comes while the operation is between two steps.
 */
int coil__uring_await_end(struct coil__uring *u, int failures)
{
    int rc = coil__uring_reap(u, COIL_MSEC(10));

    if (rc == 0)
        return 0;
    if (++failures == COIL__URING_FAILURES)
        u->dead = rc;
    return failures;
}

/*
 * Map the ring, if possible, after several waits without it. ppoll(2) wakes the loop 50
 * us late (PR_SET_TIMERSLACK in prctl(2)); the ring wakes it at most
 * coil_loop_opts.timer_slack_ns late.
 */
static bool maps_ring_now(struct coil__uring *u, int64_t timeout_ns)
{
    if (timeout_ns == 0 || ++u->waits_alone < MANY_WAITS)
        return false;
    u->waits_alone = 0;
    return coil__uring_map(u) == 0;
}

int coil__uring_poll(struct coil__backend *backend, int64_t timeout_ns)
{
    struct coil__uring *u = coil__uring_of(backend);
    int rc;

    if (COIL__UNLIKELY(!u->mapped) && !maps_ring_now(u, timeout_ns))
        return coil__uring_poll_alone(u, timeout_ns);
    if (u->first_to_arm >= 0)
        coil__uring_arm_watches(u);
    do {
        rc = coil__uring_reap(u, timeout_ns);
        timeout_ns = 0;
    } while (rc == 0 && !coil__list_empty(&u->todo));
    return rc;
}
