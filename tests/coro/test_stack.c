/*
 * test_stack.c - the pool of slots: reuse, guards in each mode, memory, exhaustion.
 */
#include "../harness/harness.h"

#include "../../src/coro/coroutine.h"
#include "emulated.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <coil/coro.h>

#define CONTROL_BYTES 400

/* A copy of what describes the slot, so that it can be looked at afterwards. */
static int try_acquire(size_t stack_bytes, size_t control_bytes,
                       struct coil__stack *stack)
{
    struct coil__stack *acquired;
    int rc = coil__stack_acquire(stack_bytes, control_bytes, &acquired);

    if (rc == 0)
        *stack = *acquired;
    return rc;
}

static struct coil__stack acquire(size_t stack_bytes)
{
    struct coil__stack stack = {0};

    CHECK_INT(try_acquire(stack_bytes, CONTROL_BYTES, &stack), 0);
    return stack;
}

static bool instrumented(void)
{
    return COIL__ASAN || COIL__TSAN || test_under_valgrind() || emulated();
}

/* Pages of the slot that are resident. */
static int resident_pages(const struct coil__stack *stack)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = coil__stack_bytes(stack) / page + 1;
    unsigned char in_core[256];
    int count = 0;

    if (n > sizeof in_core || mincore(stack->slot, n * page, in_core) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        count += in_core[i] & 1;
    return count;
}

TEST(stack_slots_are_powers_of_two)
{
    static const struct {
        size_t asked, got;
    } cases[] = {{0, COIL_STACK_BYTES}, {1, 16384},       {16384, 16384},
                 {16385, 32768},        {100000, 131072}, {1 << 30, 1 << 30}};

    if (sysconf(_SC_PAGESIZE) != 4096)
        test_skip("sizes of 4 KiB pages");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct coil__stack stack = acquire(cases[i].asked);

        CHECK_INT(coil__stack_bytes(&stack), cases[i].got);
        CHECK_INT((uintptr_t)stack.high & 63, 0);
        CHECK(stack.slot < stack.low && stack.low < stack.high);
        stack.high[-1] = stack.low[0] = 1;
        coil__stack_release(&stack);
    }
}

TEST(stack_bytes_beyond_reason_are_refused)
{
    struct coil__stack *stack;

    CHECK_INT(coil__stack_acquire(((size_t)1 << 30) + 1, 64, &stack), -EINVAL);
    CHECK_INT(coil__stack_acquire(0, 100000, &stack), -EINVAL);
    CHECK_INT(coil__stack_count(), 0);
}

TEST(stack_control_block_is_zeroed_on_reuse)
{
    struct coil__stack *first, *again;
    const char *rest;

    CHECK_INT(coil__stack_acquire(0, CONTROL_BYTES, &first), 0);
    memset(first + 1, 0xff, CONTROL_BYTES - sizeof *first);
    coil__stack_release(first);
    CHECK_INT(coil__stack_acquire(0, CONTROL_BYTES, &again), 0);
    CHECK_PTR(again, first);
    rest = (const char *)(again + 1);
    for (size_t i = 0; i < CONTROL_BYTES - sizeof *again; i++)
        CHECK_INT(rest[i], 0);
    coil__stack_release(again);
}

TEST(stack_freed_last_is_used_first)
{
    struct coil__stack a = acquire(0), b = acquire(0), c = acquire(0);

    CHECK_INT(coil__stack_count(), 3);
    coil__stack_release(&a);
    coil__stack_release(&c);
    coil__stack_release(&b);
    CHECK_INT(coil__stack_count(), 0);
    CHECK_PTR(acquire(0).slot, b.slot);
    CHECK_PTR(acquire(0).slot, c.slot);
    CHECK_PTR(acquire(0).slot, a.slot);
    coil__stack_release(&a);
    coil__stack_release(&b);
    coil__stack_release(&c);
}

TEST(stack_drain_unmaps_what_is_not_used)
{
    struct coil__stack stack = acquire(0);
    unsigned char in_core;

    coil__stack_drain();
    CHECK_INT(coil__stack_count(), 1);
    stack.high[-1] = 1;
    coil__stack_release(&stack);
    coil__stack_drain();
    CHECK(mincore(stack.slot, 4096, &in_core) != 0);
    stack = acquire(0);
    coil__stack_release(&stack);
}

static void *use_and_leave(void *arg)
{
    struct coil__stack *stack = arg;

    *stack = acquire(0);
    stack->high[-1] = 1;
    coil__stack_release(stack);
    return NULL;
}

