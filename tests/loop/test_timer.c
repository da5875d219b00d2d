/*
 * test_timer.c - timers in the caller's memory.
 */
#include "../harness/harness.h"

#include <coil.h>

struct note {
    coil_timer timer;
    const char *word;
    int again; /* starts itself so many times more */
};

static void say_word(void *arg)
{
    struct note *note = arg;

    test_trace("%s@%d ", note->word, (int)(coil_now() / COIL_SEC(1)));
    CHECK(!coil_timer_started(&note->timer));
    if (note->again-- > 0)
        CHECK_INT(coil_timer_start(&note->timer, coil_in(COIL_SEC(1))), 0);
}

static void start(struct note *note, const char *word, int seconds)
{
    note->word = word;
    coil_timer_init(&note->timer, say_word, note);
    CHECK(!coil_timer_started(&note->timer));
    CHECK_INT(coil_timer_start(&note->timer, COIL_SEC(seconds)), 0);
    CHECK(coil_timer_started(&note->timer));
}

TASK_TEST(timers_call_in_the_order_of_their_deadlines)
{
    struct note a = {0}, b = {0}, c = {0};

    start(&a, "a", 3);
    start(&b, "b", 1);
    start(&c, "c", 1);
    coil_sleep(COIL_SEC(5));
    CHECK_TRACE("b@1 c@1 a@3 ");
}

TASK_TEST(timer_stopped_does_not_call_and_starts_again)
{
    struct note a = {0};

    start(&a, "a", 1);
    coil_timer_stop(&a.timer);
    CHECK(!coil_timer_started(&a.timer));
    coil_timer_stop(&a.timer);
    coil_sleep(COIL_SEC(2));
    CHECK_TRACE("");
    CHECK_INT(coil_timer_start(&a.timer, COIL_SEC(3)), 0);
    coil_sleep(COIL_SEC(2));
    CHECK_TRACE("a@3 ");
}

TASK_TEST(timer_started_twice_moves)
{
    struct note a = {0};

    start(&a, "a", 1);
    CHECK_INT(coil_timer_start(&a.timer, COIL_SEC(4)), 0);
    coil_sleep(COIL_SEC(5));
    CHECK_TRACE("a@4 ");
}

TASK_TEST(timer_may_start_itself_when_called)
{
    struct note a = {.again = 2};

    start(&a, "a", 1);
    coil_sleep(COIL_SEC(9));
    CHECK_TRACE("a@1 a@2 a@3 ");
}

static void stop_other(void *arg)
{
    coil_timer_stop(arg);
    test_trace("stopped ");
}

TASK_TEST(timer_that_is_due_can_still_be_stopped)
{
    struct note a = {0};
    coil_timer first;

    coil_timer_init(&first, stop_other, &a.timer);
    CHECK_INT(coil_timer_start(&first, COIL_SEC(1)), 0);
    start(&a, "a", 1);
    coil_sleep(COIL_SEC(2));
    CHECK_TRACE("stopped ");
}

TEST(timer_is_stopped_by_the_closing_of_its_loop)
{
    struct note a = {0};
    coil_loop *loop;

    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    start(&a, "a", 1);
    coil_loop_close(loop);
    CHECK(!coil_timer_started(&a.timer));
    CHECK_TRACE("");
    coil_timer_stop(&a.timer);
}

static void start_without_loop(void *arg)
{
    coil_timer timer;

    coil_timer_init(&timer, say_word, arg);
    coil_timer_start(&timer, 0);
}

TEST(timer_without_a_loop_stops_the_program)
{
    test_dies(start_without_loop, NULL,
              "coil_timer_start: this thread has no event loop");
}
