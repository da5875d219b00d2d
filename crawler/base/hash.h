/*
 * hash.h - the hash of the crawl's tables.
 *
 * Whoever writes the pages chooses the keys, so the tables hash with a seed that nobody
 * knows: keys that collide cannot be chosen.
 */
#ifndef CRAWLER_HASH_H
#define CRAWLER_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_seed(void);
uint64_t hash_bytes(const char *s, size_t n, uint64_t seed);

#endif
