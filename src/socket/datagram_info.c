/*
 * datagram_info.c - the local address to which a datagram was sent, or from which it is
 * to be sent.
 *
 * The kernel passes this address along with the datagram, as control data (cmsg(3)): a
 * struct in_pktinfo on IPv4 sockets, a struct in6_pktinfo on IPv6 sockets. On an IPv6
 * socket that also serves IPv4, IPv4 addresses have the form ::ffff:a.b.c.d.
 *
 * A local socket never gets a buffer for control data, because the kernel could store
 * descriptors there, which no caller would close.
 */
#include "datagram.h"

#include "../io/socket.h"

#include <netinet/in.h>
#include <string.h>

static bool is_internet(const coil_datagram *d)
{
    return d->family == AF_INET || d->family == AF_INET6;
}

/* ---- receiving --------------------------------------------------------------------- */

int coil__info_enable(coil_loop *loop, int fd, int family)
{
    bool v6 = family == AF_INET6;
    int yes = 1;

    return coil__socket_set_option(loop, fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP,
                                   v6 ? IPV6_RECVPKTINFO : IP_PKTINFO, &yes, sizeof yes);
}

int coil__info_request(coil_datagram *d)
{
    int rc;

    if (d->has_info || !is_internet(d))
        return 0;
    rc = coil__info_enable(d->endpoint.loop, d->endpoint.fd, d->family);
    d->has_info = rc == 0;
    return rc;
}

void coil__info_prepare(const coil_datagram *d, struct coil__control *control,
                        struct msghdr *message)
{
    if (!is_internet(d))
        return;
    message->msg_control = control->bytes;
    message->msg_controllen = sizeof control->bytes;
}

static void read_v4(const struct cmsghdr *c, coil_datagram_info *out)
{
    struct in_pktinfo found;

    memcpy(&found, CMSG_DATA(c), sizeof found);
    out->interface = (unsigned)found.ipi_ifindex;
    out->local.length = sizeof out->local.v4;
    out->local.v4 =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = found.ipi_addr};
}

static void read_v6(const struct cmsghdr *c, coil_datagram_info *out)
{
    struct in6_pktinfo found;

    memcpy(&found, CMSG_DATA(c), sizeof found);
    out->interface = found.ipi6_ifindex;
    out->local.length = sizeof out->local.v6;
    out->local.v6 =
        (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = found.ipi6_addr};
    if (IN6_IS_ADDR_LINKLOCAL(&found.ipi6_addr))
        out->local.v6.sin6_scope_id = found.ipi6_ifindex;
}

/*
 * Return the socket's port in network byte order. A socket that has received a datagram
 * has a port.
 */
static in_port_t port_of(coil_datagram *d)
{
    coil_address name;

    if (d->port == 0 && coil_datagram_name(d, &name) == 0)
        d->port = htons(coil_address_port(&name));
    return d->port;
}

void coil__info_read(coil_datagram *d, struct msghdr *message, coil_datagram_info *out)
{
    *out = (coil_datagram_info){.interface = 0};
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL;
         c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO &&
            c->cmsg_len >= CMSG_LEN(sizeof(struct in_pktinfo)) && d->family == AF_INET)
            read_v4(c, out);
        if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO &&
            c->cmsg_len >= CMSG_LEN(sizeof(struct in6_pktinfo)))
            read_v6(c, out);
    }
    if (out->local.length == 0)
        return;
    *(d->family == AF_INET ? &out->local.v4.sin_port : &out->local.v6.sin6_port) =
        port_of(d);
}

/* ---- sending ----------------------------------------------------------------------- */

static void attach(struct msghdr *message, struct coil__control *control, int level,
                   int type, const void *data, size_t bytes)
{
    struct cmsghdr *c = (struct cmsghdr *)(void *)control->bytes;

    *control = (struct coil__control){{0}};
    c->cmsg_level = level;
    c->cmsg_type = type;
    c->cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(c), data, bytes);
    message->msg_control = control->bytes;
    message->msg_controllen = CMSG_SPACE(bytes);
}

static int write_v4(const coil_datagram_info *info, struct coil__control *control,
                    struct msghdr *message)
{
    struct in_pktinfo wanted = {.ipi_ifindex = (int)info->interface};

    if (info->local.length > 0 && info->local.any.sa_family != AF_INET)
        return coil__failed(-EAFNOSUPPORT);
    if (info->local.length > 0)
        wanted.ipi_spec_dst = info->local.v4.sin_addr;
    attach(message, control, IPPROTO_IP, IP_PKTINFO, &wanted, sizeof wanted);
    return 0;
}

/* True if an IPv6 socket sends the message to an IPv4 address, as ::ffff:192.0.2.7. */
static bool is_for_v4(const coil_datagram *d, const struct msghdr *message)
{
    struct sockaddr_in6 peer = {.sin6_family = AF_UNSPEC};
    const struct sockaddr_in6 *to = message->msg_name;
    socklen_t bytes = sizeof peer;

    if (to == NULL && getpeername(d->endpoint.fd, (struct sockaddr *)&peer, &bytes) == 0)
        to = &peer;
    return to != NULL && to->sin6_family == AF_INET6 &&
           IN6_IS_ADDR_V4MAPPED(&to->sin6_addr);
}

static int write_v6(const coil_datagram *d, const coil_datagram_info *info,
                    struct coil__control *control, struct msghdr *message)
{
    struct in6_pktinfo wanted = {.ipi6_ifindex = info->interface};

    if (info->local.length > 0 && info->local.any.sa_family == AF_INET) {
        wanted.ipi6_addr.s6_addr[10] = wanted.ipi6_addr.s6_addr[11] = 0xff;
        memcpy(&wanted.ipi6_addr.s6_addr[12], &info->local.v4.sin_addr, 4);
    } else if (info->local.length > 0 && info->local.any.sa_family == AF_INET6) {
        wanted.ipi6_addr = info->local.v6.sin6_addr;
        if (info->interface == 0)
            wanted.ipi6_ifindex = info->local.v6.sin6_scope_id;
    } else if (info->local.length > 0) {
        return coil__failed(-EAFNOSUPPORT);
    } else if (is_for_v4(d, message)) {
        /* use ::ffff:0.0.0.0, because the kernel refuses :: for an IPv4 destination */
        wanted.ipi6_addr.s6_addr[10] = wanted.ipi6_addr.s6_addr[11] = 0xff;
    }
    attach(message, control, IPPROTO_IPV6, IPV6_PKTINFO, &wanted, sizeof wanted);
    return 0;
}

int coil__info_write(const coil_datagram *d, const coil_datagram_info *info,
                     struct coil__control *control, struct msghdr *message)
{
    if (info == NULL || (info->local.length == 0 && info->interface == 0))
        return 0;
    if (!is_internet(d))
        return coil__failed(-EOPNOTSUPP);
    return d->family == AF_INET ? write_v4(info, control, message)
                                : write_v6(d, info, control, message);
}
