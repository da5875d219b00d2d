/*
 * outside.h (internal) - the table through which a tool finds tasks in a program's
 * memory.
 *
 * coil-ps and the gdb script read the tasks of a running process, or of a core file,
 * without calling any function there. Both tools find coil__debug through an ELF note
 * (note.inc). coil__debug points to the loops, and to rows with the offsets of members.
 * docs/design/ps.md describes the format and when its version changes.
 *
 * Each file that defines a struct also has its rows:
 *
 *     COIL__OUTSIDE(COIL__OUTSIDE_AT(COIL__AT_GEN_ENTRY, coil_gen, entry));
 *
 * The linker joins the rows of all files into one array, in a section of its own. So no
 * file depends on the structs of another file, and a program that is linked with
 * libcoil.a gets only the rows of the files that it uses.
 */
#ifndef COIL_CORO_OUTSIDE_H
#define COIL_CORO_OUTSIDE_H

#include "../base/base.h"

#include "outside_keys.h"

#include <stddef.h>
#include <stdint.h>

/* A row with the key 0 is padding between the rows of two files. */
struct coil__outside_row {
    uint16_t key;
    uint16_t value;
};

extern const struct coil__outside_row __start_coil_outside[]
    __attribute__((visibility("hidden")));
extern const struct coil__outside_row __stop_coil_outside[]
    __attribute__((visibility("hidden")));

/* Define the rows of a file. Use this macro only once in a file. */
#define COIL__OUTSIDE(...)                                                               \
    static const struct coil__outside_row coil__outside_rows[]                           \
        __attribute__((section("coil_outside"), used)) = {__VA_ARGS__}

/*
 * Does not compile if the value is too large: in that case the array has a negative size.
 */
#define COIL__OUTSIDE_VALUE(key, number)                                                 \
    {                                                                                    \
        (key), (uint16_t)(0 * sizeof(char[(number) <= UINT16_MAX ? 1 : -1]) + (number))  \
    }
#define COIL__OUTSIDE_AT(key, type, member)                                              \
    COIL__OUTSIDE_VALUE(key, offsetof(type, member))
#define COIL__OUTSIDE_SIZE(key, type) COIL__OUTSIDE_VALUE(key, sizeof(type))

/* The maximum number of loops that a tool can find; further loops are invisible to it. */
#define COIL__OUTSIDE_LOOPS 256

#define COIL__OUTSIDE_COOKIE "coil-ps"
#define COIL__OUTSIDE_VERSION 1

/* The table. New members are only appended. */
struct coil__debug {
    char cookie[8];
    uint32_t version; /* changes if an old tool would misread the table or the rows */
    uint32_t bytes;   /* size of this struct */
    const struct coil__own_text *own_text, *own_text_end; /* see base/own.h */
    const struct coil__outside_row *rows, *rows_end;
    void *_Atomic *loops;       /* coil_loop, or NULL */
    uint32_t loop_count;        /* slots in `loops` */
    _Atomic uint32_t inherited; /* loops inherited from the parent of fork(2) */
    /*
     * Written by a tool: all loops must be traced until this time (of CLOCK_MONOTONIC).
     * Each loop reads this time after each poll. 0: no tool has requested a trace.
     */
    _Atomic int64_t trace_until;
};

extern struct coil__debug coil__debug __attribute__((visibility("hidden")));

/* Add and remove a loop. */
void coil__outside_add_loop(void *loop);
void coil__outside_remove_loop(void *loop);

/*
 * Called in a child of fork(2): remove all loops, because they belong to the parent.
 * Async-signal-safe.
 */
void coil__outside_forget_loops(void);

/*
 * Return the position of this copy of coil among all copies in the process, from 0, in
 * the order in which the program and the libraries were loaded.
 */
unsigned coil__outside_position(void);

#endif
