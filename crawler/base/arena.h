/*
 * arena.h - memory for objects that live as long as the crawl, and are freed all at once.
 */
#ifndef CRAWLER_ARENA_H
#define CRAWLER_ARENA_H

#include "cold.h"

/* Initialize with zeroes. */
struct arena {
    struct cold *cold; /* source of the chunks; NULL: the heap */
    struct arena_chunk *chunks;
    char *at, *end; /* the unused part of the first chunk */
};

/*
 * Allocate n uninitialized bytes, aligned for pointers and 64-bit numbers. Returns NULL
 * if memory runs out.
 */
void *arena_alloc(struct arena *arena, size_t n);

/* Copy n bytes and append a NUL. The copy is not aligned. Returns NULL if memory runs
   out. */
char *arena_text(struct arena *arena, const char *text, size_t n);

/*
 * Free all objects on the heap, and leave the arena empty. Memory from `cold` is freed by
 * the owner of `cold`.
 */
void arena_finish(struct arena *arena);

#endif
