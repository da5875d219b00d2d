/*
 * failing_allocator.c - makes one allocation, or the creation of one task, fail in
 * coil-crawl: see tests/suites/crawler/test_enomem.py.
 *
 * The linker option --wrap redirects the crawler's own allocations to these functions,
 * but not those of libraries. So this file also works with sanitizers, which report
 * leaks. FAIL_ALLOCATION=N makes only the N-th allocation fail. ALLOCATIONS names a file
 * to which the number of allocations is written.
 */
#include <coil/group.h>

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t n);
void *__real_realloc(void *block, size_t n);
void *__real_aligned_alloc(size_t alignment, size_t n);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
int __real_vasprintf(char **out, const char *format, va_list arguments);
int __real_coil_group_spawn(coil_group *group, coil_task_fn fn, void *arg,
                            const coil_spawn_opts *opts, coil_task **out);

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t n);
void *__wrap_realloc(void *block, size_t n);
void *__wrap_aligned_alloc(size_t alignment, size_t n);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
int __wrap_asprintf(char **out, const char *format, ...);
int __wrap_vasprintf(char **out, const char *format, va_list arguments);
int __wrap___asprintf_chk(char **out, int flag, const char *format, ...);
int __wrap___vasprintf_chk(char **out, int flag, const char *format, va_list arguments);
int __wrap_coil_group_spawn(coil_group *group, coil_task_fn fn, void *arg,
                            const coil_spawn_opts *opts, coil_task **out);

static atomic_long count;
static long failing;

static void __attribute__((constructor)) read_environment(void)
{
    const char *nth = getenv("FAIL_ALLOCATION");

    failing = nth != NULL ? atol(nth) : 0;
}

static void __attribute__((destructor)) write_count(void)
{
    const char *path = getenv("ALLOCATIONS");
    FILE *out = path != NULL ? fopen(path, "w") : NULL;

    if (out == NULL)
        return;
    fprintf(out, "%ld\n", atomic_load(&count));
    fclose(out);
}

static bool fails(void)
{
    if (atomic_fetch_add(&count, 1) + 1 != failing)
        return false;
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *block, size_t n)
{
    return fails() ? NULL : __real_realloc(block, n);
}

void *__wrap_aligned_alloc(size_t alignment, size_t n)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, n);
}

char *__wrap_strdup(const char *s)
{
    return fails() ? NULL : __real_strdup(s);
}

char *__wrap_strndup(const char *s, size_t n)
{
    return fails() ? NULL : __real_strndup(s, n);
}

/* If vasprintf() fails, *out keeps its old value, as in glibc before 2.37. */
int __wrap_vasprintf(char **out, const char *format, va_list arguments)
{
    return fails() ? -1 : __real_vasprintf(out, format, arguments);
}

int __wrap_asprintf(char **out, const char *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = __wrap_vasprintf(out, format, arguments);
    va_end(arguments);
    return n;
}

int __wrap___asprintf_chk(char **out, int flag, const char *format, ...)
{
    va_list arguments;
    int n;

    (void)flag;
    va_start(arguments, format);
    n = __wrap_vasprintf(out, format, arguments);
    va_end(arguments);
    return n;
}

int __wrap___vasprintf_chk(char **out, int flag, const char *format, va_list arguments)
{
    (void)flag;
    return __wrap_vasprintf(out, format, arguments);
}

int __wrap_coil_group_spawn(coil_group *group, coil_task_fn fn, void *arg,
                            const coil_spawn_opts *opts, coil_task **out)
{
    return fails() ? -ENOMEM : __real_coil_group_spawn(group, fn, arg, opts, out);
}
