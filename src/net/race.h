/*
 * race.h - several addresses, the first that connects.
 */
#ifndef COIL_NET_RACE_H
#define COIL_NET_RACE_H

#include "resolver.h"

#include "../task/wait.h"

#include <coil/stream.h>

/* Addresses of one kind, best first. */
struct coil__race_side {
    coil_address *addresses;
    size_t count, next;
    struct coil__question *question; /* NULL: was not asked */
    struct coil__listener listener;
    bool open; /* there may be more, once it is answered */
};

/* On the stack of the task that connects. */
struct coil__race {
    const char *given_host, *given_port; /* may be NULL */
    const char *host, *port;             /* for sentences */
    in_port_t port_number;               /* of the addresses that questions bring */
    int64_t delay_ns, timeout_ns;
    bool binds;
    coil_address local[2]; /* by kind; length 0: none */

    struct coil__race_side sides[2]; /* by kind */
    struct coil__wait wait;
    bool waits;
    struct coil__timer timer;
    coil_loop *loop;
    struct coil__list attempts;
    size_t running;
    enum coil__question_kind turn; /* whose address is next, if it has one */
    bool begun;
    int64_t resolve_until; /* so long IPv4's addresses wait for IPv6's */
    int64_t next_at;       /* when the next attempt may begin */
};

void coil__race_init(struct coil__race *race, const char *host, const char *port);
void coil__race_finish(struct coil__race *race);

/* The addresses of a list, which are all. */
int coil__race_add_list(struct coil__race *race, const struct addrinfo *list);

/* Ask for the host's addresses of a family, or of both. */
int coil__race_ask(struct coil__race *race, struct coil__resolver *resolver, int family);

/* "2001:db8::1", for sentences. */
void coil__race_write_host(const coil_address *address, char text[INET6_ADDRSTRLEN]);

/* Connect, and wait until it has. */
int coil__race_run(struct coil__race *race, coil_stream **out);

#endif
