/*
 * allocator.c - see allocator.h.
 *
 * OpenSSL, libcurl, c-ares and the C library itself also use this allocator, because a
 * program's definitions take precedence over those of its libraries. The memory comes
 * from glibc's allocator.
 */
#include "allocator.h"

#include <errno.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

static _Atomic bool counting;
static _Atomic long count, failing;
static const void *_Atomic failed_for;
static struct allocation_places *_Atomic noted_in;

/*
 * Return the two innermost frames of this program, beginning at the allocator's caller.
 */
static struct allocation_place place_of(const void *caller)
{
    extern const char __executable_start, etext;
    struct allocation_place place = {.from = NULL};
    bool is_outside = false;
    void *frames[64];
    int n = backtrace(frames, 64);

    for (int i = 0; i < n && place.caller == NULL; i++) {
        const char *frame = frames[i];

        is_outside |= frame == caller;
        if (!is_outside || frame < &__executable_start || frame >= &etext)
            continue;
        if (place.from == NULL)
            place.from = frame;
        else
            place.caller = frame;
    }
    return place;
}

static void note_place(struct allocation_places *places, const void *caller, long nth)
{
    struct allocation_place place = place_of(caller), *at = places->at;

    while (at < places->at + places->count &&
           (at->from != place.from || at->caller != place.caller))
        at++;
    if (at == places->at + sizeof places->at / sizeof places->at[0])
        return;
    if (at == places->at + places->count) {
        places->count++;
        *at = place;
        at->first = nth;
    }
    at->last = nth;
}

static bool fails(const void *caller)
{
    struct allocation_places *places;
    long nth;

    if (!counting)
        return false;
    nth = ++count;
    places = atomic_exchange(&noted_in,
                             /* do not record allocations of backtrace() */
                             NULL);
    if (places != NULL) {
        note_place(places, caller, nth);
        noted_in = places;
    }
    if (nth != failing)
        return false;
    failed_for = caller;
    errno = ENOMEM;
    return true;
}

#define FOR_ALL __attribute__((visibility("default")))

FOR_ALL void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

FOR_ALL void *calloc(size_t n, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

FOR_ALL void *realloc(void *block, size_t size)
{
    if (size > 0 && fails(__builtin_return_address(0)))
        return NULL;
    return __libc_realloc(block, size);
}

void allocations_begin(long nth, struct allocation_places *places)
{
    count = 0;
    noted_in = places;
    failing = nth;
    failed_for = NULL;
    counting = true;
}

long allocations_end(void)
{
    counting = false;
    noted_in = NULL;
    return count;
}

const void *allocation_failed_for(void)
{
    return failed_for;
}
