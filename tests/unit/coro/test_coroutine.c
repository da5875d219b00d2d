/*
 * test_coroutine.c - coroutines without tasks: passing values, stacks that do not move,
 * floating-point modes, and misuse.
 */
#include "../../harness/harness.h"

#include "../../../src/coro/coroutine.h"

#include <coil/coro.h>

#include <fenv.h>
#include <stdlib.h>

static coil_coro *create(coil_coro_fn fn, void *arg)
{
    coil_coro *coro = NULL;

    CHECK_INT(coil_coro_create(fn, arg, NULL, &coro), 0);
    return coro;
}

static void *twice(void *arg)
{
    for (intptr_t n = (intptr_t)arg;; n *= 2)
        if (coil_coro_suspend((void *)n) == NULL)
            return "end";
}

TEST(coro_hands_values_over_and_back)
{
    coil_coro *coro = create(twice, (void *)3);

    CHECK(!coil_coro_running(coro));
    CHECK_INT((intptr_t)coil_coro_resume(coro, "dropped"), 3);
    CHECK_INT((intptr_t)coil_coro_resume(coro, "go"), 6);
    CHECK_INT((intptr_t)coil_coro_resume(coro, "go"), 12);
    CHECK(!coil_coro_done(coro));
    CHECK_STR(coil_coro_resume(coro, NULL), "end");
    CHECK(coil_coro_done(coro));
    CHECK(!coil_coro_running(coro));
    coil_coro_destroy(coro);
    coil_coro_destroy(NULL);
}

TEST(coro_that_never_ran_is_destroyed)
{
    coil_coro_destroy(create(twice, NULL));
    CHECK_INT(coil__stack_count(), 0);
}

static void *pass_pointer_to_local(void *arg)
{
    int local = (int)(intptr_t)arg;

    coil_coro_suspend(&local);
    return (void *)(intptr_t)local;
}

TEST(coro_locals_stay_where_they_are_while_it_is_suspended)
{
    coil_coro *a = create(pass_pointer_to_local, (void *)1),
              *b = create(pass_pointer_to_local, (void *)2);
    int *local_a = coil_coro_resume(a, NULL), *local_b = coil_coro_resume(b, NULL);

    CHECK_INT(*local_a, 1);
    CHECK_INT(*local_b, 2);
    *local_a = 10;
    *local_b = 20;
    CHECK_INT((intptr_t)coil_coro_resume(a, NULL), 10);
    CHECK_INT((intptr_t)coil_coro_resume(b, NULL), 20);
    coil_coro_destroy(a);
    coil_coro_destroy(b);
}

static void *resume_next(void *arg)
{
    coil_coro **next = arg;

    if (*next != NULL) {
        test_trace("%d", coil_coro_running(next[-1]));
        coil_coro_resume(*next, NULL);
    }
    coil_coro_suspend(NULL);
    return NULL;
}

TEST(coro_resumes_coroutines_in_turn)
{
    coil_coro *chain[10] = {NULL};

    for (int i = 0; i < 9; i++)
        chain[i] = create(resume_next, &chain[i + 1]);
    coil_coro_resume(chain[0], NULL);
    CHECK_TRACE("11111111");
    for (int i = 0; i < 9; i++) {
        CHECK(!coil_coro_running(chain[i]));
        coil_coro_resume(chain[i], NULL);
        CHECK(coil_coro_done(chain[i]));
        coil_coro_destroy(chain[i]);
    }
}

/* ---- what a call preserves --------------------------------------------------------- */

static void *round_upward(void *arg)
{
    volatile double one = 1, three = 3;
    double before, after;

    fesetround(FE_UPWARD);
    before = one / three;
    coil_coro_suspend(arg);
    after = one / three;
    return (void *)(intptr_t)(fegetround() == FE_UPWARD && before == after);
}

/* Each coroutine has its own MXCSR and x87 control word (on aarch64: FPCR). */
TEST(coro_keeps_its_rounding_mode)
{
    coil_coro *coro = create(round_upward, NULL);
    volatile double one = 1, three = 3;
    double before = one / three;

    coil_coro_resume(coro, NULL);
    CHECK_INT(fegetround(), FE_TONEAREST);
    CHECK(one / three == before);
    fesetround(FE_DOWNWARD);
    CHECK_INT((intptr_t)coil_coro_resume(coro, NULL), 1);
    CHECK_INT(fegetround(), FE_DOWNWARD);
    coil_coro_destroy(coro);
}

