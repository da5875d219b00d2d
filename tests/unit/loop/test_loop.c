/*
 * test_loop.c - turns, callbacks, handles, timers and posts. (docs/seeds.md, rows 74 to
 * 82)
 */
#include "../../harness/harness.h"

#include <coil.h>

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static coil_loop *create_virtual(void)
{
    coil_loop *loop;

    CHECK_INT(coil_loop_create(&(coil_loop_opts){.virtual_clock = true}, &loop), 0);
    return loop;
}

static void note(void *arg)
{
    test_trace("%s@%ld ", (const char *)arg, (long)(coil_now() / COIL_MSEC(1)));
}

static void stop(void *arg)
{
    test_trace("stop ");
    coil_loop_stop(arg);
}

static void note_and_call_soon(void *arg)
{
    note(arg);
    CHECK_INT(coil_call_soon(note, "next", NULL), 0);
}

TEST(call_soon_runs_first_in_first_out_and_in_the_next_turn)
{
    coil_loop *loop = create_virtual();

    coil_call_soon(note_and_call_soon, "a", NULL);
    coil_call_soon(note, "b", NULL);
    coil_call_later(COIL_MSEC(5), stop, loop, NULL);
    CHECK_INT(coil_loop_run_forever(loop), 0);
    CHECK_TRACE("a@0 b@0 next@0 stop ");
    coil_loop_close(loop);
}

TEST(stop_lets_everything_ready_in_this_turn_run)
{
    coil_loop *loop = create_virtual();

    coil_call_soon(stop, loop, NULL);
    coil_call_soon(note_and_call_soon, "same turn", NULL);
    CHECK_INT(coil_loop_run_forever(loop), 0);
    CHECK_TRACE("stop same turn@0 ");
    coil_loop_stop(loop); /* a loop that is stopped before it runs takes one turn */
    CHECK_INT(coil_loop_run_forever(loop), 0);
    CHECK_TRACE("next@0 ");
    coil_loop_close(loop);
}

TEST(timers_run_by_deadline_and_equal_ones_in_order)
{
    coil_loop *loop = create_virtual();

    coil_call_later(COIL_MSEC(30), stop, loop, NULL);
    coil_call_later(COIL_MSEC(20), note, "c", NULL);
    coil_call_at(COIL_MSEC(10), note, "a", NULL);
    coil_call_later(COIL_MSEC(20), note, "d", NULL);
    coil_call_later(0, note, "now", NULL);
    coil_call_later(-5, note, "past", NULL);
    coil_call_at(COIL_MSEC(10), note, "b", NULL);
    coil_loop_run_forever(loop);
    CHECK_TRACE("past@0 now@0 a@10 b@10 c@20 d@20 stop ");
    coil_loop_close(loop);
}

static void cancel_handle(void *arg)
{
    coil_handle_cancel(arg);
}

TEST(a_cancelled_handle_is_not_called_even_if_it_is_due)
{
    coil_loop *loop = create_virtual();
    coil_handle *soon, *later, *due;

    coil_call_soon(note, "soon", &soon);
    coil_call_later(COIL_MSEC(1), note, "later", &later);
    coil_call_at(COIL_MSEC(10), note, "before", NULL);
    coil_handle_cancel(soon);
    coil_handle_cancel(soon);
    coil_handle_cancel(later);
    CHECK(coil_handle_cancelled(soon));
    CHECK_INT(coil_handle_when(later), COIL_MSEC(1));
    coil_handle_release(soon);
    coil_handle_release(later);
    /* The callback at 20 ms cancels the one at 21 ms. */
    coil_call_at(COIL_MSEC(30), stop, loop, NULL);
    coil_call_at(COIL_MSEC(20), note, "x", &due);
    coil_handle_cancel(due);
    coil_handle_release(due);
    coil_call_at(COIL_MSEC(21), note, "y", &due);
    coil_call_at(COIL_MSEC(20), cancel_handle, due, NULL);
    coil_loop_run_forever(loop);
    coil_handle_release(due);
    CHECK_TRACE("before@10 stop ");
    coil_loop_close(loop);
}

static void cancel_next_in_batch(void *arg)
{
    coil_handle_cancel(*(coil_handle **)arg);
}

