/*
 * simulated_udp.c - datagrams of the simulated network.
 *
 * Each datagram has its own latency, so it may overtake others, and it may be lost or
 * duplicated. A datagram to an address without a socket is sent back as the ICMP message
 * "port unreachable", which only a connected socket receives, as an error.
 */
#include "simulated_udp.h"

#include <string.h>

/* 65,535 bytes minus the headers of IPv4 and UDP (28 bytes), or of UDP (8 bytes). */
enum { LARGEST_V4 = 65507, LARGEST_V6 = 65527 };

static struct coil__sim_datagram *first_received(struct coil__sim_socket *socket)
{
    return COIL__CONTAINER(socket->received.next, struct coil__sim_datagram, link);
}

static void drop_datagram(struct coil__sim_datagram *datagram)
{
    coil__list_remove(&datagram->link);
    coil__inside->free(datagram);
}

/* Return the connected datagram socket with this name and peer, or NULL. */
static struct coil__sim_socket *connected_at(struct coil__sim *sim,
                                             const struct coil__sim_address *name,
                                             const struct coil__sim_address *peer)
{
    for (size_t i = 0; i < sim->socket_slots; i++) {
        struct coil__sim_socket *s = sim->sockets[i];

        if (s != NULL && s->type == SOCK_DGRAM && s->state == COIL__SIM_CONNECTED &&
            coil__sim_address_equal(&s->name, name) &&
            coil__sim_address_equal(&s->peer, peer))
            return s;
    }
    return NULL;
}

/* ---- transmission ------------------------------------------------------------------ */

static void launch_datagram(struct coil__sim *sim, struct coil__sim_datagram *datagram)
{
    coil__sim_perhaps_cut(sim, &datagram->to.host);
    coil__sim_schedule(sim, &datagram->arrival,
                       coil__inside->time_add(coil__sim_now(), coil__sim_latency(sim)));
}

/* Send the datagram back to its sender, as an ICMP message "port unreachable". */
static void send_back_unreachable(struct coil__sim *sim,
                                  struct coil__sim_datagram *datagram)
{
    struct coil__sim_address from = datagram->from;

    datagram->from = datagram->to;
    datagram->to = from;
    datagram->unreachable = true;
    launch_datagram(sim, datagram);
}

static void deliver_unreachable(struct coil__sim *sim,
                                struct coil__sim_datagram *datagram)
{
    struct coil__sim_socket *socket = connected_at(sim, &datagram->to, &datagram->from);

    drop_datagram(datagram);
    if (socket == NULL)
        return;
    socket->error = ECONNREFUSED;
    coil__sim_changed(sim, socket);
}

static void deliver_datagram(struct coil__sim *sim, struct coil__sim_datagram *datagram)
{
    struct coil__sim_socket *socket = connected_at(sim, &datagram->to, &datagram->from);

    if (socket == NULL)
        socket = coil__sim_socket_at(sim, SOCK_DGRAM, COIL__SIM_FRESH, &datagram->to);
    if (socket == NULL) {
        send_back_unreachable(sim, datagram);
        return;
    }
    if (socket->received_bytes > 0 &&
        socket->received_bytes + datagram->bytes > socket->receive_limit) {
        drop_datagram(datagram);
        return;
    }
    coil__list_remove(&datagram->link);
    coil__list_push(&socket->received, &datagram->link);
    socket->received_bytes += datagram->bytes + 1; /* even empty datagrams take space */
    coil__sim_changed(sim, socket);
}

static void datagram_arrives(struct coil__sim *sim, struct coil__sim_event *event)
{
    struct coil__sim_datagram *d =
        COIL__CONTAINER(event, struct coil__sim_datagram, arrival);
    bool lost = coil__sim_cut_until(sim, &d->from.host, &d->to.host) > coil__sim_now() ||
                coil__sim_chance(sim, sim->opts.loss_ppm);

    coil__sim_log(sim, &d->from, &d->to, "%s %zu%s",
                  d->unreachable ? "unreachable" : "datagram", d->bytes,
                  lost ? ", lost" : "");
    if (lost)
        drop_datagram(d);
    else if (d->unreachable)
        deliver_unreachable(sim, d);
    else
        deliver_datagram(sim, d);
}

