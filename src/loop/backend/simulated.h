/*
 * simulated.h - the parts of the simulated network, as they see each other.
 *
 *     simulated.c          the backend: operations and watches on simulated sockets
 *     simulated_events.c   what will happen, and what is left to chance
 *     simulated_socket.c   sockets: numbers, addresses, options
 *     simulated_tcp.c      connections being made and ended
 *     simulated_flow.c     the bytes of a connection
 *     simulated_udp.c      datagrams
 */
#ifndef COIL_LOOP_BACKEND_SIMULATED_H
#define COIL_LOOP_BACKEND_SIMULATED_H

#include "../backend.h"
#include "../loop.h"
#include "readiness.h"

#include <coil/network.h>

#include <netinet/in.h>
#include <sys/uio.h>

struct coil__sim;
struct coil__sim_end;

/* ---- events: simulated_events.c --------------------------------------------------- */

/* Something that will happen. It lies in what it happens to, and never allocates. */
struct coil__sim_event {
    void (*happen)(struct coil__sim *sim, struct coil__sim_event *event);
    int64_t when;
    uint64_t order; /* among those of one time: random */
    bool queued;
    struct coil__sim_event *child, *next, *prev; /* in the heap */
};

/* Let it happen at `when`; if it was to happen, then instead of that. */
void coil__sim_schedule(struct coil__sim *sim, struct coil__sim_event *event,
                        int64_t when);

/* Let it not happen. */
void coil__sim_unschedule(struct coil__sim *sim, struct coil__sim_event *event);

int64_t coil__sim_now(void);

/* From 0 to n - 1; n is not 0. */
uint64_t coil__sim_random(struct coil__sim *sim, uint64_t n);

/* So often in a million times. What never happens draws nothing. */
bool coil__sim_chance(struct coil__sim *sim, unsigned ppm);

/* In a range of times, both ends included. */
int64_t coil__sim_between(struct coil__sim *sim, const int64_t range[2]);

/* A packet's time; and a count that a call moves, of the n that it could. */
int64_t coil__sim_latency(struct coil__sim *sim);
size_t coil__sim_shorten(struct coil__sim *sim, size_t n);

/* ---- addresses: simulated_address.c ----------------------------------------------- */

/* IPv4's as they are within IPv6, ::ffff:a.b.c.d. */
struct coil__sim_address {
    struct in6_addr host;
    in_port_t port; /* as sent */
};

/* Read an address meant for a socket of this family. -EINVAL, -EAFNOSUPPORT. */
int coil__sim_address_read(int family, const struct sockaddr *address,
                           socklen_t address_bytes, struct coil__sim_address *out);

/* Write it as the system calls do: what does not fit is cut off, *bytes is all of it. */
void coil__sim_address_write(int family, const struct coil__sim_address *from,
                             struct sockaddr *address, socklen_t *address_bytes);

bool coil__sim_address_equal(const struct coil__sim_address *a,
                             const struct coil__sim_address *b);

bool coil__sim_host_equal(const struct in6_addr *a, const struct in6_addr *b);

/* 0.0.0.0 or ::. */
bool coil__sim_host_any(const struct in6_addr *host);

/* Who speaks to this host, where nobody said: as Linux has it for its own addresses. */
struct in6_addr coil__sim_host_facing(const struct in6_addr *host);

/* A line in the log: when, from where, to where, and what. */
void coil__sim_log(struct coil__sim *sim, const struct coil__sim_address *from,
                   const struct coil__sim_address *to, const char *format, ...)
    COIL__PRINTF(4, 5);

/* ---- hosts that are cut off: simulated_cut.c --------------------------------------- */

struct coil__sim_cut {
    struct in6_addr host;
    int64_t until;
};

int coil__sim_cut(struct coil__sim *sim, const char *address, int64_t for_ns);

/* When nothing between the two is cut off any more; now or earlier: it is not. */
int64_t coil__sim_cut_until(struct coil__sim *sim, const struct in6_addr *a,
                            const struct in6_addr *b);

/* A packet is on its way there: perhaps the host is cut off now. */
void coil__sim_perhaps_cut(struct coil__sim *sim, const struct in6_addr *host);

/* ---- sockets: simulated_socket.c --------------------------------------------------- */

enum coil__sim_state {
    COIL__SIM_FRESH,
    COIL__SIM_LISTENING,
    COIL__SIM_CONNECTING,
    COIL__SIM_CONNECTED /* or was; a datagram socket: has a peer */
};

