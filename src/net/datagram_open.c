/*
 * datagram_open.c - datagram sockets: made, bound, connected, set up.
 */
#include "datagram.h"

#include "socket.h"

#include "../base/fault.h"

#include <coil/addrinfo.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define FLAGS (COIL_DATAGRAM_BROADCAST | COIL_DATAGRAM_REUSE_PORT | COIL_DATAGRAM_V6_ONLY)

/* ---- of a socket ------------------------------------------------------------------- */

/* Takes the socket, but where it fails. */
static int make(int fd, int family, const char *caller, coil_datagram **out)
{
    coil_datagram *d = coil__alloc_zeroed(sizeof *d);
    int rc;

    if (d == NULL)
        return -ENOMEM;
    rc = coil__endpoint_open(&d->endpoint, fd, caller);
    if (rc < 0) {
        coil__free(d);
        return rc;
    }
    d->family = family;
    d->room_fd = -1;
    coil_lock_init(&d->line[COIL__IN]);
    coil_lock_init(&d->line[COIL__OUT]);
    *out = d;
    return 0;
}

/* The same for a socket of our own, or the errno that making it failed with. */
static int make_own(coil_loop *loop, int fd, int family, const char *caller,
                    coil_datagram **out)
{
    int rc = fd < 0 ? fd : make(fd, family, caller, out);

    if (fd >= 0 && rc < 0)
        coil__socket_close(loop, fd);
    return rc;
}

int coil_datagram_adopt(int fd, coil_datagram **out)
{
    int type = 0, family = 0, flags, rc;
    socklen_t length = sizeof type;

    if (COIL__CALL(EBADF, getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length)) < 0)
        return -errno;
    length = sizeof family;
    if (COIL__CALL(EBADF, getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &length)) < 0)
        return -errno;
    if (type != SOCK_DGRAM)
        return -EPROTOTYPE;
    flags = COIL__CALL(EBADF, fcntl(fd, F_GETFL));
    if (flags < 0 || COIL__CALL(EPERM, fcntl(fd, F_SETFL, flags | O_NONBLOCK)) < 0)
        return -errno;
    rc = make(fd, family, "coil_datagram_adopt", out);
    if (rc < 0)
        fcntl(fd, F_SETFL, flags);
    return rc;
}

int coil_datagram_close(coil_datagram *datagram)
{
    if (datagram->endpoint.fd >= 0 && datagram->room_fd >= 0)
        shutdown(datagram->room_fd, SHUT_RDWR); /* which ends the wait */
    return coil__endpoint_close(&datagram->endpoint);
}

void coil_datagram_destroy(coil_datagram *datagram)
{
    if (datagram == NULL)
        return;
    coil_datagram_close(datagram);
    coil__endpoint_release(&datagram->endpoint);
}

int coil_datagram_fd(const coil_datagram *datagram)
{
    return datagram->endpoint.fd;
}

/* ---- of names ---------------------------------------------------------------------- */

