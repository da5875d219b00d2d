/*
 * test_stack.c - the pool of stack slots: reuse, each mode of guards, memory use, and
 * exhaustion.
 */
#include "../../harness/harness.h"

#include "../../../src/coro/coroutine.h"
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
#include <coil/gen.h>

#define CONTROL_BYTES 400

/*
 * Acquire a stack, and copy the description of its slot, so that tests can change the
 * copy.
 */
static int try_acquire(size_t stack_bytes, size_t control_bytes,
                       struct coil__stack *stack)
{
    struct coil__stack *acquired;
    int rc = coil__stack_acquire(stack_bytes, control_bytes, false, &acquired);

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

/* Copy the changed description back to the slot, and release the slot. */
static void release(const struct coil__stack *copy)
{
    struct coil__stack *acquired = (void *)copy->high;

    *acquired = *copy;
    coil__stack_release(acquired);
}

static bool instrumented(void)
{
    return COIL__ASAN || COIL__TSAN || test_under_valgrind() || emulated();
}

/* Return the number of resident pages of the slot. */
static int resident_pages(const struct coil__stack *stack)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = coil__stack_bytes(stack) / page;
    unsigned char in_core[256];
    int count = 0;

    if (n > sizeof in_core || mincore(stack->low, n * page, in_core) != 0)
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
        test_skip("this requires 4 KiB pages");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct coil__stack stack = acquire(cases[i].asked);

        CHECK_INT(coil__stack_bytes(&stack), cases[i].got);
        CHECK_INT((uintptr_t)stack.high & 63, 0);
        CHECK(stack.low < stack.high);
        stack.high[-1] = stack.low[0] = 1;
        release(&stack);
    }
}

TEST(stack_bytes_beyond_reason_are_refused)
{
    struct coil__stack *stack;

    CHECK_INT(coil__stack_acquire(((size_t)1 << 30) + 1, 64, false, &stack), -EINVAL);
    CHECK_INT(coil__stack_acquire(0, 100000, false, &stack), -EINVAL);
    CHECK_INT(coil__stack_count(), 0);
}

/* The control block begins with the slot's own data. Users of the stack own the rest. */
TEST(stack_control_block_lies_at_the_same_place_on_reuse)
{
    struct coil__stack *first, *again;

    for (size_t bytes = sizeof *first; bytes <= 4096; bytes *= 2) {
        CHECK_INT(coil__stack_acquire(0, bytes, false, &first), 0);
        memset(first + 1, 0xff, bytes - sizeof *first);
        CHECK_PTR(first->high, (char *)first);
        coil__stack_release(first);
        CHECK_INT(coil__stack_acquire(0, 64, false, &again), 0);
        CHECK_PTR(again, first);
        CHECK_PTR(again->high, (char *)again);
        coil__stack_release(again);
    }
}

TEST(stacks_are_reused_in_one_order_with_and_without_a_call)
{
    struct coil__stack *a, *b;

    if (instrumented())
        test_skip("instrumented builds take every stack with a call");
    CHECK_INT(coil__stack_acquire(0, 64, false, &a), 0);
    CHECK_INT(coil__stack_acquire(0, 64, false, &b), 0);
    coil__stack_trim(a);
    coil__stack_trim(b);
    CHECK(coil__stack_release_usual(a));
    coil__stack_release(b);
    CHECK_INT(coil__stack_count(), 0);
    CHECK_PTR(coil__stack_acquire_usual(), b);
    CHECK(!b->trimmed);
    CHECK_PTR(coil__stack_acquire_usual(), a);
    CHECK_PTR(coil__stack_acquire_usual(), NULL); /* none was freed */
    CHECK_INT(coil__stack_count(), 2);
    coil__stack_release(a);
    coil__stack_release(b);
}

TEST(stack_freed_last_is_used_first)
{
    struct coil__stack a = acquire(0), b = acquire(0), c = acquire(0);

    CHECK_INT(coil__stack_count(), 3);
    release(&a);
    release(&c);
    release(&b);
    CHECK_INT(coil__stack_count(), 0);
    CHECK_PTR(acquire(0).low, b.low);
    CHECK_PTR(acquire(0).low, c.low);
    CHECK_PTR(acquire(0).low, a.low);
    release(&a);
    release(&b);
    release(&c);
}

