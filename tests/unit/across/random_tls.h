/*
 * random_tls.h - TLS for random programs: all random numbers of OpenSSL follow from a
 * seed.
 */
#ifndef COIL_TESTS_NET_RANDOM_TLS_H
#define COIL_TESTS_NET_RANDOM_TLS_H

#include <coil/tls.h>

#include <stdint.h>

/* Call once for a test: creates certificates for "localhost". */
void random_tls_begin(void);
void random_tls_end(void);

/*
 * Create new contexts of a server and a client, and start a generator with `seed`. So
 * each run sends the same bytes, and the lengths of signatures and tickets do not change
 * the behaviour of a network. Returns false if coil was built without TLS, or no test has
 * begun.
 */
bool random_tls_open(uint64_t seed, coil_tls **server, coil_tls **client);
void random_tls_close(coil_tls *server, coil_tls *client);

#endif
