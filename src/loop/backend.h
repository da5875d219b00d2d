/*
 * backend.h - what a loop asks of the kernel, in the shape of completions.
 *
 * An operation is submitted; it is completed once; it can be cancelled, and its end has
 * to be waited for, since its buffer may lie on a stack. io_uring works like that. The
 * readiness backends (epoll, poll, select) share readiness.c, which tries the system
 * call, waits for the descriptor, and tries again.
 */
#ifndef COIL_LOOP_BACKEND_H
#define COIL_LOOP_BACKEND_H

#include "../base/base.h"

#include <sys/socket.h>

struct coil__runnable;

enum coil__direction { COIL__IN, COIL__OUT };

enum coil__op_kind {
    /* On attached descriptors, one of each direction at a time. */
    COIL__OP_READ,    /* read(fd, buf, len) */
    COIL__OP_WRITE,   /* write(fd, buf, len) */
    COIL__OP_WRITEV,  /* writev(fd, buf: struct iovec[len]) */
    COIL__OP_RECV,    /* recv(fd, buf, len, flags) */
    COIL__OP_SEND,    /* send(fd, buf, len, flags | MSG_NOSIGNAL) */
    COIL__OP_RECVMSG, /* recvmsg(fd, buf: struct msghdr, flags | MSG_CMSG_CLOEXEC) */
    COIL__OP_SENDMSG, /* sendmsg(fd, buf: struct msghdr, flags | MSG_NOSIGNAL) */
    COIL__OP_ACCEPT,  /* accept4(fd, addr, addrlen, non-blocking and close-on-exec) */
    COIL__OP_CONNECT, /* connect(fd, addr, *addrlen), to its end */
    /* sendfile(fd, fd2, &offset, len) to a socket, once there is room; offset is not
       changed. -EOPNOTSUPP: whoever asks can read and write instead. */
    COIL__OP_SENDFILE,
    COIL__OP_POLL, /* wait for `events` (COIL_READABLE, COIL_WRITABLE); result: which */
    /*
     * Files: on any descriptor, attached or not, as many as one likes. A backend that
     * has no way but to block says -EOPNOTSUPP; the file lane does it then (os/file.c).
     */
    COIL__OP_PREAD,    /* pread(fd, buf, len, offset); offset -1: read() */
    COIL__OP_PWRITE,   /* pwrite(fd, buf, len, offset); offset -1: write() */
    COIL__OP_FSYNC,    /* fsync(fd); flags 1: fdatasync(fd) */
    COIL__OP_OPEN,     /* openat(fd, path, flags | O_CLOEXEC, mode) */
    COIL__OP_CLOSE,    /* close(fd) */
    COIL__OP_STATX,    /* statx(fd, path, flags, mode: its mask, buf: struct statx) */
    COIL__OP_RENAME,   /* renameat2(fd, path, fd2, path2, flags) */
    COIL__OP_UNLINK,   /* unlinkat(fd, path, flags) */
    COIL__OP_MKDIR,    /* mkdirat(fd, path, mode) */
    COIL__OP_SPLICE,   /* splice(fd, &offset or NULL for -1, fd2, offset2 likewise, len,
                          flags) */
    COIL__OP_COPY,     /* copy_file_range(fd, &offset, fd2, &offset2, len, 0) */
    COIL__OP_SEEK,     /* lseek(fd, offset, flags: whence) */
    COIL__OP_TRUNCATE, /* ftruncate(fd, offset) */
    COIL__OP_ALLOCATE, /* fallocate(fd, flags, offset, len) */
    COIL__OP_CHMOD,    /* fchmod(fd, mode) */
    COIL__OP_LIST,     /* getdents64(fd, buf, len) */
    COIL__OP_LINK,     /* linkat(fd, path, fd2, path2, flags) */
    COIL__OP_SYMLINK,  /* symlinkat(path, fd2, path2) */
    COIL__OP_READLINK  /* readlinkat(fd, path, buf, len) */
};

/* An operation; the submitter's memory until complete() is called. */
struct coil__op {
    enum coil__op_kind kind;
    int fd;
    void *buf;
    size_t len;
    int flags;
    unsigned events;
    ssize_t result; /* a count or descriptor, or a negative errno */
    /*
     * Called once, from poll() or from cancel() or detach(), if submit() returned
     * -EINPROGRESS. It makes its task ready and runs nothing else.
     */
    void (*complete)(struct coil__op *op);
    void *owner; /* the submitter's */
    /* What complete() and who is told then will touch, to be fetched before, besides
       the owner and what lies behind the operation; NULL, or two addresses. */
    const void *hints[2];
    struct coil__list link; /* the backend's */
    void *backend_data;     /* the backend's */
    /* What reading from and writing to a descriptor does without. */
    struct sockaddr *addr;
    socklen_t *addrlen;
    unsigned mode;
    int fd2;
    const char *path, *path2;
    int64_t offset, offset2;
};

/*
 * For reading from and writing to a descriptor: what they do without is not even set,
 * which would take longer than all the rest.
 */
