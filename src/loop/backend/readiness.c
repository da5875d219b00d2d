/*
 * readiness.c - completion of operations, implemented with readiness.
 *
 *   submit --- the call succeeds or fails ----------------------------> result
 *     |                                                                   ^
 *     `-- it would block, or is known to --> ops[direction] -- found ----'
 *                                              |   ^   |       (the call, again)
 *                                              |   `---' would still block
 *                                              `-- cancel, detach, gone -> complete
 *
 * KNOWN TO BLOCK. `blocked` means that a receive would find no bytes. EAGAIN or a short
 * read sets this flag, and a report of the poller clears it. So a server calls recv()
 * once per request, without a second call to find that there are no more bytes.
 *
 * SPURIOUS READINESS. A descriptor may be reported as ready although the call would
 * block: for example, an ICMP error in a socket's error queue (IP_RECVERR) makes the
 * socket readable. An edge-triggered poller reports such a descriptor once, whereas a
 * level-triggered poller would report it at each poll. So after the second such report in
 * a row, the direction is no longer polled, and the operation is retried periodically:
 * first after 1 ms, later after up to 16 ms.
 *
 * Invariants
 * 1. With an edge-triggered poller, `blocked` may be set only if the descriptor was
 *    drained: otherwise there may be no later event that clears the flag.
 * 2. With a level-triggered poller, it is harmless if `blocked` is set wrongly: the next
 *    poll reports the descriptor.
 * 3. A descriptor is used either by operations or by watchers, never by both.
 * 4. poll() calls no functions of the program, so the table of descriptors does not move
 *    during a poll.
 * 5. Releasing a descriptor increments its generation. Events with an older generation
 *    belong to an earlier descriptor with the same number.
 *
 * Start reading at coil__readiness_submit() and coil__readiness_found().
 */
#include "readiness.h"

#include "../../base/fault.h"

#include "../loop.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#define SHORTEST_PAUSE COIL_MSEC(1)
#define LONGEST_PAUSE COIL_MSEC(16)

void coil__readiness_init(struct coil__readiness *readiness,
                          const struct coil__backend_class *class,
                          const struct coil__poller *poller)
{
    readiness->backend = (struct coil__backend){.class = class};
    readiness->poller = poller;
    coil__list_init(&readiness->paused);
}

static struct coil__readiness *readiness_of(const struct coil__backend *backend)
{
    return COIL__CONTAINER(backend, struct coil__readiness, backend);
}

static unsigned bit_of(enum coil__direction direction)
{
    return 1u << direction;
}

/* Return the events that the poller should wait for. */
static unsigned wanted_events(const struct coil__readiness *r,
                              const struct coil__descriptor *d)
{
    unsigned interest = 0;

    if (r->poller->edges && d->use == COIL__ATTACHED)
        return COIL__FOR_IN | COIL__FOR_EDGES | (d->interest & COIL__FOR_OUT) |
               (d->ops[COIL__OUT] != NULL ? COIL__FOR_OUT : 0u);
    if (r->poller->edges && d->use == COIL__BORROWED)
        interest = COIL__FOR_ONCE;
    for (int i = 0; i < 2; i++)
        if (d->ops[i] != NULL) /* or watchers[i] */
            interest |= bit_of(i);
    return interest & ~(unsigned)d->paused;
}

/*
 * Record whether the descriptor is always ready. If so, such as for a regular file or
 * /dev/null, the poller has refused it.
 */
static void note_always(struct coil__readiness *r, struct coil__descriptor *d,
                        bool always)
{
    if (d->use == COIL__WATCHED) /* only watches are counted */
        r->backend.always_ready += (size_t)always - (size_t)d->always;
    d->always = always;
}

static int set_interest(struct coil__readiness *r, int fd, struct coil__descriptor *d,
                        unsigned interest)
{
    int rc = r->poller->set_interest(&r->backend, fd, d, interest);

    note_always(r, d, rc == -EPERM);
    if (d->always)
        rc = 0;
    if (rc == 0)
        d->interest = (uint8_t)interest;
    return rc;
}

/*
 * Pass the wanted events to the poller if they have changed. Cannot fail if events are
 * only removed.
 */
static int update_interest(struct coil__readiness *r, int fd, struct coil__descriptor *d)
{
    unsigned interest = wanted_events(r, d);

    return interest != d->interest ? set_interest(r, fd, d, interest) : 0;
}

