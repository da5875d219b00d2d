/*
 * coil/addrinfo.h - names into addresses, without blocking the loop.
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
 * getaddrinfo(3), as a task waits for it. The list is the caller's, for freeaddrinfo();
 * the best address comes first (RFC 6724). (asyncio: loop.getaddrinfo)
 *
 * Numbers ("192.0.2.7", "fe80::1%eth0") are answered at once, and so is "localhost",
 * which is always this machine (RFC 6761). Other hosts are looked up by the loop's
 * resolver, see coil/resolver.h: the hosts file, then the name servers. Equal questions
 * that are under way are one. To getaddrinfo(3) on a thread go, whatever the engine,
 * hints with AI_V4MAPPED (for AF_INET6) or AI_IDN, a NULL host with a service by name,
 * names that end in ".local"; and, for its number, a service by name. Without hints: any
 * address that this machine has the family for (AI_ADDRCONFIG). That leaves out no
 * numbers, and with c-ares nothing where the machine has loopback alone.
 *
 * Fails, with a sentence in coil_last_error(), with -ENOENT (no such name or service),
 * -EAGAIN (no answer, or all name servers failed: try again later), -EIO (an answer that
 * makes no sense), -EINVAL (hints), -EAFNOSUPPORT, -ENOMEM, -ECANCELED: the look-up is
 * then left to end by itself.
 */
COIL_SUSPENDS int coil_getaddrinfo(const char *host, const char *port,
                                   const struct addrinfo *hints, struct addrinfo **out);

/*
 * getnameinfo(3): an address into a host's name and a service's, each NULL with a size of
 * 0 if it is not wanted. Numbers (NI_NUMERICHOST, NI_NUMERICSERV) are written at once.
 * (asyncio: loop.getnameinfo)
 *
 * Names are looked up by the C library in the dns lane, whatever the resolver's engine
 * and servers.
 *
 * Fails as coil_getaddrinfo(); -EMSGSIZE: it does not fit.
 */
COIL_SUSPENDS int coil_getnameinfo(const struct sockaddr *address,
                                   socklen_t address_bytes, char *host, size_t host_size,
                                   char *service, size_t service_size, int flags);

#ifdef __cplusplus
}
#endif

#endif