TEST(cancelling_what_runs_later_in_the_same_turn)
{
    coil_loop *loop = create_virtual();
    coil_handle *victim;

    coil_call_soon(cancel_next_in_batch, &victim, NULL);
    coil_call_soon(note, "victim", &victim);
    coil_call_soon(stop, loop, NULL);
    coil_loop_run_forever(loop);
    coil_handle_release(victim);
    CHECK_TRACE("stop ");
    coil_loop_close(loop);
}

TEST(a_handle_may_be_cancelled_and_released_after_its_call)
{
    coil_loop *loop = create_virtual();
    coil_handle *handle;

    coil_call_soon(note, "called", &handle);
    coil_loop_stop(loop);
    coil_loop_run_forever(loop);
    CHECK(!coil_handle_cancelled(handle));
    coil_handle_cancel(handle);
    CHECK(coil_handle_cancelled(handle));
    coil_handle_release(handle);
    coil_handle_release(NULL);
    CHECK_TRACE("called@0 ");
    coil_loop_close(loop);
}

enum { TIMERS = 10000 };

static struct timed {
    coil_handle *handle;
    int64_t due;
    bool cancelled;
} timed[TIMERS];
static int fired, last_fired;

/*
 * Check that timers fire in the order of their deadlines, or, if these are equal, in the
 * order in which they were created.
 */
static void check_turn(void *arg)
{
    struct timed *t = arg;
    int i = (int)(t - timed);

    CHECK(!t->cancelled);
    CHECK_INT(coil_now(), t->due);
    if (fired > 0)
        CHECK(t->due > timed[last_fired].due ||
              (t->due == timed[last_fired].due && i > last_fired));
    last_fired = i;
    fired++;
}

TEST(ten_thousand_timers_fire_in_order_and_half_are_cancelled)
{
    coil_loop *loop = create_virtual();
    unsigned seed = 1;

    for (int i = 0; i < TIMERS; i++) {
        /* about ten timers share each deadline */
        int64_t delay = COIL_USEC(rand_r(&seed) % 1000);

        timed[i].due = coil_now() + delay;
        CHECK_INT(coil_call_later(delay, check_turn, &timed[i], &timed[i].handle), 0);
    }
    for (int i = 0; i < TIMERS; i++) {
        timed[i].cancelled = i % 2 == 0;
        if (timed[i].cancelled)
            coil_handle_cancel(timed[i].handle);
        coil_handle_release(timed[i].handle);
    }
    coil_call_later(COIL_SEC(1), stop, loop, NULL);
    CHECK_INT(coil_loop_run_forever(loop), 0);
    CHECK_INT(fired, TIMERS / 2);
    CHECK_TRACE("stop ");
    coil_loop_close(loop);
}

TEST(one_loop_a_thread_and_it_may_be_made_again)
{
    coil_loop *loop = create_virtual(), *second;

    CHECK_PTR(coil_loop_current(), loop);
    CHECK_INT(coil_loop_create(NULL, &second), -EBUSY);
    coil_loop_close(loop);
    CHECK_PTR(coil_loop_current(), NULL);
    coil_loop_close(NULL);
    CHECK_INT(coil_loop_create(&(coil_loop_opts){.backend = "carrier pigeon"}, &second),
              -EINVAL);
    coil_loop_close(create_virtual());
}

TEST(backend_is_chosen_by_name_and_by_environment)
{
    static const char *const names[] = {"epoll", "poll", "select"};
    coil_loop *loop;

    for (int i = 0; i < 3; i++) {
        CHECK_INT(coil_loop_create(&(coil_loop_opts){.backend = names[i]}, &loop), 0);
        CHECK_STR(coil_backend_name(), names[i]);
        coil_loop_close(loop);
        setenv("COIL_BACKEND", names[i], 1);
        CHECK_INT(coil_loop_create(NULL, &loop), 0);
        CHECK_STR(coil_backend_name(), names[i]);
        coil_loop_close(loop);
        unsetenv("COIL_BACKEND");
    }
    CHECK(coil_backend_name() == NULL);
}

/* Even where io_uring works, it is used only on request. */
TEST(backend_is_epoll_by_default)
{
    coil_loop *loop;

    unsetenv("COIL_BACKEND");
    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    CHECK_STR(coil_backend_name(), "epoll");
    coil_loop_close(loop);
    setenv("COIL_BACKEND", "", 1);
    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    CHECK_STR(coil_backend_name(), "epoll");
    coil_loop_close(loop);
}