TEST(stack_slots_go_when_their_thread_ends)
{
    struct coil__stack stack;
    unsigned char in_core;
    pthread_t thread;

    CHECK_INT(pthread_create(&thread, NULL, use_and_leave, &stack), 0);
    pthread_join(thread, NULL);
    CHECK_INT(coil__stack_count(), 0);
    CHECK(mincore(stack.slot, 4096, &in_core) != 0);
}

/* ---- memory ------------------------------------------------------------------------ */

enum { MANY = 100000 };

static void *park(void *arg)
{
    return coil_coro_suspend(arg);
}

static void create_many(coil_coro **coros)
{
    for (int i = 0; i < MANY; i++) {
        if (coil_coro_create(park, NULL, NULL, &coros[i]) < 0)
            test_skip("no address space for 100,000 stacks");
        coil_coro_resume(coros[i], NULL);
    }
}

static void end_many(coil_coro **coros)
{
    for (int i = 0; i < MANY; i++) {
        coil_coro_resume(coros[i], NULL);
        coil_coro_destroy(coros[i]);
    }
}

TEST(stack_of_a_parked_coroutine_takes_one_page)
{
    long before, bytes_each, mappings = test_mapping_count();
    coil_coro **coros;

    if (instrumented())
        test_skip("a sanitizer's own memory is many times that");
    coros = malloc(MANY * sizeof *coros);
    memset(coros, 1, MANY * sizeof *coros);
    before = test_proc_kib("/proc/self/status", "VmRSS") +
             test_proc_kib("/proc/self/status", "VmPTE");
    create_many(coros);
    bytes_each = (test_proc_kib("/proc/self/status", "VmHWM") +
                  test_proc_kib("/proc/self/status", "VmPTE") - before) *
                 1024 / MANY;
    CHECK(bytes_each <= 4710); /* 4.6 KiB */
    CHECK(test_mapping_count() - mappings < 100);
    CHECK_INT(coil__stack_count(), MANY);
    end_many(coros);
    CHECK_INT(coil__stack_count(), 0);
    /* All but one slab went back at once, not only at the end. */
    CHECK(test_proc_kib("/proc/self/status", "VmRSS") - before < 30 * 1024);
    free(coros);
}

static void dirty(const struct coil__stack *stack)
{
    char *at = stack->high - 5 * 4096;

    memset(at, 1, 5 * 4096);
}

TEST(stack_is_trimmed_when_the_body_returned_and_many_are_dirty)
{
    enum { COUNT = 100 };
    struct coil__stack stacks[COUNT];
    int kept = 0;

    if (instrumented() || sysconf(_SC_PAGESIZE) != 4096)
        test_skip("it looks at pages");
    for (int i = 0; i < COUNT; i++)
        stacks[i] = acquire(0);
    for (int i = 0; i < COUNT; i++) {
        dirty(&stacks[i]);
        coil__stack_trim(&stacks[i]);
        CHECK_INT(resident_pages(&stacks[i]), stacks[i].dirty ? 6 : 1);
        kept += stacks[i].dirty;
    }
    CHECK_INT(kept, 64);
    for (int i = 0; i < COUNT; i++)
        coil__stack_release(&stacks[i]);
}

TEST(stack_that_stayed_in_its_page_is_not_dirty)
{
    struct coil__stack stack = acquire(0);

    stack.high[-64] = 1;
    coil__stack_trim(&stack);
    CHECK(!stack.dirty);
    coil__stack_release(&stack);
}

/* ---- guards ------------------------------------------------------------------------ */

static void touch_guard(void *mode)
{
    struct coil__stack stack;

    coil__stack_guard = (enum coil__guard)(intptr_t)mode;
    signal(SIGSEGV, SIG_DFL);
    stack = acquire(0);
    if (stack.guarded)
        stack.low[-1] = 1;
}

TEST(stack_guards_stop_an_overflow)
{
    struct coil__stack stack;

    if (instrumented())
        test_skip("the sanitizer takes the SIGSEGV");
    test_dies_by_signal(touch_guard, (void *)COIL__GUARD_MADVISE, SIGSEGV, "");
    test_dies_by_signal(touch_guard, (void *)COIL__GUARD_MPROTECT, SIGSEGV, "");
    coil__stack_guard = COIL__GUARD_CHECK;
    stack = acquire(0);
    CHECK(!stack.guarded);
    coil__stack_release(&stack);
}

TEST(stack_guards_survive_reuse_and_trimming)
{
    struct coil__stack stack = acquire(0);

    coil__stack_release(&stack);
    coil__stack_drain();
    for (int mode = coil__stack_guard; mode <= COIL__GUARD_MPROTECT; mode++) {
        coil__stack_guard = (enum coil__guard)mode;
        for (int i = 0; i < 3; i++) {
            int end[2];

            stack = acquire(0);
            madvise(stack.low, 4096, MADV_DONTNEED);
            CHECK(stack.guarded);
            CHECK_INT(pipe(end), 0);
            /* The kernel refuses to read what faults. */
            CHECK(write(end[1], stack.low - 1, 1) < 0 && errno == EFAULT);
            CHECK_INT(write(end[1], stack.low, 1), 1);
            close(end[0]);
            close(end[1]);
            coil__stack_release(&stack);
        }
        coil__stack_drain();
    }
}

