/*
 * store.h (internal) - memory for the live bytes of stacks that are swapped out.
 *
 * A store provides cells of 16 to COIL__STORE_MAX bytes, in steps of 16, and belongs to
 * one thread.
 */
#ifndef COIL_CORO_STORE_H
#define COIL_CORO_STORE_H

#include "../base/base.h"

#define COIL__STORE_STEP ((size_t)16)
#define COIL__STORE_MAX ((size_t)1024)
#define COIL__STORE_SIZES (COIL__STORE_MAX / COIL__STORE_STEP)

struct coil__chunk;

struct coil__store {
    struct coil__list open[COIL__STORE_SIZES]; /* chunks with free cells, by size */
    struct coil__chunk *spare; /* an empty chunk, for cells of any size; or NULL */
    char *fresh, *fresh_end;   /* mapped memory that is not yet part of a chunk */
    size_t bytes;              /* total size of the used cells */
    size_t chunk_count;        /* number of chunks, except the spare one */
};

void coil__store_init(struct coil__store *store);

/*
 * Return a 16-aligned cell of `bytes` bytes, or NULL if memory runs out. `bytes` is a
 * multiple of 16.
 */
void *coil__store_take(struct coil__store *store, size_t bytes);

/* Free a cell of any size. */
void coil__store_give(struct coil__store *store, void *cell);

/* Unmap the spare chunk, and the memory that is not yet part of a chunk. */
void coil__store_drain(struct coil__store *store);

#endif
