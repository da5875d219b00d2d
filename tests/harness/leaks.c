/*
 * leaks.c - reports what a test leaks: memory allocated by coil, descriptors, stacks and
 * loops.
 *
 * coil uses an allocator that counts the allocated bytes and blocks, and stores the size
 * in front of each block. test_fail_allocation() makes this allocator fail.
 */
#include "run.h"

#include "../../src/coro/stack.h"

#include <coil/base.h>
#include <coil/loop.h>

#include <dirent.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- memory ------------------------------------------------------------------------ */

struct block {
    _Alignas(max_align_t) size_t size;
};

static _Atomic size_t bytes_held, blocks_held;
static _Atomic int fail_in; /* 0: never */

void test_fail_allocation(int n)
{
    fail_in = n;
}

size_t test_bytes_held(void)
{
    return bytes_held;
}

size_t test_blocks_held(void)
{
    return blocks_held;
}

/*
 * Count `fail_in` down. Return true if it reaches 0, which means that this allocation
 * must fail. If several threads allocate at once, exactly one of them gets true.
 */
static bool must_fail(void)
{
    int left = fail_in;

    while (left > 0)
        if (atomic_compare_exchange_weak(&fail_in, &left, left - 1))
            return left == 1;
    return false;
}

static void *counting_realloc(void *context, void *user, size_t size)
{
    struct block *block = user != NULL ? (struct block *)user - 1 : NULL;
    size_t old_size = block != NULL ? block->size : 0;

    (void)context;
    if (size == 0) {
        blocks_held -= block != NULL;
        bytes_held -= old_size;
        free(block);
        return NULL;
    }
    if (must_fail() || size > SIZE_MAX - sizeof *block)
        return NULL;
    block = realloc(block, sizeof *block + size);
    if (block == NULL)
        return NULL;
    block->size = size;
    blocks_held += user == NULL;
    bytes_held += size - old_size;
    return block + 1;
}

/* ---- descriptors ------------------------------------------------------------------- */

enum { FD_LIMIT = 65536 };

static unsigned char open_before[FD_LIMIT / CHAR_BIT];

static bool is_set(const unsigned char *bits, int fd)
{
    return (bits[fd / CHAR_BIT] >> (fd % CHAR_BIT)) & 1;
}

/*
 * Call visit() for each open descriptor, except that of /proc/self/fd, which is only open
 * during this function.
 */
static void each_descriptor(void (*visit)(int fd))
{
    DIR *dir = opendir("/proc/self/fd");
    struct dirent *entry;

    if (dir == NULL)
        return;
    while ((entry = readdir(dir)) != NULL) {
        int fd = atoi(entry->d_name);

        if (entry->d_name[0] != '.' && fd != dirfd(dir) && fd < FD_LIMIT)
            visit(fd);
    }
    closedir(dir);
}

static void note_descriptor(int fd)
{
    open_before[fd / CHAR_BIT] |= (unsigned char)(1U << (fd % CHAR_BIT));
}

static void complain_if_new(int fd)
{
    char link[64], target[256];
    ssize_t n;

    if (is_set(open_before, fd))
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, target, sizeof target - 1);
    target[n > 0 ? n : 0] = '\0';
    test__complain("leak: descriptor %d (%s)", fd, target);
}

static int new_descriptors;

static void count_if_new(int fd)
{
    new_descriptors += !is_set(open_before, fd);
}

static bool holds_something(void)
{
    new_descriptors = 0;
    each_descriptor(count_if_new);
    return bytes_held > 0 || new_descriptors > 0;
}

/* ---- threads ----------------------------------------------------------------------- */

static bool has_other_threads(void)
{
    DIR *dir = opendir("/proc/self/task");
    int entries = 0;

    if (dir == NULL)
        return true;
    while (readdir(dir) != NULL)
        entries++;
    closedir(dir);
    return entries > 3; /* there are entries besides ".", ".." and this thread */
}

/*
 * Wait for up to five seconds until other threads have released their objects. For
 * example, a thread that has just woken a task releases its references a moment later,
 * and a thread that waits for a killed child process closes its handle when the child has
 * ended.
 */
static void wait_for_other_threads(void)
{
    for (int i = 0; i < 500 && holds_something() && has_other_threads(); i++)
        usleep(10000);
}

/* ---- entry points ------------------------------------------------------------------ */

void test__leaks_begin(void)
{
    coil_set_allocator(&(coil_allocator){.realloc = counting_realloc});
    each_descriptor(note_descriptor);
}

void test__leaks_check(void)
{
    test_fail_allocation(0);
    if (coil_loop_current() != NULL)
        test__complain("leak: a loop is still open");
    if (coil__stack_count() > 0)
        test__complain("leak: %zu stacks", coil__stack_count());
    coil__stack_drain();
    wait_for_other_threads();
    if (bytes_held > 0)
        test__complain("leak: %zu bytes that coil allocated, in %zu blocks",
                       test_bytes_held(), test_blocks_held());
    each_descriptor(complain_if_new);
}
