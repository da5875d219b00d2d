/*
 * io_uring_watch.c - level-triggered watches, implemented with one-shot polls.
 *
 * When the kernel's poll for a watch has fired, poll() submits it again at its next call.
 * The new poll fires immediately if the descriptor is still ready, otherwise at the next
 * event. Submitting the poll takes a queue entry, but no additional system call.
 *
 * If the program closes a descriptor without removing its watch, the poll stays in the
 * kernel, which keeps the file open until an event occurs. The next poll fails with
 * EBADF, and the watcher is made ready one last time.
 *
 * A poll always ends once the peer has shut down its sending side (POLLRDHUP), even if
 * that event was not requested. So after such a shutdown, while the descriptor is not
 * writable, each poll for a writer would end immediately. In that case a time-out delays
 * the next poll, by 1 ms at first and later by up to 16 ms.
 *
 * The first watch is for the loop's own wake-up. A loop that uses only timers and posts
 * from other threads has no other watch. Until the ring is needed for something else, the
 * loop waits with ppoll(2), and the ring is not mapped, because mapping takes most of the
 * time of creating a loop.
 */
#include "io_uring_watch.h"

#include "../../base/fault.h"
#include "../loop.h"
#include "readiness.h"

#include <poll.h>

enum { CAN_WRITE = POLLOUT | POLLHUP | POLLERR };

static enum coil__uring_tag tag_of(enum coil__direction direction)
{
    return direction == COIL__IN ? COIL__URING_WATCH_IN : COIL__URING_WATCH_OUT;
}

void coil__uring_arm_soon(struct coil__uring *u, int fd, struct coil__descriptor *d,
                          enum coil__direction direction)
{
    if (d->to_arm == 0) {
        d->next_to_arm = u->first_to_arm;
        u->first_to_arm = fd;
    }
    d->to_arm |= (uint8_t)coil__uring_bit_of(direction);
}

/*
 * Submit the poll or time-out of a watch that has to be armed. Returns false if the queue
 * is full.
 */
static bool arm(struct coil__uring *u, int fd, struct coil__descriptor *d,
                enum coil__direction direction)
{
    struct io_uring_sqe *entry;

    if (!(d->to_arm & coil__uring_bit_of(direction)) || d->watchers[direction] == NULL)
        return true;
    entry = coil__uring_entry(u);
    if (entry == NULL)
        return false;
    if (d->pauses & coil__uring_bit_of(direction))
        coil__uring_prepare_pause(entry, d->pause_count[direction]);
    else
        io_uring_prep_poll_add(entry, fd,
                               direction == COIL__IN ? POLLIN | POLLPRI : POLLOUT);
    entry->user_data = coil__uring_data(fd, tag_of(direction));
    d->armed |= (uint8_t)coil__uring_bit_of(direction);
    d->to_arm &= (uint8_t)~coil__uring_bit_of(direction);
    return true;
}

void coil__uring_arm_watches(struct coil__uring *u)
{
    while (u->first_to_arm >= 0) {
        struct coil__descriptor *d =
            coil__descriptor_find(&u->backend.descriptors, u->first_to_arm);

        if (!arm(u, u->first_to_arm, d, COIL__IN) ||
            !arm(u, u->first_to_arm, d, COIL__OUT))
            return;
        d->to_arm = 0;
        u->first_to_arm = d->next_to_arm;
    }
}

void coil__uring_watched(struct coil__uring *u, int fd, enum coil__direction direction,
                         int result)
{
    struct coil__descriptor *d = coil__descriptor_find(&u->backend.descriptors, fd);
    bool paused = (d->pauses & coil__uring_bit_of(direction)) != 0;

    d->armed &= (uint8_t)~coil__uring_bit_of(direction);
    d->pauses &= (uint8_t)~coil__uring_bit_of(direction);
    if (d->watchers[direction] == NULL)
        return;
    if (paused) {
        d->pause_count[direction] += d->pause_count[direction] < UINT8_MAX;
    } else if (direction == COIL__OUT && result >= 0 && (result & CAN_WRITE) == 0) {
        d->pauses |= (uint8_t)coil__uring_bit_of(direction);
    } else {
        d->pause_count[direction] = 0;
        coil__watch_found(d->watchers[direction]);
    }
    if (result >= 0 || (paused && result == -ETIME))
        coil__uring_arm_soon(u, fd, d, direction);
}

/*
 * ppoll(2) has found the descriptor ready: make its watcher ready. If the descriptor was
 * closed, stop watching it, so that its watcher becomes ready only once.
 */
static void found_alone(struct coil__uring *u, const struct pollfd *entry)
{
    struct coil__descriptor *d =
        coil__descriptor_find(&u->backend.descriptors, entry->fd);

    coil__watch_found(d->watchers[COIL__IN]);
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

    /* no need to poll: a wake-up also sets a flag, which the loop checks */
    if (timeout_ns == 0)
        return 0;
    coil__loop_enter_kernel();
    n = COIL__CALL(EINTR, ppoll(&entry, 1, until, NULL));
    coil__loop_leave_kernel();
    if (n < 0)
        return errno == EINTR ? 0 : -errno;
    if (n > 0)
        found_alone(u, &entry);
    return 0;
}

void coil__uring_do_not_arm(struct coil__uring *u, int fd)
{
    int *place = &u->first_to_arm;

    while (*place >= 0 && *place != fd)
        place = &coil__descriptor_find(&u->backend.descriptors, *place)->next_to_arm;
    if (*place == fd)
        *place = coil__descriptor_find(&u->backend.descriptors, fd)->next_to_arm;
}

void coil__uring_call_off_watch(struct coil__uring *u, int fd,
                                enum coil__direction direction)
{
    struct io_uring_sqe *entry = coil__uring_entry(u);

    if (entry != NULL) /* cancels the poll or the time-out */
        io_uring_prep_cancel64(entry, coil__uring_data(fd, tag_of(direction)), 0);
}
