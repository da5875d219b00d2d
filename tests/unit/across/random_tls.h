/*
 * random_tls.h - TLS for random programs: all random numbers of OpenSSL follow from a
 * seed.
 */
#ifndef COIL_TESTS_NET_RANDOM_TLS_H
#define COIL_TESTS_NET_RANDOM_TLS_H

#include <coil/tls.h>

#include <stdint.h>

/* Create certificates for "localhost". Call this once per test. */
void random_tls_begin(void);
void random_tls_end(void);

/*
 * Create new contexts of a server and a client, and start a generator with `seed`.
 * Because of that, each run sends the same bytes, and the varying lengths of signatures
 * and tickets do not change what the network does. Returns false if coil was built
 * without TLS, or no test has begun.
 */
bool random_tls_open(uint64_t seed, coil_tls **server, coil_tls **client);
void random_tls_close(coil_tls *server, coil_tls *client);

#endif
