/*
 * private_address.h - addresses that only this machine or its own network can reach.
 */
#ifndef CRAWLER_PRIVATE_ADDRESS_H
#define CRAWLER_PRIVATE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/*
 * True for loopback, link-local, private and shared addresses, multicast and reserved ones, the
 * unspecified one and, in IPv6, what stands for such an IPv4 address. (RFC 6890; IANA's
 * special-purpose registries)
 */
bool is_private_address(const struct sockaddr *address);

#endif
