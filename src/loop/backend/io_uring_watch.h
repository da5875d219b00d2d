/* io_uring_watch.h (internal) - watches, implemented with one-shot polls. */
#ifndef COIL_LOOP_BACKEND_IO_URING_WATCH_H
#define COIL_LOOP_BACKEND_IO_URING_WATCH_H

#include "io_uring_receive.h"

static inline unsigned coil__uring_bit_of(enum coil__direction direction)
{
    return 1u << direction;
}

/* Arm the watch at the next call of poll(). */
void coil__uring_arm_soon(struct coil__uring *u, int fd, struct coil__descriptor *d,
                          enum coil__direction direction);

/* Remove the descriptor from the list of watches to arm. */
void coil__uring_do_not_arm(struct coil__uring *u, int fd);

/* Queue a request to end the poll or the time-out of a watch. */
void coil__uring_call_off_watch(struct coil__uring *u, int fd,
                                enum coil__direction direction);

/* Handle a completion of a watch. */
void coil__uring_watched(struct coil__uring *u, int fd, enum coil__direction direction,
                         int result);

/* Queue the polls or time-outs of all watches in the list of watches to arm. */
void coil__uring_arm_watches(struct coil__uring *u);

/* Wait with ppoll(2) for the only watch. Called while the ring is not mapped. */
int coil__uring_poll_alone(struct coil__uring *u, int64_t timeout_ns);

#endif