static int set_flags(coil_loop *loop, int fd, int family, unsigned flags)
{
    int yes = 1, v6_only = (flags & COIL_DATAGRAM_V6_ONLY) != 0, rc = 0;

    /* "::" is to receive IPv4 too, whatever the system's default. */
    if (family == AF_INET6)
        rc = coil__socket_set_option(loop, fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6_only,
                                     sizeof v6_only);
    if (rc == 0 && flags & COIL_DATAGRAM_BROADCAST)
        rc =
            coil__socket_set_option(loop, fd, SOL_SOCKET, SO_BROADCAST, &yes, sizeof yes);
    if (rc == 0 && flags & COIL_DATAGRAM_REUSE_PORT)
        rc =
            coil__socket_set_option(loop, fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
    return rc;
}

/* A bound socket, or a negative errno. */
static int bind_at(coil_loop *loop, const struct addrinfo *address, unsigned flags)
{
    int fd = coil__socket_open(loop, address->ai_family, SOCK_DGRAM, 0);
    int rc;

    if (fd < 0)
        return fd;
    rc = set_flags(loop, fd, address->ai_family, flags);
    if (rc == 0)
        rc = coil__socket_bind(loop, fd, address->ai_addr, address->ai_addrlen);
    if (rc == 0)
        return fd;
    coil__socket_close(loop, fd);
    return rc;
}

/* The first of the family's addresses that works; AF_UNSPEC: of any. */
static int bind_at_first(coil_loop *loop, const struct addrinfo *list, int family,
                         unsigned flags, int *found)
{
    int fd = -EADDRNOTAVAIL;

    for (const struct addrinfo *a = list; a != NULL && fd < 0; a = a->ai_next)
        if (family == AF_UNSPEC || a->ai_family == family) {
            fd = bind_at(loop, a, flags);
            *found = a->ai_family;
        }
    return fd;
}

int coil_datagram_open(const char *host, const char *port, unsigned flags,
                       coil_datagram **out)
{
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = AI_PASSIVE};
    coil_loop *loop = coil__loop_require("coil_datagram_open");
    struct addrinfo *list;
    int fd = -EADDRNOTAVAIL, family = AF_UNSPEC, rc;

    if (flags & ~FLAGS)
        return -EINVAL;
    rc = coil_getaddrinfo(host, port != NULL ? port : "0", &hints, &list);
    if (rc < 0)
        return rc;
    /* All addresses: getaddrinfo(3) names IPv4's first, but IPv6's stands for both. */
    if (host == NULL)
        fd = bind_at_first(loop, list, AF_INET6, flags, &family);
    if (fd < 0)
        fd = bind_at_first(loop, list, AF_UNSPEC, flags, &family);
    freeaddrinfo(list);
    return make_own(loop, fd, family, "coil_datagram_open", out);
}

static int connect_to(const struct sockaddr *address, socklen_t address_bytes,
                      coil_datagram *d)
{
    return (int)coil__endpoint_do(&d->endpoint,
                                  &(struct coil__op){.kind = COIL__OP_CONNECT,
                                                     .addr = (struct sockaddr *)address,
                                                     .addrlen = &address_bytes});
}

static int open_connected(coil_loop *loop, const struct addrinfo *address,
                          coil_datagram **out)
{
    int fd = coil__socket_open(loop, address->ai_family, SOCK_DGRAM, 0);
    int rc = make_own(loop, fd, address->ai_family, "coil_datagram_connect", out);

    if (rc < 0)
        return rc;
    rc = connect_to(address->ai_addr, address->ai_addrlen, *out);
    if (rc < 0)
        coil_datagram_destroy(*out);
    return rc;
}

int coil_datagram_connect(const char *host, const char *port, coil_datagram **out)
{
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
    coil_loop *loop = coil__loop_require("coil_datagram_connect");
    coil_datagram *d = NULL;
    struct addrinfo *list;
    int rc = coil_getaddrinfo(host, port, &hints, &list);

    if (rc < 0)
        return rc;
    rc = -EADDRNOTAVAIL;
    for (const struct addrinfo *a = list; a != NULL && rc < 0 && rc != -ECANCELED;
         a = a->ai_next)
        rc = open_connected(loop, a, &d);
    freeaddrinfo(list);
    if (rc == 0)
        *out = d;
    return rc;
}

/* ---- local ------------------------------------------------------------------------- */

static int open_local(coil_loop *loop, const coil_address *name, const coil_address *peer)
{
    int fd = coil__socket_open(loop, AF_UNIX, SOCK_DGRAM, 0);
    int rc = 0;

    if (fd < 0)
        return fd;
    if (name != NULL)
        rc = coil__socket_bind(loop, fd, &name->any, name->length);
    if (rc == 0 && peer != NULL &&
        COIL__CALL(ECONNREFUSED, connect(fd, &peer->any, peer->length)) < 0)
        rc = -errno;
    if (rc == 0)
        return fd;
    coil__socket_close(loop, fd);
    return rc;
}

