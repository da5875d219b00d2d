/*
 * coil/connect.h - coil_connect() with options.
 *
 *     coil_connect_options opts = {.family = AF_INET, .attempt_timeout_ns = COIL_SEC(3)};
 *     rc = coil_connect_opts("example.org", "443", &opts, &stream);
 *
 * HOW IT CONNECTS (RFC 8305, Happy Eyeballs). The host's IPv6 and IPv4 addresses are
 * looked up at the same time. If the IPv4 addresses come first, attempts wait 50 ms for
 * the IPv6 ones. Attempts begin with the best address by RFC 6724, and then alternate
 * between the two families. The next attempt begins when the latest has failed, or 250 ms
 * after it. The first that connects wins; the others are closed. So a dead address costs
 * a quarter of a second, not minutes, and a name server that answers for one family only
 * does not delay the connection.
 *
 * If nobody listens on a local port of this machine, TCP may connect a socket to itself.
 * coil resets such a connection and tries again; the result is -ECONNREFUSED, as for any
 * port without a listener. A local port that the caller has chosen is used as it is.
 *
 * Concurrent attempts run in tasks of their own, as the works of coil_staggered_race(); a
 * single address needs none.
 */
#ifndef COIL_CONNECT_H
#define COIL_CONNECT_H

#include <coil/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is 0 or NULL is left to the default. */
typedef struct coil_connect_options {
    int family; /* AF_INET or AF_INET6 alone; 0: any */
    /*
     * Where to connect from, as numbers: an address, a port, or both; addresses of the
     * other family are not tried then. (asyncio: local_addr)
     */
    const char *local_host, *local_port;
    int64_t attempt_delay_ns;   /* until the next begins; 250 ms. From 10 ms to 2 s;
                                   COIL_NEVER: only when one has failed (RFC 8305, 5) */
    int64_t attempt_timeout_ns; /* for each address; as long as connect(2) takes */
} coil_connect_options;

/*
 * coil_connect() with options; NULL: the same. (asyncio: create_connection with family,
 * local_addr, happy_eyeballs_delay)
 *
 * Fails as coil_connect(). -EINVAL for options out of their range, or a local address
 * that is no number; -EADDRNOTAVAIL if no address goes with the local one.
 */
COIL_SUSPENDS int coil_connect_opts(const char *host, const char *port,
                                    const coil_connect_options *opts, coil_stream **out);

#ifdef __cplusplus
}
#endif

#endif
