/*
 * simulated_calls.c - the calls on simulated sockets that never wait, such as bind().
 *
 * A call into which a failure is injected (coil_testing_fail_system_call()) has no
 * effect.
 */
#include "simulated_calls.h"

#include <netinet/tcp.h>
#include <string.h>

static int open_socket(struct coil__backend *backend, int family, int type, int protocol)
{
    struct coil__sim_socket *socket;
    int rc = 0;

    (void)protocol;
    type &= ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (coil__sim_call_fails(EMFILE, "socket(family, type, protocol)"))
        return -errno;
    if (type != SOCK_STREAM && type != SOCK_DGRAM)
        return -ESOCKTNOSUPPORT;
    socket = coil__sim_socket_create(coil__sim_of(backend), family, type, &rc);
    return socket != NULL ? socket->fd : rc;
}

static int bind_socket(struct coil__backend *backend, int fd,
                       const struct sockaddr *address, socklen_t address_bytes)
{
    struct coil__sim *sim = coil__sim_of(backend);
    struct coil__sim_socket *socket = coil__sim_find(sim, fd);
    struct coil__sim_address name;
    int rc;

    if (socket == NULL)
        return -EBADF;
    if (coil__sim_call_fails(EADDRINUSE, "bind(fd, address, address_bytes)"))
        return -errno;
    rc = coil__sim_address_read(socket->family, address, address_bytes, &name);
    if (rc < 0)
        return rc;
    return coil__sim_socket_bind(sim, socket, &name);
}

static int listen_on_socket(struct coil__backend *backend, int fd, int backlog)
{
    struct coil__sim *sim = coil__sim_of(backend);
    struct coil__sim_socket *socket = coil__sim_find(sim, fd);

    if (socket == NULL)
        return -EBADF;
    if (coil__sim_call_fails(EADDRINUSE, "listen(fd, backlog)"))
        return -errno;
    if (socket->type != SOCK_STREAM)
        return -EOPNOTSUPP;
    if (socket->state != COIL__SIM_FRESH && socket->state != COIL__SIM_LISTENING)
        return -EINVAL;
    return coil__sim_socket_listen(sim, socket, backlog);
}

static int shut_down(struct coil__backend *backend, int fd, int how)
{
    struct coil__sim_socket *socket = coil__sim_find(coil__sim_of(backend), fd);

    if (socket == NULL)
        return -EBADF;
    if (coil__sim_call_fails(ENOTCONN, "shutdown(fd, how)"))
        return -errno;
    if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR)
        return -EINVAL;
    if (socket->type == SOCK_STREAM)
        return coil__sim_tcp_shutdown(coil__sim_of(backend), socket, how);
    return socket->state == COIL__SIM_CONNECTED ? 0 : -ENOTCONN;
}

static int name_of(struct coil__backend *backend, int fd, struct sockaddr *address,
                   socklen_t *address_bytes)
{
    static const struct coil__sim_address none;
    struct coil__sim_socket *socket = coil__sim_find(coil__sim_of(backend), fd);

    if (socket == NULL)
        return -EBADF;
    if (coil__sim_call_fails(ENOBUFS, "getsockname(fd, address, address_bytes)"))
        return -errno;
    coil__sim_address_write(socket->family, socket->bound ? &socket->name : &none,
                            address, address_bytes);
    return 0;
}

static int peer_of(struct coil__backend *backend, int fd, struct sockaddr *address,
                   socklen_t *address_bytes)
{
    struct coil__sim_socket *socket = coil__sim_find(coil__sim_of(backend), fd);

    if (socket == NULL)
        return -EBADF;
    if (coil__sim_call_fails(ENOBUFS, "getpeername(fd, address, address_bytes)"))
        return -errno;
    if (socket->state != COIL__SIM_CONNECTED ||
        (socket->end != NULL && socket->end->dead))
        return -ENOTCONN;
    coil__sim_address_write(socket->family, &socket->peer, address, address_bytes);
    return 0;
}

static int close_socket(struct coil__backend *backend, int fd)
{
    struct coil__sim *sim = coil__sim_of(backend);
    struct coil__sim_socket *socket = coil__sim_find(sim, fd);

    if (socket == NULL)
        return -EBADF;
    coil__sim_end_ops(sim, socket);
    coil__list_remove(&socket->watched);
    if (socket->type == SOCK_STREAM)
        coil__sim_tcp_close(sim, socket);
    else
        coil__sim_udp_close(socket);
    coil__sim_socket_free(sim, socket);
    return 0;
}

