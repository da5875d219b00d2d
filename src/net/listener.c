/*
 * listener.c - waiting for connections.
 */
#include "socket.h"
#include "stream.h"

#include <coil/addrinfo.h>

#include <netinet/in.h>
#include <sys/socket.h>

#define BACKLOG 1024

struct coil_listener {
    struct coil__endpoint endpoint;
    uint16_t port;
};

/* ---- opening and closing ---------------------------------------------------------- */

static uint16_t port_of(coil_loop *loop, int fd)
{
    union {
        struct sockaddr_storage any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } name = {.any.ss_family = AF_UNSPEC};
    socklen_t length = sizeof name;

    if (coil__socket_name(loop, fd, (struct sockaddr *)&name, &length) < 0)
        return 0;
    if (name.any.ss_family == AF_INET6)
        return ntohs(name.v6.sin6_port);
    return name.any.ss_family == AF_INET ? ntohs(name.v4.sin_port) : 0;
}

/* A listening socket, or a negative errno. */
static int listen_at(coil_loop *loop, const struct addrinfo *address, int backlog)
{
    int yes = 1, no = 0, rc;
    int fd = coil__socket_open(loop, address->ai_family, address->ai_socktype,
                               address->ai_protocol);

    if (fd < 0)
        return fd;
    coil__socket_set_option(loop, fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    /* "::" is to serve IPv4 too, whatever the system's default. */
    if (address->ai_family == AF_INET6)
        coil__socket_set_option(loop, fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    rc = coil__socket_bind(loop, fd, address->ai_addr, address->ai_addrlen);
    if (rc == 0)
        rc = coil__socket_listen(loop, fd, backlog);
    if (rc == 0)
        return fd;
    coil__socket_close(loop, fd);
    return rc;
}

static int open_listener(coil_loop *loop, int fd, coil_listener **out)
{
    coil_listener *listener = coil__alloc_zeroed(sizeof *listener);
    int rc = -ENOMEM;

    if (listener != NULL)
        rc = coil__endpoint_open(&listener->endpoint, fd, "coil_listen");
    if (rc < 0) {
        coil__socket_close(loop, fd);
        coil__free(listener);
        return rc;
    }
    listener->port = port_of(loop, fd);
    *out = listener;
    return 0;
}

/* The first of the family's addresses that works; AF_UNSPEC: of any. */
static int listen_at_first(coil_loop *loop, const struct addrinfo *list, int family,
                           int backlog)
{
    int fd = -EADDRNOTAVAIL;

    for (const struct addrinfo *a = list; a != NULL && fd < 0; a = a->ai_next)
        if (family == AF_UNSPEC || a->ai_family == family)
            fd = listen_at(loop, a, backlog);
    return fd;
}

int coil_listen(const char *host, const char *port, int backlog, coil_listener **out)
{
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    coil_loop *loop = coil__loop_require("coil_listen");
    struct addrinfo *list;
    int fd = -1;
    int rc = coil_getaddrinfo(host, port, &hints, &list);

    if (rc < 0)
        return rc;
    if (backlog <= 0)
        backlog = BACKLOG;
    /* All addresses: getaddrinfo(3) names IPv4's first, but IPv6's stands for both. */
    if (host == NULL)
        fd = listen_at_first(loop, list, AF_INET6, backlog);
    if (fd < 0)
        fd = listen_at_first(loop, list, AF_UNSPEC, backlog);
    freeaddrinfo(list);
    return fd < 0 ? fd : open_listener(loop, fd, out);
}

int coil_listener_close(coil_listener *listener)
{
    return coil__endpoint_close(&listener->endpoint);
}

void coil_listener_destroy(coil_listener *listener)
{
    if (listener == NULL)
        return;
    coil__endpoint_close(&listener->endpoint);
    coil__endpoint_release(&listener->endpoint);
}

uint16_t coil_listener_port(const coil_listener *listener)
{
    return listener->port;
}

/* ---- accepting -------------------------------------------------------------------- */

/*
 * The connection was gone before it was accepted, or the network spoilt it: accept(2),
 * error handling, says to try again.
 */
static bool was_given_up(ssize_t result)
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

int coil_accept(coil_listener *listener, coil_stream **out)
{
    ssize_t fd = coil__endpoint_enter(&listener->endpoint, COIL__IN, "coil_accept");

    if (fd < 0)
        return (int)fd;
    do
        fd = coil__endpoint_do(&listener->endpoint,
                               &(struct coil__op){.kind = COIL__OP_ACCEPT});
    while (was_given_up(fd));
    coil__endpoint_leave(&listener->endpoint, COIL__IN);
    return fd < 0 ? (int)fd : coil__stream_open_socket((int)fd, "coil_accept", out);
}
