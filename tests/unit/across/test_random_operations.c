/*
 * test_random_operations.c - an operation with a deadline ends in time, and the kernel
 * does not use the operation's memory after the call has returned.
 *
 * See random_operations.c. A run uses hundreds of seeds, and `make soak` uses thousands.
 * If a seed fails, the test prints how to try that seed again. This may take several
 * attempts, because the clock is real.
 */
#include "deadlines.h"
#include "random_operations.h"
#include "random_tls.h"

#include "../../harness/harness.h"
#include "../loop/guest.h"

#include <poll.h>

static uint64_t seed;
static const char *test_name;

static void say_seed(void)
{
    test_seed_failed(seed, test_name);
}

static int run_seeds(void *arg)
{
    uint64_t end = test_first_seed() + (uint64_t)test_seed_count(*(int *)arg);
    int complaints = 0;

    random_tls_begin();
    watchdog_begin(say_seed);
    for (seed = test_first_seed(); seed < end && complaints == 0; seed++) {
        complaints = run_random_operations(seed);
        CHECK_INT(complaints, 0);
        if (complaints > 0)
            say_seed();
    }
    watchdog_end();
    random_tls_end();
    return 0;
}

/* The operations include processes, which need pidfds. */
static void skip_without_pidfds(void)
{
    if (test_under_valgrind())
        test_skip("no pidfds here");
}

IO_TEST(random_operations_end_by_their_deadlines)
{
    static char name[96];
    int usual = 160;

    skip_without_pidfds();
    snprintf(name, sizeof name, "random_operations_end_by_their_deadlines/%s",
             coil_backend_name());
    test_name = name;
    run_seeds(&usual);
}

/* ---- as a guest -------------------------------------------------------------------- */

/* Run a task in a guest loop: act as its host until the task has ended. */
static void host(coil_loop *loop, coil_task_fn fn, void *arg)
{
    coil_task *task;

    CHECK_INT(coil_spawn(fn, arg, NULL, &task), 0);
    while (coil_future_get_state(coil_task_future(task)) == COIL_PENDING) {
        struct pollfd ours = {.fd = coil_guest_fd(loop), .events = POLLIN};
        int64_t left = coil_guest_timeout(loop);

        if (left != 0)
            poll(&ours, 1, left == COIL_NEVER ? -1 : (int)(left / COIL_MSEC(1) + 1));
        CHECK_INT(coil_guest_step(loop), 0);
    }
    CHECK_INT(coil_future_get_state(coil_task_future(task)), COIL_DONE);
    coil_task_release(task);
}

static void operate_as_guest(coil_loop *loop)
{
    int usual = 80;

    host(loop, run_seeds, &usual);
}

TEST(random_operations_in_a_guest_end_by_their_deadlines)
{
    skip_without_pidfds();
    test_name = "random_operations_in_a_guest_end_by_their_deadlines";
    for_each_guest(operate_as_guest);
}

static void say_nothing(void)
{
}

/* Wait for posts while nothing else wakes the loop. */
static int wait_for_posts(void *arg)
{
    watchdog_begin(say_nothing);
    posts_begin();
    posts_await((unsigned)test_seed_count(200));
    posts_end();
    watchdog_end();
    (void)arg;
    return 0;
}

static void be_posted_to(coil_loop *loop)
{
    host(loop, wait_for_posts, NULL);
}

TEST(random_posts_to_a_guest_are_seen_within_a_second)
{
    for_each_guest(be_posted_to);
}

IO_TEST(random_posts_are_seen_within_a_second)
{
    wait_for_posts(NULL);
}
