/*
 * readiness.c - completions made of readiness.
 *
 *   submit --- the call succeeds or fails ----------------------------> result
 *     |                                                                   ^
 *     `-- it would block, or is known to --> ops[direction] -- found ----'
 *                                              |   ^   |       (the call, again)
 *                                              |   `---' would still block
 *                                              `-- cancel, detach, gone -> complete
 *
 * WHAT IS KNOWN. `blocked` remembers, per direction, that asking the kernel would be in
 * vain: set by EAGAIN, and by a read of less than was asked for; cleared by the poller.
 * A request-response server thus makes one recv() per request, not two.
 *
 * Invariants
 * 1. With edges, `blocked` may be set only if everything was drained before: a change
 *    that comes later makes an edge, and poll() will clear it. Nothing else would.
 * 2. Without edges, a wrong guess costs a turn: the poller reports what is there.
 * 3. A descriptor is used in one way at a time: by operations or by watchers.
 * 4. Nothing that poll() calls runs a user's code, so the table stands still meanwhile.
 * 5. Giving up a descriptor counts up its generation. Events that carry an older one are
 *    another descriptor's, which had the same number.
 *
 * Start reading at coil__readiness_submit() and coil__readiness_found().
 */
#include "readiness.h"

#include "../../base/fault.h"

#include "../loop.h"
#include "try.h"

#include <netinet/in.h>
#include <string.h>
#include <time.h>

void coil__readiness_init(struct coil__readiness *readiness,
                          const struct coil__backend_class *class,
                          const struct coil__poller *poller)
{
    readiness->backend.class = class;
    readiness->backend.in_use = 0;
    readiness->poller = poller;
    readiness->table = NULL;
    readiness->table_size = 0;
}

void coil__readiness_finish(struct coil__readiness *readiness)
{
    coil__free(readiness->table);
}

static struct coil__readiness *readiness_of(struct coil__backend *backend)
{
    return COIL__CONTAINER(backend, struct coil__readiness, backend);
}

/* ---- the table -------------------------------------------------------------------- */

static struct coil__descriptor *find(const struct coil__readiness *r, int fd)
{
    return fd >= 0 && (size_t)fd < r->table_size ? &r->table[fd] : NULL;
}

/* As find(), making room first. Returns 0, -EBADF or -ENOMEM. */
static int find_or_grow(struct coil__readiness *r, int fd, struct coil__descriptor **out)
{
    struct coil__descriptor *table;
    size_t size = r->table_size != 0 ? r->table_size : 64;

    if (fd < 0)
        return -EBADF;
    while (size <= (size_t)fd)
        size *= 2;
    if (size > r->table_size) {
        table = coil__realloc(r->table, size * sizeof *table);
        if (table == NULL)
            return -ENOMEM;
        memset(table + r->table_size, 0, (size - r->table_size) * sizeof *table);
        r->table = table;
        r->table_size = size;
    }
    *out = &r->table[fd];
    return 0;
}

static unsigned bit_of(enum coil__direction direction)
{
    return 1u << direction;
}

/* What the poller should look for. */
static unsigned wanted(const struct coil__readiness *r, const struct coil__descriptor *d)
{
    unsigned interest = 0;

    if (r->poller->edges && (d->use == COIL__ATTACHED || d->use == COIL__BORROWED))
        return COIL__FOR_BOTH | COIL__FOR_EDGES;
    for (int i = 0; i < 2; i++)
        if (d->ops[i] != NULL) /* or watchers[i] */
            interest |= bit_of(i);
    return interest;
}

static int set_interest(struct coil__readiness *r, int fd, struct coil__descriptor *d,
                        unsigned interest)
{
    int rc = r->poller->set_interest(&r->backend, fd, d, interest, &d->slot);

    if (rc == 0)
        d->interest = (uint8_t)interest;
    return rc;
}

/*
 * Tell the poller what changed, if anything did: who looks for edges was told once.
 * Looking for less always works.
 */
static int update_interest(struct coil__readiness *r, int fd, struct coil__descriptor *d)
{
    unsigned interest;

    if (COIL__LIKELY(d->interest & COIL__FOR_EDGES))
        return 0;
    interest = wanted(r, d);
    return interest != d->interest ? set_interest(r, fd, d, interest) : 0;
}

/* Nobody uses it any more. */
static void give_up(struct coil__readiness *r, int fd, struct coil__descriptor *d)
{
    uint32_t generation = d->generation;

    if (d->interest != 0)
        set_interest(r, fd, d, 0);
    memset(d, 0, sizeof *d);
    d->generation = generation + 1;
}

/* Begin a use that needs the poller, and undo that where it refuses. */
static int take_up(struct coil__readiness *r, int fd, struct coil__descriptor *d,
                   enum coil__use use)
{
    int rc;

    d->use = (uint8_t)use;
    rc = update_interest(r, fd, d);
    if (rc < 0)
        give_up(r, fd, d);
    return rc;
}

