/*
 * address.h (internal) - addresses that callers give.
 */
#ifndef COIL_NAMES_ADDRESS_H
#define COIL_NAMES_ADDRESS_H

#include <coil/address.h>

#include <netdb.h>

/*
 * Check that it is complete (else -EINVAL) and of a family that sockets here have (else
 * -EAFNOSUPPORT).
 */
int coil__address_check(const coil_address *address);

/*
 * The address as an entry of getaddrinfo(3), for a socket of this type. The entry points
 * to `address`.
 */
struct addrinfo coil__address_info(const coil_address *address, int type);

#endif
