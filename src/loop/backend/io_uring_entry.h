/*
 * io_uring_entry.h (internal) - converts an operation to an entry of the submission
 * queue.
 */
#ifndef COIL_LOOP_BACKEND_IO_URING_ENTRY_H
#define COIL_LOOP_BACKEND_IO_URING_ENTRY_H

#include "io_uring_ring.h"

/* True if this kernel supports the operation, with the same effect as the system call. */
bool coil__uring_can(const struct coil__uring *u, const struct coil__op *op);

/*
 * Fill in an entry. For an operation on a file, the entry requests this operation. For an
 * operation on a descriptor, it requests the poll or time-out that precedes the system
 * call.
 */
void coil__uring_prepare(struct io_uring_sqe *entry, const struct coil__op *op);

/* Return the events that an operation on a descriptor polls for. */
unsigned coil__uring_poll_events(const struct coil__op *op);

/*
 * Fill in an entry for the n-th time-out in a row, counted from 0. Time-outs grow from 1
 * ms to 16 ms.
 */
void coil__uring_prepare_pause(struct io_uring_sqe *entry, unsigned n);

/*
 * Return the error that is injected into this operation (base/fault.h), as a negative
 * errno, or 0.
 */
int coil__uring_injected_failure(const struct coil__op *op);

#endif
