/*
 * poll.c - poll(2) for tasks.
 *
 *     ask --- something, or no time ------------------------> the count
 *      ^ `--- nothing --> begin --> park --> end --- timed out, cancelled, closed
 *      |                                      |
 *      `--------------------------------------'  an event has happened
 *
 * The events come from poll(2) itself ("ask"), called with a timeout of 0. So a regular
 * file is ready on every backend, and if another task or process empties a descriptor
 * first, the task waits for it again. After a wait for one descriptor, the call is not
 * necessary if the backend has reported the events that poll(2) would report.
 * coil_poll_retry() calls poll(2) neither before a wait nor after an event. Its caller has
 * already found that its own system call would block, and repeats that call after the
 * wait.
 *
 * A call with up to DIRECT descriptors submits one operation per descriptor to the
 * backend. A call with more descriptors, with events such as POLLPRI, or with a
 * descriptor for which the backend returns -EBUSY (a stream, a reader or a writer uses
 * it), creates a set of descriptors in the kernel instead. The set becomes readable when
 * one of its descriptors is ready, so the call submits a single operation.
 *
 * A backend may have received bytes of a stream before the program reads them. poll(2)
 * does not see these bytes, but the backend's settle() reports them, and stops receiving
 * ahead on that descriptor.
 *
 * Invariants
 * 1. Operations are stored in the waiting task's frame, so all must have ended when
 *    wait_for_change() returns. If the backend needs time to end an operation, the task
 *    waits for that, even if it was cancelled: see end().
 * 2. complete() only makes the task ready, because the backend calls it while polling,
 *    when other operations must not be cancelled.
 */
#include "../base/fault.h"
#include "../kernel/descriptors.h"
#include "../loop/loop.h"
#include "../task/budget.h"
#include "../task/task.h"

#include <coil/poll.h>

#include <unistd.h>

#define DIRECT 4
#define IN (POLLIN | POLLRDNORM)
#define OUT (POLLOUT | POLLWRNORM)
#define USUAL (IN | OUT)
#define ALWAYS (POLLERR | POLLHUP | POLLNVAL) /* reported even if not requested */

struct polling;

/* One of the operations of a call to coil_poll(). */
struct part {
    struct coil__op op;
    struct polling *polling;
    bool in_flight;
};

/*
 * A descriptor for which a task is waiting, listed so that coil_poll_end() finds it by
 * number.
 */
struct name {
    struct coil__list link; /* in a bucket of loop.polled */
    struct polling *polling;
    int fd;
};

struct polling {
    struct coil__wait wait, ending;
    struct coil__timer timer;
    coil_loop *loop;
    int64_t deadline;
    int set; /* the kernel's set, or -1 */
    size_t part_count, name_count, in_flight;
    bool ends, time_is_up;
    struct part parts[DIRECT];
    struct name names[DIRECT];
};

/* ---- poll(2) without waiting ------------------------------------------------------- */

/*
 * Return true if the backend has received bytes of the descriptor ahead of a read. Also
 * makes the backend stop receiving ahead on this descriptor.
 */
static bool was_received(struct coil__backend *backend, int fd)
{
    int error;

    return backend->class->settle != NULL &&
           backend->class->settle(backend, fd, &error) > 0;
}

/*
 * Mark descriptors as readable if the backend has received bytes ahead, which poll(2)
 * does not see. Returns the new count of descriptors with events.
 */
static int add_received(struct pollfd *fds, nfds_t n, int count)
{
    struct coil__backend *backend = coil__loop_of_thread->backend;

    for (nfds_t i = 0; i < n; i++) {
        if (fds[i].fd < 0 || !(fds[i].events & IN) || (fds[i].revents & IN) ||
            !was_received(backend, fds[i].fd))
            continue;
        count += fds[i].revents == 0;
        fds[i].revents |= (short)(fds[i].events & IN);
    }
    return count;
}

/*
 * Call poll(2) without waiting. Returns the number of descriptors with events, or a
 * negative errno.
 */
static int poll_now(struct pollfd *fds, nfds_t n)
{
    int count;

    do
        count = COIL__CALL(ENOMEM, poll(fds, n, 0));
    while (count < 0 && errno == EINTR);
    return count < 0 ? coil__failed(-errno) : add_received(fds, n, count);
}

/* ---- names ------------------------------------------------------------------------- */

/* A bucket is initialised when the first name is added. */
static struct coil__list *bucket_of(coil_loop *loop, int fd)
{
    return &loop->polled[(unsigned)fd % COIL__POLLED_BUCKETS];
}

