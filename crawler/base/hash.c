/* hash.c - hash eight bytes at a time, using multiplications with 128-bit results. */
#include "hash.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

#define ODD 0x9e3779b97f4a7c15u

static uint64_t mix(uint64_t a, uint64_t b)
{
    __uint128_t product = (__uint128_t)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash_seed(void)
{
    uint64_t seed;

    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == sizeof seed)
        return seed;
    return (uint64_t)time(NULL) ^ (uintptr_t)&seed;
}

uint64_t hash_bytes(const char *s, size_t n, uint64_t seed)
{
    uint64_t hash = seed ^ n, word;

    for (; n > sizeof word; s += sizeof word, n -= sizeof word) {
        memcpy(&word, s, sizeof word);
        hash = mix(hash ^ word, ODD ^ seed);
    }
    word = 0;
    memcpy(&word, s, n);
    return mix(mix(hash ^ word, ODD ^ seed), ODD);
}
