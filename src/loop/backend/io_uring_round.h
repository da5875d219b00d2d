/*
 * io_uring_round.h (internal) - a round: enters the kernel and handles all completions.
 */
#ifndef COIL_LOOP_BACKEND_IO_URING_ROUND_H
#define COIL_LOOP_BACKEND_IO_URING_ROUND_H

#include "io_uring_watch.h"

/* The backend's poll(). */
int coil__uring_poll(struct coil__backend *backend, int64_t timeout_ns);

/*
 * Submit the queue, wait for a completion, and handle all completions. Returns 0 or a
 * negative errno.
 */
int coil__uring_reap(struct coil__uring *u, int64_t timeout_ns);

/*
 * Wait up to 10 ms for operations that the kernel was requested to end. Returns the
 * number of failed waits in a row. COIL__URING_FAILURES means that the kernel refuses
 * further calls (because the process has entered a sandbox): the ring is dead, and
 * waiting is useless.
 */
#define COIL__URING_FAILURES 3
int coil__uring_await_end(struct coil__uring *u, int failures);

#endif
