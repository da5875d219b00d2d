/*
 * simulated_address.h (internal) - addresses of the simulated network, and its log.
 */
#ifndef COIL_TESTING_SIMULATED_ADDRESS_H
#define COIL_TESTING_SIMULATED_ADDRESS_H

#include "simulated_events.h"

#include <netinet/in.h>

/* An IPv6 address, or an IPv4 address that is mapped to IPv6 (::ffff:a.b.c.d). */
struct coil__sim_address {
    struct in6_addr host;
    in_port_t port; /* in network byte order */
};

/*
 * Convert an address that was passed to a socket of this family. Fails with -EINVAL or
 * -EAFNOSUPPORT.
 */
int coil__sim_address_read(int family, const struct sockaddr *address,
                           socklen_t address_bytes, struct coil__sim_address *out);

/*
 * Copy `from` to `address`, truncated to *address_bytes, and set *address_bytes to the
 * full length, as getsockname(2) does.
 */
void coil__sim_address_write(int family, const struct coil__sim_address *from,
                             struct sockaddr *address, socklen_t *address_bytes);

bool coil__sim_address_equal(const struct coil__sim_address *a,
                             const struct coil__sim_address *b);

bool coil__sim_host_equal(const struct in6_addr *a, const struct in6_addr *b);

/* True for 0.0.0.0 and ::. */
bool coil__sim_host_any(const struct in6_addr *host);

/*
 * Return the source address of packets that an unbound socket sends to this host: the
 * host itself, or the loopback address for loopback and wildcard addresses. Linux makes
 * the same choice for all addresses of the local machine.
 */
struct in6_addr coil__sim_host_facing(const struct in6_addr *host);

/* Write a line to the log: time, source, destination, and the text. */
void coil__sim_log(struct coil__sim *sim, const struct coil__sim_address *from,
                   const struct coil__sim_address *to, const char *format, ...)
    COIL__PRINTF(4, 5);

#endif