static void add_name(struct polling *p, int fd)
{
    struct name *name = &p->names[p->name_count++];
    struct coil__list *bucket = bucket_of(p->loop, fd);

    *name = (struct name){.polling = p, .fd = fd};
    if (bucket->next == NULL)
        coil__list_init(bucket);
    coil__list_push(bucket, &name->link);
}

static void add_names(struct polling *p, const struct pollfd *fds, nfds_t n)
{
    for (nfds_t i = 0; i < n && n <= DIRECT; i++)
        if (fds[i].fd >= 0)
            add_name(p, fds[i].fd);
}

static void remove_names(struct polling *p)
{
    for (size_t i = 0; i < p->name_count; i++)
        coil__list_remove(&p->names[i].link);
}

int coil_poll_end(int fd)
{
    coil_loop *loop = coil__loop_of_thread;
    struct coil__list *bucket = loop != NULL ? bucket_of(loop, fd) : NULL;
    int count = 0;

    if (bucket == NULL || bucket->next == NULL)
        return 0;
    COIL__LIST_EACH (link, bucket) {
        const struct name *name = COIL__CONTAINER(link, struct name, link);

        /* In a child of fork(2), the list still contains the parent's tasks. */
        if (name->fd == fd && loop->pid == getpid())
            count += coil__wait_complete(&name->polling->wait, -EBADF);
    }
    return count;
}

/* ---- operations -------------------------------------------------------------------- */

static void complete(struct coil__op *op)
{
    struct part *part = op->owner;
    struct polling *p = part->polling;

    part->in_flight = false;
    p->in_flight--;
    if (!p->ends)
        coil__wait_complete(&p->wait, op->result < 0 ? (int)op->result : 0);
    else if (p->in_flight == 0)
        coil__wait_complete(&p->ending, 0);
}

/*
 * Submit an operation. Returns 1 if an event has already happened, 0 if the operation is
 * in flight, or a negative errno.
 */
static int submit(struct polling *p, int fd, unsigned events)
{
    struct part *part = &p->parts[p->part_count++];
    ssize_t result;

    *part = (struct part){
        .op = {.kind = COIL__OP_POLL, .fd = fd, .events = events, .begun = fd != p->set},
        .polling = p,
        .in_flight = true};
    part->op.complete = complete;
    part->op.owner = part;
    p->loop->operations++;
    p->in_flight++;
    result = p->loop->backend->class->submit(p->loop->backend, &part->op);
    if (result == -EINPROGRESS)
        return 0;
    part->in_flight = false;
    p->in_flight--;
    return result < 0 ? (int)result : 1;
}

static bool is_direct(const struct pollfd *fds, nfds_t n)
{
    if (n > DIRECT)
        return false;
    for (nfds_t i = 0; i < n; i++) {
        int events = fds[i].events & ~ALWAYS;

        if (fds[i].fd >= 0 && (events == 0 || (events & ~USUAL) != 0))
            return false;
    }
    return true;
}

static int submit_each(struct polling *p, const struct pollfd *fds, nfds_t n)
{
    int rc = 0;

    for (nfds_t i = 0; i < n && rc == 0; i++) {
        unsigned events = 0;

        if (fds[i].fd < 0)
            continue;
        if (fds[i].events & IN)
            events |= COIL_READABLE;
        if (fds[i].events & OUT)
            events |= COIL_WRITABLE;
        rc = submit(p, fds[i].fd, events);
    }
    return rc;
}

/* Cancel all operations in flight. */
static void cancel_parts(struct polling *p)
{
    for (size_t i = 0; i < p->part_count; i++)
        if (p->parts[i].in_flight)
            p->loop->backend->class->cancel(p->loop->backend, &p->parts[i].op);
}

static bool refuse_cancel(struct coil__wait *wait)
{
    (void)wait;
    return false;
}

/* Cancel the operations, and wait until all have ended, even if the task is cancelled. */
static void end(struct polling *p)
{
    static const struct coil__wait_class class = {.what = "poll",
                                                  .cancel = refuse_cancel};

    coil__wait_init(&p->ending, &class);
    p->ending.keeps_result = true;
    p->ends = true;
    cancel_parts(p);
    if (p->in_flight > 0)
        coil__wait_park(&p->ending);
    p->ends = false;
    p->part_count = 0;
}

/* ---- waiting ----------------------------------------------------------------------- */

static void time_is_up(struct coil__runnable *runnable)
{
    struct polling *p = COIL__CONTAINER(runnable, struct polling, timer.runnable);

    p->time_is_up = true;
    coil__wait_complete(&p->wait, 0);
}

/*
 * Submit the operations. Returns 0 if all operations are in flight, 1 if an event has
 * already happened, or a negative errno.
 */