TEST(stack_guards_by_mprotect_stay_within_the_budget)
{
    enum { COUNT = 12000 };
    struct coil__stack *stacks = calloc(COUNT, sizeof *stacks);
    FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
    long allowed = 65530, before = test_mapping_count();
    int guarded = 0;

    if (file == NULL || fscanf(file, "%ld", &allowed) != 1)
        allowed = 65530;
    if (file != NULL)
        fclose(file);
    coil__stack_guard = COIL__GUARD_MPROTECT;
    for (int i = 0; i < COUNT; i++) {
        stacks[i] = acquire(16384);
        guarded += stacks[i].guarded;
    }
    CHECK(guarded > 0 && guarded <= allowed / 8);
    CHECK(test_mapping_count() - before <= allowed / 4 + 100);
    for (int i = 0; i < COUNT; i++)
        coil__stack_release(&stacks[i]);
    coil__stack_drain();
    /* The budget comes back with the mappings. */
    stacks[0] = acquire(16384);
    CHECK(stacks[0].guarded);
    coil__stack_release(&stacks[0]);
    free(stacks);
}

static COIL__NOINLINE int descend(int depth)
{
    char frame[1000];

    memset(frame, depth, sizeof frame);
    __asm__ volatile("" : : "r"(frame) : "memory");
    if (depth == 0) {
        coil_coro_suspend(NULL);
        return frame[5];
    }
    return descend(depth - 1) + frame[7];
}

static void *overflow_by_far(void *arg)
{
    return (void *)(intptr_t)descend((int)(intptr_t)arg);
}

/* Into the slot below, which is in use: as deep as that can take without a guard. */
static void overflow_unguarded(void *arg)
{
    coil_coro *below, *coro;

    coil__stack_guard = COIL__GUARD_CHECK;
    coil_coro_create(park, NULL, NULL, &below);
    coil_coro_create(overflow_by_far, arg, NULL, &coro);
    coil_coro_resume(coro, NULL);
}

static void *run_over_the_canary(void *arg)
{
    memset(*(char **)arg - 8, 0x55, 8);
    return NULL;
}

static void overflow_and_come_back(void *arg)
{
    coil__coro *coro;
    char *slot;

    coil__stack_guard = COIL__GUARD_CHECK;
    coil__coro_create(sizeof *coro, 0, run_over_the_canary, &slot, &coro);
    slot = coro->stack.slot;
    coil__coro_resume(coro, arg);
}

TEST(stack_without_guard_is_checked_when_left)
{
    if (COIL__ASAN)
        test_skip("ASan finds it earlier");
    test_dies(overflow_unguarded, (void *)(intptr_t)125,
              "stack overflow in coroutine (131072 bytes)");
    test_dies(overflow_and_come_back, NULL, "stack overflow in coroutine (131072 bytes)");
}

/* ---- exhaustion -------------------------------------------------------------------- */

TEST(stack_exhaustion_is_an_error)
{
    struct coil__stack *stacks, stack;
    struct rlimit limit, small;
    int count = 0, rc;

    if (instrumented())
        test_skip("a sanitizer needs the address space");
    stacks = calloc(100000, sizeof *stacks);
    CHECK_INT(getrlimit(RLIMIT_AS, &limit), 0);
    small = limit;
    small.rlim_cur =
        (rlim_t)test_proc_kib("/proc/self/status", "VmSize") * 1024 + 64 * 1024 * 1024;
    CHECK_INT(setrlimit(RLIMIT_AS, &small), 0);
    while ((rc = try_acquire(0, 64, &stacks[count])) == 0)
        count++;
    CHECK_INT(rc, -ENOMEM);
    /* Smaller slabs were tried before that: hardly a slot is wasted. */
    CHECK((size_t)count * (COIL_STACK_BYTES + (size_t)sysconf(_SC_PAGESIZE)) >
          500 * COIL_STACK_BYTES);
    CHECK_INT(try_acquire(1 << 20, 64, &stack), -ENOMEM);
    for (int i = 0; i < count; i++)
        coil__stack_release(&stacks[i]);
    CHECK_INT(try_acquire(0, 64, &stack), 0);
    coil__stack_release(&stack);
    CHECK_INT(setrlimit(RLIMIT_AS, &limit), 0);
    free(stacks);
}
