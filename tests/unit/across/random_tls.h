/*
 * random_tls.h - TLS for random programs, with random numbers that are generated from a
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
 * Create contexts for a server and a client, and seed the random numbers, so that each
 * run sends the same bytes. Otherwise the lengths of signatures and tickets would vary,
 * and with them the network's faults. Returns false if coil was built without TLS, or if
 * random_tls_begin() was not called.
 */
bool random_tls_open(uint64_t seed, coil_tls **server, coil_tls **client);
void random_tls_close(coil_tls *server, coil_tls *client);

#endif