/* End the use of an attached or watched descriptor. */
static void end_use(struct coil__readiness *r, int fd, struct coil__descriptor *d)
{
    if (d->interest != 0)
        set_interest(r, fd, d, 0);
    coil__descriptor_release(d);
}

/*
 * End the use of a borrowed descriptor, which may stay registered without events: see
 * COIL__FOR_ONCE.
 */
static void end_borrowing(struct coil__readiness *r, int fd, struct coil__descriptor *d)
{
    if (d->interest != COIL__FOR_ONCE) {
        end_use(r, fd, d);
        return;
    }
    coil__descriptor_release(d);
    d->interest = COIL__FOR_ONCE;
}

/* Attach the descriptor, unless the poller refuses it. */
static int begin_use(struct coil__readiness *r, int fd, struct coil__descriptor *d)
{
    int rc;

    d->use = COIL__ATTACHED;
    rc = update_interest(r, fd, d);
    if (rc < 0)
        end_use(r, fd, d);
    return rc;
}

/* ---- known to block ---------------------------------------------------------------- */

/*
 * Return whether a short read drains the descriptor, which is certain only for a TCP
 * connection. A read from a local socket may stop at bytes that were sent with
 * descriptors or credentials (unix(7)), and a read of packets takes one packet. Pipes and
 * terminals are excluded to be safe.
 */
static enum coil__drains find_out_drains(int fd)
{
    int domain = 0, protocol = 0;
    socklen_t length = sizeof(int);

    if (COIL__CALL(ENOBUFS, getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length)) <
            0 ||
        (domain != AF_INET && domain != AF_INET6))
        return COIL__DRAINS_NO;
    length = sizeof(int);
    if (COIL__CALL(ENOBUFS, getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &length)) <
        0)
        return COIL__DRAINS_NO;
    return protocol == IPPROTO_TCP ? COIL__DRAINS_YES : COIL__DRAINS_NO;
}

/*
 * True if a short read means that the descriptor was drained (epoll(7), questions and
 * answers, 9). With an edge-triggered poller, false after a hang-up, because the end of
 * file can still be read, and after urgent data, because a read stops at the mark: in
 * both cases the poller would not report the descriptor again.
 */
static bool may_guess(const struct coil__readiness *r, struct coil__descriptor *d, int fd)
{
    if (!r->poller->edges)
        return true;
    if (d->unusual)
        return false;
    if (d->drains == COIL__DRAINS_UNKNOWN)
        d->drains = (uint8_t)find_out_drains(fd);
    return d->drains == COIL__DRAINS_YES;
}

static void learn(const struct coil__readiness *r, struct coil__descriptor *d,
                  const struct coil__op *op, ssize_t result)
{
    bool reads = op->kind == COIL__OP_READ || op->kind == COIL__OP_RECV;

    /*
     * COIL__OP_READABLE is excluded: poll(2) reports nothing while fewer than SO_RCVLOWAT
     * bytes are available, but a read would return them.
     */
    if (result == -EINPROGRESS && op->kind < COIL__OP_READABLE)
        d->blocked |= (uint8_t)bit_of(coil__op_direction(op));
    else if (reads && op->flags == 0 && result > 0 && (size_t)result < op->len &&
             may_guess(r, d, op->fd))
        d->blocked |= COIL__FOR_IN;
}

/*
 * True if the operation's call is known to block. False for all calls other than
 * receives, because other calls, such as a read of four bytes from an eventfd, may fail
 * at once although the descriptor is not ready.
 */
static bool would_block(const struct coil__descriptor *d, const struct coil__op *op)
{
    return (d->blocked & COIL__FOR_IN) &&
           (op->kind == COIL__OP_RECV || op->kind == COIL__OP_READABLE);
}

/* ---- operations -------------------------------------------------------------------- */

int coil__readiness_attach(struct coil__backend *backend, int fd)
{
    struct coil__readiness *r = readiness_of(backend);
    struct coil__descriptor *d;
    int rc = coil__descriptor_claim(&backend->descriptors, fd, COIL__ATTACHED, &d);

    if (rc < 0)
        return rc;
    rc = begin_use(r, fd, d);
    if (rc < 0 || r->poller->edges)
        return rc;
    /*
     * A level-triggered poller normally gets a descriptor only when an operation waits.
     * Register the descriptor for a moment, to find out whether the poller refuses it.
     */
    rc = set_interest(r, fd, d, COIL__FOR_IN);
    if (rc < 0)
        end_use(r, fd, d);
    else
        set_interest(r, fd, d, 0);
    return rc;
}

