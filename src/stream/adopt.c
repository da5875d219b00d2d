/*
 * adopt.c - turns descriptors opened by other code into streams, releases descriptors
 * from streams, and moves streams to other loops.
 *
 * O_NONBLOCK IS SHARED. The O_NONBLOCK flag belongs to the open file description
 * (open(2)), which an inherited terminal or pipe shares with other processes, such as the
 * shell, or with another descriptor (2>&1). Setting the flag breaks programs that do not
 * expect it. Clearing the flag while another coil stream uses the same description makes
 * the loop block. So a blocking pipe end or terminal is opened a second time, and the new
 * description replaces the old one under the adopted number. If opening fails (no
 * permission, or a FIFO without a reader), the flag is set, and is cleared when the
 * stream is closed. A socket cannot be opened a second time, so its flag is set. Only
 * coil_stream_release_fd() clears the flag again, because programs that inherit sockets
 * set the flag themselves.
 */
#include "../io/socket.h"
#include "stream.h"

#include "../base/fault.h"
#include "../kernel/descriptors.h"
#include "../task/failure.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- adopting ---------------------------------------------------------------------- */

static bool reopen(int fd, int flags)
{
    int close_on_exec = COIL__CALL(EBADF, fcntl(fd, F_GETFD)), own, rc;

    if (close_on_exec < 0 || !coil__fd_may_reopen(fd) || coil__call_fails(EACCES, "open"))
        return false;
    own = coil__fd_reopen(fd, flags & (O_ACCMODE | O_APPEND | O_DIRECT));
    if (own < 0)
        return false;
    rc = COIL__CALL(EBUSY, dup3(own, fd, close_on_exec & FD_CLOEXEC ? O_CLOEXEC : 0));
    close(own);
    return rc >= 0;
}

static void make_blocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags >= 0)
        fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}

/*
 * Make the descriptor non-blocking. Returns 1 if the descriptor was blocking, 0 if not,
 * or a negative errno.
 */
static int make_non_blocking(int fd, bool is_socket, bool *reopened)
{
    int flags = COIL__CALL(EBADF, fcntl(fd, F_GETFL));

    if (flags < 0)
        return coil__failed(-errno);
    *reopened = false;
    if (flags & O_NONBLOCK)
        return 0;
    *reopened = !is_socket && reopen(fd, flags);
    if (!*reopened && COIL__CALL(EPERM, fcntl(fd, F_SETFL, flags | O_NONBLOCK)) < 0)
        return coil__failed(-errno);
    return 1;
}

/* Return a socket's option, or 0 for any other descriptor. */
static int socket_option(int fd, int name)
{
    int value;
    socklen_t length = sizeof value;

    return getsockopt(fd, SOL_SOCKET, name, &value, &length) == 0 ? value : 0;
}

/*
 * Adopt a descriptor. Datagram and packet sockets are refused, because a read would
 * truncate datagrams, and a write would split them.
 */
static int adopt_stream(int fd, coil_stream **out)
{
    int type = socket_option(fd, SO_TYPE), rc, blocked;
    bool is_socket = type != 0, reopened;
    coil_stream *stream;

    if (is_socket && type != SOCK_STREAM)
        return coil__failed(-EPROTOTYPE);
    stream = coil__stream_alloc();
    if (stream == NULL)
        return coil__failed(-ENOMEM);
    rc = blocked = make_non_blocking(fd, is_socket, &reopened);
    if (rc >= 0)
        rc = coil__stream_open(stream, fd, is_socket, "coil_stream_adopt");
    if (rc < 0) {
        if (blocked > 0)
            make_blocking(fd);
        coil__free(stream);
        return rc;
    }
    stream->may_read = is_socket && !socket_option(fd, SO_ACCEPTCONN);
    stream->blocked = blocked > 0;
    stream->shared = blocked > 0 && !is_socket && !reopened;
    *out = stream;
    return 0;
}

int coil_stream_adopt(int fd, coil_stream **out)
{
    COIL__REQUIRE(out, "an output pointer");
    *out = NULL;
    return coil__explain(adopt_stream(fd, out), "cannot adopt descriptor %d as a stream",
                         fd);
}

static int make_ends(const int fds[2], bool are_sockets, const char *caller,
                     coil_stream *ends[2])
{
    int rc = coil__stream_make(fds[0], are_sockets, caller, &ends[0]);

    if (rc < 0) {
        close(fds[1]);
        return rc;
    }
    rc = coil__stream_make(fds[1], are_sockets, caller, &ends[1]);
    if (rc < 0) {
        coil_stream_destroy(ends[0]);
        ends[0] = NULL;
    }
    return rc;
}

