/*
 * cold.h - memory for rarely used data, which can be moved to a file.
 *
 *     struct cold *cold = cold_create(folder);   // NULL if memory runs out
 *     at = cold_take(cold, n);                   // the address never changes
 *     cold_tend(cold);                           // often: releases pages
 *     cold_destroy(cold);                        // frees everything
 *
 * Released data stays valid at the same address. Reading it again costs a page fault.
 */
#ifndef CRAWLER_COLD_H
#define CRAWLER_COLD_H

#include <stdbool.h>
#include <stddef.h>

#define COLD_BUDGET_BYTES ((size_t)12 * 1024 * 1024)

struct cold;

/*
 * Create cold memory, backed by an unnamed file in `folder` that disappears when the
 * process ends. Ordinary memory is used instead if `folder` is NULL, if the file cannot
 * be created, or if the disk is full. Returns NULL if memory runs out.
 */
struct cold *cold_create(const char *folder);

/* False if there is no file, so that all cold memory is ordinary memory. */
bool cold_has_file(const struct cold *cold);

/* Free all cold memory. NULL is allowed. */
void cold_destroy(struct cold *cold);

/* Allocate n bytes, zeroed and aligned for any type. Returns NULL if memory runs out. */
void *cold_take(struct cold *cold, size_t n);

/*
 * If more than COLD_BUDGET_BYTES of the file are in memory, release them. The function is
 * cheap enough to be called after each page, and for each target in a loop over all
 * targets. NULL is allowed.
 */
void cold_tend(struct cold *cold);

#endif