/*
 * Return the set of directions in which the operation is waiting: for a COIL__OP_POLL
 * there may be two.
 */
static unsigned directions_of(const struct coil__descriptor *d, const struct coil__op *op)
{
    return (d->ops[COIL__IN] == op ? COIL__FOR_IN : 0u) |
           (d->ops[COIL__OUT] == op ? COIL__FOR_OUT : 0u);
}

/*
 * True if the descriptor is edge-triggered: in that case it stays registered until it is
 * detached.
 */
static bool is_edge_triggered(const struct coil__descriptor *d)
{
    return (d->interest & COIL__FOR_EDGES) != 0;
}

/*
 * True if the descriptor is edge-triggered, and the poller already waits for events in
 * the operation's direction.
 */
static bool is_registered(const struct coil__descriptor *d, const struct coil__op *op)
{
    return is_edge_triggered(d) && (d->interest & bit_of(coil__op_direction(op))) != 0;
}

static void leave_op(struct coil__readiness *r, struct coil__descriptor *d,
                     struct coil__op *op)
{
    unsigned used = directions_of(d, op);

    if (COIL__UNLIKELY(d->paused & used))
        coil__list_remove(&op->link);
    d->in_vain &= (uint8_t)~used;
    d->paused &= (uint8_t)~used;
    for (int i = 0; i < 2; i++)
        if (used & bit_of(i))
            d->ops[i] = NULL;
    r->backend.in_use--;
    /* COIL__FOR_ONCE: the caller, coil__readiness_found(), will update the interest. */
    if (d->use == COIL__BORROWED && coil__descriptor_is_idle(d))
        end_borrowing(r, op->fd, d); // NOLINT(clang-analyzer-core.NullDereference)
    else if (!is_edge_triggered(d) && d->interest != COIL__FOR_ONCE)
        update_interest(r, op->fd, d);
}

static void finish_op(struct coil__readiness *r, struct coil__descriptor *d,
                      struct coil__op *op, ssize_t result)
{
    leave_op(r, d, op);
    op->result = result;
    op->complete(op);
}

/*
 * Make the poller wait for an operation that is in d->ops. Returns -EINPROGRESS or
 * another negative errno.
 */
static ssize_t defer(struct coil__readiness *r, struct coil__descriptor *d,
                     struct coil__op *op)
{
    int rc = 0;

    if (op->kind == COIL__OP_CONNECT)
        op->begun = true;
    r->backend.in_use++;
    if (COIL__UNLIKELY(!is_registered(d, op)))
        rc = update_interest(r, op->fd, d);
    if (rc == 0)
        return -EINPROGRESS;
    leave_op(r, d, op);
    return rc;
}

/*
 * Submit a COIL__OP_POLL, which needs no attach(): it borrows a descriptor that is not in
 * use.
 */
static ssize_t submit_poll(struct coil__readiness *r, struct coil__op *op)
{
    struct coil__descriptor *d;
    ssize_t result = coil__descriptor_claim_poll(&r->backend.descriptors, op, &d);

    if (result < 0)
        return result;
    result = op->begun ? -EINPROGRESS : coil__op_call(op);
    if (result != -EINPROGRESS)
        return result;
    /*
     * An event that has occurred since the call is not lost, because the poller checks
     * the current state when it gets the descriptor's events.
     */
    d->use = COIL__BORROWED;
    coil__descriptor_enlist_poll(d, op);
    result = defer(r, d, op);
    if (result != -EINPROGRESS || !d->always)
        return result;
    leave_op(r, d, op);
    return coil__op_call(op);
}

/*
 * Return 0 if the operation, which is not a COIL__OP_POLL, may be started; otherwise a
 * negative errno.
 */
static int check_op(const struct coil__descriptor *d, const struct coil__op *op)
{
    if (op->kind > COIL__OP_POLL)
        return -EOPNOTSUPP;
    if (d == NULL || d->use != COIL__ATTACHED)
        return -EBADF;
    return d->ops[coil__op_direction(op)] != NULL ? -EBUSY : 0;
}

ssize_t coil__readiness_submit(struct coil__backend *backend, struct coil__op *op)
{
    struct coil__readiness *r = readiness_of(backend);
    struct coil__descriptor *d = coil__descriptor_find(&backend->descriptors, op->fd);
    enum coil__direction direction = coil__op_direction(op);
    ssize_t result;

    if (op->kind == COIL__OP_POLL)
        return submit_poll(r, op);
    result = check_op(d, op);
    if (result < 0)
        return result;
    if (!would_block(d, op)) {
        result = coil__descriptor_call(d, op);
        learn(r, d, op, result);
        if (result != -EINPROGRESS)
            return result;
    }
    d->ops[direction] = op;
    return defer(r, d, op);
}