static void *report_rounding(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)fegetround();
}

TEST(coro_begins_with_its_creators_rounding_mode)
{
    coil_coro *coro;

    fesetround(FE_TOWARDZERO);
    coro = create(report_rounding, NULL);
    fesetround(FE_TONEAREST);
    CHECK_INT((intptr_t)coil_coro_resume(coro, NULL), FE_TOWARDZERO);
    CHECK_INT(fegetround(), FE_TONEAREST);
    coil_coro_destroy(coro);
}

#if defined(__x86_64__)
static unsigned short x87_control(void)
{
    unsigned short word;

    __asm__ volatile("fnstcw %0" : "=m"(word));
    return word;
}

static void *set_x87_precision(void *arg)
{
    const unsigned short single = 0x007f;

    __asm__ volatile("fldcw %0" : : "m"(single));
    coil_coro_suspend(arg);
    return (void *)(intptr_t)(x87_control() == single);
}

TEST(coro_keeps_its_x87_control_word)
{
    unsigned short ours = x87_control();
    coil_coro *coro;

    if (test_under_valgrind())
        test_skip("valgrind supports only one x87 precision");
    coro = create(set_x87_precision, NULL);
    coil_coro_resume(coro, NULL);
    CHECK_INT(x87_control(), ours);
    CHECK_INT((intptr_t)coil_coro_resume(coro, NULL), 1);
    CHECK_INT(x87_control(), ours);
    coil_coro_destroy(coro);
}
#endif

/*
 * Switch between coroutines with enough live values to fill all callee-saved registers.
 */
static COIL__NOINLINE unsigned long churn(unsigned long seed, coil_coro *other)
{
    unsigned long a = seed, b = a * 3, c = b ^ 5, d = c + 7, e = d * 11, f = e ^ 13,
                  g = f + 17;
    double p = (double)a, q = p / 3, r = q * 7, s = r - 11;

    for (int i = 0; i < 100; i++) {
        if (other != NULL)
            coil_coro_resume(other, NULL);
        else
            coil_coro_suspend(NULL);
        a += b, b ^= c, c += d, d ^= e, e += f, f ^= g, g += a;
        p += q, q *= 0.5, r += s, s = p / 3;
    }
    return a ^ b ^ c ^ d ^ e ^ f ^ g ^ (unsigned long)(p + q + r + s);
}

static unsigned long churned_there;

static void *churn_in_coroutine(void *arg)
{
    churned_there = churn((uintptr_t)arg, NULL);
    return NULL;
}

static void *stay_idle(void *arg)
{
    for (int i = 0; i < 99; i++)
        coil_coro_suspend(NULL);
    return arg;
}

static unsigned long churn_alone(unsigned long seed)
{
    coil_coro *idle = create(stay_idle, NULL);
    unsigned long result = churn(seed, idle);

    coil_coro_destroy(idle);
    return result;
}

TEST(coro_registers_survive_the_switch)
{
    coil_coro *coro = create(churn_in_coroutine, (void *)1234);
    unsigned long here;

    coil_coro_resume(coro, NULL);
    here = churn(5678, coro);
    CHECK(coil_coro_done(coro));
    CHECK_INT(here, churn_alone(5678));
    CHECK_INT(churned_there, churn_alone(1234));
    coil_coro_destroy(coro);
}

static void *check_alignment(void *arg)
{
    _Alignas(16) char aligned[16];
    long double wide = 1.5L;
    char printed[32];

    (void)arg;
    /* the compiler may use movaps here, which requires an aligned stack */
    snprintf(printed, sizeof printed, "%.2Lf", wide);
    CHECK_STR(printed, "1.50");
    return (void *)((uintptr_t)aligned & 15);
}

TEST(coro_stack_is_aligned)
{
    coil_coro *coro = create(check_alignment, NULL);

    CHECK_PTR(coil_coro_resume(coro, NULL), NULL);
    coil_coro_destroy(coro);
}

/* ---- the internal interface -------------------------------------------------------- */

static const char *label_test(const coil__coro *coro)
{
    (void)coro;
    return "test";
}

static void *return_own_arg(coil__coro *coro)
{
    return coro->arg;
}

