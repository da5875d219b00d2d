/*
 * trap_calendar.h - what trap.c shares with trap_calendar.c.
 */
#ifndef CRAWLER_TRAP_CALENDAR_H
#define CRAWLER_TRAP_CALENDAR_H

#include <stddef.h>
#include <stdint.h>

#define TRAP_HASH_START UINT64_C(0xcbf29ce484222325)

/* The hash of more bytes, behind those that `hash` is of; never 0. (FNV-1a) */
uint64_t trap_hash(uint64_t hash, const char *s, size_t n);

#endif