static inline void coil__op_init(struct coil__op *op, enum coil__op_kind kind, void *buf,
                                 size_t len)
{
    op->kind = kind;
    op->fd = -1;
    op->buf = buf;
    op->len = len;
    op->flags = 0;
    op->events = 0;
    op->hints[0] = op->hints[1] = NULL;
    op->link.prev = op->link.next = NULL;
    op->backend_data = NULL;
}

static inline enum coil__direction coil__op_direction(const struct coil__op *op)
{
    switch (op->kind) {
    case COIL__OP_WRITE:
    case COIL__OP_WRITEV:
    case COIL__OP_SEND:
    case COIL__OP_SENDMSG:
    case COIL__OP_CONNECT:
    case COIL__OP_SENDFILE:
        return COIL__OUT;
    default:
        return COIL__IN;
    }
}

/*
 * It will be looked at soon, and so will what lies around it: mostly the frames of a task
 * that waits for it and will go on. NULL does no harm.
 */
static inline void coil__op_prefetch(const struct coil__op *op)
{
    for (int i = -5; i < 4; i++)
        COIL__PREFETCH((const void *)((uintptr_t)op + (uintptr_t)(i * 64)));
}

/* Its result is about to be had: complete() will follow, and then whoever waited. */
static inline void coil__op_prefetch_waiter(const struct coil__op *op)
{
    COIL__PREFETCH(op->buf);
    COIL__PREFETCH(op->owner);
    COIL__PREFETCH(op->hints[0]);
    COIL__PREFETCH(op->hints[1]);
    COIL__PREFETCH((const void *)((uintptr_t)op->hints[1] + 64));
}

struct coil__backend {
    const struct coil__backend_class *class;
    /* Operations in flight and watches, the loop's own wake-up not counted: where this is
       0 and there is no timer, a busy loop need not poll. */
    size_t in_use;
};

struct coil__backend_class {
    const char *name;

    /* -ENOSYS where the kernel has not got it. */
    int (*create)(struct coil__backend **out);
    void (*destroy)(struct coil__backend *backend);

    /*
     * From now on `fd` is used by operations. -EBUSY if it is watched, or attached
     * already.
     */
    int (*attach)(struct coil__backend *backend, int fd);

    /*
     * `fd` is about to be closed: complete what is in flight with -EBADF, or its result
     * where it had taken effect, before this returns, and forget it. The kernel holds on
     * to it no longer. Its number may come back at once as another descriptor, which must
     * not get its events.
     */
    void (*detach)(struct coil__backend *backend, int fd);

    /*
     * From now on receive no more of `fd` than is asked for. Returns how many bytes have
     * been received ahead, which the next reads of it, of that many in all, take at once;
     * they are to be taken before the detach() of a descriptor that lives on elsewhere,
     * and so is the error, if one came after them: *error, a negative errno, else 0. Both
     * are 0 for one that is not attached. NULL: this backend never receives ahead.
     */
    size_t (*settle)(struct coil__backend *backend, int fd, int *error);

    /*
     * Start an operation on an attached descriptor. Returns its result if that could be
     * had at once (then complete() is not called), else -EINPROGRESS. -EBUSY if another
     * operation of this direction is in flight, -EOPNOTSUPP for one that this backend
     * could do only by blocking.
     */
    ssize_t (*submit)(struct coil__backend *backend, struct coil__op *op);

    /*
     * Ask an operation in flight to end. complete() is called, before this returns or
     * from a later poll(), with -ECANCELED or, where it had taken effect, its result.
     */
    void (*cancel)(struct coil__backend *backend, struct coil__op *op);

    /*
     * Make `runnable` ready (coil__loop_add_ready()) in each poll that finds `fd` ready
     * in `direction`: level-triggered, errors and hang-ups included. NULL removes the
     * watch. Returns 0; -EBUSY if attached; -EBADF, -EPERM, -EINVAL, -ENOMEM as the
     * kernel says.
     */
    int (*watch)(struct coil__backend *backend, int fd, enum coil__direction direction,
                 struct coil__runnable *runnable);

    /*
     * Wait up to timeout_ns (0: not at all; COIL_NEVER: for ever) until something
     * happens, and deal with all that has: complete operations, make watchers ready.
     * Rounds the time up, never down. EINTR returns 0 early. Returns 0 or a negative
     * errno.
     */
    int (*poll)(struct coil__backend *backend, int64_t timeout_ns);

    /*
     * A descriptor, the backend's, that is readable when poll() would find something;
     * after handing to the kernel all that was submitted. NULL where there is none.
     * (guest mode)
     */
    int (*pollable)(struct coil__backend *backend);

    /* The network, where it is not the kernel's: net/socket.h. NULL: system calls. */
    const struct coil__network *network;
};

/*
 * Sockets that are simulated, by the backend that does it; each as its system call, but
 * for a negative errno. A socket's number is one that no descriptor has (proc(5),
 * fs.nr_open): from COIL__FIRST_SIMULATED on.
 */
#define COIL__FIRST_SIMULATED 1000000000

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

extern const struct coil__backend_class coil__backend_io_uring;
extern const struct coil__backend_class coil__backend_epoll;
extern const struct coil__backend_class coil__backend_poll;
extern const struct coil__backend_class coil__backend_select;
extern const struct coil__backend_class coil__backend_simulated; /* only by name */

#endif
