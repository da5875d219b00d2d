/*
 * simulated_socket.c - sockets of the simulated network: descriptors, names, options.
 *
 * A new socket gets the lowest free descriptor, as in the kernel. So a closed descriptor
 * is reused soon, which exposes programs that still use it. Ephemeral ports are assigned
 * in ascending order.
 */
#include "simulated.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <string.h>

/* Linux' ephemeral ports: ip_local_port_range in ip(7). */
enum { FIRST_PORT = 32768, LAST_PORT = 60999 };

enum { DEFAULT_BUFFER = 65536, LEAST_BUFFER = 256 };

static size_t buffer_bytes(size_t asked)
{
    if (asked == 0)
        return DEFAULT_BUFFER;
    return asked > LEAST_BUFFER ? asked : LEAST_BUFFER;
}

/* ---- descriptors ------------------------------------------------------------------- */

struct coil__sim_socket *coil__sim_find(const struct coil__sim *sim, int fd)
{
    size_t slot = (size_t)fd - COIL__FIRST_SIMULATED;

    return fd >= COIL__FIRST_SIMULATED && slot < sim->socket_slots ? sim->sockets[slot]
                                                                   : NULL;
}

/* Return the lowest free descriptor, or -EMFILE or -ENOMEM. */
static int free_descriptor(struct coil__sim *sim)
{
    struct coil__sim_socket **sockets;
    size_t slot = 0, slots = sim->socket_slots > 0 ? 2 * sim->socket_slots : 16;
    int rc;

    if (sim->opts.socket_limit > 0 && sim->socket_count >= sim->opts.socket_limit)
        return -EMFILE;
    while (slot < sim->socket_slots && sim->sockets[slot] != NULL)
        slot++;
    if (slot == sim->socket_slots) {
        sockets = coil__inside->realloc(sim->sockets,
                                        slots * sizeof(struct coil__sim_socket *));
        if (sockets == NULL)
            return -ENOMEM;
        memset(sockets + slot, 0, (slots - slot) * sizeof(struct coil__sim_socket *));
        sim->sockets = sockets;
        sim->socket_slots = slots;
    }
    rc = coil__inside->descriptor_make_room(&sim->real->descriptors,
                                            COIL__FIRST_SIMULATED + (int)slot);
    return rc < 0 ? rc : COIL__FIRST_SIMULATED + (int)slot;
}

struct coil__sim_socket *coil__sim_socket_create(struct coil__sim *sim, int family,
                                                 int type, int *rc)
{
    struct coil__sim_socket *socket;
    int fd = free_descriptor(sim);

    socket = fd < 0 ? NULL : coil__inside->alloc_zeroed(sizeof *socket);
    if (socket == NULL) {
        *rc = fd < 0 ? fd : -ENOMEM;
        return NULL;
    }
    socket->fd = fd;
    socket->family = family;
    socket->type = type;
    socket->send_limit = buffer_bytes(sim->opts.send_buffer_bytes);
    socket->receive_limit = buffer_bytes(sim->opts.receive_buffer_bytes);
    coil__list_init(&socket->watched);
    coil__list_init(&socket->accepting);
    coil__list_init(&socket->received);
    sim->sockets[fd - COIL__FIRST_SIMULATED] = socket;
    sim->socket_count++;
    return socket;
}

void coil__sim_socket_free(struct coil__sim *sim, struct coil__sim_socket *socket)
{
    sim->sockets[socket->fd - COIL__FIRST_SIMULATED] = NULL;
    sim->socket_count--;
    coil__inside->free(socket);
}

/* ---- names ------------------------------------------------------------------------- */

/* True if packets to the host reach the socket's name, which may be a wildcard. "::" also
 * receives packets to IPv4 addresses, without IPV6_V6ONLY. */
static bool name_covers(const struct coil__sim_socket *socket,
                        const struct in6_addr *host)
{
    bool v4 = IN6_IS_ADDR_V4MAPPED(host);

    if (coil__sim_host_equal(&socket->name.host, host))
        return true;
    if (!coil__sim_host_any(&socket->name.host))
        return false;
    return v4 ? socket->family == AF_INET || !socket->v6_only
              : socket->family == AF_INET6;
}

/*
 * True if the second socket must not be bound while the first is bound, whichever of them
 * will listen. (Linux: inet_csk_bind_conflict(); SO_REUSEADDR in socket(7))
 */
static bool names_conflict(const struct coil__sim_socket *a,
                           const struct coil__sim_socket *b)
{
    if (a == b || !a->bound || a->type != b->type || a->name.port != b->name.port)
        return false;
    if (a->reuse_port && b->reuse_port)
        return false;
    if (a->reuse_address && b->reuse_address && a->state != COIL__SIM_LISTENING)
        return false;
    return name_covers(a, &b->name.host) || name_covers(b, &a->name.host);
}