struct coil__sim_socket {
    int fd, family, type;
    enum coil__sim_state state;
    bool bound, reuse_address, reuse_port, v6_only, resets_on_close;
    size_t send_limit, receive_limit;
    struct coil__sim_address name, peer;
    int error; /* of a datagram socket, or a connection that was not made */

    /* simulated.c */
    enum coil__use use;
    struct coil__op *ops[2];
    struct coil__sim_event late[2];
    struct coil__runnable *watchers[2];
    struct coil__list watched; /* coil__sim.watched */

    struct coil__sim_end *end; /* connecting, connected */

    /* listening */
    struct coil__list accepting; /* coil__sim_connection.accepting */
    unsigned backlog, asking;    /* how many may wait, do so or are about to */

    /* datagrams */
    struct coil__list received; /* coil__sim_datagram.link */
    size_t received_bytes;
};

/* The socket of that number, or NULL. */
struct coil__sim_socket *coil__sim_find(const struct coil__sim *sim, int fd);

/* A new one, or NULL and in *rc -EMFILE or -ENOMEM. */
struct coil__sim_socket *coil__sim_socket_create(struct coil__sim *sim, int family,
                                                 int type, int *rc);

/* Free it and its number. It stands in nothing any more. */
void coil__sim_socket_free(struct coil__sim *sim, struct coil__sim_socket *socket);

/* Give it a name if it has none, from a host facing `peer`. -EADDRNOTAVAIL. */
int coil__sim_socket_autobind(struct coil__sim *sim, struct coil__sim_socket *socket,
                              const struct in6_addr *peer);

/* The one that `to` reaches: of two, the one with the nearer name. */
struct coil__sim_socket *coil__sim_socket_at(struct coil__sim *sim, int type,
                                             enum coil__sim_state state,
                                             const struct coil__sim_address *to);

/* Bytes of an iovec, from `offset` on. */
size_t coil__sim_iov_bytes(const struct iovec *parts, size_t count);
void coil__sim_iov_get(const struct iovec *parts, size_t count, size_t offset, void *to,
                       size_t n);
void coil__sim_iov_put(const struct iovec *parts, size_t count, size_t offset,
                       const void *from, size_t n);

extern const struct coil__network coil__sim_network;

/* ---- connections: simulated_tcp.c, simulated_flow.c -------------------------------- */

enum coil__sim_packet_kind {
    COIL__SIM_HELLO, /* the handshake's second and third: from the server, the client */
    COIL__SIM_FIN,
    COIL__SIM_RST,
    COIL__SIM_CONTROLS, /* those before this need no memory of their own */
    COIL__SIM_DATA
};

struct coil__sim_packet {
    struct coil__list link; /* end.waiting, end.flying, or the other end's received */
    enum coil__sim_packet_kind kind;
    bool breaks; /* and its connection with it */
    int64_t sent, due;
    size_t bytes, taken; /* of `data`: how many, and how many were read */
    unsigned char data[];
};

/* One end of a connection, and what it sends. */
struct coil__sim_end {
    struct coil__sim_connection *connection;
    struct coil__sim_socket *socket; /* NULL: not accepted yet, or closed */
    struct coil__sim_address name;
    bool open;        /* somebody has it: a socket, or a listener's queue */
    bool established; /* as this end sees it */
    bool dead;        /* reset or given up: it neither sends nor receives any more */
    bool fin_sent, fin_received, reading_ended;
    int error;

    struct coil__list received; /* packets */
    size_t received_bytes, receive_limit;

    struct coil__list waiting, flying; /* not sent yet for want of room there; sent */
    size_t flying_bytes;
    size_t unacknowledged, acknowledging; /* bytes: all that fill the send buffer; of
                                             these, arrived, but not known here yet */
    size_t send_limit;
    int64_t last_due, wire_free;
    struct coil__sim_event arrival; /* of the first that flies */
    struct coil__sim_event acknowledgement;
    struct coil__sim_packet controls[COIL__SIM_CONTROLS];
};

enum { COIL__SIM_CLIENT, COIL__SIM_SERVER };

struct coil__sim_connection {
    struct coil__list link;            /* coil__sim.connections */
    struct coil__list accepting;       /* its listener's */
    struct coil__sim_socket *listener; /* until it is accepted */
    struct coil__sim_end ends[2];
    struct coil__sim_event
        attempt; /* the handshake's first packet arrives, or will not */
    int64_t began;
    unsigned attempts;
};

static inline struct coil__sim_end *coil__sim_other(const struct coil__sim_end *end)
{
    struct coil__sim_connection *c = end->connection;

    return &c->ends[end == &c->ends[COIL__SIM_CLIENT]];
}

int coil__sim_tcp_connect(struct coil__sim *sim, struct coil__sim_socket *socket,
                          const struct coil__sim_address *to);
