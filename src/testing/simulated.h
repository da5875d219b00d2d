/*
 * simulated.h (internal) - the shared declarations of the simulated network.
 *
 *     simulated.c           the backend: operations and watches on simulated sockets
 *     simulated_events.c    the queue of future events; random numbers
 *     simulated_address.c   addresses; the log
 *     simulated_cut.c       hosts that are cut off
 *     simulated_socket.c    sockets: descriptors, names, options
 *     simulated_tcp.c       making and ending connections
 *     simulated_flow.c      the bytes of a connection
 *     simulated_udp.c       datagrams
 */
#ifndef COIL_TESTING_SIMULATED_H
#define COIL_TESTING_SIMULATED_H

#include "../loop/backend/readiness.h"
#include "inside.h"

#include <coil/network.h>

#include <netinet/in.h>
#include <sys/uio.h>

struct coil__sim;
struct coil__sim_end;

/* ---- events: simulated_events.c ---------------------------------------------------- */

/*
 * A future event. An event is a member of the object that it acts on, so scheduling does
 * not allocate.
 */
struct coil__sim_event {
    void (*happen)(struct coil__sim *sim, struct coil__sim_event *event);
    int64_t when;
    uint64_t order; /* order among events of the same time; random */
    bool queued;
    struct coil__sim_event *child, *next, *prev; /* in the heap */
};

/* Schedule the event for `when`, even if it was scheduled for another time. */
void coil__sim_schedule(struct coil__sim *sim, struct coil__sim_event *event,
                        int64_t when);

/* Cancel the event. Has no effect if it is not scheduled. */
void coil__sim_unschedule(struct coil__sim *sim, struct coil__sim_event *event);

int64_t coil__sim_now(void);

/* Return a random number from 0 to n - 1; n is not 0. */
uint64_t coil__sim_random(struct coil__sim *sim, uint64_t n);

/*
 * Return true with a probability of `ppm` in a million. With 0 no random number is drawn.
 */
bool coil__sim_chance(struct coil__sim *sim, unsigned ppm);

/* Return a random time in the range, both ends included. */
int64_t coil__sim_between(struct coil__sim *sim, const int64_t range[2]);

/* Return the random latency of a packet. */
int64_t coil__sim_latency(struct coil__sim *sim);

/* Return how many of n possible bytes a call moves: randomly fewer. */
size_t coil__sim_shorten(struct coil__sim *sim, size_t n);

/* ---- addresses: simulated_address.c ------------------------------------------------ */

/* IPv4 addresses are mapped to IPv6, as ::ffff:a.b.c.d. */
struct coil__sim_address {
    struct in6_addr host;
    in_port_t port; /* in network byte order */
};

/* Parse an address for a socket of this family. Fails with -EINVAL or -EAFNOSUPPORT. */
int coil__sim_address_read(int family, const struct sockaddr *address,
                           socklen_t address_bytes, struct coil__sim_address *out);

/* Write an address like the system calls: truncated to *address_bytes, which is then set
 * to the full length. */
void coil__sim_address_write(int family, const struct coil__sim_address *from,
                             struct sockaddr *address, socklen_t *address_bytes);

bool coil__sim_address_equal(const struct coil__sim_address *a,
                             const struct coil__sim_address *b);

bool coil__sim_host_equal(const struct in6_addr *a, const struct in6_addr *b);

/* True for 0.0.0.0 and ::. */
bool coil__sim_host_any(const struct in6_addr *host);

/* Return the source host of an unbound socket that sends to this host. Linux makes the
 * same choice for its own addresses. */
struct in6_addr coil__sim_host_facing(const struct in6_addr *host);

/* Write a line to the log: time, source, destination, and the text. */
void coil__sim_log(struct coil__sim *sim, const struct coil__sim_address *from,
                   const struct coil__sim_address *to, const char *format, ...)
    COIL__PRINTF(4, 5);

/* ---- hosts that are cut off: simulated_cut.c --------------------------------------- */

struct coil__sim_cut {
    struct in6_addr host;
    int64_t until;
};

int coil__sim_cut(struct coil__sim *sim, const char *address, int64_t for_ns);

/*
 * Return the time until which one of the two hosts is cut off; a past time if neither is.
 */
int64_t coil__sim_cut_until(struct coil__sim *sim, const struct in6_addr *a,
                            const struct in6_addr *b);

