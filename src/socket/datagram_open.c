/*
 * datagram_open.c - opens, binds, connects, adopts and closes datagram sockets.
 */
#include "../names/address.h"
#include "datagram.h"

#include "../io/socket.h"

#include "../base/fault.h"
#include "../loop/leak.h"
#include "../task/failure.h"

#include <coil/addrinfo.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define FLAGS                                                                            \
    (COIL_DATAGRAM_BROADCAST | COIL_DATAGRAM_REUSE_PORT | COIL_DATAGRAM_V6_ONLY |        \
     COIL_DATAGRAM_INFO)

/* ---- from a descriptor -------------------------------------------------------------- */

/* Create a datagram object for a socket. On success, takes ownership of the socket. */
static int create_datagram(int fd, int family, const char *caller, coil_datagram **out)
{
    static const struct coil__leak_kind kind = {"a datagram socket", "descriptor",
                                                "destroyed"};
    coil_datagram *d = coil__alloc_zeroed(sizeof *d);
    int rc;

    if (d == NULL)
        return coil__failed(-ENOMEM);
    rc = coil__endpoint_open(&d->endpoint, fd, caller);
    if (rc < 0) {
        coil__free(d);
        return rc;
    }
    d->family = family;
    d->room_fd = -1;
    coil_lock_init(&d->line[COIL__IN]);
    coil_lock_init(&d->line[COIL__OUT]);
    coil__leak_note(&kind, &d->endpoint, fd, NULL);
    *out = d;
    return 0;
}

/*
 * Create a datagram object for a socket that coil opened. Closes the socket on failure.
 * If `fd` is negative, it is the error from opening the socket, and is returned.
 */
static int create_or_close(coil_loop *loop, int fd, int family, const char *caller,
                           coil_datagram **out)
{
    int rc = fd < 0 ? fd : create_datagram(fd, family, caller, out);

    if (fd >= 0 && rc < 0)
        coil__socket_close(loop, fd);
    return rc;
}

/* Like create_or_close(), but for a bound socket, which was opened with `flags`. */
static int create_bound(coil_loop *loop, int fd, int family, unsigned flags,
                        const char *caller, coil_datagram **out)
{
    int rc = create_or_close(loop, fd, family, caller, out);

    if (rc == 0)
        (*out)->has_info = flags & COIL_DATAGRAM_INFO;
    return rc;
}

static int adopt_datagram(int fd, coil_datagram **out)
{
    int type = 0, family = 0, flags, rc;
    socklen_t length = sizeof type;

    if (COIL__CALL(EBADF, getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length)) < 0)
        return coil__failed(-errno);
    length = sizeof family;
    if (COIL__CALL(EBADF, getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &length)) < 0)
        return coil__failed(-errno);
    if (type != SOCK_DGRAM)
        return coil__failed(-EPROTOTYPE);
    flags = COIL__CALL(EBADF, fcntl(fd, F_GETFL));
    if (flags < 0 || COIL__CALL(EPERM, fcntl(fd, F_SETFL, flags | O_NONBLOCK)) < 0)
        return coil__failed(-errno);
    rc = create_datagram(fd, family, "coil_datagram_adopt", out);
    if (rc < 0)
        fcntl(fd, F_SETFL, flags);
    return rc;
}

int coil_datagram_adopt(int fd, coil_datagram **out)
{
    COIL__REQUIRE(out, "an output pointer");
    *out = NULL;
    return coil__explain(adopt_datagram(fd, out),
                         "cannot adopt descriptor %d as a datagram socket", fd);
}

static int close_datagram(coil_datagram *datagram, const char *caller)
{
    coil__endpoint_check(&datagram->endpoint, caller);
    if (datagram->endpoint.fd >= 0 && datagram->room_fd >= 0 &&
        !coil__endpoint_is_parents(&datagram->endpoint))
        /* ends the wait in wait_for_room() */
        shutdown(datagram->room_fd, SHUT_RDWR);
    return coil__endpoint_close(&datagram->endpoint, caller);
}