static int begin(struct polling *p, const struct pollfd *fds, nfds_t n)
{
    int rc = -EBUSY;

    if (is_direct(fds, n))
        rc = submit_each(p, fds, n);
    if (rc != -EBUSY)
        return rc;
    end(p);
    /* These descriptors need a set: see the comment at the head of this file. */
    p->set = coil__poll_set_open(fds, n);
    return p->set < 0 ? coil__failed(p->set) : submit(p, p->set, COIL_READABLE);
}

static int park(struct polling *p)
{
    int rc;

    coil__timer_init(&p->timer, time_is_up);
    if (p->deadline != COIL_NEVER)
        coil__timer_start_reserved(p->loop, &p->timer, p->deadline);
    p->loop->operations_waited++;
    rc = coil__wait_park(&p->wait);
    coil__timer_stop(p->loop, &p->timer);
    return rc;
}

/* Return the events that the backend has reported for the only descriptor, or 0. */
static short reported_events(const struct polling *p)
{
    return p->part_count == 1 && p->set < 0 ? p->parts[0].op.revents : 0;
}

/*
 * Wait for an event. Returns 0 if an event may have happened, 1 if the deadline has
 * passed, or a negative errno such as -ECANCELED. Sets *revents to the events of a single
 * descriptor, or to 0 if only poll(2) can report them.
 */
static int wait_for_change(const struct pollfd *fds, nfds_t n, int64_t deadline,
                           short *revents)
{
    static const struct coil__wait_class class = {
        .what = "poll",
        .fd = COIL__WAIT_AT(struct polling, names[0].fd),
        .deadline = COIL__WAIT_AT(struct polling, deadline)};
    struct polling p;
    int rc;

    coil__wait_init(&p.wait, &class);
    p.loop = p.wait.task->future.loop;
    p.deadline = deadline;
    p.set = -1;
    p.names[0].fd = -1;
    p.part_count = p.name_count = p.in_flight = 0;
    p.ends = p.time_is_up = false;
    rc = begin(&p, fds, n);
    if (rc == 0) {
        add_names(&p, fds, n);
        rc = park(&p);
        remove_names(&p);
    }
    *revents = rc == 0 && n == 1 ? reported_events(&p) : 0;
    end(&p);
    if (p.set >= 0)
        close(p.set);
    return rc < 0 ? rc : p.time_is_up;
}

/* Set the events that the backend has reported. Returns 1, the count of descriptors. */
static int set_events(struct pollfd *fd, short revents)
{
    int found = (revents & POLLIN ? IN : 0) | (revents & POLLOUT ? OUT : 0);

    fd->revents = (short)(fd->events & found);
    return 1;
}

int coil_poll(struct pollfd *fds, nfds_t n, int64_t timeout_ns)
{
    COIL__REQUIRE_IF(n > 0, fds, "an array");
    int64_t deadline = COIL_NEVER;
    int rc = coil__task_spend("coil_poll");
    short revents = 0;

    if (rc < 0)
        return rc;
    if (timeout_ns != COIL_NEVER)
        deadline = coil_in(timeout_ns);
    do {
        rc = poll_now(fds, n);
        if (rc != 0 || timeout_ns <= 0)
            return rc;
        rc = wait_for_change(fds, n, deadline, &revents);
    } while (rc == 0 && revents == 0);
    if (rc == 0)
        return set_events(fds, revents);
    return rc > 0 ? poll_now(fds, n) : coil__failed(rc);
}

/* Poll one descriptor without waiting. Returns -EBADF if the descriptor is not open. */
static int poll_open(struct pollfd *one)
{
    int rc = poll_now(one, 1);

    return rc > 0 && (one->revents & POLLNVAL) != 0 ? coil__failed(-EBADF) : rc;
}

int coil_poll_retry(int fd, short events, int64_t timeout_ns)
{
    struct pollfd one = {.fd = fd, .events = events};
    int64_t deadline = COIL_NEVER;
    int rc = coil__task_spend("coil_poll_retry");
    short revents;

    if (rc < 0)
        return rc;
    if (fd < 0)
        return coil__failed(-EBADF);
    /* A cancelled task must not wait, but it may still poll without waiting. */
    if (timeout_ns <= 0 ||
        COIL__UNLIKELY(coil__task_is_cancelled(coil__scheduler.current)) ||
        ((events & POLLIN) != 0 && was_received(coil__loop_of_thread->backend, fd))) {
        rc = poll_open(&one);
        if (rc != 0 || timeout_ns <= 0)
            return rc;
    }
    if (timeout_ns != COIL_NEVER)
        deadline = coil_in(timeout_ns);
    rc = wait_for_change(&one, 1, deadline, &revents);
    if (rc == 0)
        return 1;
    return rc > 0 ? poll_open(&one) : coil__failed(rc);
}
