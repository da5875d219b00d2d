/* address.h (internal) - checks and converts addresses that callers pass. */
#ifndef COIL_NAMES_ADDRESS_H
#define COIL_NAMES_ADDRESS_H

#include <coil/address.h>

#include <netdb.h>

/*
 * Check an address. Returns -EINVAL if the address is incomplete, or -EAFNOSUPPORT if
 * coil's sockets do not support the address family.
 */
int coil__address_check(const coil_address *address);

/*
 * Return the address as an entry of the list that getaddrinfo(3) returns, for a socket of
 * this type. The entry points to `address`.
 */
struct addrinfo coil__address_info(const coil_address *address, int type);

#endif