/* ---- what is known ---------------------------------------------------------------- */

/*
 * Of a TCP connection a read takes all there is, up to the buffer's size. Not so of a
 * local socket, which stops where descriptors or credentials were sent along (unix(7)),
 * nor of packets, nor, to be safe, of pipes and terminals.
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
 * May a short read be taken to have emptied the descriptor? (epoll(7), questions and
 * answers, 9.) Once the peer has hung up there is the end of file to be read, and once
 * it has sent urgent data a read stops at the mark: in both cases no edge would follow.
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

    if (result == -EINPROGRESS && op->kind != COIL__OP_POLL)
        d->blocked |= (uint8_t)bit_of(coil__op_direction(op));
    else if (reads && op->flags == 0 && result > 0 && (size_t)result < op->len &&
             may_guess(r, d, op->fd))
        d->blocked |= COIL__FOR_IN;
}

/* ---- operations ------------------------------------------------------------------- */

int coil__readiness_attach(struct coil__backend *backend, int fd)
{
    struct coil__readiness *r = readiness_of(backend);
    struct coil__descriptor *d;
    int rc = find_or_grow(r, fd, &d);

    if (rc < 0)
        return rc;
    if (d->use != COIL__UNUSED)
        return -EBUSY;
    rc = take_up(r, fd, d, COIL__ATTACHED);
    if (rc < 0 || r->poller->edges)
        return rc;
    /* The poller is told only as an operation waits: see now whether it would refuse. */
    rc = set_interest(r, fd, d, COIL__FOR_IN);
    if (rc < 0)
        give_up(r, fd, d);
    else
        set_interest(r, fd, d, 0);
    return rc;
}

/* Put the operation where found() looks for it. */
static void enter_op(struct coil__readiness *r, struct coil__descriptor *d,
                     struct coil__op *op)
{
    if (op->kind != COIL__OP_POLL) {
        d->ops[coil__op_direction(op)] = op;
    } else {
        if (op->events & COIL_READABLE)
            d->ops[COIL__IN] = op;
        if (op->events & COIL_WRITABLE)
            d->ops[COIL__OUT] = op;
    }
    r->backend.in_use++;
}

static void leave_op(struct coil__readiness *r, struct coil__descriptor *d,
                     struct coil__op *op)
{
    for (int i = 0; i < 2; i++)
        if (d->ops[i] == op)
            d->ops[i] = NULL;
    r->backend.in_use--;
    if (d->use == COIL__BORROWED && d->ops[COIL__IN] == NULL && d->ops[COIL__OUT] == NULL)
        give_up(r, op->fd, d); // NOLINT(clang-analyzer-core.NullDereference)
    else
        update_interest(r, op->fd, d); // NOLINT(clang-analyzer-core.NullDereference)
}

static void finish_op(struct coil__readiness *r, struct coil__descriptor *d,
                      struct coil__op *op, ssize_t result)
{
    leave_op(r, d, op);
    op->result = result;
    op->complete(op);
}

/* Have it wait for the poller. */
static ssize_t defer(struct coil__readiness *r, struct coil__descriptor *d,
                     struct coil__op *op)
{
    int rc;

    enter_op(r, d, op);
    rc = update_interest(r, op->fd, d);
    if (rc < 0) {
        leave_op(r, d, op);
        return rc;
    }
    return -EINPROGRESS;
}

/* COIL__OP_POLL needs no attach(): it borrows a descriptor that nobody else uses. */
static ssize_t submit_poll(struct coil__readiness *r, struct coil__op *op)
{
    struct coil__descriptor *d;
    ssize_t result = find_or_grow(r, op->fd, &d);

    if (result < 0)
        return result;
    if (d->use != COIL__UNUSED && d->use != COIL__BORROWED)
        return -EBUSY;
    if ((op->events & COIL_READABLE && d->ops[COIL__IN] != NULL) ||
        (op->events & COIL_WRITABLE && d->ops[COIL__OUT] != NULL))
        return -EBUSY;
    if (d->use == COIL__UNUSED) {
        result = take_up(r, op->fd, d, COIL__BORROWED);
        if (result < 0)
            return result;
    }
    result = coil__try_first(op);
    if (result == -EINPROGRESS)
        return defer(r, d, op);
    if (d->ops[COIL__IN] == NULL && d->ops[COIL__OUT] == NULL)
        give_up(r, op->fd, d);
    return result;
}

ssize_t coil__readiness_submit(struct coil__backend *backend, struct coil__op *op)
{
    struct coil__readiness *r = readiness_of(backend);
    struct coil__descriptor *d = find(r, op->fd);
    enum coil__direction direction = coil__op_direction(op);
    ssize_t result;

    if (op->kind == COIL__OP_POLL)
        return submit_poll(r, op);
    if (op->kind > COIL__OP_POLL)
        return -EOPNOTSUPP;
    if (d == NULL || d->use != COIL__ATTACHED)
        return -EBADF;
    if (d->ops[direction] != NULL)
        return -EBUSY;
    if (op->kind == COIL__OP_CONNECT || !(d->blocked & bit_of(direction))) {
        result = coil__try_first(op);
        learn(r, d, op, result);
        if (result != -EINPROGRESS)
            return result;
    }
    return defer(r, d, op);
}

