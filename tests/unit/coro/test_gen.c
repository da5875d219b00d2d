/*
 * test_gen.c - generators, which behave like Python's. The first tests check the values
 * and printed lines that are listed in docs/seeds.md; corner cases follow.
 */
#include "../../harness/harness.h"

#include "../../../src/coro/stack.h"

#include <coil/coro.h>
#include <coil/gen.h>

#include <stdlib.h>

static void *number(intptr_t n)
{
    return (void *)n;
}

static const char *text(void *value)
{
    return value != NULL ? value : "None";
}

static coil_gen *create(coil_gen_fn fn, void *arg)
{
    coil_gen *gen = NULL;

    CHECK_INT(coil_gen_create(fn, arg, NULL, &gen), 0);
    return gen;
}

/* next(gen) yields n */
#define CHECK_NEXT(gen, n) CHECK_SEND(gen, NULL, n)

/* gen.send(sent) yields n */
#define CHECK_SEND(gen, sent, n)                                                         \
    do {                                                                                 \
        void *got_ = NULL;                                                               \
        CHECK_INT(coil_gen_send(gen, sent, &got_), COIL_GEN_YIELDED);                    \
        CHECK_INT((intptr_t)got_, n);                                                    \
    } while (0)

/* gen.send(sent) raises StopIteration(value) */
#define CHECK_END(gen, sent, value)                                                      \
    do {                                                                                 \
        void *got_ = number(-1);                                                         \
        CHECK_INT(coil_gen_send(gen, sent, &got_), COIL_GEN_ENDED);                      \
        CHECK_PTR(got_, value);                                                          \
    } while (0)

/* ---- the documents' programs ------------------------------------------------------- */

static int one_two_three(coil_gen *gen, void *arg)
{
    void *f;

    coil_gen_yield(number(1), NULL);
    coil_gen_yield(number(2), &f);
    *(void **)arg = f;
    coil_gen_yield(number(3), NULL);
    coil_gen_return(gen, number(0));
    return 0;
}

/*
 * Python's sequence is: 1, 2, send(4) -> 3, StopIteration.value 0. (docs/seeds.md, row 9)
 */
TEST(gen_yields_receives_and_returns)
{
    void *f = NULL;
    coil_gen *gen = create(one_two_three, &f);

    CHECK_NEXT(gen, 1);
    CHECK_NEXT(gen, 2);
    CHECK_SEND(gen, number(4), 3);
    CHECK_INT((intptr_t)f, 4);
    CHECK_END(gen, NULL, number(0));
    coil_gen_destroy(gen);
}

static int one_two(coil_gen *gen, void *arg)
{
    (void)gen, (void)arg;
    coil_gen_yield(number(1), NULL);
    coil_gen_yield(number(2), NULL);
    return 0;
}

/*
 * Python's sequence is: 1, 2, StopIteration, and StopIteration again at each further
 * call. (docs/seeds.md, row 10)
 */
TEST(gen_ends_and_stays_ended)
{
    coil_gen *gen = create(one_two, NULL);

    CHECK_NEXT(gen, 1);
    CHECK_NEXT(gen, 2);
    CHECK_END(gen, NULL, NULL);
    CHECK_END(gen, NULL, NULL);
    CHECK_END(gen, "unheard", NULL);
    coil_gen_destroy(gen);
}

static int print_what_is_sent(coil_gen *gen, void *arg)
{
    void *val;
    int rc = coil_gen_yield(number(1), &val);

    (void)gen, (void)arg;
    if (rc < 0)
        return rc;
    test_trace("%s\n", text(val));
    rc = coil_gen_yield(number(2), NULL);
    if (rc < 0)
        return rc;
    return coil_gen_yield(number(3), NULL);
}

/*
 * In Python, send("abc") prints abc, and throw() raises at the yield and ends the
 * generator. (docs/seeds.md, row 11)
 */
TEST(gen_send_and_throw_reach_the_yield)
{
    coil_gen *gen = create(print_what_is_sent, NULL);
    void *value = number(-1);

    CHECK_NEXT(gen, 1);
    CHECK_SEND(gen, "abc", 2);
    CHECK_TRACE("abc\n");
    CHECK_INT(coil_gen_throw(gen, -EIO, &value), -EIO);
    CHECK_PTR(value, NULL);
    CHECK_INT(coil_gen_get_state(gen), COIL_GEN_CLOSED);
    CHECK_END(gen, NULL, NULL);
    coil_gen_destroy(gen);
}

