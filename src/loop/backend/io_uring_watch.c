/*
 * io_uring_watch.c - readers and writers, level-triggered, of polls that fire once.
 *
 * A watch that has fired is put back into the kernel by the next poll(): if what made it
 * ready is still there it fires at once, else when something comes. That costs an entry
 * in the queue and no system call of its own.
 *
 * A descriptor that was closed behind our back keeps its poll until something happens to
 * what it was (the kernel holds on to it), or fails with EBADF when it is armed next: its
 * watcher is told once then, and no more.
 *
 * The first watch is the loop's own wake-up, and to many loops it is the only one: they
 * have timers, and posts from other threads. For that the ring need not be mapped, which
 * is most of the price of a loop: until somebody wants more, ppoll(2) waits for it.
 */
#include "io_uring.h"

#include "../../base/fault.h"
#include "../loop.h"
#include "readiness.h"

#include <fcntl.h>
#include <poll.h>

static unsigned bit_of(enum coil__direction direction)
{
    return 1u << direction;
}

static enum coil__uring_tag tag_of(enum coil__direction direction)
{
    return direction == COIL__IN ? COIL__URING_WATCH_IN : COIL__URING_WATCH_OUT;
}

/* Let the next poll arm it. */
static void arm_soon(struct coil__uring *u, int fd, struct coil__uring_fd *d,
                     enum coil__direction direction)
{
    if (d->to_arm == 0) {
        d->next_to_arm = u->first_to_arm;
        u->first_to_arm = fd;
    }
    d->to_arm |= (uint8_t)bit_of(direction);
}

/* False if the queue has no room: then it stays to be armed. */
static bool arm(struct coil__uring *u, int fd, struct coil__uring_fd *d,
                enum coil__direction direction)
{
    struct io_uring_sqe *entry;

    if (!(d->to_arm & bit_of(direction)) || d->watchers[direction] == NULL)
        return true;
    entry = coil__uring_entry(u);
    if (entry == NULL)
        return false;
    io_uring_prep_poll_add(entry, fd, direction == COIL__IN ? POLLIN | POLLPRI : POLLOUT);
    entry->user_data = coil__uring_data(fd, tag_of(direction));
    d->armed |= (uint8_t)bit_of(direction);
    d->to_arm &= (uint8_t)~bit_of(direction);
    return true;
}

void coil__uring_arm_watches(struct coil__uring *u)
{
    while (u->first_to_arm >= 0) {
        struct coil__uring_fd *d = &u->table[u->first_to_arm];

        if (!arm(u, u->first_to_arm, d, COIL__IN) ||
            !arm(u, u->first_to_arm, d, COIL__OUT))
            return;
        d->to_arm = 0;
        u->first_to_arm = d->next_to_arm;
    }
}

static void make_ready(struct coil__runnable *runnable)
{
    /* It may still be in the queue from the poll before. */
    if (runnable != NULL && coil__list_empty(&runnable->link))
        coil__loop_add_ready(coil_loop_current(), runnable);
}

void coil__uring_watched(struct coil__uring *u, int fd, enum coil__direction direction,
                         int result)
{
    struct coil__uring_fd *d = coil__uring_find(u, fd);

    d->armed &= (uint8_t)~bit_of(direction);
    if (d->watchers[direction] == NULL)
        return;
    make_ready(d->watchers[direction]);
    if (result >= 0)
        arm_soon(u, fd, d, direction);
}

/* The watch that ppoll(2) waited for; one whose descriptor was closed is told once. */
static void found_alone(struct coil__uring *u, const struct pollfd *entry)
{
    struct coil__uring_fd *d = coil__uring_find(u, entry->fd);

    make_ready(d->watchers[COIL__IN]);
    if (entry->revents & POLLNVAL) {
        u->first_to_arm = -1;
        d->to_arm = 0;
    }
}

int coil__uring_poll_alone(struct coil__uring *u, int64_t timeout_ns)
{
    struct pollfd entry = {.fd = u->first_to_arm, .events = POLLIN};
    struct timespec span;
    const struct timespec *until = coil__readiness_timespec(timeout_ns, &span);
    int n;

    if (timeout_ns == 0) /* what woke the loop has also set a flag, which it looks at */
        return 0;
    n = COIL__CALL(EINTR, ppoll(&entry, 1, until, NULL));
    if (n < 0)
        return errno == EINTR ? 0 : -errno;
    if (n > 0)
        found_alone(u, &entry);
    return 0;
}

/* Take it back from the kernel, which must not keep the descriptor open. */
static void disarm(struct coil__uring *u, int fd, struct coil__uring_fd *d,
                   enum coil__direction direction)
{
    int failures = 0;

    while ((d->armed & bit_of(direction)) && failures < COIL__URING_FAILURES) {
        struct io_uring_sqe *entry = coil__uring_entry(u);

        if (entry != NULL)
            io_uring_prep_poll_remove(entry, coil__uring_data(fd, tag_of(direction)));
        failures = coil__uring_await_end(u, failures);
    }
    d->armed &= (uint8_t)~bit_of(direction);
}

static void remove_from_list(struct coil__uring *u, int fd)
{
    int *place = &u->first_to_arm;

    while (*place >= 0 && *place != fd)
        place = &u->table[*place].next_to_arm;
    if (*place == fd)
        *place = u->table[fd].next_to_arm;
}

static int remove_watch(struct coil__uring *u, int fd, enum coil__direction direction)
{
    struct coil__uring_fd *d = coil__uring_find(u, fd);

    if (d == NULL || d->use != COIL__URING_WATCHED || d->watchers[direction] == NULL)
        return 0;
    d->watchers[direction] = NULL;
    u->backend.in_use--;
    disarm(u, fd, d, direction);
    if (d->watchers[!direction] != NULL)
        return 0;
    if (d->to_arm != 0)
        remove_from_list(u, fd);
    coil__uring_give_up(d);
    return 0;
}

int coil__uring_watch(struct coil__backend *backend, int fd,
                      enum coil__direction direction, struct coil__runnable *runnable)
{
    struct coil__uring *u = coil__uring_of(backend);
    struct coil__uring_fd *d;
    bool first = u->table_size == 0;
    int rc;

    if (runnable == NULL)
        return remove_watch(u, fd, direction);
    rc = coil__uring_find_or_grow(u, fd, &d);
    if (rc == 0 && !first)
        rc = coil__uring_need(u);
    if (rc < 0)
        return rc;
    if (d->use != COIL__URING_UNUSED && d->use != COIL__URING_WATCHED)
        return -EBUSY;
    if (COIL__CALL(EBADF, fcntl(fd, F_GETFD)) < 0)
        return -errno;
    /* A number that is another descriptor's by now, whose owner forgot to remove the
       watch before closing: what is armed is of the old one. */
    if (d->watchers[direction] != NULL)
        disarm(u, fd, d, direction);
    else
        u->backend.in_use++;
    d->use = COIL__URING_WATCHED;
    d->watchers[direction] = runnable;
    arm_soon(u, fd, d, direction);
    return 0;
}