int coil_datagram_close(coil_datagram *datagram)
{
    COIL__REQUIRE(datagram, "a datagram socket");
    return close_datagram(datagram, "coil_datagram_close");
}

void coil_datagram_destroy(coil_datagram *datagram)
{
    if (datagram == NULL)
        return;
    close_datagram(datagram, "coil_datagram_destroy");
    coil__endpoint_destroy(&datagram->endpoint, "coil_datagram_destroy");
}

int coil_datagram_fd(const coil_datagram *datagram)
{
    COIL__REQUIRE(datagram, "a datagram socket");
    coil__endpoint_check(&datagram->endpoint, __func__);
    return datagram->endpoint.fd;
}

/* ---- by host and port --------------------------------------------------------------- */

static int set_flags(coil_loop *loop, int fd, int family, unsigned flags)
{
    int yes = 1, v6_only = (flags & COIL_DATAGRAM_V6_ONLY) != 0, rc = 0;

    /* By default, make "::" receive IPv4 too, whatever the system's default is. */
    if (family == AF_INET6)
        rc = coil__socket_set_option(loop, fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6_only,
                                     sizeof v6_only);
    if (rc == 0 && flags & COIL_DATAGRAM_BROADCAST)
        rc =
            coil__socket_set_option(loop, fd, SOL_SOCKET, SO_BROADCAST, &yes, sizeof yes);
    if (rc == 0 && flags & COIL_DATAGRAM_REUSE_PORT)
        rc =
            coil__socket_set_option(loop, fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
    if (rc == 0 && flags & COIL_DATAGRAM_INFO)
        rc = coil__info_enable(loop, fd, family);
    return rc;
}

/* Open a socket and bind it to the address. Returns the socket or a negative errno. */
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

/*
 * Open a socket and bind it to the first address of the family for which this succeeds.
 * AF_UNSPEC means any family. Returns the socket or a negative errno.
 */
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
    COIL__REQUIRE(out, "an output pointer");
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = AI_PASSIVE};
    coil_loop *loop = coil__loop_require("coil_datagram_open");
    struct coil__failure_kept kept;
    struct addrinfo *list;
    int fd = -EADDRNOTAVAIL, family = AF_UNSPEC, rc;

    *out = NULL;
    if (flags & ~FLAGS)
        return coil__failed(-EINVAL);
    rc = coil_getaddrinfo(host, port != NULL ? port : "0", &hints, &list);
    if (rc < 0)
        return rc;
    /*
     * If there is no host, prefer "::", which receives from both families, although
     * getaddrinfo(3) lists 0.0.0.0 first.
     */
    coil__failure_keep(&kept);
    if (host == NULL)
        fd = bind_at_first(loop, list, AF_INET6, flags, &family);
    if (fd < 0)
        fd = bind_at_first(loop, list, AF_UNSPEC, flags, &family);
    coil__failure_put_back(&kept);
    freeaddrinfo(list);
    return (int)coil__result(
        create_bound(loop, fd, family, flags, "coil_datagram_open", out));
}

static int open_connected(coil_loop *loop, const struct addrinfo *address,
                          coil_datagram **out)
{
    int fd = coil__socket_open(loop, address->ai_family, SOCK_DGRAM, 0);
    int rc = create_or_close(loop, fd, address->ai_family, "coil_datagram_connect", out);
    socklen_t length = address->ai_addrlen;

    if (rc < 0)
        return rc;
    rc = (int)coil__endpoint_do(&(*out)->endpoint,
                                &(struct coil__op){.kind = COIL__OP_CONNECT,
                                                   .addr = address->ai_addr,
                                                   .addrlen = &length});
    if (rc < 0)
        coil_datagram_destroy(*out);
    return rc;
}

