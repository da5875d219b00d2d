/*
 * coil/connect.h - coil_connect() with options.
 *
 *     coil_connect_options opts = {.family = AF_INET, .attempt_timeout_ns = COIL_SEC(3)};
 *     rc = coil_connect_opts("example.org", "443", &opts, &stream);
 *
 * HOW IT CONNECTS (RFC 8305, Happy Eyeballs). coil looks up the host's IPv6 and IPv4
 * addresses at the same time. If the IPv4 addresses arrive first, coil waits up to 50 ms
 * for the IPv6 addresses. coil first tries the best address according to RFC 6724, and
 * then alternates between the two families. The next attempt begins when the latest
 * attempt has failed, or 250 ms after the latest attempt began. The first attempt that
 * connects wins, and the others are closed. So an address that does not answer costs a
 * quarter of a second, not minutes. A name server that answers for only one family does
 * not delay the connection.
 *
 * If no program listens on a local port of this machine, TCP may connect a socket to
 * itself. coil resets such a connection and tries again. The result is -ECONNREFUSED, as
 * for any port without a listener. If the caller has chosen the local port, coil keeps
 * the connection.
 *
 * Concurrent attempts run in their own tasks, started by coil_staggered_race(). A single
 * address is attempted in the calling task.
 */
#ifndef COIL_CONNECT_H
#define COIL_CONNECT_H

#include <coil/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Members that are 0 or NULL select the defaults. */
typedef struct coil_connect_options {
    int family; /* AF_INET or AF_INET6 to use only that family; 0 means any */
    /*
     * The local address, the local port, or both, as numbers. If a local address is
     * given, the host's addresses of the other family are not tried. (asyncio:
     * local_addr)
     */
    const char *local_host, *local_port;
    /*
     * Delay before the next attempt begins, from 10 ms to 2 s; the default is 250 ms.
     * With COIL_NEVER the next attempt begins only when the latest attempt has failed.
     * (RFC 8305, 5)
     */
    int64_t attempt_delay_ns;
    /* timeout for each address; 0 means the kernel's timeout */
    int64_t attempt_timeout_ns;
} coil_connect_options;

/*
 * Connect like coil_connect(), with options; NULL means the defaults. (asyncio:
 * create_connection with family, local_addr, happy_eyeballs_delay)
 *
 * Fails like coil_connect(). Fails with -EINVAL if an option is out of range or the local
 * address is not numeric. Also fails with -EADDRNOTAVAIL if no address of the host has
 * the family of the local address.
 */
COIL_SUSPENDS COIL_CHECKED int coil_connect_opts(const char *host, const char *port,
                                                 const coil_connect_options *opts,
                                                 coil_stream **out);

#ifdef __cplusplus
}
#endif

#endif
