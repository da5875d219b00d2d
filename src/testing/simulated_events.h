/*
 * simulated_events.h (internal) - the simulated network's state, future events and random
 * numbers.
 *
 * The files of the network are layers, from bottom to top: events, address, cut, socket,
 * flow, tcp, udp, op, calls, and simulated.c, which explains how the network works. Each
 * file calls only functions of lower layers, with two exceptions, which are function
 * pointers: coil__sim.retry_ops, and coil__sim_connection.class.
 */
#ifndef COIL_TESTING_SIMULATED_EVENTS_H
#define COIL_TESTING_SIMULATED_EVENTS_H

#include "../loop/backend/readiness.h"
#include "inside.h"

#include <coil/network.h>

struct coil__sim;
struct coil__sim_socket;

/*
 * A future event, such as the arrival of a packet. An event is a member of the object
 * that it affects, so scheduling the event does not allocate memory.
 */
struct coil__sim_event {
    void (*happen)(struct coil__sim *sim, struct coil__sim_event *event);
    int64_t when;
    uint64_t order; /* random; decides between events with the same `when` */
    bool queued;
    struct coil__sim_event *child, *next, *prev; /* in the heap */
};

struct coil__sim {
    struct coil__backend backend;
    struct coil__backend *real; /* the backend for the kernel's descriptors */
    coil_network_opts opts;
    /* Tries the socket's waiting operations again; called by coil__sim_changed(). */
    void (*retry_ops)(struct coil__sim *sim, struct coil__sim_socket *socket);
    uint64_t random[4];
    struct coil__sim_event *first; /* the top of the heap */
    struct coil__timer timer;      /* set to the time of the first event */
    struct coil__runnable untimed; /* replaces `timer` if it cannot be set */
    int64_t timed_for;
    struct coil__sim_socket **sockets; /* indexed by descriptor - COIL__FIRST_SIMULATED */
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

void coil__sim_events_init(struct coil__sim *sim);

/* Schedule the event for `when`, or reschedule it. */
void coil__sim_schedule(struct coil__sim *sim, struct coil__sim_event *event,
                        int64_t when);

/* Cancel the event. Has no effect if the event is not scheduled. */
void coil__sim_unschedule(struct coil__sim *sim, struct coil__sim_event *event);

int64_t coil__sim_now(void);

/* Return a random number from 0 to n - 1. n must not be 0. */
uint64_t coil__sim_random(struct coil__sim *sim, uint64_t n);

/*
 * Return true with a probability of `ppm` in a million. Draws no random number if `ppm`
 * is 0.
 */
bool coil__sim_chance(struct coil__sim *sim, unsigned ppm);

/* Return a random time from range[0] to range[1], both inclusive. */
int64_t coil__sim_between(struct coil__sim *sim, const int64_t range[2]);

/* Draw the latency of a packet. */
int64_t coil__sim_latency(struct coil__sim *sim);

/*
 * Return how many of n bytes a call transfers: all of them or, at random, fewer
 * (opts.short_ppm).
 */
size_t coil__sim_shorten(struct coil__sim *sim, size_t n);

#endif