int coil_pipe(coil_stream *ends[2])
{
    COIL__REQUIRE(ends, "an output pointer");
    int fds[2];

    ends[0] = ends[1] = NULL;
    coil__loop_require("coil_pipe");
    if (COIL__CALL(EMFILE, pipe2(fds, O_NONBLOCK | O_CLOEXEC)) < 0)
        return coil__failed(-errno);
    return make_ends(fds, false, "coil_pipe", ends);
}

int coil_stream_pair(coil_stream *ends[2])
{
    COIL__REQUIRE(ends, "an output pointer");
    int fds[2];

    ends[0] = ends[1] = NULL;
    coil__loop_require("coil_stream_pair");
    if (COIL__CALL(EMFILE, socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                                      0, fds)) < 0)
        return coil__failed(-errno);
    return make_ends(fds, true, "coil_stream_pair", ends);
}

void coil__stream_give_flag_back(coil_stream *stream)
{
    if (stream->endpoint.fd >= 0 && stream->shared &&
        !coil__endpoint_is_parents(&stream->endpoint))
        make_blocking(stream->endpoint.fd);
}

/* ---- releasing and detaching ------------------------------------------------------- */

/*
 * Return the number of bytes that the backend has received ahead of a read, and store the
 * error that follows them, or 0, in *error. The backend stops receiving ahead.
 */
static size_t count_received_ahead(const coil_stream *stream, int *error)
{
    struct coil__backend *backend = stream->endpoint.loop->backend;

    *error = 0;
    if (backend->class->settle == NULL)
        return 0;
    return backend->class->settle(backend, stream->endpoint.fd, error);
}

static int receive_into(struct coil__buffer **received, const coil_stream *stream,
                        size_t n)
{
    struct coil__backend *backend = stream->endpoint.loop->backend;

    while (n > 0) {
        int rc = coil__buffer_make_room(received, coil__buffer_count(*received) + n);
        struct coil__op op = {.kind = COIL__OP_RECV, .fd = stream->endpoint.fd};
        ssize_t got;

        if (rc < 0)
            return rc;
        op.buf = (*received)->bytes + (*received)->end;
        op.len = (*received)->size - (*received)->end < n
                     ? (*received)->size - (*received)->end
                     : n;
        got = backend->class->submit(backend, &op);
        if (got <= 0)
            return (int)got;
        coil__buffer_add(*received, (size_t)got);
        n -= (size_t)got;
    }
    return 0;
}

/*
 * Move the bytes that the backend has received ahead into the stream; later reads take
 * them first. If this function fails halfway, no byte is lost.
 */
static int move_received_bytes(coil_stream *stream)
{
    int error, rc;
    size_t n = count_received_ahead(stream, &error);

    if (n == 0 && error == 0)
        return 0;
    if (stream->received_ahead == NULL)
        stream->received_ahead = coil__alloc_zeroed(sizeof *stream->received_ahead);
    if (stream->received_ahead == NULL)
        return coil__failed(-ENOMEM);
    rc = receive_into(&stream->received_ahead->buffer, stream, n);
    if (rc == 0)
        stream->received_ahead->error = error;
    else if (coil__buffer_count(stream->received_ahead->buffer) == 0)
        coil__stream_drop_received_ahead(stream);
    return rc;
}

int coil_stream_detach(coil_stream *stream)
{
    COIL__REQUIRE(stream, "a stream");
    coil__endpoint_check(&stream->endpoint, __func__);
    int rc = coil__endpoint_may_leave(&stream->endpoint, "coil_stream_detach");

    if (rc == 0)
        rc = move_received_bytes(stream);
    if (rc == 0)
        coil__endpoint_detach(&stream->endpoint);
    return rc;
}

int coil_stream_attach(coil_stream *stream)
{
    COIL__REQUIRE(stream, "a stream");
    coil__endpoint_check(&stream->endpoint, __func__);
    int rc = coil__endpoint_attach(&stream->endpoint, "coil_stream_attach");

    if (rc == 0)
        coil__stream_note(stream);
    return rc;
}

int coil_stream_release_fd(coil_stream *stream)
{
    COIL__REQUIRE(stream, "a stream");
    coil__endpoint_check(&stream->endpoint, __func__);
    int fd = stream->endpoint.fd, error;
    int rc = coil__endpoint_may_leave(&stream->endpoint, "coil_stream_release_fd");

    if (rc < 0)
        return rc;
    if (stream->transport != &coil__transport_bare)
        return coil__failed(-EOPNOTSUPP);
    if (coil__stream_buffered(stream) > 0 || stream->received_ahead != NULL ||
        count_received_ahead(stream, &error) > 0 || error < 0)
        return coil__failed(-EBUSY);
    coil__endpoint_detach(&stream->endpoint);
    if (stream->blocked)
        make_blocking(fd);
    stream->endpoint.fd = -1;
    coil_stream_destroy(stream);
    return fd;
}
