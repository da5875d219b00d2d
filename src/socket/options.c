/*
 * options.c - addresses and options of streams, listeners and datagram sockets. None of
 * these functions waits.
 */
#include "datagram.h"
#include "listener.h"
#include "../io/socket.h"
#include "../stream/stream.h"

#include <coil/address.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

/* ---- addresses --------------------------------------------------------------------- */

/* The type of coil__socket_name() and coil__socket_peer(). Both fail for a pipe. */
typedef int (*address_call)(coil_loop *loop, int fd, struct sockaddr *address,
                            socklen_t *address_bytes);

static int get_address(const struct coil__endpoint *endpoint, address_call call,
                       coil_address *out)
{
    int rc;

    *out = (coil_address){.length = 0};
    if (endpoint->fd < 0)
        return coil__failed(-EBADF);
    out->length = sizeof out->storage;
    rc = call(endpoint->loop, endpoint->fd, &out->any, &out->length);
    if (rc < 0)
        out->length = 0;
    return rc;
}

int coil_stream_peer(const coil_stream *stream, coil_address *out)
{
    COIL__REQUIRE(stream, "a stream");
    COIL__REQUIRE(out, "an output pointer");
    coil__endpoint_check(&stream->endpoint, __func__);
    return get_address(&stream->endpoint, coil__socket_peer, out);
}

int coil_stream_name(const coil_stream *stream, coil_address *out)
{
    COIL__REQUIRE(stream, "a stream");
    COIL__REQUIRE(out, "an output pointer");
    coil__endpoint_check(&stream->endpoint, __func__);
    return get_address(&stream->endpoint, coil__socket_name, out);
}

int coil_listener_name(const coil_listener *listener, coil_address *out)
{
    COIL__REQUIRE(listener, "a listener");
    COIL__REQUIRE(out, "an output pointer");
    coil__endpoint_check(&listener->endpoint, __func__);
    return get_address(&listener->endpoint, coil__socket_name, out);
}

int coil_datagram_name(const coil_datagram *datagram, coil_address *out)
{
    COIL__REQUIRE(datagram, "a datagram socket");
    COIL__REQUIRE(out, "an output pointer");
    coil__endpoint_check(&datagram->endpoint, __func__);
    return get_address(&datagram->endpoint, coil__socket_name, out);
}

int coil_datagram_peer(const coil_datagram *datagram, coil_address *out)
{
    COIL__REQUIRE(datagram, "a datagram socket");
    COIL__REQUIRE(out, "an output pointer");
    coil__endpoint_check(&datagram->endpoint, __func__);
    return get_address(&datagram->endpoint, coil__socket_peer, out);
}

int coil_stream_credentials(const coil_stream *stream, pid_t *pid, uid_t *uid, gid_t *gid)
{
    COIL__REQUIRE(stream, "a stream");
    COIL__REQUIRE(pid, "an output pointer");
    COIL__REQUIRE(uid, "an output pointer");
    COIL__REQUIRE(gid, "an output pointer");
    coil__endpoint_check(&stream->endpoint, __func__);
    struct ucred peer;
    socklen_t length = sizeof peer;
    int rc;

    if (stream->endpoint.fd < 0)
        return coil__failed(-EBADF);
    rc = coil__socket_option(stream->endpoint.loop, stream->endpoint.fd, SOL_SOCKET,
                             SO_PEERCRED, &peer, &length);
    if (rc < 0)
        return rc;
    /*
     * A uid of -1 means that this is not a local socket. (A pid of 0 only means that the
     * peer is outside this PID namespace.)
     */
    if (peer.uid == (uid_t)-1)
        return coil__failed(-EOPNOTSUPP);
    *pid = peer.pid;
    *uid = peer.uid;
    *gid = peer.gid;
    return 0;
}

/* ---- options ----------------------------------------------------------------------- */

static int set_option(const struct coil__endpoint *endpoint, int level, int name,
                      const void *value, socklen_t value_bytes)
{
    if (endpoint->fd < 0)
        return coil__failed(-EBADF);
    return coil__socket_set_option(endpoint->loop, endpoint->fd, level, name, value,
                                   value_bytes);
}

