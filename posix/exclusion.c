/*
 * exclusion.c - the libraries whose calls block the thread: coil_posix_exclude().
 *
 * A library calls read() or pthread_mutex_lock() with a return address inside its own
 * segments. posix__may_block() therefore compares the return address of each call with
 * the address ranges in posix__excluded. Ranges are never removed, so readers need no
 * lock.
 */
#include "interpose.h"

#include <coil/loop.h>
#include <coil/posix.h>

#include <errno.h>
#include <link.h>

struct posix__range posix__excluded[POSIX__EXCLUDED_MAX];
atomic_uint posix__excluded_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct search {
    const void *address;
    struct posix__range found;
    bool is_program;
};

struct posix__range posix__range_of(const struct dl_phdr_info *object)
{
    uintptr_t begin = UINTPTR_MAX, end = 0;

    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t at = object->dlpi_addr + segment->p_vaddr;

        if (segment->p_type != PT_LOAD)
            continue;
        begin = at < begin ? at : begin;
        end = at + segment->p_memsz > end ? at + segment->p_memsz : end;
    }
    return begin < end ? (struct posix__range){begin, end - begin}
                       : (struct posix__range){0, 0};
}

/* A callback for dl_iterate_phdr(3): test whether the object contains the address. */
static int find_object(struct dl_phdr_info *object, size_t bytes, void *arg)
{
    struct search *search = arg;

    (void)bytes;
    search->found = posix__range_of(object);
    search->is_program = object->dlpi_name[0] == '\0';
    return posix__range_contains(&search->found, search->address);
}

/* Add the range. The caller holds the lock. */
static int add_range(const struct posix__range *range)
{
    unsigned n = atomic_load_explicit(&posix__excluded_count, memory_order_relaxed);

    for (unsigned i = 0; i < n; i++)
        if (posix__excluded[i].begin == range->begin)
            return 0;
    if (n == POSIX__EXCLUDED_MAX)
        return -ENOSPC;
    posix__excluded[n] = *range;
    atomic_store_explicit(&posix__excluded_count, n + 1, memory_order_release);
    return 0;
}

int coil_posix_exclude(const void *address)
{
    struct search search = {.address = address};
    int rc;

    if (dl_iterate_phdr(find_object, &search) == 0 || search.is_program)
        return -EINVAL;
    NEXT(pthread_mutex_lock)(&lock);
    rc = add_range(&search.found);
    NEXT(pthread_mutex_unlock)(&lock);
    return rc;
}
