/*
 * random_tls.c - generates OpenSSL's random numbers from a seed.
 */
/* the deprecated RAND_METHOD is the only way to replace all random numbers */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "random_tls.h"

#include "../tls/certificates.h"

#include "../../harness/harness.h"

#include <openssl/rand.h>

static struct certificates files;
static bool begun;
static uint64_t state;

void random_tls_begin(void)
{
    certificates_make(&files);
    begun = true;
}

void random_tls_end(void)
{
    certificates_remove(&files);
    begun = false;
}

/*
 * Fill the buffer with splitmix64 numbers, one byte of each. The numbers need not be
 * secure.
 */
static int draw(unsigned char *bytes, int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        bytes[i] = (unsigned char)(z >> 56);
    }
    return 1;
}

static int is_ready(void)
{
    return 1;
}

bool random_tls_open(uint64_t seed, coil_tls **server, coil_tls **client)
{
    static const RAND_METHOD method = {
        .bytes = draw, .pseudorand = draw, .status = is_ready};

    if (!begun)
        return false;
    state = seed;
    RAND_set_rand_method(&method);
    CHECK_INT(coil_tls_create(&(coil_tls_opts){.certificate_file = files.server}, server),
              0);
    CHECK_INT(coil_tls_create(&(coil_tls_opts){.ca_file = files.root}, client), 0);
    return true;
}

void random_tls_close(coil_tls *server, coil_tls *client)
{
    coil_tls_release(server);
    coil_tls_release(client);
    if (begun)
        RAND_set_rand_method(NULL);
}
