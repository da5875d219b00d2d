/*
 * store.c - cells for the live bytes of stacks that are swapped out.
 *
 * A chunk consists of cells of one size. Each chunk has 64 KiB and is aligned to 64 KiB,
 * so rounding down a cell's address yields the address of its chunk. The cell that was
 * freed last is reused first. A chunk is unmapped when its last used cell is freed, but
 * one empty chunk stays mapped, so that small changes in the number of tasks do not map
 * and unmap a chunk each time. Chunks are cut from mappings of 1 MiB, so a million cells
 * take only a few hundred system calls, and few mappings, because the kernel merges
 * neighbours.
 *
 * Freeing a cell cannot fail, and needs no memory.
 */
#include "store.h"

#include "../kernel/memory.h"

#include <sys/mman.h>

#define CHUNK_BYTES ((size_t)64 * 1024)
#define REGION_BYTES ((size_t)16 * CHUNK_BYTES)

struct coil__chunk {
    _Alignas(COIL__STORE_STEP) struct coil__list
        link;    /* in store.open while the chunk has free cells */
    void *free;  /* each free cell points to the next */
    char *fresh; /* the first cell that was never used */
    unsigned used_count;
    unsigned cell_bytes;
};

_Static_assert(sizeof(struct coil__chunk) % COIL__STORE_STEP == 0,
               "cells are 16-aligned");

static struct coil__chunk *chunk_of(void *cell)
{
    return (struct coil__chunk *)((uintptr_t)cell & ~(CHUNK_BYTES - 1));
}

static struct coil__list *list_for(struct coil__store *store, size_t bytes)
{
    return &store->open[bytes / COIL__STORE_STEP - 1];
}

static bool has_free_cell(const struct coil__chunk *chunk)
{
    return chunk->free != NULL ||
           chunk->fresh + chunk->cell_bytes <= (const char *)chunk + CHUNK_BYTES;
}

void coil__store_init(struct coil__store *store)
{
    *store = (struct coil__store){0};
    for (size_t i = 0; i < COIL__STORE_SIZES; i++)
        coil__list_init(&store->open[i]);
}

/*
 * Map an aligned region: map one chunk more than a region, and unmap the excess memory
 * before and after the region.
 */
static bool map_region(struct coil__store *store)
{
    char *base = coil__memory_map(REGION_BYTES + CHUNK_BYTES), *first;
    size_t before;

    if (base == NULL)
        return false;
    first = (char *)(((uintptr_t)base + CHUNK_BYTES - 1) & ~(CHUNK_BYTES - 1));
    before = (size_t)(first - base);
    if (before > 0)
        munmap(base, before);
    munmap(first + REGION_BYTES, CHUNK_BYTES - before);
    /* A huge page would commit many chunks at once. */
    coil__memory_keep_pages_small(first, REGION_BYTES);
    store->fresh = first;
    store->fresh_end = first + REGION_BYTES;
    return true;
}

static struct coil__chunk *find_chunk(struct coil__store *store)
{
    struct coil__chunk *chunk = store->spare;

    if (chunk == NULL) {
        if (store->fresh == store->fresh_end && !map_region(store))
            return NULL;
        chunk = (struct coil__chunk *)(void *)store->fresh;
        store->fresh += CHUNK_BYTES;
    }
    store->spare = NULL;
    return chunk;
}

static struct coil__chunk *open_chunk(struct coil__store *store, size_t bytes)
{
    struct coil__chunk *chunk = find_chunk(store);

    if (chunk == NULL)
        return NULL;
    *chunk =
        (struct coil__chunk){.fresh = (char *)(chunk + 1), .cell_bytes = (unsigned)bytes};
    coil__list_push(list_for(store, bytes), &chunk->link);
    store->chunk_count++;
    return chunk;
}

void *coil__store_take(struct coil__store *store, size_t bytes)
{
    struct coil__list *open = list_for(store, bytes);
    struct coil__chunk *chunk = COIL__CONTAINER(open->next, struct coil__chunk, link);
    void *cell;

    if (coil__list_empty(open)) {
        chunk = open_chunk(store, bytes);
        if (chunk == NULL)
            return NULL;
    }
    cell = chunk->free;
    if (cell != NULL) {
        chunk->free = *(void **)cell;
    } else {
        cell = chunk->fresh;
        chunk->fresh += bytes;
    }
    chunk->used_count++;
    store->bytes += bytes;
    if (!has_free_cell(chunk))
        coil__list_remove(&chunk->link);
    return cell;
}

static void close_chunk(struct coil__store *store, struct coil__chunk *chunk)
{
    coil__list_remove(&chunk->link);
    store->chunk_count--;
    if (store->spare == NULL)
        store->spare = chunk;
    else
        munmap(chunk, CHUNK_BYTES);
}

void coil__store_give(struct coil__store *store, void *cell)
{
    struct coil__chunk *chunk = chunk_of(cell);

    if (!has_free_cell(chunk))
        coil__list_push(list_for(store, chunk->cell_bytes), &chunk->link);
    *(void **)cell = chunk->free;
    chunk->free = cell;
    store->bytes -= chunk->cell_bytes;
    if (--chunk->used_count == 0)
        close_chunk(store, chunk);
}

void coil__store_drain(struct coil__store *store)
{
    if (store->spare != NULL)
        munmap(store->spare, CHUNK_BYTES);
    if (store->fresh != store->fresh_end)
        munmap(store->fresh, (size_t)(store->fresh_end - store->fresh));
    store->spare = NULL;
    store->fresh = store->fresh_end = NULL;
}
