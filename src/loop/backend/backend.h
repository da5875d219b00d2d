/*
 * backend.h - the completion-based interface between a loop and the kernel.
 *
 * An operation is submitted once and completed once, as in io_uring. If the caller
 * cancels an operation, it must still wait for the completion, because until then the
 * kernel may use the operation's buffer, which may be on a stack. The readiness backends
 * (epoll, poll, select) share readiness.c, which makes the system call, and repeats it
 * once the descriptor is ready.
 */
#ifndef COIL_LOOP_BACKEND_BACKEND_H
#define COIL_LOOP_BACKEND_BACKEND_H

#include "../descriptor.h"

#include <coil/loop.h>

#include <sys/socket.h>

struct coil__backend {
    const struct coil__backend_class *class;
    struct coil__descriptors descriptors; /* the loop's table; the loop frees it */
    struct coil__backend *below; /* NULL, or the backend with the table to use instead */
    /* The number of operations in flight and of watches, except the watch for the loop's
     * own wake-up. While this is 0 and no timer is armed, a busy loop need not poll. */
    size_t in_use;
    /*
     * The number of watches of descriptors that are always ready. Every poll() makes the
     * watchers of these descriptors ready, but the descriptor that pollable() returns
     * does not become readable.
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

    /* If true, the loop need not call poll() to wait for posts while in_use is 0. */
    bool idles_without_use;

    /* Fails with -ENOSYS if the kernel does not have the system calls. */
    int (*create)(struct coil__backend **out);
    void (*destroy)(struct coil__backend *backend);

    /*
     * Prepare `fd` for operations. Fails with -EBUSY if `fd` is watched or already
     * attached.
     */
    int (*attach)(struct coil__backend *backend, int fd);

    /*
     * Complete all operations in flight on `fd`: with the operation's own result if it
     * has taken effect, otherwise with -EBADF. Called before `fd` is closed. On return,
     * the kernel holds no reference to the descriptor, and another descriptor may have
     * the same number without getting events of this one.
     */
    void (*detach)(struct coil__backend *backend, int fd);

    /*
     * Stop receiving ahead, that is, receiving bytes from `fd` before an operation reads
     * them. Returns the number of bytes that were already received ahead, which the next
     * reads return without waiting. If the descriptor stays open elsewhere, the caller
     * must read these bytes before detach(). Sets *error to 0, or to the error that
     * follows these bytes (a negative errno), which the caller must also deliver. If `fd`
     * is not attached, returns 0 and sets *error to 0. NULL if the backend never receives
     * ahead.
     */
    size_t (*settle)(struct coil__backend *backend, int fd, int *error);

    /*
     * Start an operation. If the result is available immediately, return it, and do not
     * call complete(). Otherwise return -EINPROGRESS. Fails with -EBUSY if another
     * operation in this direction is in flight, and with -EOPNOTSUPP if the backend could
     * perform the operation only by blocking.
     */
    ssize_t (*submit)(struct coil__backend *backend, struct coil__op *op);

    /*
     * Like submit(), but for a task that is cancelled and so must not wait: if the result
     * is not available immediately, return -EINPROGRESS without starting the operation. A
     * read returns bytes that were received ahead, if there are any. In all other cases
     * the result is that of a new system call.
     */
    ssize_t (*attempt)(struct coil__backend *backend, struct coil__op *op);

    /*
     * Request that an operation in flight end. This function or a later poll() calls
     * complete(). The result is -ECANCELED, or the operation's own result if it has taken
     * effect.
     */
    void (*cancel)(struct coil__backend *backend, struct coil__op *op);

    /*
     * Start or end a watch. Called after the watcher of `direction` in the entry `d` has
     * changed (watch.h); a NULL watcher ends the watch, which cannot fail. Each poll that
     * finds `fd` ready must pass the watcher to coil__watch_found(). A descriptor that
     * the kernel cannot poll counts as always ready. `anew` is true if the watcher
     * replaces another one: in that case the number may now belong to another descriptor.
     * Returns 0, -EBADF, -EINVAL or -ENOMEM.
     */
    int (*watch)(struct coil__backend *backend, int fd, struct coil__descriptor *d,
                 enum coil__direction direction, bool anew);

    /*
     * Wait for an event, for up to timeout_ns (0: do not wait; COIL_NEVER: without
     * limit), and handle all events: complete operations, and make watchers ready.
     * timeout_ns is rounded up, never down, to the resolution of the system call. Returns
     * 0 or a negative errno. If a signal interrupts the wait (EINTR), returns 0 early.
     */
    int (*poll)(struct coil__backend *backend, int64_t timeout_ns);

    /*
     * For guest mode: submit all queued operations to the kernel, and return a descriptor
     * that is readable while poll() would find events. The backend owns the descriptor.
     * NULL if the backend has no such descriptor.
     */
    int (*pollable)(struct coil__backend *backend);

    /*
     * Close the copies of the backend's descriptors in a child of fork(2), without
     * changing anything that is shared with the parent. After this call, no function of
     * the backend is called in the child. Must be async-signal-safe. NULL if there is
     * nothing to close.
     */
    void (*forked)(struct coil__backend *backend);

    /*
     * The simulated network (io/socket.h), or NULL if the backend uses the kernel's
     * sockets.
     */
    const struct coil__network *network;
};

/*
 * The socket functions of a backend that simulates the network (the backend of
 * libcoil-testing). Each one works like the function of the same name in the C library,
 * but returns a negative errno on failure.
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
 * Create the loop's backend, by default the one that COIL_BACKEND names, or else the
 * first one that works. Returns 0 or a negative errno.
 */
int coil__backend_create(coil_loop *loop, const char *name);
void coil__backend_destroy(coil_loop *loop);

extern const struct coil__backend_class coil__backend_io_uring;
extern const struct coil__backend_class coil__backend_epoll;
extern const struct coil__backend_class coil__backend_poll;
extern const struct coil__backend_class coil__backend_select;

#endif