static bool name_is_taken(const struct coil__sim *sim,
                          const struct coil__sim_socket *socket)
{
    for (size_t i = 0; i < sim->socket_slots; i++)
        if (sim->sockets[i] != NULL && names_conflict(sim->sockets[i], socket))
            return true;
    return false;
}

static bool port_is_used(const struct coil__sim *sim, int type, in_port_t port)
{
    for (size_t i = 0; i < sim->socket_slots; i++)
        if (sim->sockets[i] != NULL && sim->sockets[i]->bound &&
            sim->sockets[i]->type == type && sim->sockets[i]->name.port == port)
            return true;
    return false;
}

/* Return a free port in network byte order; 0 if all are used. */
static in_port_t free_port(struct coil__sim *sim, int type)
{
    for (int tried = FIRST_PORT; tried <= LAST_PORT; tried++) {
        in_port_t port = htons(sim->next_port);

        sim->next_port =
            (uint16_t)(sim->next_port < LAST_PORT ? sim->next_port + 1 : FIRST_PORT);
        if (!port_is_used(sim, type, port))
            return port;
    }
    return 0;
}

int coil__sim_socket_autobind(struct coil__sim *sim, struct coil__sim_socket *socket,
                              const struct in6_addr *peer)
{
    if (!socket->bound) {
        in_port_t port = free_port(sim, socket->type);

        if (port == 0)
            return -EADDRNOTAVAIL;
        socket->name.port = port;
        if (socket->family == AF_INET)
            socket->name.host.s6_addr[10] = socket->name.host.s6_addr[11] = 0xff;
        socket->bound = true;
    }
    if (peer != NULL && coil__sim_host_any(&socket->name.host))
        socket->name.host = coil__sim_host_facing(peer);
    return 0;
}

/*
 * Return how specific the socket's name is for that address; 0 if it does not cover the
 * address.
 */
static unsigned specificity(const struct coil__sim_socket *socket,
                            const struct coil__sim_address *to)
{
    if (!socket->bound || socket->name.port != to->port ||
        !name_covers(socket, &to->host))
        return 0;
    return coil__sim_host_equal(&socket->name.host, &to->host) ? 3
           : socket->family == AF_INET                         ? 2
                                                               : 1;
}

struct coil__sim_socket *coil__sim_socket_at(struct coil__sim *sim, int type,
                                             enum coil__sim_state state,
                                             const struct coil__sim_address *to)
{
    struct coil__sim_socket *best = NULL;
    unsigned equal = 0, found, highest = 0;

    for (size_t i = 0; i < sim->socket_slots; i++) {
        struct coil__sim_socket *s = sim->sockets[i];

        if (s == NULL || s->type != type || s->state != state)
            continue;
        found = specificity(s, to);
        if (found == 0 || found < highest)
            continue;
        /* Among sockets with SO_REUSEPORT on one port the choice is random. */
        equal = found > highest ? 1 : equal + 1;
        if (found > highest || coil__sim_random(sim, equal) == 0)
            best = s;
        highest = found;
    }
    return best;
}

/* ---- the system calls -------------------------------------------------------------- */

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
    if (socket->bound)
        return -EINVAL;
    if (name.port == 0)
        name.port = free_port(sim, socket->type);
    socket->name = name;
    if (name.port == 0 || name_is_taken(sim, socket))
        return -EADDRINUSE;
    socket->bound = true;
    return 0;
}

static int listen_on_socket(struct coil__backend *backend, int fd, int backlog)
{
    struct coil__sim *sim = coil__sim_of(backend);
    struct coil__sim_socket *socket = coil__sim_find(sim, fd);
    enum coil__sim_state before;
    int rc;

    if (socket == NULL)
        return -EBADF;
    if (coil__sim_call_fails(EADDRINUSE, "listen(fd, backlog)"))
        return -errno;
    if (socket->type != SOCK_STREAM)
        return -EOPNOTSUPP;
    if (socket->state != COIL__SIM_FRESH && socket->state != COIL__SIM_LISTENING)
        return -EINVAL;
    rc = coil__sim_socket_autobind(sim, socket, NULL);
    if (rc < 0)
        return rc;
    before = socket->state;
    socket->state = COIL__SIM_LISTENING;
    if (name_is_taken(sim, socket)) {
        socket->state = before;
        return -EADDRINUSE;
    }
    socket->backlog = backlog < 0 ? 4096 : (unsigned)backlog; /* somaxconn */
    return 0;
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
    coil__sim_abandon(sim, socket);
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
    size_t limit = buffer_bytes(bytes > 0 ? (size_t)bytes : 1);

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

/* Options that have no effect in the simulation are accepted. */
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

/* SO_ERROR: get and clear the pending error. */
static int take_pending_error(struct coil__sim_socket *socket)
{
    int *place =
        socket->end != NULL && socket->error == 0 ? &socket->end->error : &socket->error;
    int error = *place;

    *place = 0;
    return error;
}

/* An option of SOL_SOCKET. */
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
