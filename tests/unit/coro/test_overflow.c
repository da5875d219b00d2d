/*
 * test_overflow.c - a stack overflow is reported with the name of the task, before the
 * signal has its default effect.
 */
#include "../../harness/harness.h"

#include "../../../src/coro/coroutine.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include <coil/coro.h>

static volatile bool deep_enough; /* never */

static COIL__NOINLINE int recurse(int depth)
{
    char frame[512];

    memset(frame, depth, sizeof frame);
    __asm__ volatile("" : : "r"(frame) : "memory");
    return deep_enough ? 0 : recurse(depth + 1) + frame[3];
}

static void *recurse_for_ever(coil__coro *coro)
{
    (void)coro;
    return (void *)(intptr_t)recurse(0);
}

static void no_core(void)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

static const char *label_by_arg(const coil__coro *coro)
{
    return coro->arg;
}

static void overflow_with_label(void *label)
{
    static const struct coil__coro_class class = {.main = recurse_for_ever,
                                                  .label = label_by_arg};
    coil__coro *coro;

    no_core();
    signal(SIGSEGV, SIG_DFL);
    CHECK(coil__overflow_install());
    coil__coro_create(sizeof *coro, 1 << 16, &class, label, &coro);
    coil__coro_resume(coro, NULL);
}

TEST(overflow_names_the_coroutine_and_its_stack)
{
    if (COIL__ASAN || COIL__TSAN || test_under_valgrind())
        test_skip("the sanitizer handles SIGSEGV itself");
    test_dies_by_signal(overflow_with_label, "greedy", SIGSEGV,
                        "coil: stack overflow in greedy (65536 bytes)\n");
}

static void *dereference(void *arg)
{
    return *(void *volatile *)arg;
}

static void fault_elsewhere(void *arg)
{
    coil_coro *coro;

    no_core();
    signal(SIGSEGV, SIG_DFL);
    coil__overflow_install();
    coil_coro_create(dereference, arg, NULL, &coro);
    coil_coro_resume(coro, NULL);
}

TEST(overflow_report_leaves_other_faults_alone)
{
    if (COIL__ASAN || COIL__TSAN || test_under_valgrind())
        test_skip("the sanitizer handles SIGSEGV itself");
    test_dies_by_signal(fault_elsewhere, (void *)16, SIGSEGV, "");
}

static void on_fault(int signo)
{
    (void)signo;
}

TEST(overflow_report_takes_sigsegv_only_where_it_is_free)
{
    struct sigaction action;

    signal(SIGSEGV, on_fault);
    CHECK(!coil__overflow_install());
    signal(SIGSEGV, SIG_DFL);
    CHECK(coil__overflow_install());
    CHECK(coil__overflow_install());
    coil__overflow_uninstall();
    sigaction(SIGSEGV, NULL, &action);
    CHECK(action.sa_handler != SIG_DFL);
    coil__overflow_uninstall();
    sigaction(SIGSEGV, NULL, &action);
    CHECK(action.sa_handler == SIG_DFL);
}

TEST(overflow_report_leaves_an_alternate_stack_of_the_programs)
{
    static char memory[1 << 16];
    stack_t own = {.ss_sp = memory, .ss_size = sizeof memory}, now;

    CHECK_INT(sigaltstack(NULL, &now), 0);
    if ((now.ss_flags & SS_DISABLE) == 0)
        test_skip("the thread already has an alternate stack");
    signal(SIGSEGV, SIG_DFL);
    CHECK(coil__overflow_install());
    CHECK_INT(sigaltstack(&own, NULL), 0);
    coil__overflow_uninstall();
    CHECK_INT(sigaltstack(NULL, &now), 0);
    CHECK_PTR(now.ss_sp, own.ss_sp);
    CHECK_INT(now.ss_flags, 0);
    /* must use the alternate signal stack that the thread already has */
    CHECK(coil__overflow_install());
    coil__overflow_uninstall();
    CHECK_INT(sigaltstack(NULL, &now), 0);
    CHECK_PTR(now.ss_sp, own.ss_sp);
    CHECK_INT(now.ss_flags, 0);
}
