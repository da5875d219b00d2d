/*
 * test_foreign_stack.c - tasks that wait while they run on a stack that the program has
 * allocated, with makecontext(3).
 */
#include "../../harness/harness.h"
#include "emulated.h"

#include "../../../src/base/compiler.h"
#include "../../../src/coro/stack.h"

#include <coil.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

enum { BYTES = 64 * 1024 };

static void need_plain_memory(void)
{
    if (COIL__ASAN || COIL__TSAN || test_under_valgrind() || emulated())
        test_skip("the tool does not support such stacks");
}

/* A call on another stack. */
struct visit {
    ucontext_t here, there;
    int (*fn)(void *arg);
    void *arg;
    int rc;
};

static void make_visit(unsigned high, unsigned low)
{
    struct visit *v = (struct visit *)((uintptr_t)high << 32 | low);

    v->rc = v->fn(v->arg);
}

static int call_on(void *stack, int (*fn)(void *), void *arg)
{
    struct visit v = {.fn = fn, .arg = arg};

    CHECK_INT(getcontext(&v.there), 0);
    v.there.uc_stack.ss_sp = stack;
    v.there.uc_stack.ss_size = BYTES;
    v.there.uc_link = &v.here;
    makecontext(&v.there, (void (*)(void))(uintptr_t)make_visit, 2,
                (unsigned)((uintptr_t)&v >> 32), (unsigned)(uintptr_t)&v);
    CHECK_INT(swapcontext(&v.here, &v.there), 0);
    return v.rc;
}

/* ---- waiting ----------------------------------------------------------------------- */

static int count_to_three(coil_gen *gen, void *unused)
{
    (void)gen, (void)unused;
    for (intptr_t i = 1; i <= 3; i++)
        coil_gen_yield((void *)i, NULL);
    return 0;
}

static int return_seven(void *unused)
{
    int rc = coil_yield();

    (void)unused;
    return rc < 0 ? rc : 7;
}

/* Wait in various ways, so that every kind of switch is used. */
static int wait_in_many_ways(void *unused)
{
    coil_stream *ends[2];
    coil_task *task;
    coil_group group;
    coil_gen *gen;
    char byte;
    void *value;
    int sum = 0;

    (void)unused;
    CHECK_INT(coil_yield(), 0);
    CHECK_INT(coil_sleep(COIL_USEC(10)), 0);
    CHECK_INT(coil_stream_pair(ends), 0);
    CHECK_INT(coil_write(ends[0], "x", 1), 1);
    CHECK_INT(coil_read(ends[1], &byte, 1), 1);
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
    CHECK_INT(coil_spawn(return_seven, NULL, &(coil_spawn_opts){.eager = true}, &task),
              0);
    CHECK_INT(test_join(task), 7);
    coil_group_enter(&group);
    CHECK_INT(coil_group_spawn(&group, return_seven, NULL, NULL, NULL), 0);
    CHECK_INT(coil_group_exit(&group, 0), 0);
    CHECK_INT(coil_gen_create(count_to_three, NULL, NULL, &gen), 0);
    while (coil_gen_next(gen, &value) == 1)
        sum += (int)(intptr_t)value;
    coil_gen_destroy(gen);
    CHECK_INT(sum, 6);
    return 5;
}

/* The stacks of three tasks that wait at the same time. */
struct stacks {
    char *memory[3];
};

static int visit_and_wait(void *stack)
{
    int rc = call_on(stack, wait_in_many_ways, NULL);

    CHECK_INT(coil_yield(), 0);
    return rc;
}

static int wait_for_visitors(void *arg)
{
    const struct stacks *stacks = arg;
    coil_task *tasks[2][3];

    for (int light = 0; light < 2; light++)
        for (int i = 0; i < 3; i++) {
            coil_spawn_opts opts = {.light = light ? COIL_LIGHT : COIL_NOT_LIGHT};

            CHECK_INT(coil_spawn(visit_and_wait, stacks->memory[i] + light * BYTES, &opts,
                                 &tasks[light][i]),
                      0);
        }
    for (int i = 0; i < 6; i++)
        CHECK_INT(test_join(tasks[i / 3][i % 3]), 5);
    return 0;
}

