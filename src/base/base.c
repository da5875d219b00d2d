/*
 * base.c - memory through one hook, the clock, stopping the program.
 */
#include "base.h"
#include "fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *realloc_from_libc(void *context, void *block, size_t size)
{
    (void)context;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, size);
}

static coil_allocator allocator = {realloc_from_libc, NULL};

void coil_set_allocator(const coil_allocator *replacement)
{
    static const coil_allocator libc = {realloc_from_libc, NULL};

    allocator = replacement != NULL ? *replacement : libc;
}

/* A test counts allocations, or has ordered one to fail. */
static COIL__NOINLINE void *realloc_counted(void *block, size_t size)
{
    void *moved;

    if (coil__fault_strikes(&coil__fault_allocation, ENOMEM, "an allocation"))
        return NULL;
    moved = allocator.realloc(allocator.context, block, size);
    if (block == NULL && moved != NULL)
        atomic_fetch_add(&coil__blocks, 1);
    return moved;
}

void *coil__realloc(void *block, size_t size)
{
    if (coil__faults_are_counted())
        return realloc_counted(block, size);
    return allocator.realloc(allocator.context, block, size);
}

void *coil__alloc(size_t size)
{
    return coil__realloc(NULL, size);
}

void *coil__alloc_zeroed(size_t size)
{
    void *block = coil__alloc(size);

    if (block != NULL)
        memset(block, 0, size);
    return block;
}

void coil__free(void *block)
{
    if (block == NULL)
        return;
    if (coil__faults_are_counted())
        atomic_fetch_sub(&coil__blocks, 1);
    allocator.realloc(allocator.context, block, 0);
}

void coil_free(void *block)
{
    coil__free(block);
}

int64_t coil__clock_monotonic(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return COIL_SEC(now.tv_sec) + now.tv_nsec;
}

int64_t coil__time_add(int64_t a, int64_t b)
{
    int64_t sum;

    if (__builtin_add_overflow(a, b, &sum))
        return b > 0 ? COIL_NEVER : INT64_MIN;
    return sum;
}

const char *coil_version(void)
{
    return "0.1.0";
}

void (*_Atomic coil__misuse_detail)(const void *);

static void print_detail(const void *from)
{
    static COIL__THREAD_LOCAL bool printing;
    void (*detail)(const void *) = coil__misuse_detail;

    if (detail == NULL || printing)
        return;
    printing = true; /* whatever it does wrong is not told in detail */
    detail(from);
}

COIL__NOINLINE void coil__misuse(const char *format, ...)
{
    char line[512];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "coil: %s\n", line);
    print_detail(COIL__CALLER());
    abort();
}