static void create_and_abort(void *value)
{
    coil_loop *loop;

    setenv("COIL_BACKEND", value, 1);
    CHECK_INT(coil_loop_create(NULL, &loop), -EINVAL);
    CHECK_INT(coil_run(NULL, NULL, NULL), -EINVAL);
    abort();
}

TEST(backend_that_the_environment_misspells_is_named)
{
    static char value[] = "nonsense";
    static const char *const parts[] = {"coil: COIL_BACKEND=nonsense: must be epoll, ",
                                        " poll, ", " select, ", " io_uring",
                                        " or simulated: Invalid argument\n"};

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        test_dies(create_and_abort, value, parts[i]);
}

static void start_a_race(void *arg)
{
    CHECK_INT(coil_call_later(0, note, "due", NULL), 0);
    CHECK_INT(coil_call_soon(note_and_call_soon, "soon", NULL), 0);
    CHECK_INT(coil_call_later(COIL_MSEC(1), stop, arg, NULL), 0);
}

TEST(a_timer_that_is_due_does_not_wait_for_polls_that_are_skipped)
{
    for (int skip = 0; skip < 2; skip++) {
        coil_loop_opts opts = {.virtual_clock = true, .skip_polls = skip};
        coil_loop *loop;

        CHECK_INT(coil_loop_create(&opts, &loop), 0);
        coil_call_soon(start_a_race, loop, NULL);
        CHECK_INT(coil_loop_run_forever(loop), 0);
        CHECK_TRACE("soon@0 due@0 next@0 stop ");
        coil_loop_close(loop);
    }
}

static void run_again(void *arg)
{
    test_trace("%d ", coil_loop_run_forever(arg) == -EBUSY);
}

TEST(a_running_loop_is_not_run_again)
{
    coil_loop *loop = create_virtual();

    coil_call_soon(run_again, loop, NULL);
    coil_call_soon(stop, loop, NULL);
    coil_loop_run_forever(loop);
    CHECK_TRACE("1 stop ");
    coil_loop_close(loop);
}

TEST(closing_drops_what_is_pending_but_calls_what_was_posted)
{
    coil_loop *loop = create_virtual();

    coil_call_soon(note, "never", NULL);
    coil_call_later(COIL_MSEC(1), note, "never", NULL);
    CHECK_INT(coil_post(loop, note, "posted"), 0);
    coil_loop_retain(loop);
    coil_loop_close(loop);
    CHECK_INT(coil_post(loop, note, "never"), -ESHUTDOWN);
    coil_loop_release(loop);
    CHECK_TRACE("posted@0 ");
}

TEST(the_real_clock_waits_and_never_fires_early)
{
    coil_loop *loop;
    int64_t begin;

    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    begin = coil_now();
    coil_call_later(COIL_MSEC(20), stop, loop, NULL);
    coil_loop_run_forever(loop);
    CHECK(coil_now() - begin >= COIL_MSEC(20));
    test_trace_clear();
    coil_loop_close(loop);
}

/*
 * A callback that runs in every turn until the flag is set. Even so, the loop must read
 * the clock.
 */
static void spin(void *arg)
{
    if (!*(bool *)arg)
        coil_call_soon(spin, arg, NULL);
}

static void set_flag(void *arg)
{
    *(bool *)arg = true;
    coil_loop_stop(coil_loop_current());
}

TEST(a_busy_loop_still_sees_timers_and_posts)
{
    coil_loop *loop;
    bool done = false;

    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    coil_call_soon(spin, &done, NULL);
    coil_call_later(COIL_MSEC(5), set_flag, &done, NULL);
    coil_loop_run_forever(loop);
    CHECK(done);
    done = false;
    coil_call_soon(spin, &done, NULL);
    CHECK_INT(coil_post(loop, set_flag, &done), 0);
    coil_loop_run_forever(loop);
    CHECK(done);
    coil_loop_close(loop);
}

/* ---- posts from other threads ------------------------------------------------------ */

enum { POSTERS = 4, POSTS = 10000 };

struct poster {
    coil_loop *loop;
    pthread_t thread;
    int sent, seen;
    struct post {
        struct poster *poster;
        int number;
    } posts[POSTS];
};

static int posters_left;