/* ---- sending ----------------------------------------------------------------------- */

static struct coil__sim_datagram *create_datagram(struct coil__sim *sim,
                                                  const struct coil__sim_address *from,
                                                  const struct coil__sim_address *to,
                                                  size_t bytes)
{
    struct coil__sim_datagram *datagram = coil__inside->alloc(sizeof *datagram + bytes);

    if (datagram == NULL)
        return NULL;
    *datagram = (struct coil__sim_datagram){.arrival = {.happen = datagram_arrives},
                                            .from = *from,
                                            .to = *to,
                                            .bytes = bytes};
    coil__list_push(&sim->datagrams, &datagram->link);
    return datagram;
}

static int destination(const struct coil__sim_socket *socket,
                       const struct msghdr *message, struct coil__sim_address *to)
{
    if (message->msg_name != NULL)
        return coil__sim_address_read(socket->family, message->msg_name,
                                      message->msg_namelen, to);
    if (socket->state != COIL__SIM_CONNECTED)
        return -EDESTADDRREQ;
    *to = socket->peer;
    return 0;
}

static int take_error(struct coil__sim_socket *socket)
{
    int error = socket->error;

    socket->error = 0;
    return error;
}

/*
 * The simulated network has one interface, with the index of the loopback device.
 */
#define INTERFACE 1

/*
 * Set *host to the source address that the control data requests, if any. Fails with
 * -ENODEV if another network interface is requested.
 */
static int read_source(const struct msghdr *message, struct in6_addr *host)
{
    struct msghdr view = *message; /* CMSG_NXTHDR() does not accept a const struct */
    unsigned interface = 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(&view); c != NULL; c = CMSG_NXTHDR(&view, c)) {
        struct in6_pktinfo v6;
        struct in_pktinfo v4;

        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
            memcpy(&v4, CMSG_DATA(c), sizeof v4);
            interface = (unsigned)v4.ipi_ifindex;
            if (v4.ipi_spec_dst.s_addr != htonl(INADDR_ANY)) {
                *host = (struct in6_addr){.s6_addr = {[10] = 0xff, [11] = 0xff}};
                memcpy(&host->s6_addr[12], &v4.ipi_spec_dst, 4);
            }
        } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
            memcpy(&v6, CMSG_DATA(c), sizeof v6);
            interface = v6.ipi6_ifindex;
            if (!coil__sim_host_any(&v6.ipi6_addr))
                *host = v6.ipi6_addr;
        }
    }
    return interface == 0 || interface == INTERFACE ? 0 : -ENODEV;
}

ssize_t coil__sim_udp_send(struct coil__sim *sim, struct coil__sim_socket *socket,
                           const struct msghdr *message)
{
    size_t n = coil__sim_iov_bytes(message->msg_iov, message->msg_iovlen);
    struct coil__sim_address to, from;
    struct coil__sim_datagram *datagram, *twin = NULL;
    int rc = destination(socket, message, &to);

    if (socket->error != 0)
        return -take_error(socket);
    if (rc < 0)
        return rc;
    if (n > (IN6_IS_ADDR_V4MAPPED(&to.host) ? LARGEST_V4 : LARGEST_V6))
        return -EMSGSIZE;
    rc = coil__sim_socket_autobind(sim, socket, NULL);
    if (rc < 0)
        return rc;
    if (coil__sim_host_any(&to.host))
        to.host = coil__sim_host_facing(&to.host);
    from = socket->name;
    rc = read_source(message, &from.host);
    if (rc < 0)
        return rc;
    if (coil__sim_host_any(&from.host))
        from.host = coil__sim_host_facing(&to.host);
    datagram = create_datagram(sim, &from, &to, n);
    if (datagram == NULL)
        return -ENOBUFS;
    coil__sim_iov_get(message->msg_iov, message->msg_iovlen, 0, datagram->data, n);
    if (coil__sim_chance(sim, sim->opts.duplicate_ppm))
        twin = create_datagram(sim, &from, &to, n);
    if (twin != NULL) {
        memcpy(twin->data, datagram->data, n);
        launch_datagram(sim, twin);
    }
    launch_datagram(sim, datagram);
    return (ssize_t)n;
}