static const struct coil__coro_class returning = {.main = return_own_arg,
                                                  .label = label_test};

TEST(coro_control_block_is_zeroed_each_time)
{
    static const struct coil__coro_class classes[] = {
        {.main = return_own_arg}, {.main = return_own_arg, .light = true}};
    enum { BYTES = 400 };

    for (int i = 0; i < 6; i++) {
        coil__coro *coro;
        char *rest;

        CHECK_INT(coil__coro_create(BYTES, 0, &classes[i % 2], NULL, &coro), 0);
        CHECK(coro->caller == NULL && coro->fiber == NULL && !coro->done);
        rest = (char *)(coro + 1);
        for (size_t k = 0; k < BYTES - sizeof *coro; k++)
            CHECK_INT(rest[k], 0);
        memset(rest, 0xff, BYTES - sizeof *coro);
        coro->caller = coro;
        coro->done = true;
        coil__coro_destroy(coro);
    }
}

TEST(coro_reserve_cuts_arguments_off_the_top)
{
    coil__coro *coro;
    char *first, *second;

    CHECK_INT(coil__coro_create(sizeof *coro, 0, &returning, NULL, &coro), 0);
    first = coil__coro_reserve(coro, 5);
    second = coil__coro_reserve(coro, 2048);
    CHECK_INT((uintptr_t)first & 15, 0);
    CHECK_INT((uintptr_t)second & 15, 0);
    CHECK_INT(first - second, 2048);
    memcpy(first, "four", 5);
    coro->arg = first;
    CHECK_STR(coil__coro_resume(coro, NULL), "four");
    CHECK_STR(first, "four");
    coil__coro_destroy(coro);
}

static coil__coro *there;

static void *transfer_back(coil__coro *here)
{
    void *got = coil__coro_transfer(there, "one");

    there = here->caller;
    here->caller = NULL;
    return coil__coro_transfer(there, got);
}

TEST(coro_transfer_leaves_the_caller_unchanged)
{
    static const struct coil__coro_class class = {.main = transfer_back,
                                                  .label = label_test};
    coil__coro *coro, *root = coil__coro_current();

    CHECK_INT(coil__coro_create(sizeof *coro, 0, &class, NULL, &coro), 0);
    coro->caller = there = root;
    CHECK_STR(coil__coro_transfer(coro, NULL), "one");
    CHECK_PTR(coil__coro_current(), root);
    CHECK_PTR(coro->caller, root);
    CHECK_STR(coil__coro_transfer(coro, "two"), "two");
    coro->caller = root;
    CHECK_STR(coil__coro_transfer(coro, "three"), "three");
    CHECK(coro->done);
    coil__coro_destroy(coro);
}

/* ---- misuse ------------------------------------------------------------------------ */

static void suspend_nowhere(void *arg)
{
    coil_coro_suspend(arg);
}

static void *return_arg(void *arg)
{
    return arg;
}

static void resume_done(void *arg)
{
    coil_coro *coro = create(return_arg, arg);

    coil_coro_resume(coro, NULL);
    coil_coro_resume(coro, NULL);
}

static void *resume_self(void *arg)
{
    coil_coro_resume(*(coil_coro **)arg, NULL);
    return NULL;
}

static void resume_running(void *arg)
{
    coil_coro *coro = create(resume_self, &coro);

    coil_coro_resume(coro, arg);
}

static void destroy_suspended(void *arg)
{
    coil_coro *coro = create(twice, arg);

    coil_coro_resume(coro, NULL);
    coil_coro_destroy(coro);
}

TEST(coro_misused_stops_the_program_with_a_sentence)
{
    test_dies(suspend_nowhere, NULL, "coil_coro_suspend: no coroutine");
    test_dies(resume_done, NULL, "the coroutine is done");
    test_dies(resume_running, NULL, "the coroutine is running");
    test_dies(destroy_suspended, NULL, "frames would be lost");
}

TEST(coro_create_refuses_a_stack_too_large)
{
    coil_coro_opts opts = {.stack_bytes = ((size_t)1 << 30) + 1};
    coil_coro *coro;

    CHECK_INT(coil_coro_create(twice, NULL, &opts, &coro), -EINVAL);
    opts.stack_bytes = SIZE_MAX;
    CHECK_INT(coil_coro_create(twice, NULL, &opts, &coro), -EINVAL);
}