static char below[2 * BYTES]; /* static memory, below all mappings */

static void run_visitors(void)
{
    char above[2 * BYTES]; /* memory on the thread's own stack */
    struct stacks stacks = {{below, above, test_memory(sizeof below)}};

    CHECK_INT(coil_run(wait_for_visitors, &stacks, NULL), 0);
}

TEST(foreign_stack_is_one_that_a_task_may_wait_on)
{
    need_plain_memory();
    run_visitors();
}

TEST(foreign_stack_is_one_that_a_task_without_a_guard_may_wait_on)
{
    need_plain_memory();
    coil__stack_guard = COIL__GUARD_CHECK;
    run_visitors();
}

static int sleep_long(void *unused)
{
    (void)unused;
    return coil_sleep(COIL_SEC(1000));
}

static int visit_and_sleep(void *unused)
{
    (void)unused;
    return call_on(below, sleep_long, NULL);
}

TASK_TEST(foreign_stack_of_a_cancelled_task_is_left_by_it)
{
    coil_task *task;

    need_plain_memory();
    task = test_spawn(visit_and_sleep, NULL);
    coil_yield();
    coil_task_cancel(task, NULL);
    CHECK_INT(test_join(task), -ECANCELED);
}

/* ---- overflows --------------------------------------------------------------------- */

static volatile int *volatile nowhere = (int *)16;

static int read_nowhere(void *unused)
{
    (void)unused;
    return *nowhere;
}

static volatile bool deep_enough; /* always false */

static COIL__NOINLINE int recurse(int depth)
{
    char frame[512];

    memset(frame, depth, sizeof frame);
    __asm__ volatile("" : : "r"(frame) : "memory");
    return deep_enough ? 0 : recurse(depth + 1) + frame[3];
}

static int recurse_for_ever(void *unused)
{
    (void)unused;
    return recurse(0);
}

/* Wait in a frame that is larger than the stack and its guard together. */
static COIL__NOINLINE int wait_in_a_large_frame(void *unused)
{
    volatile char *frame = __builtin_alloca(1240000);

    (void)unused;
    for (size_t i = 0; i < 20000; i++)
        frame[i] = 0x55;
    coil_yield();
    return frame[3];
}

struct fault {
    int (*fn)(void *arg);
    bool at_home;
};

static int fault(void *arg)
{
    const struct fault *f = arg;
    char *stack = test_memory(BYTES + 4096); /* memory below coil's stacks */

    mprotect(stack, 4096, PROT_NONE);
    return f->at_home ? f->fn(NULL) : call_on(stack + 4096, f->fn, NULL);
}

static int fault_above_others(void *arg)
{
    coil_group group;

    coil_group_enter(&group);
    for (int i = 0; i < 3; i++)
        coil_group_spawn(&group, sleep_long, NULL, NULL, NULL);
    coil_group_spawn(&group, fault, arg, &(coil_spawn_opts){.name = "greedy"}, NULL);
    return coil_group_exit(&group, 0);
}

static void run_fault(void *arg)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    coil_run(fault_above_others, arg, NULL);
}

TEST(foreign_stack_is_no_excuse_for_an_overflow)
{
    struct fault wild = {read_nowhere, false}, foreign = {recurse_for_ever, false},
                 own = {recurse_for_ever, true}, large = {wait_in_a_large_frame, true};

    need_plain_memory();
    test_dies_by_signal(run_fault, &wild, SIGSEGV, "");
    test_dies_by_signal(run_fault, &foreign, SIGSEGV,
                        "coil: stack overflow in greedy (131072 bytes), or of a stack "
                        "that is not coil's\n");
    test_dies_by_signal(run_fault, &own, SIGSEGV,
                        "coil: stack overflow in greedy (131072 bytes)\n");
    test_dies(run_fault, &large, "coil: stack overflow in greedy (131072 bytes)\n");
}
