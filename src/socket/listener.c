/*
 * listener.c - listens for connections and accepts them.
 *
 * Options that an accepted socket inherits from its listener (for example TCP_NODELAY on
 * Linux) are set only once, on the listener. The memory for a stream is allocated before
 * accept(2), so that no accepted connection is lost if memory runs out. If an accepted
 * connection cannot be attached to the loop, it is stored for the next coil_accept().
 */
#include "../names/address.h"
#include "listener.h"
#include "../io/socket.h"
#include "../stream/stream.h"

#include "../base/fault.h"
#include "../loop/leak.h"
#include "../task/failure.h"

#include <coil/addrinfo.h>
#include <coil/error.h>

#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

#define BACKLOG 1024
#define FREE_PORT_TRIES 16

/* ---- opening and closing ----------------------------------------------------------- */

static void finish_listener(struct coil__endpoint *endpoint)
{
    coil__free(COIL__CONTAINER(endpoint, coil_listener, endpoint)->file);
}

/* Create a listener. On failure, the caller still owns the socket. */
static int open_listener(int fd, const char *caller, coil_listener **out)
{
    static const struct coil__leak_kind kind = {"a listener", "descriptor", "destroyed"};
    coil_listener *listener = coil__alloc_zeroed(sizeof *listener);
    coil_loop *loop = coil__loop_require(caller);
    coil_address name;
    int rc = -ENOMEM, yes = 1;

    if (listener != NULL)
        rc = coil__endpoint_open(&listener->endpoint, fd, caller);
    if (rc < 0) {
        coil__free(listener);
        return rc;
    }
    listener->endpoint.finish = finish_listener;
    listener->kept = -1;
    if (coil_listener_name(listener, &name) == 0)
        listener->port = coil_address_port(&name);
    if (listener->port != 0)
        coil__socket_set_option(loop, fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    coil__leak_note(&kind, &listener->endpoint, fd, NULL);
    *out = listener;
    return 0;
}

int coil__listener_make(int fd, const char *caller, coil_listener **out)
{
    int rc = open_listener(fd, caller, out);

    if (rc < 0)
        coil__socket_close(coil_loop_current(), fd);
    return rc;
}

/*
 * Check that the descriptor is a listening stream socket, because otherwise accept(2)
 * would fail later.
 */
static int check_that_it_listens(int fd)
{
    int listens = 0, type = 0;
    socklen_t length = sizeof(int);

    if (COIL__CALL(ENOBUFS, getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length)) < 0)
        return coil__failed(-errno);
    length = sizeof(int);
    if (COIL__CALL(ENOBUFS,
                   getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length)) < 0)
        return coil__failed(-errno);
    return type == SOCK_STREAM && listens ? 0 : coil__failed(-EINVAL);
}

static int adopt_listener(int fd, coil_listener **out)
{
    int rc = check_that_it_listens(fd), flags;

    if (rc < 0)
        return rc;
    flags = COIL__CALL(EBADF, fcntl(fd, F_GETFL));
    if (flags < 0 || COIL__CALL(EPERM, fcntl(fd, F_SETFL, flags | O_NONBLOCK)) < 0)
        return coil__failed(-errno);
    rc = open_listener(fd, "coil_listener_adopt", out);
    if (rc < 0)
        fcntl(fd, F_SETFL, flags);
    return rc;
}

int coil_listener_adopt(int fd, coil_listener **out)
{
    COIL__REQUIRE(out, "an output pointer");
    *out = NULL;
    return coil__explain(adopt_listener(fd, out),
                         "cannot adopt descriptor %d as a listener", fd);
}

static void drop_kept(coil_listener *listener)
{
    if (listener->kept >= 0)
        coil__socket_close(listener->endpoint.loop, listener->kept);
    listener->kept = -1;
}

static int close_listener(coil_listener *listener, const char *caller)
{
    coil__endpoint_check(&listener->endpoint, caller);
    if (listener->endpoint.fd >= 0 && listener->file != NULL &&
        !coil__endpoint_is_parents(&listener->endpoint))
        coil__socket_file_remove(listener->file);
    drop_kept(listener);
    return coil__endpoint_close(&listener->endpoint, caller);
}