int coil_datagram_connect(const char *host, const char *port, coil_datagram **out)
{
    COIL__REQUIRE(out, "an output pointer");
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
    coil_loop *loop = coil__loop_require("coil_datagram_connect");
    struct coil__failure_kept kept;
    coil_datagram *d = NULL;
    struct addrinfo *list;
    int rc;

    *out = NULL;
    coil__task_require("coil_datagram_connect");
    rc = coil_getaddrinfo(host, port, &hints, &list);
    if (rc < 0)
        return rc;
    rc = -EADDRNOTAVAIL;
    coil__failure_keep(&kept);
    for (const struct addrinfo *a = list; a != NULL && rc < 0 && rc != -ECANCELED;
         a = a->ai_next)
        rc = open_connected(loop, a, &d);
    coil__failure_put_back(&kept);
    freeaddrinfo(list);
    if (rc == 0)
        *out = d;
    return (int)coil__result(rc);
}

/* ---- by path ------------------------------------------------------------------------ */

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
        rc = coil__failed(-errno);
    if (rc == 0)
        return fd;
    coil__socket_close(loop, fd);
    return rc;
}

int coil_datagram_open_unix(const char *path, coil_datagram **out)
{
    COIL__REQUIRE(out, "an output pointer");
    coil_loop *loop = coil__loop_require("coil_datagram_open_unix");
    coil_address name;
    int rc = path != NULL ? coil_address_of_path(path, &name) : 0;

    *out = NULL;
    if (rc < 0)
        return rc;
    return create_or_close(loop, open_local(loop, path != NULL ? &name : NULL, NULL),
                           AF_UNIX, "coil_datagram_open_unix", out);
}

static int connect_local(coil_loop *loop, const coil_address *peer, const char *caller,
                         coil_datagram **out)
{
    /* Let the kernel choose a name (unix(7), autobind). */
    coil_address own = {.length = sizeof(sa_family_t), .any = {.sa_family = AF_UNIX}};

    return create_or_close(loop, open_local(loop, &own, peer), AF_UNIX, caller, out);
}

int coil_datagram_connect_unix(const char *path, coil_datagram **out)
{
    COIL__REQUIRE(path, "a path");
    COIL__REQUIRE(out, "an output pointer");
    coil_loop *loop = coil__loop_require("coil_datagram_connect_unix");
    coil_address peer;
    int rc = coil_address_of_path(path, &peer);

    *out = NULL;
    return rc < 0 ? rc : connect_local(loop, &peer, "coil_datagram_connect_unix", out);
}

/* ---- by address --------------------------------------------------------------------- */

int coil_datagram_open_address(const coil_address *at, unsigned flags,
                               coil_datagram **out)
{
    COIL__REQUIRE(at, "an address");
    COIL__REQUIRE(out, "an output pointer");
    coil_loop *loop = coil__loop_require("coil_datagram_open_address");
    struct addrinfo address = coil__address_info(at, SOCK_DGRAM);
    int rc = coil__address_check(at), fd;

    *out = NULL;
    if (rc == 0 && (flags & ~FLAGS || (flags != 0 && address.ai_family == AF_UNIX)))
        rc = coil__failed(-EINVAL);
    if (rc < 0)
        return rc;
    if (address.ai_family == AF_UNIX)
        fd = open_local(loop, at, NULL);
    else
        fd = bind_at(loop, &address, flags);
    return create_bound(loop, fd, address.ai_family, flags, "coil_datagram_open_address",
                        out);
}

int coil_datagram_connect_address(const coil_address *to, coil_datagram **out)
{
    COIL__REQUIRE(to, "an address");
    COIL__REQUIRE(out, "an output pointer");
    coil_loop *loop = coil__loop_require("coil_datagram_connect_address");
    struct addrinfo address = coil__address_info(to, SOCK_DGRAM);
    int rc = coil__address_check(to);
    coil_datagram *d = NULL;

    *out = NULL;
    if (rc < 0)
        return rc;
    if (address.ai_family == AF_UNIX)
        return connect_local(loop, to, "coil_datagram_connect_address", out);
    rc = open_connected(loop, &address, &d);
    if (rc == 0)
        *out = d;
    return rc;
}