int coil_datagram_open_unix(const char *path, coil_datagram **out)
{
    coil_loop *loop = coil__loop_require("coil_datagram_open_unix");
    coil_address name;
    int rc = path != NULL ? coil_address_of_path(path, &name) : 0;

    if (rc < 0)
        return rc;
    return make_own(loop, open_local(loop, path != NULL ? &name : NULL, NULL), AF_UNIX,
                    "coil_datagram_open_unix", out);
}

int coil_datagram_connect_unix(const char *path, coil_datagram **out)
{
    coil_loop *loop = coil__loop_require("coil_datagram_connect_unix");
    /* A name of the kernel's choice: unix(7), autobind. */
    coil_address own = {.length = sizeof(sa_family_t), .any = {.sa_family = AF_UNIX}};
    coil_address peer;
    int rc = coil_address_of_path(path, &peer);

    if (rc < 0)
        return rc;
    return make_own(loop, open_local(loop, &own, &peer), AF_UNIX,
                    "coil_datagram_connect_unix", out);
}

/* ---- what it is -------------------------------------------------------------------- */

static int ask(const coil_datagram *d, coil_address *out,
               int (*question)(coil_loop *, int, struct sockaddr *, socklen_t *))
{
    int rc;

    if (d->endpoint.fd < 0)
        return -EBADF;
    out->length = sizeof out->storage;
    rc = question(d->endpoint.loop, d->endpoint.fd, &out->any, &out->length);
    if (rc < 0)
        out->length = 0;
    return rc;
}

int coil_datagram_name(const coil_datagram *datagram, coil_address *out)
{
    return ask(datagram, out, coil__socket_name);
}

int coil_datagram_peer(const coil_datagram *datagram, coil_address *out)
{
    return ask(datagram, out, coil__socket_peer);
}

int coil_datagram_set_option(coil_datagram *datagram, int level, int name,
                             const void *value, socklen_t value_bytes)
{
    if (datagram->endpoint.fd < 0)
        return -EBADF;
    return coil__socket_set_option(datagram->endpoint.loop, datagram->endpoint.fd, level,
                                   name, value, value_bytes);
}

/* ---- groups ------------------------------------------------------------------------ */

static int read_group(const char *group, const char *interface, struct group_req *out)
{
    coil_address address = {.length = 0};

    *out = (struct group_req){.gr_interface = 0};
    if (interface != NULL)
        out->gr_interface = if_nametoindex(interface);
    if (interface != NULL && out->gr_interface == 0)
        return -ENODEV;
    if (inet_pton(AF_INET, group, &address.v4.sin_addr) == 1) {
        address.v4.sin_family = AF_INET;
        if (!IN_MULTICAST(ntohl(address.v4.sin_addr.s_addr)))
            return -EINVAL;
    } else if (inet_pton(AF_INET6, group, &address.v6.sin6_addr) == 1) {
        address.v6.sin6_family = AF_INET6;
        if (!IN6_IS_ADDR_MULTICAST(&address.v6.sin6_addr))
            return -EINVAL;
    } else {
        return -EINVAL;
    }
    out->gr_group = address.storage;
    return 0;
}

/* RFC 3678: one request for both families. */
static int ask_for_group(coil_datagram *d, int what, const char *group,
                         const char *interface)
{
    struct group_req request;
    int rc = read_group(group, interface, &request);
    bool v6 = rc == 0 && request.gr_group.ss_family == AF_INET6;

    if (rc < 0)
        return rc;
    return coil_datagram_set_option(d, v6 ? IPPROTO_IPV6 : IPPROTO_IP, what, &request,
                                    sizeof request);
}

int coil_datagram_join(coil_datagram *datagram, const char *group, const char *interface)
{
    return ask_for_group(datagram, MCAST_JOIN_GROUP, group, interface);
}

int coil_datagram_leave(coil_datagram *datagram, const char *group, const char *interface)
{
    return ask_for_group(datagram, MCAST_LEAVE_GROUP, group, interface);
}
