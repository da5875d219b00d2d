/* trap_calendar.h - declarations shared by trap.c and trap_calendar.c. */
#ifndef CRAWLER_TRAP_CALENDAR_H
#define CRAWLER_TRAP_CALENDAR_H

#include <stddef.h>
#include <stdint.h>

#define TRAP_HASH_START UINT64_C(0xcbf29ce484222325)

/* Return the hash of a text. `hash` is the hash of the beginning of the text, and the n
 * bytes at `s` follow it. Never returns 0. (FNV-1a) */
uint64_t trap_hash(uint64_t hash, const char *s, size_t n);

#endif
