/*
 * allocator.c - see allocator.h.
 *
 * What a program defines comes before what its libraries do, so OpenSSL, libcurl, c-ares
 * and the C library itself allocate here too. Below is glibc's own.
 */
#include "allocator.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

static _Atomic bool counting;
static _Atomic long count, failing;
static const void *_Atomic failed_for;

static bool fails(const void *caller)
{
    if (!counting || ++count != failing)
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

void allocations_begin(long nth)
{
    count = 0;
    failing = nth;
    failed_for = NULL;
    counting = true;
}

long allocations_end(void)
{
    counting = false;
    return count;
}

const void *allocation_failed_for(void)
{
    return failed_for;
}
