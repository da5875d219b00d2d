/* hash.c - hash eight bytes at a time, using multiplications with 128-bit results. */
#include "hash.h"

#include <stdbool.h>
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

/*
 * Return the last n bytes of a text as a word, filled up with zeroes. n is at most eight.
 * If the text has eight bytes, read them as a whole: reading a word that was just written
 * byte by byte is slow.
 */
static uint64_t last_word(const char *s, size_t n, bool has_eight)
{
    const bool is_little_endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    uint64_t word = 0;

    if (has_eight && is_little_endian) {
        memcpy(&word, s + n - sizeof word, sizeof word);
        return word >> 8 * (sizeof word - n);
    }
    memcpy(&word, s, n);
    return word;
}

uint64_t hash_bytes(const char *s, size_t n, uint64_t seed)
{
    uint64_t hash = seed ^ n, word;
    bool has_eight = n >= sizeof word;

    for (; n > sizeof word; s += sizeof word, n -= sizeof word) {
        memcpy(&word, s, sizeof word);
        hash = mix(hash ^ word, ODD ^ seed);
    }
    word = last_word(s, n, has_eight);
    return mix(mix(hash ^ word, ODD ^ seed), ODD);
}