static int return_abc(coil_gen *gen, void *arg)
{
    (void)arg;
    coil_gen_yield(number(1), NULL);
    coil_gen_return(gen, "abc");
    return 0;
}

/*
 * Only the call that reaches the generator's end gets the generator's return value; later
 * calls do not. (docs/seeds.md, row 12)
 */
TEST(gen_return_value_comes_with_the_end)
{
    coil_gen *gen = create(return_abc, NULL);
    void *value;

    CHECK_NEXT(gen, 1);
    CHECK_INT(coil_gen_next(gen, &value), COIL_GEN_ENDED);
    CHECK_STR(value, "abc");
    CHECK_END(gen, NULL, NULL);
    coil_gen_destroy(gen);
}

static int inner(coil_gen *gen, void *arg)
{
    void *sent;
    int rc = coil_gen_yield(number(2), &sent);

    (void)arg;
    if (rc < 0)
        return rc;
    test_trace("inner %s\n", text(sent));
    coil_gen_return(gen, number(3));
    return 0;
}

static int outer(coil_gen *gen, void *arg)
{
    coil_gen *in = create(inner, NULL);
    void *val;
    int rc;

    (void)gen, (void)arg;
    coil_gen_yield(number(1), NULL);
    rc = coil_gen_yield_from(in, &val);
    coil_gen_destroy(in);
    if (rc < 0)
        return rc;
    test_trace("outer %d\n", (int)(intptr_t)val);
    return coil_gen_yield(number(4), NULL);
}

/*
 * Python's sequence is: 1, 2, send("abc") -> "inner abc", "outer 3", 4. (docs/seeds.md,
 * row 13)
 */
TEST(gen_yield_from_passes_values_both_ways)
{
    coil_gen *gen = create(outer, NULL);

    CHECK_NEXT(gen, 1);
    CHECK_NEXT(gen, 2);
    CHECK_SEND(gen, "abc", 4);
    CHECK_TRACE("inner abc\nouter 3\n");
    CHECK_END(gen, NULL, NULL);
    coil_gen_destroy(gen);
}

static int gen_fn(coil_gen *gen, void *arg)
{
    void *result;
    int rc = coil_gen_yield(number(1), &result);

    (void)arg;
    if (rc < 0)
        return rc;
    test_trace("result of yield: %s\n", text(result));
    rc = coil_gen_yield(number(2), &result);
    if (rc < 0)
        return rc;
    test_trace("result of 2nd yield: %s\n", text(result));
    coil_gen_return(gen, "done");
    return 0;
}

/*
 * Check the values and the states of the generator. In Python, f_lasti shows the states:
 * it is -1 before the first step, and 3 at the yield. (docs/seeds.md, row 14)
 */
TEST(gen_fn_prints_what_it_is_sent)
{
    coil_gen *gen = create(gen_fn, NULL);
    void *value;

    CHECK_INT(coil_gen_get_state(gen), COIL_GEN_CREATED);
    CHECK_NEXT(gen, 1);
    CHECK_INT(coil_gen_get_state(gen), COIL_GEN_SUSPENDED);
    CHECK_SEND(gen, "hello", 2);
    CHECK_TRACE("result of yield: hello\n");
    CHECK_INT(coil_gen_send(gen, "goodbye", &value), COIL_GEN_ENDED);
    CHECK_STR(value, "done");
    CHECK_TRACE("result of 2nd yield: goodbye\n");
    CHECK_INT(coil_gen_get_state(gen), COIL_GEN_CLOSED);
    coil_gen_destroy(gen);
}

static int caller_fn(coil_gen *gen, void *arg)
{
    coil_gen *inner_gen = create(gen_fn, NULL);
    void *rv;
    int rc = coil_gen_yield_from(inner_gen, &rv);

    (void)gen, (void)arg;
    coil_gen_destroy(inner_gen);
    if (rc < 0)
        return rc;
    test_trace("return value of yield-from: %s\n", text(rv));
    return 0;
}

/*
 * While a generator delegates to another one, only the delegate advances. (docs/seeds.md,
 * row 15)
 */
