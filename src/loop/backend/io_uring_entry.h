/*
 * io_uring_entry.h (internal) - an operation as an entry of the queue.
 */
#ifndef COIL_LOOP_BACKEND_IO_URING_ENTRY_H
#define COIL_LOOP_BACKEND_IO_URING_ENTRY_H

#include "io_uring_ring.h"

/* This kernel can perform the operation, and does it as the system call would. */
bool coil__uring_can(const struct coil__uring *u, const struct coil__op *op);

/* Fill in an entry for an operation: an operation on a file is submitted itself, any
 * other as the poll or time-out that it waits for. */
void coil__uring_prepare(struct io_uring_sqe *entry, const struct coil__op *op);

/* The events for which an operation on a descriptor polls. */
unsigned coil__uring_poll_events(const struct coil__op *op);

/* Fill in the n-th time-out in a row, counted from 0: 1 ms to 16 ms. */
void coil__uring_prepare_pause(struct io_uring_sqe *entry, unsigned n);

/* The errno of a failure injected into this operation (base/fault.h), negated; or 0. */
int coil__uring_struck(const struct coil__op *op);

#endif
