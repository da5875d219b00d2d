/*
 * io_uring_round.h (internal) - a round: enters the kernel and handles all completions.
 */
#ifndef COIL_LOOP_BACKEND_IO_URING_ROUND_H
#define COIL_LOOP_BACKEND_IO_URING_ROUND_H

#include "io_uring_watch.h"

/* The backend's poll(). */
int coil__uring_poll(struct coil__backend *backend, int64_t timeout_ns);

/* Submit, wait for a completion, and handle all completions. 0, or a negative errno. */
int coil__uring_reap(struct coil__uring *u, int64_t timeout_ns);

/*
 * Wait up to 10 ms for operations with a request to end them. Returns the number of failed
 * waits in a row. At COIL__URING_FAILURES the kernel refuses further calls (a sandbox,
 * entered meanwhile): the ring is dead, and waiting is useless.
 */
#define COIL__URING_FAILURES 3
int coil__uring_await_end(struct coil__uring *u, int failures);

#endif