int coil__sim_tcp_accept(struct coil__sim *sim, struct coil__sim_socket *listener,
                         struct sockaddr *address, socklen_t *address_bytes);
int coil__sim_tcp_shutdown(struct coil__sim *sim, struct coil__sim_socket *socket,
                           int how);
void coil__sim_tcp_close(struct coil__sim *sim, struct coil__sim_socket *socket);
unsigned coil__sim_tcp_ready(const struct coil__sim_socket *socket);

/* A handshake's packet, or a reset, has arrived at the end. */
void coil__sim_tcp_greeted(struct coil__sim *sim, struct coil__sim_end *end);
void coil__sim_tcp_was_reset(struct coil__sim *sim, struct coil__sim_end *end);

/* The end has failed: nothing is sent from it or received by it any more. */
void coil__sim_tcp_fail(struct coil__sim *sim, struct coil__sim_end *end, int error);

/* Free the connection if nobody has an end of it. */
void coil__sim_tcp_forget(struct coil__sim *sim, struct coil__sim_connection *c);
void coil__sim_tcp_destroy(struct coil__sim *sim, struct coil__sim_connection *c);

void coil__sim_flow_init(struct coil__sim_end *end);
void coil__sim_flow_finish(struct coil__sim *sim, struct coil__sim_end *end);

/* Send a packet without data, in its turn; a reset: instead of all that waits. */
void coil__sim_flow_control(struct coil__sim *sim, struct coil__sim_end *end,
                            enum coil__sim_packet_kind kind);

/* Forget what has not been sent. */
void coil__sim_flow_drop_waiting(struct coil__sim_end *end);

/* The first that flies may arrive earlier than was thought. */
void coil__sim_flow_look_again(struct coil__sim *sim, struct coil__sim_end *end);

ssize_t coil__sim_flow_send(struct coil__sim *sim, struct coil__sim_end *end,
                            const struct iovec *parts, size_t count);
ssize_t coil__sim_flow_receive(struct coil__sim *sim, struct coil__sim_end *end,
                               const struct iovec *parts, size_t count, int flags);

/* ---- datagrams: simulated_udp.c ---------------------------------------------------- */

struct coil__sim_datagram {
    struct coil__list link; /* coil__sim.datagrams, or a socket's */
    struct coil__sim_event arrival;
    struct coil__sim_address from, to;
    bool unreachable; /* ICMP's answer: nobody is at `from` */
    size_t bytes;
    unsigned char data[];
};

int coil__sim_udp_connect(struct coil__sim *sim, struct coil__sim_socket *socket,
                          const struct coil__sim_address *to);
ssize_t coil__sim_udp_send(struct coil__sim *sim, struct coil__sim_socket *socket,
                           const struct msghdr *message);
ssize_t coil__sim_udp_receive(struct coil__sim *sim, struct coil__sim_socket *socket,
                              struct msghdr *message, int flags);
void coil__sim_udp_close(struct coil__sim_socket *socket);
unsigned coil__sim_udp_ready(const struct coil__sim_socket *socket);

/* ---- the whole: simulated.c -------------------------------------------------------- */

struct coil__sim {
    struct coil__backend backend;
    struct coil__backend *real; /* for the kernel's descriptors */
    coil_network_opts opts;
    uint64_t random[4];
    struct coil__sim_event *first; /* the heap's */
    struct coil__timer timer;      /* for the first; or */
    struct coil__runnable untimed; /* there was no memory for it: try again */
    int64_t timed_for;
    struct coil__sim_socket **sockets; /* by number */
    size_t socket_slots, socket_count;
    struct coil__list watched;     /* coil__sim_socket.watched */
    struct coil__list connections; /* coil__sim_connection.link */
    struct coil__list datagrams;   /* coil__sim_datagram.link: on their way */
    struct coil__sim_cut *cuts;
    size_t cut_count;
    uint16_t next_port;
};

static inline struct coil__sim *coil__sim_of(struct coil__backend *backend)
{
    return COIL__CONTAINER(backend, struct coil__sim, backend);
}

/* What the thread asked for, or NULL: ../network.c. */
const coil_network_opts *coil__network_asked_for(void);

void coil__sim_events_init(struct coil__sim *sim);

/* Something about the socket is not what it was: whoever waits on it tries again. NULL:
   nobody does. */
void coil__sim_changed(struct coil__sim *sim, struct coil__sim_socket *socket);

/* The socket is closed: whoever waits on it waits for nothing. */
void coil__sim_abandon(struct coil__sim *sim, struct coil__sim_socket *socket);

#endif