TEST(stack_drain_unmaps_what_is_not_used)
{
    struct coil__stack stack = acquire(0);
    unsigned char in_core;

    coil__stack_drain();
    CHECK_INT(coil__stack_count(), 1);
    stack.high[-1] = 1;
    release(&stack);
    coil__stack_drain();
    CHECK(mincore(stack.low, 4096, &in_core) != 0);
    stack = acquire(0);
    release(&stack);
}

/*
 * The released slot is reused. Its memory is zeroed, and its top page is still resident.
 */
TEST(stack_shrink_keeps_a_small_pool)
{
    struct coil__stack first = acquire(0), again;
    unsigned char in_core = 0;

    memset(first.low, 1, (size_t)(first.high - CONTROL_BYTES - first.low));
    release(&first);
    coil__stack_shrink();
    CHECK_INT(
        mincore((char *)((uintptr_t)(first.high - 1) & ~(uintptr_t)4095), 4096, &in_core),
        0);
    CHECK(in_core & 1);
    again = acquire(0);
    CHECK_PTR(again.low, first.low);
    CHECK(!instrumented() ? again.low[0] == 0 : true);
    release(&again);
}

TEST(stack_shrink_unmaps_what_grew)
{
    enum { MORE = 20 }; /* more slots than the first 16 of a slab */
    struct coil__stack stacks[MORE];
    unsigned char in_core;

    for (int i = 0; i < MORE; i++)
        stacks[i] = acquire(0);
    for (int i = 0; i < MORE; i++)
        release(&stacks[i]);
    coil__stack_shrink();
    for (int i = 0; i < MORE; i++)
        CHECK(mincore(stacks[i].low, 4096, &in_core) != 0);
}

TEST(stack_shrink_keeps_stacks_in_use)
{
    struct coil__stack stack = acquire(0);

    coil__stack_shrink();
    stack.high[-1] = 1;
    CHECK_INT(coil__stack_count(), 1);
    release(&stack);
}

static void *use_and_leave(void *arg)
{
    struct coil__stack *stack = arg;

    *stack = acquire(0);
    stack->high[-1] = 1;
    release(stack);
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
    CHECK(mincore(stack.low, 4096, &in_core) != 0);
}

/* ---- memory ------------------------------------------------------------------------ */

enum { MANY = 30000 };

static void *park(void *arg)
{
    return coil_coro_suspend(arg);
}