static void receive(void *arg)
{
    struct post *post = arg;

    CHECK_INT(post->number, post->poster->seen);
    if (++post->poster->seen == POSTS && --posters_left == 0)
        coil_loop_stop(coil_loop_current());
}

static void *post_many(void *arg)
{
    struct poster *poster = arg;

    for (int i = 0; i < POSTS; i++) {
        poster->posts[i] = (struct post){poster, i};
        CHECK_INT(coil_post(poster->loop, receive, &poster->posts[i]), 0);
    }
    coil_loop_release(poster->loop);
    return NULL;
}

TEST(threads_post_and_every_post_arrives_in_order)
{
    struct poster *posters = test_memory(POSTERS * sizeof *posters);
    coil_loop *loop;

    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    posters_left = POSTERS;
    for (int i = 0; i < POSTERS; i++) {
        posters[i].loop = coil_loop_retain(loop);
        CHECK_INT(pthread_create(&posters[i].thread, NULL, post_many, &posters[i]), 0);
    }
    CHECK_INT(coil_loop_run_forever(loop), 0);
    for (int i = 0; i < POSTERS; i++)
        pthread_join(posters[i].thread, NULL);
    coil_loop_close(loop);
}

/* ---- mistakes ---------------------------------------------------------------------- */

static void call_soon_without_loop(void *arg)
{
    coil_call_soon(note, arg, NULL);
}

static void close_inside(void *arg)
{
    coil_loop_close(arg);
}

static void close_while_running(void *arg)
{
    coil_loop *loop = create_virtual();

    (void)arg;
    coil_call_soon(close_inside, loop, NULL);
    coil_loop_run_forever(loop);
}

static void *stop_from_here(void *arg)
{
    coil_loop_stop(arg);
    return NULL;
}

static void use_from_wrong_thread(void *arg)
{
    pthread_t thread;

    (void)arg;
    pthread_create(&thread, NULL, stop_from_here, create_virtual());
    pthread_join(thread, NULL);
}

TEST(mistakes_stop_the_program_with_a_sentence)
{
    test_dies(call_soon_without_loop, NULL, "this thread has no event loop");
    test_dies(close_while_running, NULL, "the loop is running");
    test_dies(use_from_wrong_thread, NULL, "the loop belongs to another thread");
}

TEST(creating_fails_cleanly_when_memory_runs_out)
{
    coil_loop *loop;

    for (int n = 1; n < 20; n++) {
        int rc;

        test_fail_allocation(n);
        rc = coil_loop_create(NULL, &loop);
        if (rc == 0) {
            test_fail_allocation(0);
            coil_loop_close(loop);
            return;
        }
        CHECK_INT(rc, -ENOMEM);
    }
    CHECK(!"more than 20 allocations for a loop?");
}

/* ---- failures ---------------------------------------------------------------------- */

#define OLDER "an older failure"

static void fail_call(uint64_t n)
{
    coil_testing_fail_system_call(n, EMFILE);
}

/*
 * Create a loop while the n-th system call or allocation fails. Returns false if there
 * are fewer.
 */
static bool fail_to_create(const char *backend, void (*fail)(uint64_t n), uint64_t n,
                           int rc)
{
    coil_loop *loop = NULL;
    bool failed;
    int got;

    coil_fail(rc, OLDER);
    fail(n);
    got = coil_loop_create(&(coil_loop_opts){.backend = backend}, &loop);
    if (got == rc)
        CHECK(coil_last_error() == NULL ||
              strcmp(coil_error_message(coil_last_error()), OLDER) != 0);
    coil_clear_error();
    failed = coil_testing_failed() != NULL;
    fail(0);
    coil_loop_close(loop);
    return failed;
}

TEST(loop_that_cannot_be_created_is_not_described_by_an_older_failure)
{
    static const char *const backends[] = {"io_uring", "epoll", "poll", "select"};

    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        coil_loop *loop = NULL;
        uint64_t n = 1;

        if (coil_loop_create(&(coil_loop_opts){.backend = backends[i]}, &loop) != 0)
            continue; /* io_uring is not available here */
        coil_loop_close(loop);
        while (fail_to_create(backends[i], fail_call, n, -EMFILE))
            n++;
        CHECK(n > 1);
        n = 1;
        while (fail_to_create(backends[i], coil_testing_fail_allocation, n, -ENOMEM))
            n++;
        CHECK(n > 1);
    }
}