static int set_number(coil_stream *stream, int level, int name, int value)
{
    return set_option(&stream->endpoint, level, name, &value, sizeof value);
}

int coil_stream_set_no_delay(coil_stream *stream, bool on)
{
    COIL__REQUIRE(stream, "a stream");
    coil__endpoint_check(&stream->endpoint, __func__);
    return set_number(stream, IPPROTO_TCP, TCP_NODELAY, on);
}

int coil_stream_set_keep_alive(coil_stream *stream, int64_t idle_ns)
{
    COIL__REQUIRE(stream, "a stream");
    coil__endpoint_check(&stream->endpoint, __func__);
    int64_t seconds;
    int rc;

    if (idle_ns < 0 || idle_ns > COIL_SEC(32767)) /* 32767 is the kernel's limit */
        return coil__failed(-EINVAL);
    seconds = (idle_ns + COIL_SEC(1) - 1) / COIL_SEC(1);
    rc = set_number(stream, SOL_SOCKET, SO_KEEPALIVE, seconds > 0);
    if (rc == 0 && seconds > 0)
        rc = set_number(stream, IPPROTO_TCP, TCP_KEEPIDLE, (int)seconds);
    if (rc == 0 && seconds > 0)
        rc = set_number(stream, IPPROTO_TCP, TCP_KEEPINTVL, (int)(seconds + 9) / 10);
    return rc;
}

int coil_datagram_set_option(coil_datagram *datagram, int level, int name,
                             const void *value, socklen_t value_bytes)
{
    COIL__REQUIRE(datagram, "a datagram socket");
    coil__endpoint_check(&datagram->endpoint, __func__);
    return set_option(&datagram->endpoint, level, name, value, value_bytes);
}

/* ---- multicast groups --------------------------------------------------------------- */

static int read_group(const char *group, const char *interface, struct group_req *out)
{
    coil_address address = {.length = 0};

    *out = (struct group_req){.gr_interface = 0};
    if (interface != NULL)
        out->gr_interface = if_nametoindex(interface);
    if (interface != NULL && out->gr_interface == 0)
        return coil__failed(-ENODEV);
    if (inet_pton(AF_INET, group, &address.v4.sin_addr) == 1) {
        address.v4.sin_family = AF_INET;
        if (!IN_MULTICAST(ntohl(address.v4.sin_addr.s_addr)))
            return coil__failed(-EINVAL);
    } else if (inet_pton(AF_INET6, group, &address.v6.sin6_addr) == 1) {
        address.v6.sin6_family = AF_INET6;
        if (!IN6_IS_ADDR_MULTICAST(&address.v6.sin6_addr))
            return coil__failed(-EINVAL);
    } else {
        return coil__failed(-EINVAL);
    }
    out->gr_group = address.storage;
    return 0;
}

/*
 * Join or leave a group: `what` is MCAST_JOIN_GROUP or MCAST_LEAVE_GROUP, which work for
 * both families (RFC 3678).
 */
static int request_group(coil_datagram *d, int what, const char *group,
                         const char *interface)
{
    struct group_req request;
    int rc = read_group(group, interface, &request);
    bool v6 = rc == 0 && request.gr_group.ss_family == AF_INET6;

    if (rc < 0)
        return rc;
    return set_option(&d->endpoint, v6 ? IPPROTO_IPV6 : IPPROTO_IP, what, &request,
                      sizeof request);
}

int coil_datagram_join(coil_datagram *datagram, const char *group, const char *interface)
{
    COIL__REQUIRE(datagram, "a datagram socket");
    COIL__REQUIRE(group, "a group");
    coil__endpoint_check(&datagram->endpoint, __func__);
    return request_group(datagram, MCAST_JOIN_GROUP, group, interface);
}

int coil_datagram_leave(coil_datagram *datagram, const char *group, const char *interface)
{
    COIL__REQUIRE(datagram, "a datagram socket");
    COIL__REQUIRE(group, "a group");
    coil__endpoint_check(&datagram->endpoint, __func__);
    return request_group(datagram, MCAST_LEAVE_GROUP, group, interface);
}
