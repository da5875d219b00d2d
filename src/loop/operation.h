/*
 * operation.h - an operation, which is a system call for which a task waits, and the
 * table of all kinds of operations.
 *
 * To add an operation, add a kind below and a row in operation.c.
 */
#ifndef COIL_LOOP_OPERATION_H
#define COIL_LOOP_OPERATION_H

#include "../base/base.h"

#include <stddef.h>
#include <sys/socket.h>

enum coil__direction { COIL__IN, COIL__OUT };

enum coil__op_kind {
    /*
     * Operations on attached descriptors. Only one per direction may be pending at a
     * time.
     */
    COIL__OP_READ,    /* read(fd, buf, len) */
    COIL__OP_WRITE,   /* write(fd, buf, len) */
    COIL__OP_WRITEV,  /* writev(fd, buf: struct iovec[len]) */
    COIL__OP_RECV,    /* recv(fd, buf, len, flags) */
    COIL__OP_SEND,    /* send(fd, buf, len, flags | MSG_NOSIGNAL) */
    COIL__OP_RECVMSG, /* recvmsg(fd, buf: struct msghdr, flags | MSG_CMSG_CLOEXEC) */
    COIL__OP_SENDMSG, /* sendmsg(fd, buf: struct msghdr, flags | MSG_NOSIGNAL) */
    COIL__OP_ACCEPT,  /* accept4(fd, addr, addrlen, non-blocking and close-on-exec) */
    COIL__OP_CONNECT, /* connect(fd, addr, *addrlen), until it succeeds or fails */
    /*
     * sendfile(fd, fd2, &offset, len), where fd is a socket; waits until the socket is
     * writable. `offset` is not changed. Fails with -EOPNOTSUPP if the caller must read
     * and write instead.
     */
    COIL__OP_SENDFILE,
    COIL__OP_READABLE, /* wait until fd is readable; result: COIL_READABLE */
    COIL__OP_POLL,     /* wait for any of `events`; result: events that occurred */
    /*
     * File operations accept any descriptor, attached or not, and any number of them may
     * be pending at a time. A backend that could perform the operation only by blocking
     * returns -EOPNOTSUPP: in that case a thread of the file lane makes the call
     * (io/file_op.c).
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
    COIL__OP_CHMOD,    /* fchmodat(fd, path, mode); path NULL: fchmod(fd, mode) */
    COIL__OP_CHOWN,    /* fchownat(fd, path, offset: user, offset2: group, flags); path
                          NULL: fchown() */
    COIL__OP_UTIMENS,  /* utimensat(fd, path, buf: struct timespec[2], flags); path NULL:
                          futimens() */
    COIL__OP_LIST,     /* getdents64(fd, buf, len) */
    COIL__OP_LINK,     /* linkat(fd, path, fd2, path2, flags) */
    COIL__OP_SYMLINK,  /* symlinkat(path, fd2, path2) */
    COIL__OP_READLINK, /* readlinkat(fd, path, buf, len) */

    COIL__OP_COUNT
};

/*
 * An operation. Its memory belongs to the submitter, and must stay valid until complete()
 * is called.
 */
struct coil__op {
    enum coil__op_kind kind;
    int fd;
    int flags;
    unsigned events; /* for READABLE and POLL: COIL_READABLE, COIL_WRITABLE */
    ssize_t result;  /* a count or descriptor, or a negative errno */
    /*
     * Must make the operation's task ready and do nothing else. If submit() returned
     * -EINPROGRESS, complete() is called once, by poll(), cancel() or detach().
     */
    void (*complete)(struct coil__op *op);
    void *owner; /* data of the submitter */
    /*
     * Addresses, or NULL, that complete() or the task that it makes ready will use, and
     * that should be prefetched. `owner` and the memory around the operation are always
     * prefetched.
     */
    const void *hints[2];
    struct coil__list link; /* the backend's */
    void *backend_data;     /* the backend's */
    /*
     * A struct coil__short_op ends here, so a COIL__OP_READABLE must not use the members
     * below.
     */

    void *buf;
    size_t len;
    /* Not used by reads from and writes to a descriptor: */
    struct sockaddr *addr;
    socklen_t *addrlen;
    unsigned mode;
    /* connect() was already called; for COIL__OP_POLL: poll() was just called */
    bool begun;
    /*
     * For COIL__OP_POLL: the events that poll(2) reports, if the backend has found them;
     * otherwise 0
     */
    short revents;
    int fd2;
    const char *path, *path2;
    int64_t offset, offset2;
};

/*
 * Memory for an operation without a buffer, in the object for which the task waits rather
 * than on the task's stack.
 */
struct coil__short_op {
    _Alignas(struct coil__op) unsigned char bytes[offsetof(struct coil__op, buf)];
};

_Static_assert(sizeof(struct coil__short_op) == 80, "each connection has one");

/*
 * Return the memory as an operation, of which only the members before `buf` may be used.
 */
static inline struct coil__op *coil__short_op(struct coil__short_op *memory)
{
    return (struct coil__op *)(void *)memory;
}

/*
 * Initialize a read from or a write to a descriptor. Members that such an operation does
 * not use are not set, because this would take longer than the rest of the function.
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

/* The properties of a kind of operation. */
struct coil__op_row {
    /*
     * Makes the system call; returns -1 and sets errno if the call fails. A function of
     * this library, not of the C library, because the address of, say, read() could be
     * the address of libcoil-posix's replacement.
     */
    ssize_t (*run)(const struct coil__op *op);
    const char *call; /* the call as shown in the message of an injected failure */
    const char *what; /* the name of the wait in reports, such as "read" */
    const char *user; /* for files: the public function that submits the operation */
    int error;        /* the errno of an injected failure; 0: inject none */
    int waits;        /* the errno after which the caller waits for readiness */
    uint8_t direction;
    /*
     * io_uring's opcode, or NOP if io_uring lacks the operation, or if its effect differs
     * from that of the system call.
     */
    uint8_t opcode;
    bool moves_bytes; /* the result is a number of bytes */
    /* do not repeat the call after EINTR, because it has taken effect */
    bool ends_interrupted;
};

extern const struct coil__op_row coil__op_rows[];

static inline enum coil__direction coil__op_direction(const struct coil__op *op)
{
    return (enum coil__direction)coil__op_rows[op->kind].direction;
}

/*
 * Make the operation's system call, and repeat it after EINTR. Returns the result or a
 * negative errno. If the call would block, returns -EINPROGRESS: in that case the caller
 * waits until the descriptor is ready and calls this function again, for a connect with
 * `begun` set.
 */
ssize_t coil__op_call(const struct coil__op *op);

/*
 * Prefetch the operation and the memory around it: usually the operation is in a stack
 * frame of the waiting task, which is about to continue and needs the neighbouring
 * frames. NULL is accepted.
 */
static inline void coil__op_prefetch(const struct coil__op *op)
{
    for (int i = -5; i < 4; i++)
        COIL__PREFETCH((const void *)((uintptr_t)op + (uintptr_t)(i * 64)));
}

/*
 * Prefetch the memory that complete() and the waiting task will use. Called shortly
 * before the operation is completed.
 */
static inline void coil__op_prefetch_waiter(const struct coil__op *op)
{
    if (op->kind != COIL__OP_READABLE)
        COIL__PREFETCH(op->buf);
    COIL__PREFETCH(op->owner);
    COIL__PREFETCH(op->hints[0]);
    COIL__PREFETCH(op->hints[1]);
    COIL__PREFETCH((const void *)((uintptr_t)op->hints[1] + 64));
}

#endif
