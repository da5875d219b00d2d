/*
 * private_address.h - recognise addresses that only this machine or its network can
 * reach.
 */
#ifndef CRAWLER_PRIVATE_ADDRESS_H
#define CRAWLER_PRIVATE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/*
 * True for loopback, link-local, private, shared, multicast, reserved and unspecified
 * addresses, and for IPv6 addresses that contain such an IPv4 address. (RFC 6890; IANA's
 * special-purpose registries)
 */
bool is_private_address(const struct sockaddr *address);

#endif
