/*
 * arena.c - see arena.h. Chunks have 64 KiB, or more for a larger object.
 */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 * 1024)

struct arena_chunk {
    struct arena_chunk *next;
    uint64_t bytes[];
};

/*
 * Allocate a chunk in cold memory. The chunk is not added to `chunks`, because the owner
 * of the cold memory frees it.
 */
static char *allocate_cold(struct arena *arena, size_t room, size_t n)
{
    char *at = cold_take(arena->cold, room);

    if (at != NULL && room > n) {
        arena->at = at + n;
        arena->end = at + room;
    }
    return at;
}

/*
 * Allocate n bytes in a new chunk, because the rest of the first chunk is too small. A
 * large object gets its own chunk, which becomes the second one in the list, so that the
 * free space in the first chunk can still be used.
 */
static char *allocate_chunk(struct arena *arena, size_t n)
{
    size_t room = n > CHUNK_BYTES / 4 ? n : CHUNK_BYTES;
    struct arena_chunk *chunk;

    if (arena->cold != NULL)
        return allocate_cold(arena, room, n);
    chunk = malloc(sizeof *chunk + room);
    if (chunk == NULL)
        return NULL;
    if (room == n && arena->chunks != NULL) {
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
        return (char *)chunk->bytes;
    }
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->at = (char *)chunk->bytes + n;
    arena->end = (char *)chunk->bytes + room;
    return (char *)chunk->bytes;
}

/*
 * Allocate n bytes, after `skipped` bytes of padding if the first chunk has enough space
 * for both.
 */
static char *allocate(struct arena *arena, size_t skipped, size_t n)
{
    char *at = arena->at;

    if (at == NULL || skipped + n > (size_t)(arena->end - at))
        return allocate_chunk(arena, n);
    arena->at += skipped + n;
    return at + skipped;
}

void *arena_alloc(struct arena *arena, size_t n)
{
    return allocate(arena, -(uintptr_t)arena->at % sizeof(uint64_t), n);
}

char *arena_text(struct arena *arena, const char *text, size_t n)
{
    char *copy = allocate(arena, 0, n + 1);

    if (copy == NULL)
        return NULL;
    memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

void arena_finish(struct arena *arena)
{
    struct arena_chunk *next;

    for (struct arena_chunk *chunk = arena->chunks; chunk != NULL; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    *arena = (struct arena){.cold = arena->cold};
}
