/*
 * readiness.h - completion of operations, implemented with readiness: used by epoll, poll
 * and select.
 *
 * A poller passes the wanted events to the kernel and waits for them. readiness.c does
 * everything else. The struct of each of these backends begins with a struct
 * coil__readiness.
 */
#ifndef COIL_LOOP_BACKEND_READINESS_H
#define COIL_LOOP_BACKEND_READINESS_H

#include "backend.h"

/* Events to wait for, and events found. */
enum {
    COIL__FOR_IN = 1u << COIL__IN,
    COIL__FOR_OUT = 1u << COIL__OUT,
    COIL__FOR_BOTH = COIL__FOR_IN | COIL__FOR_OUT,
    /* Requests that each change is reported once. Only for pollers with `edges`. */
    COIL__FOR_EDGES = 4,
    /*
     * Requests that one event is reported, and that the descriptor then stays registered
     * without events. Only for pollers with `edges`. Used for borrowed descriptors:
     * because an owner may close such a descriptor and reuse its number without notice,
     * each wait passes its events to the kernel again.
     */
    COIL__FOR_ONCE = 16,
    /*
     * Reports a hang-up of either side, an error, or urgent data. Always combined with
     * the direction that is ready.
     */
    COIL__FOUND_UNUSUAL = 8
};

/* Whether a short read drains the descriptor: see may_guess(). */
enum coil__drains { COIL__DRAINS_UNKNOWN, COIL__DRAINS_NO, COIL__DRAINS_YES };

struct coil__poller {
    /*
     * True if the poller is edge-triggered for operations, so that an attached descriptor
     * is always registered. With other pollers a descriptor is registered only while an
     * operation waits.
     */
    bool edges;
    /*
     * True if a report without COIL__FOUND_UNUSUAL contains exactly the events that
     * poll(2) would report.
     */
    bool exact;
    /*
     * From now on wait for the events `interest` instead of descriptor->interest. If
     * `interest` is 0, stop waiting, which cannot fail. Fails with -EPERM if the
     * descriptor cannot be polled because it is always ready, or with -EBADF, -EINVAL or
     * -ENOMEM.
     */
    int (*set_interest)(struct coil__backend *backend, int fd,
                        struct coil__descriptor *descriptor, unsigned interest);
};

struct coil__readiness {
    struct coil__backend backend;
    const struct coil__poller *poller;
    struct coil__list paused; /* operations that are retried at `try_at` */
    int64_t try_at, pause_ns;
};

void coil__readiness_init(struct coil__readiness *readiness,
                          const struct coil__backend_class *class,
                          const struct coil__poller *poller);

/* Functions for the backends' struct coil__backend_class. */
int coil__readiness_attach(struct coil__backend *backend, int fd);
void coil__readiness_detach(struct coil__backend *backend, int fd);
ssize_t coil__readiness_submit(struct coil__backend *backend, struct coil__op *op);
ssize_t coil__readiness_attempt(struct coil__backend *backend, struct coil__op *op);
void coil__readiness_cancel(struct coil__backend *backend, struct coil__op *op);
int coil__readiness_watch(struct coil__backend *backend, int fd,
                          struct coil__descriptor *d, enum coil__direction direction,
                          bool anew);

/* ---- for pollers, during a poll ---------------------------------------------------- */

/*
 * Perform the waiting operations of fd, and make its watchers ready. Called when the
 * events `found` were reported for fd.
 */
void coil__readiness_found(struct coil__backend *backend, int fd, unsigned found);

/* Prefetch the waiting operation of fd. Called if the next report is about fd. */
void coil__readiness_next(struct coil__backend *backend, int fd);

/*
 * Stop polling fd, end its operations with -EBADF, and make its watchers ready one last
 * time. Called if the owner has closed fd without detaching it or removing its watches.
 */
void coil__readiness_gone(struct coil__backend *backend, int fd);

/*
 * For level-triggered pollers: before a wait, limit its time-out to the time of the next
 * retry; after the wait, retry paused operations that are due.
 */
int64_t coil__readiness_timeout(const struct coil__backend *backend, int64_t timeout_ns);
void coil__readiness_try_paused(struct coil__backend *backend);

/* Make the watchers of always-ready descriptors ready. */
void coil__readiness_found_always(struct coil__backend *backend);

/* Convert a time-out for ppoll(2) and similar calls. Returns NULL for COIL_NEVER. */
struct timespec *coil__readiness_timespec(int64_t timeout_ns, struct timespec *buffer);

#endif
