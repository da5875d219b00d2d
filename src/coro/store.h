/*
 * store.h (internal) - where the live bytes of stacks lie that are put away.
 *
 * Cells of 16 to COIL__STORE_MAX bytes, in steps of 16. A store belongs to one thread.
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
    struct coil__chunk *spare; /* without a used cell, of any size; or NULL */
    char *fresh, *fresh_end;   /* mapped, and not yet a chunk's */
    size_t bytes;              /* of the cells in use */
    size_t chunk_count;        /* the spare one not counted */
};

void coil__store_init(struct coil__store *store);

/* A cell of that many bytes, a multiple of 16, 16-aligned. NULL: no memory. */
void *coil__store_take(struct coil__store *store, size_t bytes);

/* Give a cell back, of any size. */
void coil__store_give(struct coil__store *store, void *cell);

/* Unmap the chunks without a used cell. */
void coil__store_drain(struct coil__store *store);

#endif
