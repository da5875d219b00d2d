/*
 * options.c - where a stream's ends are, and how its socket behaves.
 */
#include "listener.h"
#include "socket.h"
#include "stream.h"

#include <coil/address.h>

#include <netinet/tcp.h>

/* Asks a socket something that needs no waiting; both ends of a pipe have no answer. */
typedef int (*address_call)(coil_loop *loop, int fd, struct sockaddr *address,
                            socklen_t *address_bytes);

static int ask(const struct coil__endpoint *endpoint, address_call call,
               coil_address *out)
{
    int rc;

    *out = (coil_address){.length = 0};
    if (endpoint->fd < 0)
        return -EBADF;
    out->length = sizeof out->storage;
    rc = call(endpoint->loop, endpoint->fd, &out->any, &out->length);
    if (rc < 0)
        out->length = 0;
    return rc;
}

int coil_stream_peer(const coil_stream *stream, coil_address *out)
{
    return ask(&stream->endpoint, coil__socket_peer, out);
}

int coil_stream_name(const coil_stream *stream, coil_address *out)
{
    return ask(&stream->endpoint, coil__socket_name, out);
}

int coil_listener_name(const coil_listener *listener, coil_address *out)
{
    return ask(&listener->endpoint, coil__socket_name, out);
}

int coil_stream_credentials(const coil_stream *stream, pid_t *pid, uid_t *uid, gid_t *gid)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    int rc;

    if (stream->endpoint.fd < 0)
        return -EBADF;
    rc = coil__socket_option(stream->endpoint.loop, stream->endpoint.fd, SOL_SOCKET,
                             SO_PEERCRED, &peer, &length);
    if (rc < 0)
        return rc;
    if (peer.pid == 0) /* a socket of another kind: nobody was asked */
        return -EOPNOTSUPP;
    *pid = peer.pid;
    *uid = peer.uid;
    *gid = peer.gid;
    return 0;
}

static int set(coil_stream *stream, int level, int name, int value)
{
    if (stream->endpoint.fd < 0)
        return -EBADF;
    return coil__socket_set_option(stream->endpoint.loop, stream->endpoint.fd, level,
                                   name, &value, sizeof value);
}

int coil_stream_set_no_delay(coil_stream *stream, bool on)
{
    return set(stream, IPPROTO_TCP, TCP_NODELAY, on);
}

int coil_stream_set_keep_alive(coil_stream *stream, int64_t idle_ns)
{
    int64_t seconds;
    int rc;

    if (idle_ns < 0 || idle_ns > COIL_SEC(32767)) /* the kernel's own bound */
        return -EINVAL;
    seconds = (idle_ns + COIL_SEC(1) - 1) / COIL_SEC(1);
    rc = set(stream, SOL_SOCKET, SO_KEEPALIVE, seconds > 0);
    if (rc == 0 && seconds > 0)
        rc = set(stream, IPPROTO_TCP, TCP_KEEPIDLE, (int)seconds);
    if (rc == 0 && seconds > 0)
        rc = set(stream, IPPROTO_TCP, TCP_KEEPINTVL, (int)(seconds + 9) / 10);
    return rc;
}
