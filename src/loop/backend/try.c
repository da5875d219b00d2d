/*
 * try.c - an operation as the system calls that it stands for.
 */
#include "try.h"

#include "../../base/fault.h"
#include "quiet_write.h"

#include <coil/loop.h>

#include <poll.h>
#include <unistd.h>

/* Which of op->events holds now; hang-ups and errors count as each. */
static int ask(const struct coil__op *op)
{
    struct pollfd p = {.fd = op->fd};
    int found = 0;

    p.events = (short)((op->events & COIL_READABLE ? POLLIN : 0) |
                       (op->events & COIL_WRITABLE ? POLLOUT : 0));
    if (COIL__CALL(ENOMEM, poll(&p, 1, 0)) < 0)
        return -1;
    if (p.revents & POLLNVAL) {
        errno = EBADF;
        return -1;
    }
    if (p.revents & (POLLIN | POLLHUP | POLLERR))
        found |= COIL_READABLE;
    if (p.revents & (POLLOUT | POLLHUP | POLLERR))
        found |= COIL_WRITABLE;
    found &= (int)op->events;
    if (found == 0) {
        errno = EAGAIN;
        return -1;
    }
    return found;
}

static ssize_t call(const struct coil__op *op)
{
    switch (op->kind) {
    case COIL__OP_READ:
        return COIL__CALL(EIO, read(op->fd, op->buf, op->len));
    case COIL__OP_WRITE:
        return COIL__CALL(EIO, coil__write_quietly(op->fd, op->buf, op->len));
    case COIL__OP_WRITEV:
        return COIL__CALL(EIO, coil__writev_quietly(op->fd, op->buf, op->len));
    case COIL__OP_RECV:
        return COIL__CALL(ECONNRESET, recv(op->fd, op->buf, op->len, op->flags));
    case COIL__OP_SEND:
        return COIL__CALL(ECONNRESET,
                          send(op->fd, op->buf, op->len, op->flags | MSG_NOSIGNAL));
    case COIL__OP_RECVMSG:
        return COIL__CALL(ECONNRESET,
                          recvmsg(op->fd, op->buf, op->flags | MSG_CMSG_CLOEXEC));
    case COIL__OP_SENDMSG:
        return COIL__CALL(ECONNRESET, sendmsg(op->fd, op->buf, op->flags | MSG_NOSIGNAL));
    case COIL__OP_ACCEPT:
        return COIL__CALL(
            EMFILE, accept4(op->fd, op->addr, op->addrlen, SOCK_NONBLOCK | SOCK_CLOEXEC));
    case COIL__OP_CONNECT:
        return COIL__CALL(ENETUNREACH, connect(op->fd, op->addr, *op->addrlen));
    case COIL__OP_SENDFILE:
        return COIL__CALL(EIO,
                          coil__sendfile_quietly(op->fd, op->fd2, op->offset, op->len));
    case COIL__OP_POLL:
        return ask(op);
    default: /* files: never tried here */
        break;
    }
    errno = EINVAL;
    return -1;
}

/*
 * True if the call must wait. A connect() that was interrupted goes on by itself
 * (connect(2)); its EAGAIN is final: a local socket whose queue is full, or no free port.
 */
static bool must_wait(const struct coil__op *op, int error)
{
    if (op->kind == COIL__OP_CONNECT)
        return error == EINPROGRESS || error == EALREADY || error == EINTR;
    return error == EAGAIN;
}

ssize_t coil__try_first(const struct coil__op *op)
{
    ssize_t result;

    do
        result = call(op);
    while (result < 0 && errno == EINTR && op->kind != COIL__OP_CONNECT);
    if (result >= 0)
        return result;
    return must_wait(op, errno) ? -EINPROGRESS : -errno;
}

/* A connection that was begun: -EINPROGRESS if it is neither made nor refused yet. */
static int connection_state(int fd)
{
    struct sockaddr_storage peer;
    socklen_t length = sizeof peer;
    int error = 0;
    socklen_t error_bytes = sizeof error;

    if (COIL__CALL(ENOBUFS, getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_bytes)) <
        0)
        return -errno;
    if (error != 0)
        return -error;
    /* No error is not yet success: an event of before the attempt may have led here. */
    if (COIL__CALL(ENOBUFS, getpeername(fd, (struct sockaddr *)&peer, &length)) < 0)
        return errno == ENOTCONN ? -EINPROGRESS : -errno;
    return 0;
}

ssize_t coil__try_again(const struct coil__op *op)
{
    if (op->kind == COIL__OP_CONNECT)
        return connection_state(op->fd);
    return coil__try_first(op);
}
