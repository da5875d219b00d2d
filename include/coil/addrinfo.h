/*
 * coil/addrinfo.h - names into addresses, without blocking the loop.
 *
 *     struct addrinfo *list;
 *     rc = coil_getaddrinfo("example.org", "http", NULL, &list);
 *     ...
 *     freeaddrinfo(list);
 */
#ifndef COIL_ADDRINFO_H
#define COIL_ADDRINFO_H

#include <coil/base.h>
#include <netdb.h>

struct addrinfo; /* hidden by strict -std=c11 */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * getaddrinfo(3) in the dns lane; addresses in numbers are answered at once. The list is
 * the caller's, for freeaddrinfo(). (asyncio: loop.getaddrinfo)
 *
 * Fails with -ENOENT (no such name or service), -EAGAIN (try again later), -EIO (the
 * name server failed), -EINVAL (hints), -EAFNOSUPPORT, -ENOMEM, -ECANCELED: the look-up
 * is then left to end by itself.
 */
COIL_SUSPENDS int coil_getaddrinfo(const char *host, const char *port,
                                   const struct addrinfo *hints, struct addrinfo **out);

#ifdef __cplusplus
}
#endif

#endif