/* Called when a packet is sent to the host: randomly cut the host off (opts.cut_ppm). */
void coil__sim_perhaps_cut(struct coil__sim *sim, const struct in6_addr *host);

/* ---- sockets: simulated_socket.c --------------------------------------------------- */

enum coil__sim_state {
    COIL__SIM_FRESH,
    COIL__SIM_LISTENING,
    COIL__SIM_CONNECTING,
    COIL__SIM_CONNECTED /* or the connection has ended; a datagram socket: has a peer */
};

struct coil__sim_socket {
    int fd, family, type;
    enum coil__sim_state state;
    bool bound, reuse_address, reuse_port, v6_only, resets_on_close;
    bool wants_info; /* IP_PKTINFO, IPV6_RECVPKTINFO */
    size_t send_limit, receive_limit;
    struct coil__sim_address name, peer;
    int error; /* pending error of a datagram socket or a failed connect */

    /* simulated.c */
    enum coil__use use;
    struct coil__op *ops[2];
    struct coil__sim_event late[2];
    struct coil__runnable *watchers[2];
    struct coil__list watched; /* coil__sim.watched */

    struct coil__sim_end *end; /* connecting, connected */

    /* listening */
    struct coil__list accepting; /* coil__sim_connection.accepting */
    unsigned backlog, asking;    /* the limit; half-open and unaccepted connections */

    /* datagrams */
    struct coil__list received; /* coil__sim_datagram.link */
    size_t received_bytes;
};

/* Return the socket of that descriptor, or NULL. */
struct coil__sim_socket *coil__sim_find(const struct coil__sim *sim, int fd);

/* Create a socket. On failure returns NULL and sets *rc to -EMFILE or -ENOMEM. */
struct coil__sim_socket *coil__sim_socket_create(struct coil__sim *sim, int family,
                                                 int type, int *rc);

/* Free the socket and its descriptor. Nothing may refer to it. */
void coil__sim_socket_free(struct coil__sim *sim, struct coil__sim_socket *socket);

/* Bind an unbound socket to a free port, and to the host that faces `peer`, which may be
 * NULL. Fails with -EADDRNOTAVAIL. */
int coil__sim_socket_autobind(struct coil__sim *sim, struct coil__sim_socket *socket,
                              const struct in6_addr *peer);

/*
 * Return the socket that a packet to `to` reaches: the socket with the most specific
 * name.
 */
struct coil__sim_socket *coil__sim_socket_at(struct coil__sim *sim, int type,
                                             enum coil__sim_state state,
                                             const struct coil__sim_address *to);

/* Count the bytes of an iovec, and copy them from `offset` on. */
size_t coil__sim_iov_bytes(const struct iovec *parts, size_t count);
void coil__sim_iov_get(const struct iovec *parts, size_t count, size_t offset, void *to,
                       size_t n);
void coil__sim_iov_put(const struct iovec *parts, size_t count, size_t offset,
                       const void *from, size_t n);

extern const struct coil__network coil__sim_network;

/* ---- connections: simulated_tcp.c, simulated_flow.c -------------------------------- */

enum coil__sim_packet_kind {
    COIL__SIM_HELLO, /* the handshake's second (server's) and third (client's) packet */
    COIL__SIM_FIN,
    COIL__SIM_RST,
    COIL__SIM_CONTROLS, /* the number of control packets, which are members of the end */
    COIL__SIM_DATA
};

struct coil__sim_packet {
    struct coil__list link; /* end.waiting, end.flying, or the other end's received */
    enum coil__sim_packet_kind kind;
    bool breaks; /* the packet is lost, and the connection is reset */
    int64_t sent, due;
    /* of `data`: the number of bytes, and the number of bytes read */
    size_t bytes, taken;
    unsigned char data[];
};

/* One end of a connection, with the packets that it sends. */
struct coil__sim_end {
    struct coil__sim_connection *connection;
    struct coil__sim_socket *socket; /* NULL: not accepted yet, or closed */
    struct coil__sim_address name;
    bool open;        /* a socket or a listener's queue refers to it */
    bool established; /* as this end sees it */
    bool dead;        /* reset or timed out: it neither sends nor receives */
    bool fin_sent, fin_received, reading_ended;
    int error; /* pending */
    int lost;  /* the error that a call has returned; or 0 */

    struct coil__list received; /* packets */
    size_t received_bytes, receive_limit;