/* ---- receiving --------------------------------------------------------------------- */

/* Report the address to which the datagram was sent, as control data (IP_PKTINFO). */
static void write_info(const struct coil__sim_socket *socket, const struct in6_addr *to,
                       struct msghdr *message)
{
    struct in6_pktinfo v6 = {.ipi6_addr = *to, .ipi6_ifindex = INTERFACE};
    struct in_pktinfo v4 = {.ipi_ifindex = INTERFACE};
    bool is_v6 = socket->family == AF_INET6;
    size_t bytes = is_v6 ? sizeof v6 : sizeof v4, room = message->msg_controllen;
    struct cmsghdr *c = message->msg_control;

    message->msg_controllen = 0;
    if (!socket->wants_info)
        return;
    if (c == NULL || room < CMSG_SPACE(bytes)) {
        message->msg_flags |= MSG_CTRUNC;
        return;
    }
    memcpy(&v4.ipi_addr, &to->s6_addr[12], 4);
    v4.ipi_spec_dst = v4.ipi_addr;
    c->cmsg_level = is_v6 ? IPPROTO_IPV6 : IPPROTO_IP;
    c->cmsg_type = is_v6 ? IPV6_PKTINFO : IP_PKTINFO;
    c->cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(c), is_v6 ? (const void *)&v6 : (const void *)&v4, bytes);
    message->msg_controllen = CMSG_SPACE(bytes);
}

ssize_t coil__sim_udp_receive(struct coil__sim *sim, struct coil__sim_socket *socket,
                              struct msghdr *message, int flags)
{
    size_t room = coil__sim_iov_bytes(message->msg_iov, message->msg_iovlen), n, whole;
    struct coil__sim_datagram *datagram;

    (void)sim;
    if (socket->error != 0)
        return -take_error(socket);
    if (coil__list_empty(&socket->received))
        return -EAGAIN;
    datagram = first_received(socket);
    whole = datagram->bytes;
    n = whole < room ? whole : room;
    coil__sim_iov_put(message->msg_iov, message->msg_iovlen, 0, datagram->data, n);
    message->msg_flags = n < whole ? MSG_TRUNC : 0;
    write_info(socket, &datagram->to.host, message);
    if (message->msg_name != NULL)
        coil__sim_address_write(socket->family, &datagram->from, message->msg_name,
                                &message->msg_namelen);
    if (!(flags & MSG_PEEK)) {
        socket->received_bytes -= whole + 1;
        drop_datagram(datagram);
    }
    return (ssize_t)(flags & MSG_TRUNC ? whole : n);
}

/* ---- connecting and freeing -------------------------------------------------------- */

int coil__sim_udp_connect(struct coil__sim *sim, struct coil__sim_socket *socket,
                          const struct coil__sim_address *to)
{
    struct coil__sim_address peer = *to;
    int rc;

    if (coil__sim_host_any(&peer.host))
        peer.host = coil__sim_host_facing(&peer.host);
    rc = coil__sim_socket_autobind(sim, socket, &peer.host);
    if (rc < 0)
        return rc;
    socket->peer = peer;
    socket->state = COIL__SIM_CONNECTED;
    return 0;
}

void coil__sim_udp_close(struct coil__sim_socket *socket)
{
    while (!coil__list_empty(&socket->received))
        drop_datagram(first_received(socket));
}

unsigned coil__sim_udp_ready(const struct coil__sim_socket *socket)
{
    bool readable = !coil__list_empty(&socket->received) || socket->error != 0;

    return COIL_WRITABLE | (readable ? COIL_READABLE : 0);
}
