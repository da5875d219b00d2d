/*
 * random_tls_none.c - replaces random_tls.c in a build without OpenSSL.
 */
#include "random_tls.h"

void random_tls_begin(void)
{
}

void random_tls_end(void)
{
}

bool random_tls_open(uint64_t seed, coil_tls **server, coil_tls **client)
{
    (void)seed;
    (void)server;
    (void)client;
    return false;
}

void random_tls_close(coil_tls *server, coil_tls *client)
{
    (void)server;
    (void)client;
}
