/*
 * io_uring_watch.c - readers and writers: level-triggered watches made of one-shot polls.
 *
 * When the kernel's poll for a watch has fired, the next poll() submits it again: it
 * fires immediately if the descriptor is still ready, otherwise at the next event. This
 * costs a queue entry, but no additional system call.
 *
 * If a watched descriptor is closed without removing the watch, its poll stays in the
 * kernel until an event occurs on the open file, which the kernel keeps alive. If the
 * poll fails with EBADF when it is armed again, its watcher is made ready one last time.
 *
 * A poll always ends when the peer shuts down its sending side (POLLRDHUP), even if that
 * event was not requested. If the descriptor is not writable, the writer is not called,
 * and its next poll would end immediately again. So the next poll is delayed by a
 * time-out: first 1 ms, later up to 16 ms.
 *
 * The first watch is the watch for the loop's own wake-up. Many loops have only this
 * watch, because they use only timers and posts from other threads. Until the ring is
 * needed for something else, ppoll(2) waits for this watch, and the ring is not mapped:
 * mapping is most of the cost of creating a loop.
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

/* Return false if the queue is full: the watch must be armed later. */
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
 * Make the watcher ready, because ppoll(2) found its descriptor ready. If the descriptor
 * was closed, this happens only once.
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

    /* not necessary: a wake-up also sets a flag that the loop checks */
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

    if (entry != NULL) /* this cancels either a poll or a time-out */
        io_uring_prep_cancel64(entry, coil__uring_data(fd, tag_of(direction)), 0);
}