TEST(caller_fn_stands_still_while_it_delegates)
{
    coil_gen *caller = create(caller_fn, NULL), *delegate;

    CHECK_PTR(coil_gen_delegate(caller), NULL);
    CHECK_NEXT(caller, 1);
    delegate = coil_gen_delegate(caller);
    CHECK(delegate != NULL);
    CHECK_INT(coil_gen_get_state(caller), COIL_GEN_SUSPENDED);
    CHECK_INT(coil_gen_get_state(delegate), COIL_GEN_SUSPENDED);
    CHECK_SEND(caller, "hello", 2);
    CHECK_PTR(coil_gen_delegate(caller), delegate);
    CHECK_END(caller, "goodbye", NULL);
    CHECK_TRACE("result of yield: hello\nresult of 2nd yield: goodbye\n"
                "return value of yield-from: done\n");
    coil_gen_destroy(caller);
}

static int fails_at_once(coil_gen *gen, void *arg)
{
    (void)gen, (void)arg;
    return -EIO;
}

static int passes_on(coil_gen *gen, void *arg)
{
    (void)gen;
    return coil_gen_yield_from(arg, NULL);
}

/*
 * An error that a generator does not handle is returned to the code that resumed the
 * generator. (docs/seeds.md, row 16)
 */
TEST(gen_failure_passes_through_every_delegator)
{
    coil_gen *a = create(fails_at_once, NULL), *b = create(passes_on, a),
             *c = create(passes_on, b);

    CHECK_INT(coil_gen_next(c, NULL), -EIO);
    CHECK_INT(coil_gen_get_state(a), COIL_GEN_CLOSED);
    CHECK_INT(coil_gen_get_state(b), COIL_GEN_CLOSED);
    CHECK_INT(coil_gen_get_state(c), COIL_GEN_CLOSED);
    coil_gen_destroy(c);
    coil_gen_destroy(b);
    coil_gen_destroy(a);
}

static int yields_then_fails(coil_gen *gen, void *arg)
{
    (void)gen, (void)arg;
    coil_gen_yield(number(1), NULL);
    return -EIO;
}

static int catches(coil_gen *gen, void *arg)
{
    int rc = coil_gen_yield_from(arg, NULL);

    (void)gen;
    if (rc == -EIO)
        test_trace("caught uh oh\n");
    return 0;
}

/* The counterpart of Python's try/except around `yield from`. (docs/seeds.md, row 17) */
TEST(gen_failure_of_a_delegate_is_caught)
{
    coil_gen *in = create(yields_then_fails, NULL), *gen = create(catches, in);

    CHECK_NEXT(gen, 1);
    CHECK_END(gen, "hello", NULL);
    CHECK_TRACE("caught uh oh\n");
    coil_gen_destroy(gen);
    coil_gen_destroy(in);
}

static int cofoo(coil_gen *gen, void *arg)
{
    void *qux;
    int rc = coil_gen_yield(arg, &qux);

    if (rc < 0)
        return rc;
    coil_gen_return(gen, qux);
    return 0;
}

static int wrap(coil_gen *gen, void *arg)
{
    coil_gen *foo = create(cofoo, "bar");
    int rc;

    (void)gen, (void)arg;
    coil_gen_yield("before", NULL);
    rc = coil_gen_yield_from(foo, NULL);
    coil_gen_destroy(foo);
    if (rc < 0)
        return rc;
    return coil_gen_yield("after", NULL);
}

/*
 * wrap() yields its own values before and after those of its delegate, which has its own
 * state. (docs/seeds.md, rows 4 to 6)
 */
TEST(gen_wrap_yields_before_bar_after)
{
    coil_gen *gen = create(wrap, NULL);
    void *value;

    while (coil_gen_next(gen, &value) == COIL_GEN_YIELDED)
        test_trace("%s ", text(value));
    CHECK_TRACE("before bar after ");
    coil_gen_destroy(gen);
}

/*
 * A generator that has not begun cannot receive a value, because it is not at a yield.
 * (docs/seeds.md, row 20)
 */
TEST(gen_send_to_a_fresh_one_is_an_error)
{
    coil_gen *gen = create(gen_fn, NULL);

    CHECK_INT(coil_gen_send(gen, "early", NULL), -EINVAL);
    CHECK_INT(coil_gen_get_state(gen), COIL_GEN_CREATED);
    CHECK_SEND(gen, NULL, 1);
    coil_gen_destroy(gen);
}

/* ---- independence ------------------------------------------------------------------ */

static int count_up(coil_gen *gen, void *arg)
{
    intptr_t local = (intptr_t)arg * 100;

    (void)gen;
    for (;;) {
        int rc = coil_gen_yield(number(local++), NULL);
        if (rc < 0)
            return rc;
    }
}

