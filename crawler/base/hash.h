/*
 * hash.h - the hash function of the crawl's tables.
 *
 * Keys come from pages whose authors may be hostile. A secret seed prevents them from
 * choosing keys that collide.
 */
#ifndef CRAWLER_HASH_H
#define CRAWLER_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_seed(void);
uint64_t hash_bytes(const char *s, size_t n, uint64_t seed);

#endif
