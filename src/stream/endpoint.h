/*
 * endpoint.h - the common part of streams, listeners and datagram sockets: a descriptor
 * that tasks use.
 */
#ifndef COIL_STREAM_ENDPOINT_H
#define COIL_STREAM_ENDPOINT_H

#include "../loop/loop.h"

/*
 * An endpoint is the first member of its owner, such as a stream, in a block from
 * coil__alloc(). The block is freed once the owner has been destroyed and no call is in
 * progress. So a task that waits in a call may still use the block afterwards, even if
 * the owner was destroyed in the meantime.
 */
struct coil__endpoint {
    int fd; /* -1 once closed */
    /* number of operations begun (may wrap), to detect idle connections */
    unsigned operations;
    coil_loop *loop; /* a reference; NULL while detached */
    /* one for the owner and one for each call in progress; 0 in freed memory */
    unsigned references;
    bool busy[2];   /* a call is in progress in this direction */
    bool destroyed; /* the owner has dropped its reference */
    uint8_t lost;   /* copy of coil__descriptor.lost while the endpoint is detached */
    /* called before the block is freed; may be NULL */
    void (*finish)(struct coil__endpoint *endpoint);
    int64_t idle_ns; /* the longest wait without another operation; 0: no limit */
};

/*
 * True if a wait may continue although idle_ns has passed, because another operation has
 * begun since then. `operations` is the count when the wait began.
 */
bool coil__endpoint_was_used(const struct coil__endpoint *endpoint, unsigned operations);

/* Abort if coil detects that the block was freed. */
void coil__endpoint_check(const struct coil__endpoint *endpoint, const char *caller);

/* Attach `fd` to the current loop. On failure, the caller still owns the descriptor. */
int coil__endpoint_open(struct coil__endpoint *endpoint, int fd, const char *caller);

/*
 * Check that the endpoint may leave its loop. Returns 0, -EBADF if the endpoint is closed
 * or detached, -EBUSY while a call is in progress, or -EOPNOTSUPP for a simulated socket.
 */
int coil__endpoint_may_leave(const struct coil__endpoint *endpoint, const char *caller);

/* Detach the endpoint from its loop, or attach it to the current loop. */
void coil__endpoint_detach(struct coil__endpoint *endpoint);
int coil__endpoint_attach(struct coil__endpoint *endpoint, const char *caller);

/*
 * Close the descriptor, or do nothing if the endpoint is already closed. Calls in
 * progress end with -EBADF.
 */
int coil__endpoint_close(struct coil__endpoint *endpoint, const char *caller);

/*
 * Drop the owner's reference. Aborts if coil detects that the reference was already
 * dropped.
 */
void coil__endpoint_destroy(struct coil__endpoint *endpoint, const char *caller);

/*
 * Drop a reference. Releasing the last reference closes the descriptor and frees the
 * block.
 */
void coil__endpoint_release(struct coil__endpoint *endpoint);

/*
 * Begin a call, which coil__endpoint_leave() ends. Fails with -EBADF if the endpoint is
 * closed, or -EBUSY if another call in this direction is in progress.
 */
int coil__endpoint_enter(struct coil__endpoint *endpoint, enum coil__direction direction,
                         const char *caller);
void coil__endpoint_leave(struct coil__endpoint *endpoint,
                          enum coil__direction direction);

/*
 * Charge the task's budget for a call that may return without waiting. If the budget is
 * used up, other tasks run first. Fails with -EBADF if the endpoint is closed before or
 * during this call.
 */
int coil__endpoint_spend(struct coil__endpoint *endpoint);

/*
 * Begin an operation: charge the task's budget, and count the operation. Fails like
 * coil__endpoint_spend().
 */
int coil__endpoint_begin(struct coil__endpoint *endpoint);

/* Charge the task's budget, and perform one operation on the descriptor (io/op.h). */
ssize_t coil__endpoint_do(struct coil__endpoint *endpoint, struct coil__op *op);

/*
 * True in a child of fork(2) if the endpoint belongs to the parent. In that case the
 * child may only free the endpoint's memory and close its descriptor, and must not do
 * anything that affects the parent.
 */
static inline bool coil__endpoint_is_parents(const struct coil__endpoint *endpoint)
{
    return endpoint->loop != NULL && coil__loop_is_parents(endpoint->loop);
}

#endif
