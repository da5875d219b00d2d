/*
 * io_uring_round.h (internal) - a round: submits the queue to the kernel and handles
 * completions.
 */
#ifndef COIL_LOOP_BACKEND_IO_URING_ROUND_H
#define COIL_LOOP_BACKEND_IO_URING_ROUND_H

#include "io_uring_watch.h"

/* The backend's poll(). */
int coil__uring_poll(struct coil__backend *backend, int64_t timeout_ns);

/*
 * Submit the queue, wait for a completion for up to timeout_ns, and handle all
 * completions. Returns 0 or a negative errno.
 */
int coil__uring_reap(struct coil__uring *u, int64_t timeout_ns);

/*
 * Wait up to 10 ms for operations that the kernel has been requested to end. `failures`
 * is the number of failed waits in a row up to now; returns the new number. After
 * COIL__URING_FAILURES the caller must give up, because the kernel refuses all calls: the
 * process may have entered a sandbox.
 */
#define COIL__URING_FAILURES 3
int coil__uring_await_end(struct coil__uring *u, int failures);

#endif