/* A system call that was only waited for has no effect: its end is at once. */
void coil__readiness_cancel(struct coil__backend *backend, struct coil__op *op)
{
    struct coil__readiness *r = readiness_of(backend);

    finish_op(r, find(r, op->fd), op, -ECANCELED);
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
    struct coil__descriptor *d = find(r, fd);

    if (d == NULL || d->use != COIL__ATTACHED)
        return;
    finish_all(r, d, -EBADF);
    give_up(r, fd, d);
}

/* ---- watches ---------------------------------------------------------------------- */

static int remove_watch(struct coil__readiness *r, int fd, enum coil__direction direction)
{
    struct coil__descriptor *d = find(r, fd);

    if (d == NULL || d->use != COIL__WATCHED || d->watchers[direction] == NULL)
        return 0;
    d->watchers[direction] = NULL;
    r->backend.in_use--;
    if (d->watchers[!direction] == NULL)
        give_up(r, fd, d);
    else
        update_interest(r, fd, d);
    return 0;
}

int coil__readiness_watch(struct coil__backend *backend, int fd,
                          enum coil__direction direction, struct coil__runnable *runnable)
{
    struct coil__readiness *r = readiness_of(backend);
    struct coil__runnable *before;
    struct coil__descriptor *d;
    int rc;

    if (runnable == NULL)
        return remove_watch(r, fd, direction);
    rc = find_or_grow(r, fd, &d);
    if (rc < 0)
        return rc;
    if (d->use != COIL__UNUSED && d->use != COIL__WATCHED)
        return -EBUSY;
    before = d->watchers[direction];
    d->use = COIL__WATCHED;
    d->watchers[direction] = runnable;
    /* Even if nothing seems to change: the number may be another descriptor by now, whose
       owner forgot to remove the watch before closing. */
    rc = set_interest(r, fd, d, wanted(r, d));
    if (rc == 0) {
        r->backend.in_use += before == NULL;
        return 0;
    }
    d->watchers[direction] = before;
    if (before == NULL && d->watchers[!direction] == NULL)
        give_up(r, fd, d);
    return rc;
}

/* ---- events ----------------------------------------------------------------------- */

static void make_ready(struct coil__runnable *runnable)
{
    /* It may still be in the queue from the poll before. */
    if (runnable != NULL && coil__list_empty(&runnable->link))
        coil__loop_add_ready(coil_loop_current(), runnable);
}

static void retry(struct coil__readiness *r, struct coil__descriptor *d,
                  struct coil__op *op)
{
    ssize_t result;

    coil__op_prefetch_waiter(op);
    result = coil__try_again(op);
    learn(r, d, op, result);
    if (result != -EINPROGRESS)
        finish_op(r, d, op, result);
}

void coil__readiness_soon(struct coil__backend *backend, int fd)
{
    COIL__PREFETCH(find(readiness_of(backend), fd));
}

void coil__readiness_next(struct coil__backend *backend, int fd)
{
    const struct coil__descriptor *d = find(readiness_of(backend), fd);

    if (d != NULL)
        coil__op_prefetch(d->ops[COIL__IN]);
}

void coil__readiness_found(struct coil__backend *backend, int fd, unsigned found)
{
    struct coil__readiness *r = readiness_of(backend);
    struct coil__descriptor *d = find(r, fd);

    if (d == NULL || d->use == COIL__UNUSED)
        return;
    if (found & COIL__FOUND_UNUSUAL)
        d->unusual = true;
    d->blocked &= (uint8_t)~found;
    for (int i = 0; i < 2; i++) {
        if (!(found & bit_of(i)))
            continue;
        if (d->use == COIL__WATCHED)
            make_ready(d->watchers[i]);
        else if (d->ops[i] != NULL)
            retry(r, d, d->ops[i]);
    }
}

void coil__readiness_gone(struct coil__backend *backend, int fd)
{
    struct coil__readiness *r = readiness_of(backend);
    struct coil__descriptor *d = find(r, fd);

    if (d == NULL || d->use == COIL__UNUSED)
        return;
    set_interest(r, fd, d, 0);
    if (d->use != COIL__WATCHED) {
        finish_all(r, d, -EBADF);
        return;
    }
    for (int i = 0; i < 2; i++)
        make_ready(d->watchers[i]);
}

uint32_t coil__readiness_generation(struct coil__backend *backend, int fd)
{
    const struct coil__descriptor *d = find(readiness_of(backend), fd);

    return d != NULL ? d->generation : 0;
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
