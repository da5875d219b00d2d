/*
 * arena.h - memory for what lives as long as the crawl: taken in pieces, given back at once.
 */
#ifndef CRAWLER_ARENA_H
#define CRAWLER_ARENA_H

#include "cold.h"

/* Zeroes are an empty arena. */
struct arena {
    struct cold *cold; /* what it takes its memory from; NULL: from the heap */
    struct arena_chunk *chunks;
    char *at, *end; /* what is free of the first chunk */
};

/* `n` bytes, not cleared; NULL without memory. Aligned for pointers and 64-bit numbers. */
void *arena_alloc(struct arena *arena, size_t n);

/* A copy of n bytes with a NUL behind, at any address; NULL without memory. */
char *arena_text(struct arena *arena, const char *text, size_t n);

/* It is empty again. What is cold is given back by who has it. */
void arena_finish(struct arena *arena);

#endif