/*
 * Ten generators with the same function have separate local variables. (docs/seeds.md,
 * row 19)
 */
TEST(gen_ten_of_one_function_have_their_own_locals)
{
    coil_gen *gens[10];

    for (int i = 0; i < 10; i++)
        gens[i] = create(count_up, number(i));
    for (int round = 0; round < 5; round++)
        for (int i = 9; i >= 0; i--)
            CHECK_NEXT(gens[i], i * 100 + round);
    for (int i = 0; i < 10; i++)
        coil_gen_destroy(gens[i]);
}

/*
 * Any code that has a pointer to a generator may resume it: here another coroutine does.
 * (docs/seeds.md, row 5)
 */
static void *resume_once(void *arg)
{
    void *value;

    coil_gen_next(arg, &value);
    return value;
}

TEST(gen_is_resumed_by_whoever_holds_it)
{
    coil_gen *gen = create(count_up, number(1));
    coil_coro *coro;

    CHECK_NEXT(gen, 100);
    CHECK_INT(coil_coro_create(resume_once, gen, NULL, &coro), 0);
    CHECK_INT((intptr_t)coil_coro_resume(coro, NULL), 101);
    coil_coro_destroy(coro);
    CHECK_NEXT(gen, 102);
    coil_gen_destroy(gen);
}

/* Any function that a generator's function calls may yield. (docs/seeds.md, row 7) */
static COIL__NOINLINE int yield_deep_down(int depth)
{
    char frame[64];
    int rc;

    snprintf(frame, sizeof frame, "%d", depth);
    rc = depth > 0 ? yield_deep_down(depth - 1) : coil_gen_yield(number(7), NULL);
    return atoi(frame) == depth ? rc : -EPROTO;
}

static int deep(coil_gen *gen, void *arg)
{
    (void)gen, (void)arg;
    return yield_deep_down(100);
}

TEST(gen_yields_from_a_hundred_frames_down)
{
    coil_gen *gen = create(deep, NULL);

    CHECK_NEXT(gen, 7);
    CHECK_END(gen, NULL, NULL);
    coil_gen_destroy(gen);
}

static int nest(coil_gen *gen, void *arg)
{
    intptr_t depth = (intptr_t)arg;
    coil_gen *in;
    void *value;
    int rc;

    if (depth == 0)
        return gen_fn(gen, NULL);
    in = create(nest, number(depth - 1));
    rc = coil_gen_yield_from(in, &value);
    coil_gen_destroy(in);
    coil_gen_return(gen, value);
    return rc;
}

TEST(gen_delegates_through_a_hundred_generators)
{
    coil_gen *gen = create(nest, number(100));
    void *value;

    CHECK_NEXT(gen, 1);
    CHECK_SEND(gen, "down", 2);
    CHECK_INT(coil_gen_send(gen, "there", &value), COIL_GEN_ENDED);
    CHECK_STR(value, "done");
    CHECK_TRACE("result of yield: down\nresult of 2nd yield: there\n");
    coil_gen_destroy(gen);
}

TEST(gen_closes_a_hundred_generators)
{
    coil_gen *gen = create(nest, number(100));

    CHECK_NEXT(gen, 1);
    CHECK_INT(coil_gen_close(gen), 0);
    coil_gen_destroy(gen);
    CHECK_INT(coil__stack_count(), 0);
}

/* Compare two numbers for qsort(3), and suspend in the middle of the comparison. */
static int compare_and_yield(const void *a, const void *b)
{
    coil_gen_yield(number(1), NULL);
    return *(const int *)a - *(const int *)b;
}

static int sort(coil_gen *gen, void *arg)
{
    (void)gen;
    qsort(arg, 5, sizeof(int), compare_and_yield);
    return 0;
}

TEST(gen_yields_inside_qsort)
{
    int a[5] = {5, 3, 4, 1, 2}, b[5] = {9, 8, 7, 6, 5}, yields = 0;
    coil_gen *x = create(sort, a), *y = create(sort, b);
    int rx = 1, ry = 1;

    while (rx == COIL_GEN_YIELDED || ry == COIL_GEN_YIELDED) {
        rx = coil_gen_next(x, NULL);
        ry = coil_gen_next(y, NULL);
        yields++;
    }
    CHECK(yields > 4);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(a[i], i + 1);
        CHECK_INT(b[i], i + 5);
    }
    coil_gen_destroy(x);
    coil_gen_destroy(y);
}

