/*
 * base.c - memory by the caller's allocator, the clock, stopping the program on misuse.
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

const struct coil__fault_hooks *_Atomic coil__fault_hooks;

/* A test counts allocations, or has chosen one to fail. */
static COIL__NOINLINE void *realloc_counted(void *block, size_t size)
{
    void *moved;

    if (coil__faults()->allocation_fails())
        return NULL;
    moved = allocator.realloc(allocator.context, block, size);
    if (block == NULL && moved != NULL)
        coil__faults()->block_came();
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
        coil__faults()->block_went();
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

void (*_Atomic coil__failed_hook)(int);

void coil__note_failure(int rc)
{
    void (*hook)(int) = coil__failed_hook;

    if (hook != NULL)
        hook(rc);
}

const char *coil_version(void)
{
    return "0.1.0";
}

void (*_Atomic coil__misuse_report)(const char *, const void *);

static void print_misuse(const char *sentence, const void *from)
{
    static COIL__THREAD_LOCAL bool printing;
    void (*report)(const char *, const void *) = coil__misuse_report;

    if (report == NULL || printing) { /* misuse inside the report: print no stack */
        fprintf(stderr, "coil: %s\n", sentence);
        return;
    }
    printing = true;
    report(sentence, from);
}

COIL__NOINLINE void coil__misuse(const char *format, ...)
{
    char sentence[512];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    print_misuse(sentence, COIL__CALLER());
    abort();
}

/* Not inlined: the printed stack begins with the caller of this function. */
COIL__NOINLINE void coil__misuse_gone(const char *caller)
{
    coil__misuse("%s: it was destroyed before", caller);
}