    struct coil__list waiting; /* not sent: the other end's receive buffer is full */
    struct coil__list flying;  /* sent, not arrived */
    size_t flying_bytes;
    size_t unacknowledged; /* bytes in the send buffer */
    size_t acknowledging;  /* of these, arrived; their acknowledgement is in transit */
    size_t send_limit;
    int64_t last_due, wire_free;
    struct coil__sim_event arrival; /* arrival of the first packet in `flying` */
    struct coil__sim_event acknowledgement;
    struct coil__sim_packet controls[COIL__SIM_CONTROLS];
};

enum { COIL__SIM_CLIENT, COIL__SIM_SERVER };

struct coil__sim_connection {
    struct coil__list link;            /* coil__sim.connections */
    struct coil__list accepting;       /* its listener's */
    struct coil__sim_socket *listener; /* until it is accepted */
    struct coil__sim_end ends[2];
    struct coil__sim_event attempt; /* the handshake's first packet arrives or is lost */
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

/* A HELLO or a reset has arrived at the end. */
void coil__sim_tcp_greeted(struct coil__sim *sim, struct coil__sim_end *end);
void coil__sim_tcp_was_reset(struct coil__sim *sim, struct coil__sim_end *end);

/* The end fails: it neither sends nor receives from now on. */
void coil__sim_tcp_fail(struct coil__sim *sim, struct coil__sim_end *end, int error);

/* Free the connection if neither end is open. */
void coil__sim_tcp_forget(struct coil__sim *sim, struct coil__sim_connection *c);
void coil__sim_tcp_destroy(struct coil__sim *sim, struct coil__sim_connection *c);

void coil__sim_flow_init(struct coil__sim_end *end);
void coil__sim_flow_finish(struct coil__sim *sim, struct coil__sim_end *end);

/*
 * Send a packet without data after the waiting packets. A reset drops the waiting
 * packets.
 */
void coil__sim_flow_control(struct coil__sim *sim, struct coil__sim_end *end,
                            enum coil__sim_packet_kind kind);

/* Drop the packets that have not been sent. */
void coil__sim_flow_drop_waiting(struct coil__sim_end *end);

/* Reschedule the next arrival after a cut has changed. */
void coil__sim_flow_reschedule(struct coil__sim *sim, struct coil__sim_end *end);

ssize_t coil__sim_flow_send(struct coil__sim *sim, struct coil__sim_end *end,
                            const struct iovec *parts, size_t count);
ssize_t coil__sim_flow_receive(struct coil__sim *sim, struct coil__sim_end *end,
                               const struct iovec *parts, size_t count, int flags);

/* ---- datagrams: simulated_udp.c ---------------------------------------------------- */

struct coil__sim_datagram {
    struct coil__list link; /* in coil__sim.datagrams or a socket's list */
    struct coil__sim_event arrival;
    struct coil__sim_address from, to;
    bool unreachable; /* an ICMP answer: no socket is bound to `from` */
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
    struct coil__sim_event *first; /* the top of the heap */
    struct coil__timer timer;      /* due at the first event */
    struct coil__runnable untimed; /* replaces the timer if memory for it ran out */
    int64_t timed_for;
    struct coil__sim_socket **sockets; /* by descriptor - COIL__FIRST_SIMULATED */
    size_t socket_slots, socket_count;
    struct coil__list watched;     /* coil__sim_socket.watched */
    struct coil__list connections; /* coil__sim_connection.link */
    struct coil__list datagrams;   /* coil__sim_datagram.link: sent, not arrived */
    struct coil__sim_cut *cuts;
    size_t cut_count;
    uint16_t next_port;
};

static inline struct coil__sim *coil__sim_of(struct coil__backend *backend)
{
    return COIL__CONTAINER(backend, struct coil__sim, backend);
}

/* Return the options that the thread has set, or zeroes: network.c. */
coil_network_opts coil__network_wanted_opts(void);

void coil__sim_events_init(struct coil__sim *sim);

/* Try the socket's operations again, since its state has changed. NULL has no effect. */
void coil__sim_changed(struct coil__sim *sim, struct coil__sim_socket *socket);

/*
 * Called before the socket is closed: end its operations with -EBADF, and end its watch.
 */
void coil__sim_abandon(struct coil__sim *sim, struct coil__sim_socket *socket);

#endif