static void create_many(coil_coro **coros)
{
    for (int i = 0; i < MANY; i++) {
        if (coil_coro_create(park, NULL, NULL, &coros[i]) < 0)
            test_skip("too little address space for so many stacks");
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
        test_skip("sanitizers and valgrind use much more memory");
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
    /* All slabs except one have been freed already. */
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
        test_skip("this requires 4 KiB pages, and no sanitizer");
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
        release(&stacks[i]);
}

TEST(stack_of_which_one_page_was_used_is_not_dirty)
{
    struct coil__stack stack = acquire(0);

    stack.high[-64] = 1;
    coil__stack_trim(&stack);
    CHECK(!stack.dirty);
    release(&stack);
}

/* ---- guards ------------------------------------------------------------------------ */

static void touch_guard(void *mode)
{
    struct coil__stack stack;

    coil__stack_guard = (enum coil__guard)(intptr_t)mode;
    signal(SIGSEGV, SIG_DFL);
    stack = acquire(0);
    if (coil__stack_guarded(&stack))
        stack.low[-1] = 1;
}

TEST(stack_guards_stop_an_overflow)
{
    struct coil__stack stack;

    if (instrumented())
        test_skip("the sanitizer handles SIGSEGV itself");
    test_dies_by_signal(touch_guard, (void *)COIL__GUARD_MADVISE, SIGSEGV, "");
    test_dies_by_signal(touch_guard, (void *)COIL__GUARD_MPROTECT, SIGSEGV, "");
    coil__stack_guard = COIL__GUARD_CHECK;
    stack = acquire(0);
    CHECK(!coil__stack_guarded(&stack));
    release(&stack);
}

TEST(stack_guards_survive_reuse_and_trimming)
{
    struct coil__stack stack = acquire(0);

    release(&stack);
    coil__stack_drain();
    for (int mode = coil__stack_guard; mode <= COIL__GUARD_MPROTECT; mode++) {
        coil__stack_guard = (enum coil__guard)mode;
        for (int i = 0; i < 3; i++) {
            int end[2];

            stack = acquire(0);
            madvise(stack.low, 4096, MADV_DONTNEED);
            CHECK(coil__stack_guarded(&stack));
            CHECK_INT(pipe(end), 0);
            /* The kernel fails a write(2) from memory that faults. */
            CHECK(write(end[1], stack.low - 1, 1) < 0 && errno == EFAULT);
            CHECK_INT(write(end[1], stack.low, 1), 1);
            close(end[0]);
            close(end[1]);
            release(&stack);
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
        guarded += coil__stack_guarded(&stacks[i]);
    }
    CHECK(guarded > 0 && guarded <= allowed / 8);
    CHECK(test_mapping_count() - before <= allowed / 4 + 100);
    for (int i = 0; i < COUNT; i++)
        release(&stacks[i]);
    coil__stack_drain();
    /* The budget is available again after the mappings have been freed. */
    stacks[0] = acquire(16384);
    CHECK(coil__stack_guarded(&stacks[0]));
    release(&stacks[0]);
    free(stacks);
}

/* gcc probes large frames every 64 KiB on aarch64, and every page on x86-64. */
TEST(stack_guards_are_longer_than_a_probe_and_take_nothing_of_the_stack)
{
#ifdef __aarch64__
    const size_t guard_bytes = 64 * 1024;
#else
    const size_t guard_bytes = 60 * 1024;
#endif

    coil__stack_guard = COIL__GUARD_MPROTECT; /* every kernel supports this mode */
    for (size_t bytes = 16384; bytes <= 1 << 20; bytes *= 2) {
        struct coil__stack stack = acquire(bytes);

        CHECK((size_t)(stack.low - coil__stack_slot(&stack)) >= guard_bytes);
        CHECK((size_t)(stack.high - stack.low) + CONTROL_BYTES + 16 * 64 + 128 >= bytes);
        release(&stack);
    }
}

TEST(stack_tops_are_spread_over_the_sets_of_the_caches)
{
    struct coil__stack stacks[16];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned sets_of_tlb = 0, lines = 0;

    if (page != 4096)
        test_skip("this requires 4 KiB pages");
    for (size_t i = 0; i < 16; i++) {
        stacks[i] = acquire(0);
        sets_of_tlb |= 1u << (uintptr_t)stacks[i].high / page % 16;
        lines |= 1u << (uintptr_t)stacks[i].high % page / 64 % 16;
    }
    CHECK_INT(sets_of_tlb, 0xffff);
    CHECK_INT(lines, 0xffff);
    for (size_t i = 0; i < 16; i++)
        release(&stacks[i]);
}

/* ---- overflows that no guard stops ------------------------------------------------- */

/*
 * Recurse with frames of a little more than 1,000 bytes, and suspend in the innermost one
 * if `wait` is set. The asm statement keeps the compiler from shrinking the array.
 */
static COIL__NOINLINE int descend(int depth, bool wait)
{
    volatile char frame[1000];

    __asm__ volatile("" : : "r"(frame));
    frame[0] = (char)depth;
    if (depth == 0) {
        if (wait)
            coil_coro_suspend(NULL);
        return frame[0];
    }
    return descend(depth - 1, wait) + frame[0];
}

static void *wait_in_the_depth(void *arg)
{
    return (void *)(intptr_t)descend((int)(intptr_t)arg, true);
}

static void *wait_after_the_depth(void *arg)
{
    int got = descend((int)(intptr_t)arg, false);

    coil_coro_suspend(NULL);
    return (void *)(intptr_t)got;
}

static void *end_after_the_depth(void *arg)
{
    return (void *)(intptr_t)descend((int)(intptr_t)arg, false);
}

/*
 * Create a coroutine whose slot is above two used slots, so that a frame that skips the
 * guard ends in one of them.
 */
static coil_coro *create_above_others(coil_coro_fn fn, void *arg)
{
    coil_coro *coro, *below;

    for (int i = 0; i < 2; i++) {
        coil_coro_create(park, NULL, NULL, &below);
        coil_coro_resume(below, NULL);
    }
    coil_coro_create(fn, arg, NULL, &coro);
    return coro;
}

struct overflow {
    coil_coro_fn fn;
    intptr_t depth;
};

static void overflow_unguarded(void *arg)
{
    const struct overflow *overflow = arg;

    coil__stack_guard = COIL__GUARD_CHECK;
    coil_coro_resume(create_above_others(overflow->fn, (void *)overflow->depth), NULL);
}

/*
 * 140 frames reach the place where other stacks have a guard, and 230 frames the next
 * slot.
 */
TEST(stack_without_guard_is_checked_when_left)
{
    static const coil_coro_fn fns[] = {wait_in_the_depth, wait_after_the_depth,
                                       end_after_the_depth};

    if (COIL__ASAN)
        test_skip("ASan detects the overflow earlier");
    for (size_t i = 0; i < sizeof fns / sizeof *fns; i++) {
        struct overflow overflow = {fns[i], 140};

        test_dies(overflow_unguarded, &overflow,
                  "stack overflow in coroutine (131072 bytes)");
        overflow.depth = 230;
        test_dies(overflow_unguarded, &overflow,
                  "stack overflow in coroutine (131072 bytes)");
    }
}

TEST(stack_without_guard_is_all_there_to_be_used)
{
    coil_coro *coro;

    coil__stack_guard = COIL__GUARD_CHECK;
    for (int i = 0; i < 2; i++) {
        coil_coro_create(wait_after_the_depth, (void *)(intptr_t)70, NULL, &coro);
        coil_coro_resume(coro, NULL);
        coil_coro_resume(coro, NULL);
        CHECK(coil_coro_done(coro));
        coil_coro_destroy(coro);
    }
}

static void *run_over_the_canary(coil__coro *coro)
{
    memset(*(char **)coro->arg - 8, 0x55, 8);
    return NULL;
}

static const char *label_coroutine(const coil__coro *coro)
{
    (void)coro;
    return "coroutine";
}

static void overflow_and_come_back(void *arg)
{
    static const struct coil__coro_class class = {.main = run_over_the_canary,
                                                  .label = label_coroutine};
    coil__coro *coro;
    char *slot;

    coil__stack_guard = COIL__GUARD_CHECK;
    coil__coro_create(sizeof *coro, 0, &class, &slot, &coro);
    slot = coil__stack_slot(&coro->stack);
    coil__coro_resume(coro, arg);
}

TEST(stack_without_guard_has_a_canary_below)
{
    if (COIL__ASAN)
        test_skip("ASan detects the overflow earlier");
    test_dies(overflow_and_come_back, NULL, "stack overflow in coroutine (131072 bytes)");
}

/* ---- frames that reach beyond the guard -------------------------------------------- */

/* Call fn from a frame of `bytes` bytes, without writing to the rest of the frame. */
static COIL__NOINLINE void jump(size_t bytes, void (*fn)(void))
{
    volatile char *frame = __builtin_alloca(bytes);

    frame[bytes - 1] = 1;
    __asm__ volatile("" : : "r"(frame) : "memory");
    fn();
}

/* larger than a guard of 1020 KiB and a stack of 128 KiB */
enum { BEYOND_THE_GUARD = 1240000 };

static coil__coro *thread_itself;

static void suspend(void)
{
    coil_coro_suspend(NULL);
}

static void resume_another(void)
{
    coil_coro *another;

    coil_coro_create(park, NULL, NULL, &another);
    coil_coro_resume(another, NULL);
}

static void transfer(void)
{
    coil__coro_transfer(thread_itself, NULL);
}

static void transfer_alike(void)
{
    coil__coro_transfer_alike(thread_itself);
}

static int yield_never(coil_gen *gen, void *arg)
{
    (void)gen, (void)arg;
    return 0;
}

static void run_a_generator(void)
{
    coil_gen *gen;

    coil_gen_create(yield_never, NULL, NULL, &gen);
    coil_gen_next(gen, NULL);
}

static void *jump_and_leave(void *how)
{
    jump(BEYOND_THE_GUARD, *(void (**)(void))how);
    return NULL;
}

static void leave_beyond_the_guard(void *how)
{
    thread_itself = coil__coro_current();
    coil_coro_resume(create_above_others(jump_and_leave, how), NULL);
}

TEST(stack_frame_that_jumped_the_guard_is_named_when_left)
{
    void (*const ways[])(void) = {suspend, resume_another, transfer, transfer_alike,
                                  run_a_generator};

    if (COIL__ASAN || COIL__TSAN || test_under_valgrind())
        test_skip("the tool mistakes large frames for another stack");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        test_dies(leave_beyond_the_guard, (void *)(uintptr_t)&ways[i],
                  "stack overflow in coroutine (131072 bytes)");
}

static int yield_from_beyond(coil_gen *gen, void *arg)
{
    (void)gen, (void)arg;
    jump(BEYOND_THE_GUARD, (void (*)(void))(uintptr_t)arg);
    return 0;
}

static void yield(void)
{
    coil_gen_yield(NULL, NULL);
}

static void yield_beyond_the_guard(void *arg)
{
    coil_gen *gen;

    (void)arg;
    create_above_others(park, NULL);
    coil_gen_create(yield_from_beyond, (void *)(uintptr_t)yield, NULL, &gen);
    coil_gen_next(gen, NULL);
}

TEST(stack_of_a_generator_that_jumped_the_guard_is_named_when_it_yields)
{
    if (COIL__ASAN || COIL__TSAN || test_under_valgrind())
        test_skip("the tool mistakes large frames for another stack");
    test_dies(yield_beyond_the_guard, NULL, "stack overflow in generator (131072 bytes)");
}

static void write_there(void)
{
    volatile char here[16];

    here[0] = 1;
    __asm__ volatile("" : : "r"(here) : "memory");
}

static void *jump_and_return(void *bytes)
{
    jump((size_t)(uintptr_t)bytes, write_there);
    return NULL;
}

/*
 * Skip a guard of the usual size with a large frame, which ends in the stack of another
 * coroutine unless the guard is wide.
 */
static void jump_by(void *bytes)
{
    coil_coro *coro = create_above_others(jump_and_return, bytes);

    signal(SIGSEGV, SIG_DFL);
    coil__overflow_install();
    coil_coro_resume(coro, NULL);
    coil_coro_destroy(coro);
}

TEST(stack_frame_larger_than_a_usual_guard_hits_a_wide_one)
{
    if (instrumented())
        test_skip("the tool mistakes large frames for another stack");
    for (uintptr_t bytes = 150000; bytes <= 1100000; bytes += 190000)
        test_dies_by_signal(jump_by, (void *)bytes, SIGSEGV,
                            "coil: stack overflow in coroutine (131072 bytes)\n");
}

static size_t guard_of(const struct coil__stack *stack)
{
    return (size_t)(stack->low - coil__stack_slot(stack));
}

/* Return how many of `count` stacks have a wide guard. */
static int count_wide_guards(size_t stack_bytes, int count)
{
    struct coil__stack *stacks = calloc((size_t)count, sizeof *stacks);
    int wide = 0;

    for (int i = 0; i < count; i++) {
        stacks[i] = acquire(stack_bytes);
        wide += guard_of(&stacks[i]) >= (size_t)900 * 1024;
    }
    for (int i = 0; i < count; i++)
        release(&stacks[i]);
    coil__stack_drain();
    free(stacks);
    return wide;
}

TEST(stack_guards_are_wide_where_stacks_are_few_and_in_debug_mode)
{
    CHECK_INT(count_wide_guards(0, 300), 112);
    CHECK_INT(count_wide_guards(1 << 20, 3), 0);
    coil__stack_set_debug(true);
    CHECK_INT(count_wide_guards(0, 300), 300);
    CHECK_INT(count_wide_guards(1 << 20, 3), 3);
    coil__stack_set_debug(false);
    CHECK_INT(count_wide_guards(0, 10), 10);
}

TEST(stack_guards_are_as_usual_where_address_space_is_limited)
{
    const rlim_t room = (rlim_t)12 << 20; /* a slab with wide guards takes 18 MiB */
    struct rlimit before, limit;

    if (instrumented())
        test_skip("the tool needs too much address space");
    getrlimit(RLIMIT_AS, &before);
    limit = before;
    limit.rlim_cur = (rlim_t)test_proc_kib("/proc/self/status", "VmSize") * 1024 + room;
    CHECK_INT(setrlimit(RLIMIT_AS, &limit), 0);
    CHECK_INT(count_wide_guards(0, 10), 0);
    setrlimit(RLIMIT_AS, &before);
}

/* ---- guards that run out ----------------------------------------------------------- */

enum { PATIENCE = 100000 };

static struct coil__stack *taken;

/*
 * Use up the budget of guards, which is a quarter of the mappings that a process may
 * have. Returns the number of acquired stacks, the last of which lacks a guard.
 */
static int use_up_guards(void)
{
    coil__stack_guard = COIL__GUARD_MPROTECT;
    taken = test_memory(PATIENCE * sizeof *taken);
    for (int i = 0; i < PATIENCE; i++) {
        taken[i] = acquire(16384);
        if (!coil__stack_guarded(&taken[i]))
            return i + 1;
    }
    test_skip("vm.max_map_count is too high to use up all guards");
}

static void overflow_where_guards_ran_out(void *arg)
{
    use_up_guards();
    coil_coro_resume(create_above_others(wait_after_the_depth, (void *)(intptr_t)140),
                     arg);
}

TEST(stack_says_once_that_guards_ran_out)
{
    char said[4096] = "";
    int ends[2], saved = dup(2), count;
    struct coil__stack further;
    const char *word;

    CHECK_INT(pipe(ends), 0);
    dup2(ends[1], 2);
    count = use_up_guards();
    further = acquire(0);
    dup2(saved, 2);
    close(ends[1]);
    CHECK(read(ends[0], said, sizeof said - 1) > 0);
    word = strstr(said, "refuses guard pages for further stacks");
    CHECK(word != NULL && strstr(word + 1, "refuses guard pages") == NULL);
    close(ends[0]);
    close(saved);
    CHECK(!coil__stack_guarded(&further));
    release(&further);
    while (count > 0)
        release(&taken[--count]);
}

TEST(stack_overflow_where_guards_ran_out_is_named)
{
    if (COIL__ASAN)
        test_skip("ASan detects the overflow earlier");
    test_dies(overflow_where_guards_ran_out, NULL,
              "refuses guard pages for further stacks");
    test_dies(overflow_where_guards_ran_out, NULL,
              "stack overflow in coroutine (131072 bytes)");
}

/* ---- peaks ------------------------------------------------------------------------- */

static void touch_to(const struct coil__stack *stack, size_t bytes)
{
    *(volatile char *)(stack->high - bytes) = 1;
}

static void check_peaks(enum coil__guard guard)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct coil__stack *stack;
    ssize_t peak;

    coil__stack_guard = guard;
    CHECK_INT(coil__stack_acquire(0, CONTROL_BYTES, false, &stack), 0);
    touch_to(stack, 50000);
    peak = coil__stack_peak(stack);
    CHECK(peak >= 50000 && peak < (ssize_t)(50000 + page));
    touch_to(stack, 90000);
    CHECK(coil__stack_peak(stack) >= 90000);
    coil__stack_trim(stack);
    CHECK(coil__stack_peak(stack) >= 90000);
    coil__stack_release(stack);
    /* Pages to which the slot's previous user has written are not counted. */
    CHECK_INT(coil__stack_acquire(0, CONTROL_BYTES, false, &stack), 0);
    touch_to(stack, 100);
    CHECK(coil__stack_peak(stack) <= (ssize_t)page);
    touch_to(stack, (size_t)(stack->high - stack->low));
    CHECK_INT(coil__stack_peak(stack), stack->high - stack->low);
    coil__stack_release(stack);
    coil__stack_drain();
}

TEST(stack_peak_is_the_lowest_page_written)
{
    for (int mode = COIL__GUARD_MADVISE; mode <= COIL__GUARD_CHECK; mode++)
        check_peaks((enum coil__guard)mode);
}

TEST(stack_peak_is_unknown_where_another_had_been)
{
    struct coil__stack *stack;

    if (instrumented() || sysconf(_SC_PAGESIZE) != 4096)
        test_skip("this requires 4 KiB pages, and no sanitizer");
    CHECK_INT(coil__stack_acquire(0, CONTROL_BYTES, false, &stack), 0);
    dirty(stack);
    coil__stack_release(stack);
    CHECK_INT(coil__stack_acquire(0, CONTROL_BYTES, false, &stack), 0);
    CHECK_INT(coil__stack_peak(stack), -EAGAIN);
    coil__stack_release(stack);
    CHECK_INT(coil__stack_acquire(0, CONTROL_BYTES, false, &stack), 0);
    CHECK(coil__stack_peak(stack) > 0);
    coil__stack_release(stack);
}

/* ---- exhaustion -------------------------------------------------------------------- */

TEST(stack_exhaustion_is_an_error)
{
    struct coil__stack *stacks, stack;
    struct rlimit limit, small;
    int count = 0, rc;

    if (instrumented())
        test_skip("the tool needs too much address space");
    stacks = calloc(100000, sizeof *stacks);
    CHECK_INT(getrlimit(RLIMIT_AS, &limit), 0);
    small = limit;
    small.rlim_cur =
        (rlim_t)test_proc_kib("/proc/self/status", "VmSize") * 1024 + 64 * 1024 * 1024;
    CHECK_INT(setrlimit(RLIMIT_AS, &small), 0);
    while ((rc = try_acquire(0, 64, &stacks[count])) == 0)
        count++;
    CHECK_INT(rc, -ENOMEM);
    /* coil tries smaller slabs before it fails, so hardly any memory is wasted. */
    CHECK((size_t)count * (size_t)(stacks[1].low - stacks[0].low) >
          500 * COIL_STACK_BYTES);
    CHECK_INT(try_acquire(1 << 20, 64, &stack), -ENOMEM);
    for (int i = 0; i < count; i++)
        release(&stacks[i]);
    CHECK_INT(try_acquire(0, 64, &stack), 0);
    release(&stack);
    CHECK_INT(setrlimit(RLIMIT_AS, &limit), 0);
    free(stacks);
}

/* ---- separate control blocks ------------------------------------------------------- */

static struct coil__stack *acquire_light(size_t stack_bytes, size_t control_bytes)
{
    struct coil__stack *stack;

    CHECK_INT(coil__stack_acquire(stack_bytes, control_bytes, true, &stack), 0);
    return stack;
}

static bool is_block_outside_slot(const struct coil__stack *stack)
{
    const char *block = (const char *)stack, *slot = coil__stack_slot(stack);

    return block >= slot + (1 << 20) || block < slot;
}

TEST(stack_light_has_no_page_until_it_is_written_to)
{
    struct coil__stack *stack = acquire_light(0, CONTROL_BYTES - 8);

    CHECK(coil__stack_is_light(stack));
    CHECK_INT(coil__stack_bytes(stack), COIL_STACK_BYTES);
    CHECK_INT((uintptr_t)stack & 63, 0);
    CHECK_INT((uintptr_t)stack->high & 63, 0);
    CHECK(is_block_outside_slot(stack));
    if (!instrumented())
        CHECK_INT(resident_pages(stack), 0);
    CHECK(coil__stack_check(stack, stack->high));
    stack->high[-1] = stack->low[0] = 1;
    coil__stack_release(stack);
}

TEST(stack_slots_with_and_without_blocks_have_different_pools)
{
    struct coil__stack *light = acquire_light(0, 64), with = acquire(0), *again;
    const char *slot = coil__stack_slot(light);

    CHECK(!coil__stack_is_light(&with));
    coil__stack_release(light);
    again = acquire_light(0, CONTROL_BYTES - 8);
    CHECK_PTR(coil__stack_slot(again), slot);
    CHECK_INT(coil__stack_count(), 2);
    coil__stack_release(again);
    release(&with);
}

TEST(stack_blocks_of_light_stacks_have_a_maximum_size)
{
    struct coil__stack *stack;

    CHECK_INT(coil__stack_acquire(0, COIL__LIGHT_BLOCK_BYTES + 1, true, &stack), -EINVAL);
    CHECK_INT(coil__stack_acquire((size_t)1 << 31, 64, true, &stack), -EINVAL);
    stack = acquire_light((size_t)1 << 30, COIL__LIGHT_BLOCK_BYTES);
    CHECK_INT(coil__stack_bytes(stack), (size_t)1 << 30);
    coil__stack_release(stack);
}

TEST(stack_blocks_of_light_stacks_do_not_overlap)
{
    enum { COUNT = 5000 };
    static struct coil__stack *stacks[COUNT];

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            stacks[i] = acquire_light(1 << 14, COIL__LIGHT_BLOCK_BYTES);
            memset(stacks[i] + 1, i & 0xff, COIL__LIGHT_BLOCK_BYTES - sizeof *stacks[i]);
        }
        for (int i = 0; i < COUNT; i++) {
            const char *rest = (const char *)(stacks[i] + 1);

            for (size_t k = 0; k < COIL__LIGHT_BLOCK_BYTES - sizeof *stacks[i]; k++)
                CHECK_INT(rest[k] & 0xff, i & 0xff);
            coil__stack_release(stacks[i]);
        }
    }
    CHECK_INT(coil__stack_count(), 0);
}
