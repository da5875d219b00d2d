/*
 * coil/addrinfo.h - look up names without blocking the loop.
 *
 *     struct addrinfo *list;
 *     rc = coil_getaddrinfo("example.org", "80", NULL, &list);
 *     if (rc < 0)
 *         return rc;
 *     for (struct addrinfo *one = list; one != NULL; one = one->ai_next)
 *         use(one->ai_addr, one->ai_addrlen);
 *     freeaddrinfo(list);
 */
#ifndef COIL_ADDRINFO_H
#define COIL_ADDRINFO_H

#include <coil/base.h>
#include <netdb.h>
#include <sys/socket.h>

struct addrinfo; /* hidden by strict -std=c11 */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Look up the addresses of a host and a service, like getaddrinfo(3), but suspend only
 * the calling task. (asyncio: loop.getaddrinfo)
 *
 * The caller frees the list with freeaddrinfo(); the best address comes first (RFC 6724).
 * Numeric hosts ("192.0.2.7", "fe80::1%eth0") and "localhost", which is always this
 * machine (RFC 6761), are answered immediately. The loop's resolver looks up other hosts,
 * first in the hosts file and then by querying the name servers: see coil/resolver.h.
 * Concurrent identical lookups are combined.
 *
 * With either engine, coil calls getaddrinfo(3) on a thread to look up the port number of
 * a named service, names that end in ".local", and hosts with the hint AI_IDN or, for
 * AF_INET6, AI_V4MAPPED.
 *
 * Without hints, the result contains only address families that this machine uses
 * (AI_ADDRCONFIG). This filter does not apply to numeric hosts, or, with c-ares, on a
 * machine that has only a loopback interface.
 *
 * After a failure, coil_last_error() has a message. Fails with -ENOENT if the name or
 * service does not exist. Fails with -EAGAIN if no name server answered, or all of them
 * failed: try again later. Also fails with -EIO for a malformed answer, -EINVAL for bad
 * hints, -EAFNOSUPPORT, -EMFILE, -ENFILE, -ENOMEM, or -ECANCELED; a cancelled lookup
 * completes in the background.
 */
COIL_SUSPENDS COIL_CHECKED int coil_getaddrinfo(const char *host, const char *port,
                                                const struct addrinfo *hints,
                                                struct addrinfo **out);

/*
 * Look up the names of a host and a service, like getnameinfo(3), but suspend only the
 * calling task. (asyncio: loop.getnameinfo)
 *
 * `host` and `service` may each be NULL with a size of 0. Numbers (NI_NUMERICHOST,
 * NI_NUMERICSERV) need no lookup. The C library always looks up names, on a thread of the
 * dns lane: the resolver's engine and servers are not used. Fails like
 * coil_getaddrinfo(), or with -EMSGSIZE if a name does not fit.
 */
COIL_SUSPENDS int coil_getnameinfo(const struct sockaddr *address,
                                   socklen_t address_bytes, char *host, size_t host_size,
                                   char *service, size_t service_size, int flags);

#ifdef __cplusplus
}
#endif

#endif