/* ---- throw and close --------------------------------------------------------------- */

static int cleans_up(coil_gen *gen, void *arg)
{
    int rc = 0;

    (void)gen;
    while (rc == 0)
        rc = coil_gen_yield(number(1), NULL);
    test_trace("%s:%d ", (char *)arg, rc);
    return rc;
}

/* docs/seeds.md, row 18 */
TEST(gen_close_lets_the_body_clean_up)
{
    coil_gen *gen = create(cleans_up, "closed");

    CHECK_NEXT(gen, 1);
    CHECK_INT(coil_gen_close(gen), 0);
    CHECK_TRACE("closed:-125 ");
    CHECK_INT(coil_gen_get_state(gen), COIL_GEN_CLOSED);
    CHECK_INT(coil_gen_close(gen), 0);
    coil_gen_destroy(gen);
    CHECK_TRACE("");
}

TEST(gen_destroy_closes_a_suspended_one)
{
    coil_gen *gen = create(cleans_up, "destroyed");

    CHECK_NEXT(gen, 1);
    coil_gen_destroy(gen);
    CHECK_TRACE("destroyed:-125 ");
    coil_gen_destroy(NULL);
}

static int is_busy_at_its_end(coil_gen *gen, void *arg)
{
    int rc = coil_gen_yield(number(1), NULL);

    (void)gen, (void)arg;
    test_trace("%d ", rc);
    return -EBUSY;
}

TEST(gen_destroyed_may_end_with_any_error)
{
    coil_gen *gen = create(is_busy_at_its_end, NULL);

    CHECK_NEXT(gen, 1);
    coil_gen_destroy(gen);
    CHECK_TRACE("-125 ");
}

TEST(gen_close_and_throw_before_it_began)
{
    coil_gen *gen = create(cleans_up, "never");

    CHECK_INT(coil_gen_close(gen), 0);
    CHECK_END(gen, NULL, NULL);
    coil_gen_destroy(gen);
    gen = create(cleans_up, "never");
    CHECK_INT(coil_gen_throw(gen, -EIO, NULL), -EIO);
    CHECK_INT(coil_gen_get_state(gen), COIL_GEN_CLOSED);
    CHECK_INT(coil_gen_throw(gen, -EPIPE, NULL), -EPIPE);
    CHECK_INT(coil_gen_throw(gen, 1, NULL), -EINVAL);
    coil_gen_destroy(gen);
    CHECK_TRACE("");
}

static int ignores(coil_gen *gen, void *arg)
{
    (void)gen;
    for (intptr_t left = (intptr_t)arg; left >= 0;)
        if (coil_gen_yield(number(1), NULL) < 0)
            left--;
    return 0;
}

TEST(gen_that_ignores_the_exit)
{
    coil_gen *gen = create(ignores, number(1));

    CHECK_NEXT(gen, 1);
    CHECK_INT(coil_gen_close(gen), -EPROTO);
    CHECK_INT(coil_gen_get_state(gen), COIL_GEN_SUSPENDED);
    CHECK_NEXT(gen, 1);
    CHECK_INT(coil_gen_close(gen), 0);
    coil_gen_destroy(gen);
}

static void destroy_deaf(void *arg)
{
    coil_gen *gen = create(ignores, number(5));

    (void)arg;
    coil_gen_next(gen, NULL);
    coil_gen_destroy(gen);
}

TEST(gen_that_ignores_the_exit_twice_stops_the_program)
{
    test_dies(destroy_deaf, NULL, "ignored the exit twice");
}

static int fails_while_closing(coil_gen *gen, void *arg)
{
    (void)gen, (void)arg;
    coil_gen_yield(number(1), NULL);
    return -EIO;
}

static int catches_and_goes_on(coil_gen *gen, void *arg)
{
    int rc = coil_gen_yield(number(1), NULL);

    (void)arg;
    test_trace("caught %d ", rc);
    coil_gen_yield(number(2), NULL);
    coil_gen_return(gen, "fine");
    return 0;
}

TEST(gen_close_reports_a_failure_of_the_body)
{
    coil_gen *gen = create(fails_while_closing, NULL);

    CHECK_NEXT(gen, 1);
    CHECK_INT(coil_gen_close(gen), -EIO);
    coil_gen_destroy(gen);
}