ssize_t coil__readiness_attempt(struct coil__backend *backend, struct coil__op *op)
{
    struct coil__descriptor *d = coil__descriptor_find(&backend->descriptors, op->fd);
    ssize_t result = op->kind == COIL__OP_POLL
                         ? coil__descriptor_claim_poll(&backend->descriptors, op,
                                                       &(struct coil__descriptor *){NULL})
                         : check_op(d, op);

    if (result < 0)
        return result;
    if (op->kind == COIL__OP_POLL)
        return coil__op_call(op);
    result = coil__descriptor_call(d, op);
    learn(readiness_of(backend), d, op, result);
    return result;
}

/*
 * The operation ends immediately with -ECANCELED: it was only waiting for readiness, so
 * it has had no effect.
 */
void coil__readiness_cancel(struct coil__backend *backend, struct coil__op *op)
{
    struct coil__readiness *r = readiness_of(backend);

    finish_op(r, coil__descriptor_find(&backend->descriptors, op->fd), op, -ECANCELED);
}

static void finish_all(struct coil__readiness *r, struct coil__descriptor *d,
                       ssize_t result)
{
    for (int i = 0; i < 2; i++)
        if (d->ops[i] != NULL)
            finish_op(r, d, d->ops[i], result);
}

void coil__readiness_detach(struct coil__backend *backend, int fd)
{
    struct coil__readiness *r = readiness_of(backend);
    struct coil__descriptor *d = coil__descriptor_find(&backend->descriptors, fd);

    if (d == NULL || d->use != COIL__ATTACHED)
        return;
    finish_all(r, d, -EBADF);
    end_use(r, fd, d);
}

/* ---- watches ----------------------------------------------------------------------- */

/*
 * If there is a new watcher, pass the events to the poller even if they are unchanged:
 * the number may now belong to another descriptor, because the owner may have closed the
 * old one without removing its watch.
 */
int coil__readiness_watch(struct coil__backend *backend, int fd,
                          struct coil__descriptor *d, enum coil__direction direction,
                          bool anew)
{
    struct coil__readiness *r = readiness_of(backend);

    (void)anew;
    return d->watchers[direction] != NULL ? set_interest(r, fd, d, wanted_events(r, d))
                                          : update_interest(r, fd, d);
}

/* ---- events ------------------------------------------------------------------------ */

/*
 * Called if the call would block although the poller has reported the descriptor as
 * ready.
 */
static void note_ready_in_vain(struct coil__readiness *r, struct coil__descriptor *d,
                               struct coil__op *op)
{
    unsigned used = directions_of(d, op);

    if (d->paused & used)
        return;
    if ((d->in_vain & used) == 0) {
        d->in_vain |= (uint8_t)used;
        return;
    }
    d->paused |= (uint8_t)used;
    coil__list_push(&r->paused, &op->link);
    r->pause_ns = SHORTEST_PAUSE;
    r->try_at = coil__clock_monotonic() + r->pause_ns;
    update_interest(r, op->fd, d);
}

int64_t coil__readiness_timeout(const struct coil__backend *backend, int64_t timeout_ns)
{
    const struct coil__readiness *r = readiness_of(backend);
    int64_t pause;

    if (COIL__LIKELY(coil__list_empty(&r->paused)) || timeout_ns <= 0)
        return timeout_ns;
    pause = r->try_at - coil__clock_monotonic();
    if (pause < 0)
        pause = 0;
    return pause < timeout_ns ? pause : timeout_ns;
}

/* finish_op() removes an operation from `paused`. */
void coil__readiness_try_paused(struct coil__backend *backend)
{
    struct coil__readiness *r = readiness_of(backend);
    int64_t now;

    if (COIL__LIKELY(coil__list_empty(&r->paused)))
        return;
    now = coil__clock_monotonic();
    if (now < r->try_at)
        return;
    if (r->pause_ns < LONGEST_PAUSE)
        r->pause_ns *= 2;
    r->try_at = now + r->pause_ns;
    COIL__LIST_EACH (link, &r->paused) {
        struct coil__op *op = COIL__CONTAINER(link, struct coil__op, link);
        struct coil__descriptor *d = coil__descriptor_find(&backend->descriptors, op->fd);
        ssize_t result = coil__descriptor_call(d, op);

        if (result != -EINPROGRESS)
            finish_op(r, d, op, result);
    }
}

