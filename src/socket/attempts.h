/* attempts.h (internal) - connects to a host that may have several addresses. */
#ifndef COIL_SOCKET_ATTEMPTS_H
#define COIL_SOCKET_ATTEMPTS_H

#include "../names/resolver.h"

#include "../task/wait.h"

#include <coil/stream.h>

/* Addresses of one family, best first. */
struct coil__attempts_side {
    coil_address *addresses;
    size_t count, next;
    struct coil__question *question; /* NULL: not queried */
    struct coil__answer_listener listener;
    bool open; /* the query's addresses have not been collected yet */
};

/* The state of a call to coil_connect(), stored on the task's stack. */
struct coil__attempts {
    const char *given_host, *given_port; /* may be NULL */
    const char *host, *port;             /* for messages */
    in_port_t port_number;               /* port to use with addresses from queries */
    int64_t delay_ns, timeout_ns;
    bool binds;
    coil_address local[2]; /* one per family; length 0 if there is none */

    struct coil__attempts_side sides[2]; /* by kind */
    /* the wait for an answer, and its deadline */
    struct coil__wait wait;
    bool waits;
    int64_t until;
    struct coil__timer timer;
    coil_loop *loop;
    struct coil__list begun; /* attempts in the order in which they began */
    struct coil__attempt *winner;
    bool lacked_memory;            /* memory ran out for an answer or an attempt */
    enum coil__question_kind turn; /* the family to attempt next, if it has an address */
};

void coil__attempts_init(struct coil__attempts *all, const char *host, const char *port);
void coil__attempts_finish(struct coil__attempts *all);

/* Add a list that contains all addresses of the host. */
int coil__attempts_add_list(struct coil__attempts *all, const struct addrinfo *list);

/* Start queries for the host's addresses of one family, or of both. */
int coil__attempts_ask(struct coil__attempts *all, struct coil__resolver *resolver,
                       int family);

/* Connect to the first address that accepts. */
int coil__attempts_run(struct coil__attempts *all, coil_stream **out);

/* Connect to an address, from the local address `local` if that is not NULL. */
int coil__attempt_connect(coil_loop *loop, const coil_address *to,
                          const coil_address *local, coil_stream **out);

/* Format an address for messages, such as "2001:db8::1". */
void coil__attempt_write_host(const coil_address *address, char text[INET6_ADDRSTRLEN]);

#endif
