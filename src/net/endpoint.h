/*
 * endpoint.h - a descriptor that tasks use: what streams and listeners have in common.
 */
#ifndef COIL_NET_ENDPOINT_H
#define COIL_NET_ENDPOINT_H

#include "../loop/loop.h"

/*
 * The first member of whatever it belongs to, which is one block of coil__alloc(). It
 * lives as long as its owner wants it or a call is in it: a task that waits in a call can
 * therefore look at it when it goes on, closed and destroyed though it may be.
 */
struct coil__endpoint {
    int fd;              /* -1 once closed */
    unsigned references; /* its owner's, and one for each call in it */
    bool busy[2];        /* by direction: a call is in it */
    coil_loop *loop;     /* a reference; NULL while it is detached */
    void (*finish)(struct coil__endpoint *endpoint); /* before it is freed; may be NULL */
};

/* Attach `fd` to the current loop. On failure the descriptor remains the caller's. */
int coil__endpoint_open(struct coil__endpoint *endpoint, int fd, const char *caller);

/*
 * May it leave its loop? -EBADF if it is closed or detached, -EBUSY while a call is in
 * it, -EOPNOTSUPP if the backend has made it up.
 */
int coil__endpoint_may_leave(const struct coil__endpoint *endpoint, const char *caller);

/* Have it belong to no loop, and then to the current one. */
void coil__endpoint_detach(struct coil__endpoint *endpoint);
int coil__endpoint_attach(struct coil__endpoint *endpoint, const char *caller);

/* Close the descriptor, ending the calls in it with -EBADF. A second time: nothing. */
int coil__endpoint_close(struct coil__endpoint *endpoint);

/* Drop a reference; with the last one, close it if need be, and free the block. */
void coil__endpoint_release(struct coil__endpoint *endpoint);

/*
 * A call begins; coil__endpoint_leave() ends it. -EBADF if it is closed, -EBUSY if
 * another call of this direction is in it.
 */
int coil__endpoint_enter(struct coil__endpoint *endpoint, enum coil__direction direction,
                         const char *caller);
void coil__endpoint_leave(struct coil__endpoint *endpoint,
                          enum coil__direction direction);

/*
 * Spend from the task's budget before what need not wait, and may let others run. -EBADF
 * if it is closed, then or before.
 */
int coil__endpoint_spend(struct coil__endpoint *endpoint);

/* One operation, whose fd is filled in: fairly, and waiting if need be. See os/op.h. */
ssize_t coil__endpoint_do(struct coil__endpoint *endpoint, struct coil__op *op);

#endif
