/*
 * simulated_flow.h (internal) - the bytes of a connection, from one end to the other.
 */
#ifndef COIL_TESTING_SIMULATED_FLOW_H
#define COIL_TESTING_SIMULATED_FLOW_H

#include "simulated_socket.h"

#include <sys/uio.h>

enum coil__sim_packet_kind {
    /* the second (server's) or third (client's) packet of the handshake */
    COIL__SIM_HELLO,
    COIL__SIM_FIN,
    COIL__SIM_RST,
    COIL__SIM_CONTROLS, /* number of the kinds above: see coil__sim_end.controls */
    COIL__SIM_DATA
};

struct coil__sim_packet {
    struct coil__list link; /* end.waiting, end.flying, or the other end's received */
    enum coil__sim_packet_kind kind;
    bool breaks; /* on arrival, the packet is lost and the connection is reset */
    int64_t sent, due;
    /* number of bytes in `data`; number of these that were read */
    size_t bytes, taken;
    unsigned char data[];
};

/* One end of a connection, with the packets that it sends. */
struct coil__sim_end {
    struct coil__sim_connection *connection;
    struct coil__sim_socket *socket; /* NULL if not accepted yet, or closed */
    struct coil__sim_address name;
    bool open;        /* a socket or a listener refers to this end */
    bool established; /* the handshake is complete, as far as this end can know */
    bool dead;        /* reset or timed out: can no longer send or receive */
    bool fin_sent, fin_received, reading_ended;
    int error; /* the pending error */
    int lost;  /* 0, or an error that was returned once: see take_error() */

    struct coil__list received; /* packets */
    size_t received_bytes, receive_limit;

    /* packets that are not sent yet, because the other end has no room for them */
    struct coil__list waiting;
    struct coil__list flying; /* sent, not arrived */
    size_t flying_bytes;
    size_t unacknowledged; /* bytes in the send buffer */
    size_t acknowledging;  /* bytes that arrived, not acknowledged yet */
    size_t send_limit;
    int64_t last_due, wire_free;
    struct coil__sim_event arrival; /* arrival of the first packet in `flying` */
    struct coil__sim_event acknowledgement;
    struct coil__sim_packet controls[COIL__SIM_CONTROLS];
};

/*
 * Functions of simulated_tcp.c that simulated_flow.c calls. Each may free the connection.
 */
struct coil__sim_connection_class {
    /* Called when a HELLO or a reset has arrived at the end. */
    void (*greeted)(struct coil__sim *sim, struct coil__sim_end *end);
    void (*was_reset)(struct coil__sim *sim, struct coil__sim_end *end);
    /* Make the end fail: from now on it neither sends nor receives. */
    void (*fail)(struct coil__sim *sim, struct coil__sim_end *end, int error);
};

enum { COIL__SIM_CLIENT, COIL__SIM_SERVER };

struct coil__sim_connection {
    const struct coil__sim_connection_class *class;
    struct coil__list link;            /* coil__sim.connections */
    struct coil__list accepting;       /* in the listener's `accepting` */
    struct coil__sim_socket *listener; /* NULL after the connection was accepted */
    struct coil__sim_end ends[2];
    struct coil__sim_event attempt; /* the SYN arrives or is lost */
    int64_t began;
    unsigned attempts;
};

static inline struct coil__sim_end *coil__sim_other(const struct coil__sim_end *end)
{
    struct coil__sim_connection *c = end->connection;

    return &c->ends[end == &c->ends[COIL__SIM_CLIENT]];
}

void coil__sim_flow_init(struct coil__sim_end *end);
void coil__sim_flow_finish(struct coil__sim *sim, struct coil__sim_end *end);

/*
 * Send a packet without data, after the waiting packets. A reset is sent immediately, and
 * the waiting packets are dropped.
 */
void coil__sim_flow_control(struct coil__sim *sim, struct coil__sim_end *end,
                            enum coil__sim_packet_kind kind);

/* Drop the packets in `waiting`. */
void coil__sim_flow_drop_waiting(struct coil__sim_end *end);

/*
 * Reschedule the next arrival in each direction of each connection, because a cut has
 * changed.
 */
void coil__sim_flow_reschedule(struct coil__sim *sim);

ssize_t coil__sim_flow_send(struct coil__sim *sim, struct coil__sim_end *end,
                            const struct iovec *parts, size_t count);
ssize_t coil__sim_flow_receive(struct coil__sim *sim, struct coil__sim_end *end,
                               const struct iovec *parts, size_t count, int flags);

/*
 * Count the bytes of the parts; copy n bytes from or to the parts, starting at `offset`.
 */
size_t coil__sim_iov_bytes(const struct iovec *parts, size_t count);
void coil__sim_iov_get(const struct iovec *parts, size_t count, size_t offset, void *to,
                       size_t n);
void coil__sim_iov_put(const struct iovec *parts, size_t count, size_t offset,
                       const void *from, size_t n);

#endif