TEST(gen_throw_is_caught_and_it_yields_on)
{
    coil_gen *gen = create(catches_and_goes_on, NULL);
    void *value;

    CHECK_NEXT(gen, 1);
    CHECK_INT(coil_gen_throw(gen, -EIO, &value), COIL_GEN_YIELDED);
    CHECK_INT((intptr_t)value, 2);
    CHECK_TRACE("caught -5 ");
    CHECK_INT(coil_gen_next(gen, &value), COIL_GEN_ENDED);
    CHECK_STR(value, "fine");
    coil_gen_destroy(gen);
}

static int delegates_and_tells(coil_gen *gen, void *arg)
{
    void *value;
    int rc = coil_gen_yield_from(arg, &value);

    (void)gen;
    test_trace("outer:%d:%s ", rc, text(value));
    return rc;
}

TEST(gen_throw_goes_to_the_innermost)
{
    coil_gen *in = create(catches_and_goes_on, NULL),
             *out = create(delegates_and_tells, in);

    CHECK_NEXT(out, 1);
    CHECK_INT(coil_gen_throw(out, -EIO, NULL), COIL_GEN_YIELDED);
    CHECK_END(out, NULL, NULL);
    CHECK_TRACE("caught -5 outer:0:fine ");
    coil_gen_destroy(out);
    coil_gen_destroy(in);
}

TEST(gen_close_closes_the_innermost_first)
{
    coil_gen *a = create(cleans_up, "inner"), *b = create(delegates_and_tells, a),
             *c = create(delegates_and_tells, b);

    CHECK_NEXT(c, 1);
    CHECK_INT(coil_gen_close(c), 0);
    CHECK_TRACE("inner:-125 outer:-125:None outer:-125:None ");
    coil_gen_destroy(c);
    coil_gen_destroy(b);
    coil_gen_destroy(a);
}

static int swallows_the_exit(coil_gen *gen, void *arg)
{
    (void)gen, (void)arg;
    coil_gen_yield(number(1), NULL);
    return 0;
}

/*
 * Closing the outer generator closes its delegate first. As in Python, the outer
 * generator gets its own GeneratorExit, even if the delegate has ignored its own.
 */
TEST(gen_close_reaches_the_outer_though_the_inner_swallowed_it)
{
    coil_gen *in = create(swallows_the_exit, NULL),
             *out = create(delegates_and_tells, in);

    CHECK_NEXT(out, 1);
    CHECK_INT(coil_gen_throw(out, -ECANCELED, NULL), -ECANCELED);
    CHECK_TRACE("outer:-125:None ");
    coil_gen_destroy(out);
    coil_gen_destroy(in);
}

/*
 * Python raises RuntimeError("generator ignored GeneratorExit") in the outer generator.
 */
TEST(gen_close_with_a_delegate_that_ignores_it)
{
    coil_gen *in = create(ignores, number(1)), *out = create(delegates_and_tells, in);

    CHECK_NEXT(out, 1);
    CHECK_INT(coil_gen_close(out), -EPROTO);
    CHECK_TRACE("outer:-71:None ");
    CHECK_INT(coil_gen_get_state(out), COIL_GEN_CLOSED);
    CHECK_INT(coil_gen_get_state(in), COIL_GEN_SUSPENDED);
    CHECK_NEXT(in, 1);
    coil_gen_destroy(out);
    coil_gen_destroy(in);
}

/* ---- resuming running generators --------------------------------------------------- */

static int resumes_itself(coil_gen *gen, void *arg)
{
    (void)arg;
    test_trace("next:%d ", coil_gen_next(gen, NULL) == -EBUSY);
    test_trace("close:%d ", coil_gen_close(gen) == -EBUSY);
    test_trace("throw:%d ", coil_gen_throw(gen, -EIO, NULL) == -EBUSY);
    test_trace("from:%d ", coil_gen_yield_from(gen, NULL) == -EBUSY);
    test_trace("state:%d ", coil_gen_get_state(gen) == COIL_GEN_RUNNING);
    return 0;
}

/* A generator that is running cannot be resumed. (docs/seeds.md, row 8) */
TEST(gen_that_runs_is_busy)
{
    coil_gen *gen = create(resumes_itself, NULL);

    CHECK_END(gen, NULL, NULL);
    CHECK_TRACE("next:1 close:1 throw:1 from:1 state:1 ");
    coil_gen_destroy(gen);
}

