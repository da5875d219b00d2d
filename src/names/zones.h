/*
 * zones.h - lets c-ares use name servers with a zone, such as "fe80::1%eth0", which
 * c-ares 1.18 does not accept.
 */
#ifndef COIL_NAMES_ZONES_H
#define COIL_NAMES_ZONES_H

#include <coil/address.h>

#define COIL__ZONES_MAX 8

/*
 * Name servers with a zone. The stand-in for servers[i] is an unused address that depends
 * on i.
 */
struct coil__zones {
    coil_address servers[COIL__ZONES_MAX];
    size_t count;
};

/*
 * Replace each address that has a zone in a list of servers, such as
 * "192.0.2.1,[fe80::1%2]:53", with a stand-in. *out is from coil__alloc(). Returns 0,
 * -ENOMEM, or -EINVAL for a malformed address, an unknown zone, or more than
 * COIL__ZONES_MAX zones.
 */
int coil__zones_replace(struct coil__zones *zones, const char *servers, char **out);

/*
 * If a server in the resolv.conf file at `path` has a zone, set *out to a list of all
 * servers, with stand-ins for those with a zone. Otherwise set *out to NULL, because
 * c-ares can read the file itself. A server whose zone does not exist is omitted.
 */
int coil__zones_read(struct coil__zones *zones, const char *path, char **out);

/* Replace a stand-in with the server's address, and vice versa. */
void coil__zones_resolve(const struct coil__zones *zones, struct sockaddr_in6 *address);
void coil__zones_disguise(const struct coil__zones *zones, struct sockaddr_in6 *address);

#endif
