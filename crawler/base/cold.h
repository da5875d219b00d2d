/*
 * cold.h - memory for what is seldom looked at, so that it need not stay in memory.
 *
 *     struct cold *cold = cold_create(folder);     // NULL without memory
 *     at = cold_take(cold, n);                     // an address that stays, as from malloc()
 *     cold_tend(cold);                             // often: it is here that pages leave the process
 *     cold_destroy(cold);                          // all of it at once
 *
 * Who looks at what has left it has it back at the same address, a moment later.
 */
#ifndef CRAWLER_COLD_H
#define CRAWLER_COLD_H

#include <stdbool.h>
#include <stddef.h>

#define COLD_BUDGET_BYTES ((size_t)12 * 1024 * 1024)

struct cold;

/*
 * Its file lies in that folder and has no name, so that it goes with the process. Where a file cannot
 * be made or has no room, memory of the process takes its place: NULL for none at all. NULL without memory.
 */
struct cold *cold_create(const char *folder);

/* False: no file could be made, and all of it is memory. */
bool cold_has_file(const struct cold *cold);

/* Nobody looks at it any more. NULL is accepted. */
void cold_destroy(struct cold *cold);

/* `n` bytes, zeroes, aligned for anything; NULL without memory. */
void *cold_take(struct cold *cold, size_t n);

/* Let go of what has come into the process's memory since the last time, if that is more than the budget. It
   costs next to nothing: call it for each page, and for each target where all are gone through. NULL
   is accepted. */
void cold_tend(struct cold *cold);

#endif
