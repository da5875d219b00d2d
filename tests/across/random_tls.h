/*
 * random_tls.h - TLS for random programs: whatever OpenSSL draws follows from a seed.
 */
#ifndef COIL_TESTS_NET_RANDOM_TLS_H
#define COIL_TESTS_NET_RANDOM_TLS_H

#include <coil/tls.h>

#include <stdint.h>

/* Once for a test: certificates. They are for "localhost". */
void random_tls_begin(void);
void random_tls_end(void);

/*
 * New contexts of a server and a client, and from now on a generator that begins with
 * `seed`: so the same bytes are said again, and the lengths of signatures and tickets do
 * not change what a network does. False where coil was built without TLS, or no test has
 * begun.
 */
bool random_tls_open(uint64_t seed, coil_tls **server, coil_tls **client);
void random_tls_close(coil_tls *server, coil_tls *client);

#endif
