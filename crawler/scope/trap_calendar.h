/* trap_calendar.h - declarations shared by trap.c and trap_calendar.c. */
#ifndef CRAWLER_TRAP_CALENDAR_H
#define CRAWLER_TRAP_CALENDAR_H

#include <stddef.h>
#include <stdint.h>

#define TRAP_HASH_START UINT64_C(0xcbf29ce484222325)

/*
 * Return the FNV-1a hash of a text that consists of a part with the hash `hash`, and of
 * the n bytes at `s`. Never returns 0.
 */
uint64_t trap_hash(uint64_t hash, const char *s, size_t n);

#endif