/* ---- options ----------------------------------------------------------------------- */

static void set_limit(struct coil__sim_socket *socket, bool sending, int bytes)
{
    size_t limit = coil__sim_buffer_bytes(bytes > 0 ? (size_t)bytes : 1);

    *(sending ? &socket->send_limit : &socket->receive_limit) = limit;
    if (socket->end != NULL)
        *(sending ? &socket->end->send_limit : &socket->end->receive_limit) = limit;
}

static int set_linger(struct coil__sim_socket *socket, const void *value, socklen_t bytes)
{
    struct linger linger;

    if (bytes < sizeof linger)
        return -EINVAL;
    memcpy(&linger, value, sizeof linger);
    socket->resets_on_close = linger.l_onoff != 0 && linger.l_linger == 0;
    return 0;
}

/* Set a socket option. Options that the simulation does not implement are ignored. */
static int set_option(struct coil__backend *backend, int fd, int level, int name,
                      const void *value, socklen_t value_bytes)
{
    struct coil__sim_socket *socket = coil__sim_find(coil__sim_of(backend), fd);
    int number;

    if (socket == NULL)
        return -EBADF;
    if (level == SOL_SOCKET && name == SO_LINGER)
        return set_linger(socket, value, value_bytes);
    if (value_bytes < sizeof number)
        return -EINVAL;
    memcpy(&number, value, sizeof number);
    if (level == SOL_SOCKET && name == SO_REUSEADDR)
        socket->reuse_address = number != 0;
    else if (level == SOL_SOCKET && name == SO_REUSEPORT)
        socket->reuse_port = number != 0;
    else if (level == SOL_SOCKET && (name == SO_SNDBUF || name == SO_RCVBUF))
        set_limit(socket, name == SO_SNDBUF, number);
    else if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY)
        socket->v6_only = number != 0;
    else if ((level == IPPROTO_IP && name == IP_PKTINFO) ||
             (level == IPPROTO_IPV6 && name == IPV6_RECVPKTINFO))
        socket->wants_info = number != 0;
    return 0;
}

/* Return and clear the pending error (SO_ERROR). */
static int take_pending_error(struct coil__sim_socket *socket)
{
    int *place =
        socket->end != NULL && socket->error == 0 ? &socket->end->error : &socket->error;
    int error = *place;

    *place = 0;
    return error;
}

/* Return the value of an option of SOL_SOCKET. */
static int socket_option(struct coil__sim_socket *socket, int name)
{
    switch (name) {
    case SO_ERROR:
        return take_pending_error(socket);
    case SO_TYPE:
        return socket->type;
    case SO_DOMAIN:
        return socket->family;
    case SO_PROTOCOL:
        return socket->type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP;
    case SO_ACCEPTCONN:
        return socket->state == COIL__SIM_LISTENING;
    case SO_SNDBUF:
        return (int)socket->send_limit;
    case SO_RCVBUF:
        return (int)socket->receive_limit;
    case SO_REUSEADDR:
        return socket->reuse_address;
    case SO_REUSEPORT:
        return socket->reuse_port;
    default:
        return 0;
    }
}

static int get_option(struct coil__backend *backend, int fd, int level, int name,
                      void *value, socklen_t *value_bytes)
{
    struct coil__sim_socket *socket = coil__sim_find(coil__sim_of(backend), fd);
    int number;

    if (socket == NULL)
        return -EBADF;
    number = level == SOL_SOCKET                            ? socket_option(socket, name)
             : level == IPPROTO_IPV6 && name == IPV6_V6ONLY ? socket->v6_only
             : level == IPPROTO_TCP && name == TCP_NODELAY  ? 1
                                                            : 0;
    if (*value_bytes > sizeof number)
        *value_bytes = sizeof number;
    memcpy(value, &number, *value_bytes);
    return 0;
}

const struct coil__network coil__sim_network = {
    .socket = open_socket,
    .bind = bind_socket,
    .listen = listen_on_socket,
    .shutdown = shut_down,
    .getsockname = name_of,
    .getpeername = peer_of,
    .setsockopt = set_option,
    .getsockopt = get_option,
    .close = close_socket,
};
