/*
 * simulated_address.h (internal) - addresses of the simulated network, and its log.
 */
#ifndef COIL_TESTING_SIMULATED_ADDRESS_H
#define COIL_TESTING_SIMULATED_ADDRESS_H

#include "simulated_events.h"

#include <netinet/in.h>

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

/*
 * Return the source address for an unbound socket that sends to this host. Linux makes
 * the same choice for addresses of the local machine.
 */
struct in6_addr coil__sim_host_facing(const struct in6_addr *host);

/* Write a line to the log: time, source, destination, and the text. */
void coil__sim_log(struct coil__sim *sim, const struct coil__sim_address *from,
                   const struct coil__sim_address *to, const char *format, ...)
    COIL__PRINTF(4, 5);

#endif