static int pokes(coil_gen *gen, void *arg)
{
    coil_gen **other = arg;

    (void)gen;
    test_trace("%d ", coil_gen_next(*other, NULL) == -EBUSY);
    test_trace("%d ", coil_gen_get_state(*other) == COIL_GEN_RUNNING);
    coil_gen_yield(number(1), NULL);
    return 0;
}

TEST(gen_that_delegates_to_a_running_one_is_busy)
{
    coil_gen *top, *in = create(pokes, &top), *mid = create(passes_on, in);

    top = create(passes_on, mid);
    CHECK_NEXT(top, 1);
    CHECK_TRACE("1 1 ");
    coil_gen_destroy(top);
    coil_gen_destroy(mid);
    coil_gen_destroy(in);
}

static int borrows(coil_gen *gen, void *arg)
{
    (void)gen;
    test_trace("%d ", coil_gen_yield_from(arg, NULL) == -EBUSY);
    return 0;
}

TEST(gen_has_one_delegator_at_a_time)
{
    coil_gen *in = create(cleans_up, "in"), *first = create(passes_on, in),
             *second = create(borrows, in);

    CHECK_NEXT(first, 1);
    CHECK_END(second, NULL, NULL);
    CHECK_TRACE("1 ");
    coil_gen_destroy(second);
    coil_gen_destroy(first);
    coil_gen_destroy(in);
    CHECK_TRACE("in:-125 ");
}

/* As in Python, any code may advance a generator to which another one delegates. */
TEST(gen_in_a_chain_is_advanced_from_outside)
{
    coil_gen *a = create(count_up, number(1)), *b = create(passes_on, a),
             *c = create(passes_on, b);

    CHECK_NEXT(c, 100);
    CHECK_NEXT(a, 101);
    CHECK_NEXT(b, 102);
    CHECK_NEXT(c, 103);
    coil_gen_destroy(c);
    coil_gen_destroy(b);
    coil_gen_destroy(a);
}

TEST(gen_in_a_chain_is_finished_from_outside)
{
    coil_gen *a = create(gen_fn, NULL), *b = create(delegates_and_tells, a),
             *c = create(delegates_and_tells, b);
    void *value;

    CHECK_NEXT(c, 1);
    CHECK_NEXT(a, 2);
    CHECK_INT(coil_gen_next(a, &value), COIL_GEN_ENDED);
    CHECK_STR(value, "done");
    CHECK_PTR(coil_gen_delegate(b), NULL);
    coil_gen_destroy(a);
    CHECK_TRACE("result of yield: None\nresult of 2nd yield: None\n");
    CHECK_END(c, "unheard", NULL); /* an exhausted delegate returns None */
    CHECK_TRACE("outer:0:None outer:0:None ");
    coil_gen_destroy(c);
    coil_gen_destroy(b);
}

TEST(gen_delegating_to_an_ended_one_ends_at_once)
{
    coil_gen *in = create(fails_at_once, NULL), *out = create(delegates_and_tells, in);

    CHECK_INT(coil_gen_next(in, NULL), -EIO);
    CHECK_END(out, NULL, NULL);
    CHECK_TRACE("outer:0:None ");
    coil_gen_destroy(out);
    coil_gen_destroy(in);
}

static void *yield_where_no_generator_runs(void *arg)
{
    return number(coil_gen_yield(arg, NULL));
}

static int runs_a_coroutine(coil_gen *gen, void *arg)
{
    coil_coro *coro;

    (void)gen, (void)arg;
    coil_coro_create(yield_where_no_generator_runs, NULL, NULL, &coro);
    test_trace("%d ", (int)(intptr_t)coil_coro_resume(coro, NULL));
    coil_coro_destroy(coro);
    return coil_gen_yield(number(1), NULL);
}

TEST(gen_yield_needs_a_generator_that_runs)
{
    coil_gen *gen = create(runs_a_coroutine, NULL);

    CHECK_INT(coil_gen_yield(NULL, NULL), -EPERM);
    CHECK_INT(coil_gen_yield_from(gen, NULL), -EPERM);
    CHECK_NEXT(gen, 1);
    CHECK_TRACE("-1 ");
    coil_gen_destroy(gen);
}

TEST(gen_create_with_a_stack_too_large)
{
    coil_gen *gen;

    CHECK_INT(coil_gen_create(one_two, NULL,
                              &(coil_gen_opts){.stack_bytes = ((size_t)1 << 30) + 1},
                              &gen),
              -EINVAL);
}