void coil__readiness_next(struct coil__backend *backend, int fd)
{
    const struct coil__descriptor *d = coil__descriptor_find(&backend->descriptors, fd);

    if (d != NULL)
        coil__op_prefetch(d->ops[COIL__IN]);
}

static ssize_t result_of_poll(const struct coil__readiness *r, struct coil__op *op,
                              unsigned found)
{
    unsigned in = found & COIL__FOR_IN ? op->events & COIL_READABLE : 0;
    unsigned out = found & COIL__FOR_OUT ? op->events & COIL_WRITABLE : 0;

    if (r->poller->exact)
        op->revents = (short)((in ? POLLIN : 0) | (out ? POLLOUT : 0));
    return in | out;
}

/*
 * Return the result of an operation whose descriptor was reported as ready. If the
 * operation only waits for readiness, no call is necessary, except after unusual events
 * such as urgent data.
 */
static ssize_t result_of(const struct coil__readiness *r, struct coil__descriptor *d,
                         struct coil__op *op, unsigned found)
{
    if (!(found & COIL__FOUND_UNUSUAL) && op->kind == COIL__OP_READABLE)
        return COIL_READABLE;
    if (!(found & COIL__FOUND_UNUSUAL) && op->kind == COIL__OP_POLL)
        return result_of_poll(r, op, found);
    return coil__descriptor_call(d, op);
}

void coil__readiness_found(struct coil__backend *backend, int fd, unsigned found)
{
    struct coil__readiness *r = readiness_of(backend);
    struct coil__descriptor *d = coil__descriptor_find(&backend->descriptors, fd);
    struct coil__op *op;
    ssize_t result;
    int rc;

    if (d == NULL || d->use == COIL__UNUSED)
        return;
    if (found & COIL__FOUND_UNUSUAL)
        d->unusual = true;
    d->blocked &= (uint8_t)~found;
    if (d->interest & COIL__FOR_ONCE)
        d->interest = COIL__FOR_ONCE; /* now registered without events */
    for (int i = 0; i < 2; i++) {
        if (!(found & bit_of(i)))
            continue;
        if (d->use == COIL__WATCHED) {
            coil__watch_found(d->watchers[i]);
            continue;
        }
        op = d->ops[i];
        if (op == NULL)
            continue;
        coil__op_prefetch_waiter(op);
        result = result_of(r, d, op, found);
        learn(r, d, op, result);
        if (result != -EINPROGRESS)
            finish_op(r, d, op, result);
        else if (!r->poller->edges)
            note_ready_in_vain(r, d, op);
    }
    if (d->use != COIL__BORROWED)
        return;
    /* an operation may still be waiting in the other direction */
    rc = update_interest(r, fd, d);
    if (rc < 0)
        finish_all(r, d, rc);
}

void coil__readiness_gone(struct coil__backend *backend, int fd)
{
    struct coil__readiness *r = readiness_of(backend);
    struct coil__descriptor *d = coil__descriptor_find(&backend->descriptors, fd);

    if (d == NULL || d->use == COIL__UNUSED)
        return;
    set_interest(r, fd, d, 0);
    if (d->use != COIL__WATCHED) {
        finish_all(r, d, -EBADF);
        return;
    }
    for (int i = 0; i < 2; i++)
        coil__watch_found(d->watchers[i]);
}

void coil__readiness_found_always(struct coil__backend *backend)
{
    for (size_t fd = 0; fd < backend->descriptors.count; fd++) {
        struct coil__descriptor *d =
            coil__descriptor_find(&backend->descriptors, (int)fd);

        if (!d->always || d->use != COIL__WATCHED)
            continue;
        if (fcntl((int)fd, F_GETFD) < 0)
            coil__readiness_gone(backend, (int)fd);
        else
            coil__readiness_found(backend, (int)fd, d->interest & COIL__FOR_BOTH);
    }
}

struct timespec *coil__readiness_timespec(int64_t timeout_ns, struct timespec *buffer)
{
    if (timeout_ns == COIL_NEVER)
        return NULL;
    if (timeout_ns < 0)
        timeout_ns = 0;
    buffer->tv_sec = (time_t)(timeout_ns / COIL_SEC(1));
    buffer->tv_nsec = (long)(timeout_ns % COIL_SEC(1));
    return buffer;
}
