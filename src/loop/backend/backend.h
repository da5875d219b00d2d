/*
 * backend.h - the completion-based interface between a loop and the kernel.
 *
 * An operation is submitted once and completed once. An operation can be cancelled, but
 * the caller must still wait for its completion, because the kernel may use its buffer,
 * which may be on a stack, until then. io_uring works the same way. The readiness
 * backends (epoll, poll, select) share readiness.c, which tries the system call, waits
 * until the descriptor is ready, and tries again.
 */
#ifndef COIL_LOOP_BACKEND_BACKEND_H
#define COIL_LOOP_BACKEND_BACKEND_H

#include "../descriptor.h"

#include <coil/loop.h>

#include <sys/socket.h>

struct coil__backend {
    const struct coil__backend_class *class;
    struct coil__descriptors descriptors; /* the loop's table; the loop frees it */
    struct coil__backend *below; /* if not NULL: use this backend's table instead */
    /* The number of operations in flight and of watches, except the watch for the loop's
     * own wake-up. While this is 0 and no timer is armed, a busy loop need not poll. */
    size_t in_use;
    /*
     * The number of watches that every poll() reports as ready, although they do not make
     * the descriptor of pollable() readable.
     */
    size_t always_ready;
    /*
     * True if the kernel does not add the thread's timer slack
     * (coil__thread_timer_slack()) to the time-out of poll().
     */
    bool waits_exactly;
};

struct coil__backend_class {
    const char *name;

    /* While in_use is 0, the loop may wait for posts without calling poll(). */
    bool idles_without_use;

    /* Fails with -ENOSYS if the kernel does not have the system calls. */
    int (*create)(struct coil__backend **out);
    void (*destroy)(struct coil__backend *backend);

    /*
     * Prepare `fd` for operations. Fails with -EBUSY if it is watched or already
     * attached.
     */
    int (*attach)(struct coil__backend *backend, int fd);

    /*
     * Called before `fd` is closed. Completes its operations in flight: with the result
     * if the operation has taken effect, otherwise with -EBADF. When this function
     * returns, the kernel holds no reference to the descriptor. Its number may be reused
     * immediately for another descriptor, which must not get the events of this
     * descriptor.
     */
    void (*detach)(struct coil__backend *backend, int fd);

    /*
     * Stop receiving bytes from `fd` before operations request them. Returns the number
     * of bytes that were already received: the next reads return these bytes without
     * waiting. If the descriptor stays open elsewhere, the caller must read the bytes
     * before detach(). *error is the error that follows these bytes, as a negative errno,
     * or 0. The caller must deliver that error, too. If the descriptor is not attached,
     * both the number and the error are 0. NULL: this backend never receives ahead.
     */
    size_t (*settle)(struct coil__backend *backend, int fd, int *error);

    /*
     * Start an operation on an attached descriptor. If the operation's result is
     * available immediately, return it, and do not call complete(). Otherwise return
     * -EINPROGRESS. Returns -EBUSY if another operation in this direction is in flight,
     * and -EOPNOTSUPP if this backend could perform the operation only by blocking.
     */
    ssize_t (*submit)(struct coil__backend *backend, struct coil__op *op);

    /*
     * Like submit(), but for a task that must not wait because it is cancelled. If the
     * result is not available immediately, do not start the operation, and return
     * -EINPROGRESS. The result comes from bytes received ahead or from a new system call,
     * never from the outcome of an earlier call.
     */
    ssize_t (*attempt)(struct coil__backend *backend, struct coil__op *op);

    /*
     * Request that an operation in flight end. complete() is called before this function
     * returns, or by a later poll(). The result is -ECANCELED, or the operation's own
     * result if the operation has taken effect.
     */
    void (*cancel)(struct coil__backend *backend, struct coil__op *op);

    /*
     * Called when the watcher of `direction` in the entry `d` has changed (watch.h). Each
     * poll that finds `fd` ready must pass the watcher to coil__watch_found(). A
     * descriptor for which the kernel cannot wait counts as always ready. `anew` is true
     * if the watcher replaces another one; in that case the number may now belong to
     * another descriptor. Returns 0, or -EBADF, -EINVAL or -ENOMEM from the kernel. A
     * NULL watcher ends the watch, which cannot fail.
     */
    int (*watch)(struct coil__backend *backend, int fd, struct coil__descriptor *d,
                 enum coil__direction direction, bool anew);

    /*
     * Wait up to timeout_ns (0: do not wait; COIL_NEVER: without limit) for an event, and
     * handle all events: complete operations, make watchers ready. The time is rounded
     * up, never down. Returns 0 or a negative errno. If a signal interrupts the wait
     * (EINTR), return 0 early.
     */
    int (*poll)(struct coil__backend *backend, int64_t timeout_ns);

    /*
     * For guest mode: submit all queued operations to the kernel, and return a
     * descriptor, owned by the backend, that is readable while poll() would find events.
     * NULL if there is no such descriptor.
     */
    int (*pollable)(struct coil__backend *backend);

    /*
     * Called in a child of fork(2): close the child's copies of descriptors, and change
     * nothing that is shared with the parent. No other function is called afterwards.
     * Must be async-signal-safe. NULL: there is nothing to close.
     */
    void (*forked)(struct coil__backend *backend);

    /* A simulated network (io/socket.h). NULL: sockets belong to the kernel. */
    const struct coil__network *network;
};

/*
 * The socket functions of a backend that simulates the network (that of libcoil-testing).
 * Each function works like the system call with the same name, but returns failures as a
 * negative errno.
 */
struct coil__network {
    int (*socket)(struct coil__backend *backend, int family, int type, int protocol);
    int (*bind)(struct coil__backend *backend, int fd, const struct sockaddr *address,
                socklen_t address_bytes);
    int (*listen)(struct coil__backend *backend, int fd, int backlog);
    int (*shutdown)(struct coil__backend *backend, int fd, int how);
    int (*getsockname)(struct coil__backend *backend, int fd, struct sockaddr *address,
                       socklen_t *address_bytes);
    int (*getpeername)(struct coil__backend *backend, int fd, struct sockaddr *address,
                       socklen_t *address_bytes);
    int (*setsockopt)(struct coil__backend *backend, int fd, int level, int name,
                      const void *value, socklen_t value_bytes);
    int (*getsockopt)(struct coil__backend *backend, int fd, int level, int name,
                      void *value, socklen_t *value_bytes);
    int (*close)(struct coil__backend *backend, int fd);
};

/*
 * Create the loop's backend. If `name` is NULL, use the backend that COIL_BACKEND names,
 * or else the first backend that works.
 */
int coil__backend_create(coil_loop *loop, const char *name);
void coil__backend_destroy(coil_loop *loop);

extern const struct coil__backend_class coil__backend_io_uring;
extern const struct coil__backend_class coil__backend_epoll;
extern const struct coil__backend_class coil__backend_poll;
extern const struct coil__backend_class coil__backend_select;

#endif
