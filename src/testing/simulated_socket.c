/*
 * simulated_socket.c - sockets of the simulated network: descriptors and names.
 *
 * A new socket gets the lowest free descriptor, as in the kernel. So the number of a
 * closed socket is soon reused, which reveals programs that use a socket after they have
 * closed it. Ephemeral ports are assigned in ascending order.
 */
#include "simulated_socket.h"

#include <arpa/inet.h>
#include <string.h>

/* Linux's ephemeral ports: ip_local_port_range in ip(7). */
enum { FIRST_PORT = 32768, LAST_PORT = 60999 };

enum { DEFAULT_BUFFER = 65536, LEAST_BUFFER = 256 };

size_t coil__sim_buffer_bytes(size_t asked)
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

/*
 * Find the lowest free descriptor, and make room for it in the tables. Fails with -EMFILE
 * or -ENOMEM.
 */
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
    socket->send_limit = coil__sim_buffer_bytes(sim->opts.send_buffer_bytes);
    socket->receive_limit = coil__sim_buffer_bytes(sim->opts.receive_buffer_bytes);
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

/*
 * True if the socket is bound to this host, or to a wildcard address that includes this
 * host. Without IPV6_V6ONLY, "::" includes IPv4 addresses.
 */
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
 * True if `b` must not be bound to its name, or must not listen, because `a` is bound to
 * a name that overlaps. The rules are Linux's: see inet_csk_bind_conflict(), and
 * SO_REUSEADDR in socket(7).
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

/* Return a free ephemeral port in network byte order, or 0 if all are used. */
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

int coil__sim_socket_bind(struct coil__sim *sim, struct coil__sim_socket *socket,
                          const struct coil__sim_address *name)
{
    if (socket->bound)
        return -EINVAL;
    socket->name = *name;
    if (name->port == 0)
        socket->name.port = free_port(sim, socket->type);
    if (socket->name.port == 0 || name_is_taken(sim, socket))
        return -EADDRINUSE;
    socket->bound = true;
    return 0;
}

int coil__sim_socket_listen(struct coil__sim *sim, struct coil__sim_socket *socket,
                            int backlog)
{
    enum coil__sim_state before = socket->state;
    int rc = coil__sim_socket_autobind(sim, socket, NULL);

    if (rc < 0)
        return rc;
    socket->state = COIL__SIM_LISTENING;
    if (name_is_taken(sim, socket)) {
        socket->state = before;
        return -EADDRINUSE;
    }
    socket->backlog = backlog < 0 ? 4096 : (unsigned)backlog; /* somaxconn */
    return 0;
}

/*
 * Return 0 if the socket's name does not match the address, otherwise a number that is
 * greater the more specific the name is.
 */
static unsigned match_rank(const struct coil__sim_socket *socket,
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
        found = match_rank(s, to);
        if (found == 0 || found < highest)
            continue;
        /*
         * Several sockets with SO_REUSEPORT can have the same name. In that case, choose
         * one of them at random.
         */
        equal = found > highest ? 1 : equal + 1;
        if (found > highest || coil__sim_random(sim, equal) == 0)
            best = s;
        highest = found;
    }
    return best;
}

/* ---- changes ----------------------------------------------------------------------- */

void coil__sim_changed(struct coil__sim *sim, struct coil__sim_socket *socket)
{
    if (socket != NULL)
        sim->retry_ops(sim, socket);
}