int coil_listener_close(coil_listener *listener)
{
    COIL__REQUIRE(listener, "a listener");
    return close_listener(listener, "coil_listener_close");
}

void coil_listener_destroy(coil_listener *listener)
{
    if (listener == NULL)
        return;
    close_listener(listener, "coil_listener_destroy");
    coil__endpoint_destroy(&listener->endpoint, "coil_listener_destroy");
}

uint16_t coil_listener_port(const coil_listener *listener)
{
    COIL__REQUIRE(listener, "a listener");
    coil__endpoint_check(&listener->endpoint, __func__);
    return listener->port;
}

/* ---- listening --------------------------------------------------------------------- */

static int set_options(coil_loop *loop, int fd, int family,
                       const coil_listen_options *opts)
{
    int yes = 1, v6_only = opts->v6_only;

    coil__socket_set_option(loop, fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    /* Set IPV6_V6ONLY explicitly, because the default differs between systems. */
    if (family == AF_INET6)
        coil__socket_set_option(loop, fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6_only,
                                sizeof v6_only);
    if (!opts->reuse_port)
        return 0;
    return coil__socket_set_option(loop, fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
}

/* Open a socket that listens at the address. Returns the socket or a negative errno. */
static int listen_at(coil_loop *loop, const struct addrinfo *address,
                     const coil_listen_options *opts)
{
    int fd = coil__socket_open(loop, address->ai_family, address->ai_socktype,
                               address->ai_protocol);
    int rc;

    if (fd < 0)
        return fd;
    rc = set_options(loop, fd, address->ai_family, opts);
    if (rc == 0)
        rc = coil__socket_bind(loop, fd, address->ai_addr, address->ai_addrlen);
    if (rc == 0)
        rc = coil__socket_listen(loop, fd, opts->backlog > 0 ? opts->backlog : BACKLOG);
    if (rc == 0)
        return fd;
    coil__socket_close(loop, fd);
    return rc;
}

/*
 * Open a socket that listens at the first address of the family for which this succeeds.
 * AF_UNSPEC means any family. Returns the socket or a negative errno.
 */
static int listen_at_first(coil_loop *loop, const struct addrinfo *list, int family,
                           const coil_listen_options *opts)
{
    int fd = -EADDRNOTAVAIL;

    for (const struct addrinfo *a = list; a != NULL && fd < 0; a = a->ai_next)
        if (family == AF_UNSPEC || a->ai_family == family)
            fd = listen_at(loop, a, opts);
    return fd;
}

static int look_up_addresses(const coil_listen_options *opts, struct addrinfo **list)
{
    struct addrinfo hints = {.ai_family = opts->v6_only ? AF_INET6 : AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE};

    return coil_getaddrinfo(opts->host, opts->port, &hints, list);
}

static int listen_at_address(coil_loop *loop, const coil_listen_options *opts,
                             coil_listener **out)
{
    struct addrinfo address = coil__address_info(opts->address, SOCK_STREAM);
    int rc = coil__address_check(opts->address);
    char text[COIL_ADDRESS_TEXT];

    if (rc == 0 && (opts->path != NULL || opts->host != NULL || opts->port != NULL))
        rc = -EINVAL;
    if (rc == 0 && address.ai_family == AF_UNIX)
        return coil__listen_local(opts->address, opts,
                                  opts->backlog > 0 ? opts->backlog : BACKLOG, out);
    if (rc == 0)
        rc = listen_at(loop, &address, opts);
    if (rc >= 0)
        rc = coil__listener_make(rc, "coil_listen_address", out);
    if (rc < 0)
        coil_fail(rc, "cannot listen on '%s': %s",
                  coil_address_format(opts->address, text, sizeof text), strerror(-rc));
    return rc;
}

static int listen_failed(int rc, const coil_listen_options *opts)
{
    return coil__explain(rc, "cannot listen on %s, port %s",
                         opts->host != NULL ? opts->host : "all addresses",
                         opts->port != NULL ? opts->port : "0");
}

int coil_listen_opts(const coil_listen_options *opts, coil_listener **out)
{
    COIL__REQUIRE(opts, "options");
    COIL__REQUIRE(out, "an output pointer");
    coil_loop *loop = coil__loop_require("coil_listen");
    struct coil__failure_kept kept;
    struct addrinfo *list;
    int fd = -1, rc;

    *out = NULL;
    if (opts->address != NULL)
        return listen_at_address(loop, opts, out);
    if (opts->path != NULL)
        return coil__listen_unix(opts, opts->backlog > 0 ? opts->backlog : BACKLOG, out);
    rc = look_up_addresses(opts, &list);
    if (rc < 0)
        return rc; /* coil_getaddrinfo() has recorded the message */
    /*
     * If there is no host, prefer "::", which serves both families, although
     * getaddrinfo(3) lists 0.0.0.0 first.
     */
    coil__failure_keep(&kept);
    if (opts->host == NULL)
        fd = listen_at_first(loop, list, AF_INET6, opts);
    if (fd < 0)
        fd = listen_at_first(loop, list, AF_UNSPEC, opts);
    coil__failure_put_back(&kept);
    freeaddrinfo(list);
    rc = fd < 0 ? fd : coil__listener_make(fd, "coil_listen", out);
    return listen_failed(rc, opts);
}

int coil_listen(const char *host, const char *port, int backlog, coil_listener **out)
{
    COIL__REQUIRE(out, "an output pointer");
    return coil_listen_opts(
        &(coil_listen_options){.host = host, .port = port, .backlog = backlog}, out);
}

int coil_listen_port(const char *host, uint16_t port, int backlog, coil_listener **out)
{
    COIL__REQUIRE(out, "an output pointer");
    char text[8];

    snprintf(text, sizeof text, "%u", port);
    return coil_listen(host, text, backlog, out);
}

int coil_listen_address(const coil_address *at, int backlog, coil_listener **out)
{
    COIL__REQUIRE(at, "an address");
    COIL__REQUIRE(out, "an output pointer");
    return coil_listen_opts(&(coil_listen_options){.address = at, .backlog = backlog},
                            out);
}

/* ---- several addresses ------------------------------------------------------------- */

static void destroy_all(coil_listener *listeners[], int count)
{
    while (count > 0) {
        coil_listener_destroy(listeners[--count]);
        listeners[count] = NULL;
    }
}

/* Set the port of the address. */
static void set_port(const struct addrinfo *address, uint16_t port)
{
    if (address->ai_family == AF_INET)
        ((struct sockaddr_in *)(void *)address->ai_addr)->sin_port = htons(port);
    else if (address->ai_family == AF_INET6)
        ((struct sockaddr_in6 *)(void *)address->ai_addr)->sin6_port = htons(port);
}

/*
 * True if the error means that this machine does not support the address's family, so
 * that the address is skipped. (asyncio: create_server)
 */
static bool is_absent(int rc)
{
    return rc == -EADDRNOTAVAIL || rc == -EAFNOSUPPORT;
}

static int listen_at_each(const struct addrinfo *list, const coil_listen_options *opts,
                          coil_listener *out[], int max)
{
    coil_loop *loop = coil__loop_require("coil_listen_all");
    int count = 0, rc = -EADDRNOTAVAIL;

    for (const struct addrinfo *a = list; a != NULL && count < max; a = a->ai_next) {
        if (count > 0)
            set_port(a, out[0]->port);
        rc = listen_at(loop, a, opts);
        if (rc >= 0)
            rc = coil__listener_make(rc, "coil_listen_all", &out[count]);
        if (rc == 0) {
            count++;
        } else if (!is_absent(rc)) {
            destroy_all(out, count);
            return rc;
        }
    }
    return count > 0 ? count : rc;
}

int coil_listen_all(const coil_listen_options *opts, coil_listener *out[], int max)
{
    COIL__REQUIRE(opts, "options");
    COIL__REQUIRE_IF(max > 0, out, "an output pointer");
    coil_listen_options each = *opts;
    struct coil__failure_kept kept;
    struct addrinfo *list;
    int rc, tries = 0;

    if (max <= 0)
        return coil__failed(-EINVAL);
    memset(out, 0, (size_t)max * sizeof *out);
    if (opts->path != NULL || opts->address != NULL) {
        rc = coil_listen_opts(opts, &out[0]);
        return rc < 0 ? rc : 1;
    }
    rc = look_up_addresses(opts, &list);
    if (rc < 0)
        return rc;
    coil__failure_keep(&kept);
    each.v6_only = true; /* the list has separate IPv4 addresses */
    /* the port that the kernel chose may be in use at another address: try again */
    do {
        rc = listen_at_each(list, &each, out, max);
        set_port(list, 0);
    } while (rc == -EADDRINUSE && opts->port != NULL && strcmp(opts->port, "0") == 0 &&
             ++tries < FREE_PORT_TRIES);
    coil__failure_put_back(&kept);
    freeaddrinfo(list);
    return listen_failed(rc, opts);
}

/* ---- accepting --------------------------------------------------------------------- */

/*
 * True if the connection failed before it was accepted, so that accept(2) must be tried
 * again (accept(2), "Error handling").
 */
static bool failed_before_accept(ssize_t result)
{
    switch (-result) {
    case ECONNABORTED:
    case EPROTO:
    case ENOPROTOOPT:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENONET:
        return true;
    default:
        return false;
    }
}

/*
 * Accept a connection, or take the stored connection. Returns the connection's socket, or
 * a negative errno.
 */
static int accept_one(coil_listener *listener, coil_address *peer)
{
    struct coil__op op = {.kind = COIL__OP_ACCEPT};
    ssize_t fd = listener->kept;

    listener->kept = -1;
    if (fd >= 0)
        return (int)fd;
    do {
        if (peer != NULL) {
            peer->length = sizeof peer->storage;
            op.addr = &peer->any;
            op.addrlen = &peer->length;
        }
        fd = coil__endpoint_do(&listener->endpoint, &op);
    } while (failed_before_accept(fd));
    return (int)fd;
}

/*
 * Store a connection that could not be attached to the loop, so that the next
 * coil_accept() tries again. After -EINVAL, however, close the connection: its descriptor
 * is too large for select(2), so another try would fail too.
 */
static void keep_or_close(coil_listener *listener, int fd, int rc)
{
    if (rc == -EINVAL || listener->endpoint.fd < 0)
        coil__socket_close(listener->endpoint.loop, fd);
    else
        listener->kept = fd;
}

static int accept_into(coil_stream *stream, coil_listener *listener, coil_address *peer)
{
    int rc = coil__endpoint_enter(&listener->endpoint, COIL__IN, "coil_accept"), fd;

    if (rc < 0)
        return rc;
    rc = fd = accept_one(listener, peer);
    if (fd >= 0)
        rc = coil__stream_open(stream, fd, true, "coil_accept");
    if (fd >= 0 && rc < 0)
        keep_or_close(listener, fd, rc);
    coil__endpoint_leave(&listener->endpoint, COIL__IN);
    return rc;
}

int coil__accept(coil_listener *listener, coil_stream **out, coil_address *peer)
{
    coil_stream *stream = coil__stream_alloc();
    int rc;

    *out = NULL;
    rc = stream != NULL ? accept_into(stream, listener, peer) : coil__failed(-ENOMEM);
    if (rc == 0)
        *out = stream;
    else
        coil__free(stream);
    return rc;
}

int coil_accept(coil_listener *listener, coil_stream **out)
{
    COIL__REQUIRE(listener, "a listener");
    COIL__REQUIRE(out, "an output pointer");
    return coil__accept(listener, out, NULL);
}
