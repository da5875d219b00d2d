/*
 * io_uring_receive.h (internal) - reads, and multishot receives, which receive bytes
 * ahead of reads.
 */
#ifndef COIL_LOOP_BACKEND_IO_URING_RECEIVE_H
#define COIL_LOOP_BACKEND_IO_URING_RECEIVE_H

#include "io_uring_op.h"

/*
 * Submit a COIL__OP_READ, RECV, RECVMSG or READABLE. The operation gets bytes that were
 * received ahead, the next bytes of a multishot receive, or the result of a system call.
 */
ssize_t coil__uring_receive(struct coil__uring *u, struct coil__descriptor *d,
                            struct coil__op *op);

/* True if an unhandled completion might change the result of a receive. */
bool coil__uring_receive_is_unclear(const struct coil__descriptor *d);

/*
 * Like coil__uring_receive(), but return -EINPROGRESS without starting the operation if
 * it would have to wait.
 */
ssize_t coil__uring_attempt_receive(struct coil__uring *u, struct coil__descriptor *d,
                                    struct coil__op *op);

/* Handle a completion of a descriptor's multishot receive. */
void coil__uring_received(struct coil__uring *u, int fd, int result, unsigned flags);

/* Use only plain reads for the descriptor from now on. */
void coil__uring_receive_plainly(struct coil__descriptor *d);

/* Handle the completion of the request to end a multishot receive. */
void coil__uring_called_off(struct coil__uring *u, int fd, int result);

/* Request that the descriptor's multishot receive, if any, end. */
void coil__uring_call_off(struct coil__uring *u, int fd, struct coil__descriptor *d);

size_t coil__uring_queued_bytes(const struct coil__uring *u,
                                const struct coil__descriptor *d);

/* Discard the bytes received ahead. */
void coil__uring_drop_queued(struct coil__uring *u, struct coil__descriptor *d);

/* Offer returned buffers to the kernel again. */
void coil__uring_offer_buffers(struct coil__uring *u);

void coil__uring_free_buffers(struct coil__uring *u);

#endif
