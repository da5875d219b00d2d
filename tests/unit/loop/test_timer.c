/*
 * test_timer.c - timers in the caller's memory.
 */
#include "../../harness/harness.h"

#include <coil.h>
#include <coil/testing.h>

#include <sys/prctl.h>
#include <unistd.h>

struct note {
    coil_timer timer;
    const char *word;
    int again; /* remaining number of restarts */
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

struct moving {
    coil_timer mover;
    struct note note;
    coil_timer others[64]; /* the initial capacity of the heap */
};

/*
 * Restart a timer that is due, and so has left the heap, while the heap is full and
 * cannot grow.
 */
static void move_without_memory(void *arg)
{
    struct moving *m = arg;

    for (size_t i = 0; i < sizeof m->others / sizeof m->others[0]; i++) {
        coil_timer_init(&m->others[i], say_word, NULL);
        coil_testing_fail_allocation(1);
        if (coil_timer_start(&m->others[i], COIL_SEC(1000)) < 0)
            break;
    }
    coil_testing_fail_allocation(1);
    CHECK_INT(coil_timer_start(&m->note.timer, COIL_SEC(10)), -ENOMEM);
    coil_testing_fail_allocation(0);
    CHECK(coil_timer_started(&m->note.timer));
}

TASK_TEST(timer_that_is_due_and_cannot_be_moved_is_called_all_the_same)
{
    static struct moving m;

    coil_timer_init(&m.mover, move_without_memory, &m);
    CHECK_INT(coil_timer_start(&m.mover, COIL_SEC(1)), 0);
    start(&m.note, "a", 1);
    coil_sleep(COIL_SEC(2));
    CHECK_TRACE("a@1 ");
    for (size_t i = 0; i < sizeof m.others / sizeof m.others[0]; i++)
        /* this also stops timers that were never started */
        coil_timer_stop(&m.others[i]);
}

TASK_TEST(timer_of_zeros_counts_as_stopped)
{
    static coil_timer zeros;
    struct note a = {0};

    start(&a, "a", 1);
    CHECK(!coil_timer_started(&zeros));
    coil_timer_stop(&zeros);
    coil_timer_stop(&zeros);
    CHECK(!coil_timer_started(&zeros));
    coil_sleep(COIL_SEC(2));
    CHECK_TRACE("a@1 ");
}

static void start_zeros(void *arg)
{
    static coil_timer zeros;
    coil_loop *loop;

    (void)arg;
    coil_loop_create(NULL, &loop);
    coil_timer_start(&zeros, 0);
}

TEST(timer_of_zeros_cannot_be_started)
{
    test_dies(start_zeros, NULL,
              "coil_timer_start: the timer was not initialised with coil_timer_init()");
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

/* ---- while tasks are always ready -------------------------------------------------- */

static void note(void *arg)
{
    *(bool *)arg = true;
}

static void work_for(int64_t ns)
{
    int64_t until = coil_now() + ns;

    while (coil_now() < until)
        ;
}

/* Run steps of 100 us until the timer has fired. Returns the number of steps. */
static int steps_until(const bool *fired)
{
    int steps = 0;

    for (; !*fired && steps < 1000; steps++) {
        work_for(COIL_USEC(100));
        coil_yield();
    }
    return steps;
}

/*
 * asyncio reads the clock in each turn. coil does not if turns are short, but must not
 * delay a timer for long.
 */
IO_TEST(timer_that_is_due_fires_though_a_task_is_always_ready)
{
    coil_timer timer, later;
    bool fired;

    coil_timer_init(&timer, note, &fired);
    coil_timer_init(&later, note, &(bool){false});
    CHECK_INT(coil_timer_start(&later, coil_in(COIL_SEC(3600))), 0);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 1000; i++)
            coil_yield();
        fired = false;
        CHECK_INT(coil_timer_start(&timer, coil_in(COIL_USEC(150))), 0);
        CHECK(steps_until(&fired) <= 3);
    }
    coil_timer_stop(&later);
}

/* ---- room that is reserved --------------------------------------------------------- */

enum { SLEEPERS = 500 };

static int asleep;

static int sleep_and_wait(void *unused)
{
    (void)unused;
    asleep++;
    CHECK_INT(coil_sleep(COIL_SEC(1)), 0);
    CHECK_INT(coil_sleep_until(coil_in(COIL_SEC(1))), 0);
    asleep--;
    return 0;
}

TASK_TEST(sleeping_allocates_nothing_however_many_sleep)
{
    static coil_task *tasks[SLEEPERS];

    for (int i = 0; i < SLEEPERS; i++)
        CHECK_INT(coil_spawn(sleep_and_wait, NULL, NULL, &tasks[i]), 0);
    coil_testing_fail_allocation(1);
    coil_yield();
    CHECK_INT(asleep, SLEEPERS);
    for (int i = 0; i < SLEEPERS; i++) {
        CHECK_INT(coil_task_await(tasks[i]), 0);
        coil_task_release(tasks[i]);
    }
    CHECK(coil_testing_failed() == NULL);
    coil_testing_fail_allocation(0);
}

/*
 * A scope reserves room for a timer when it gets its first deadline, so moving the
 * deadline cannot fail.
 */
TASK_TEST(deadline_is_moved_without_memory)
{
    coil_scope scope;

    CHECK_INT(coil_scope_enter(&scope, coil_in(COIL_SEC(1))), 0);
    coil_testing_fail_allocation(1);
    for (int i = 2; i < 200; i++)
        CHECK_INT(coil_scope_set_deadline(&scope, coil_in(COIL_SEC(i))), 0);
    CHECK_INT(coil_scope_set_deadline(&scope, COIL_NEVER), 0);
    CHECK_INT(coil_scope_set_deadline(&scope, coil_in(COIL_SEC(1))), 0);
    CHECK_INT(coil_sleep(COIL_SEC(2)), -ECANCELED);
    CHECK(coil_testing_failed() == NULL);
    coil_testing_fail_allocation(0);
    CHECK_INT(coil_scope_exit(&scope, -ECANCELED), -ETIMEDOUT);
}

static int return_nothing(void *unused)
{
    (void)unused;
    return 0;
}

/*
 * Spawning a task reserves room for its timer, so that sleeping cannot fail. If the heap
 * cannot grow, spawning fails.
 */
TASK_TEST(spawn_fails_where_its_task_could_not_sleep)
{
    static coil_task *tasks[SLEEPERS];
    int n = 0, rc = 0;

    while (rc == 0 && n < SLEEPERS) {
        coil_testing_fail_allocation(1);
        rc = coil_spawn(return_nothing, NULL, NULL, &tasks[n]);
        n += rc == 0;
    }
    coil_testing_fail_allocation(0);
    CHECK_INT(rc, -ENOMEM);
    CHECK(tasks[n] == NULL);
    CHECK_INT(coil_spawn(return_nothing, NULL, NULL, &tasks[n]), 0);
    for (int i = 0; i <= n; i++) {
        CHECK_INT(coil_task_await(tasks[i]), 0);
        coil_task_release(tasks[i]);
    }
}

/* ---- slack ------------------------------------------------------------------------- */

/*
 * Run fn(arg) on a loop of each backend, with this timer slack. With io_uring, the
 * function runs both without and with the ring: see io_uring_watch.c.
 */
static void for_each_backend(int64_t slack_ns, coil_task_fn fn)
{
    static const char *const backends[] = {"io_uring", "epoll", "poll", "select"};

    for (size_t i = 0; i < 2 * sizeof backends / sizeof backends[0]; i++) {
        coil_run_opts opts = {.loop.backend = backends[i / 2],
                              .loop.timer_slack_ns = slack_ns};
        int pair[2], rc = pipe(pair);

        CHECK_INT(rc, 0);
        rc = coil_run(fn, i % 2 == 0 ? NULL : pair, &opts);
        CHECK(rc == 0 || (rc == -ENOSYS && i < 2));
        close(pair[0]);
        close(pair[1]);
    }
}

static void never_called(void *arg)
{
    (void)arg;
    CHECK(false);
}

/* Add a reader if `pair` is not NULL, so that io_uring uses its ring. */
static void watch(const int *pair)
{
    if (pair != NULL)
        CHECK_INT(coil_add_reader(pair[0], never_called, NULL), 0);
}

static void unwatch(const int *pair)
{
    if (pair != NULL)
        CHECK_INT(coil_remove_reader(pair[0]), 1);
}

struct firing {
    coil_timer timer;
    int64_t deadline;
    uint64_t polls; /* the loop's count of polls when the timer fired; 0: not yet */
};

static void note_polls(void *arg)
{
    struct firing *firing = arg;
    coil_stats stats;

    coil_stats_get(&stats);
    CHECK(coil_now() >= firing->deadline);
    firing->polls = stats.polls;
}

static void start_firing(struct firing *firing, int64_t deadline)
{
    firing->polls = 0;
    firing->deadline = deadline;
    coil_timer_init(&firing->timer, note_polls, firing);
    CHECK_INT(coil_timer_start(&firing->timer, deadline), 0);
}

static bool three_fire_in_one_turn(void)
{
    int64_t now = coil_now();
    struct firing firings[3];

    start_firing(&firings[0], now + COIL_MSEC(40));
    start_firing(&firings[1], now + COIL_MSEC(20));
    start_firing(&firings[2], now + COIL_MSEC(1));
    coil_sleep_until(now + COIL_MSEC(60));
    for (int i = 0; i < 3; i++)
        CHECK(firings[i].polls > 0);
    return firings[0].polls == firings[2].polls && firings[1].polls == firings[2].polls;
}

/*
 * Repeat the test if the kernel has interrupted a wait, which makes timers within their
 * slack fire early. The kernel may do so once after another loop's ring was closed.
 */
static int three_at_once(void *pair)
{
    int tries = 1;

    watch(pair);
    while (!three_fire_in_one_turn() && tries < 5)
        tries++;
    CHECK(tries < 5);
    unwatch(pair);
    return 0;
}

TEST(timers_due_within_the_slack_of_the_first_fire_in_one_turn)
{
    for_each_backend(COIL_MSEC(200), three_at_once);
}

static int nap(void *arg)
{
    (void)arg;
    usleep(5000);
    return 0;
}

static int woken_by_work(void *pair)
{
    struct firing firing;

    watch(pair);
    start_firing(&firing, coil_in(COIL_MSEC(1)));
    CHECK_INT(coil_blocking(COIL_LANE_FILE, nap, NULL), 0);
    coil_yield();
    CHECK(firing.polls > 0);
    unwatch(pair);
    return 0;
}

TEST(timer_within_its_slack_fires_as_soon_as_anything_wakes_the_loop)
{
    for_each_backend(COIL_SEC(3600), woken_by_work);
    for_each_backend(COIL_NEVER, woken_by_work);
}

static int yield_until_fired(void *pair)
{
    struct firing firing;

    watch(pair);
    start_firing(&firing, coil_in(COIL_MSEC(1)));
    while (firing.polls == 0)
        coil_yield();
    unwatch(pair);
    return 0;
}

TEST(timer_of_a_busy_loop_is_not_delayed_by_its_slack)
{
    for_each_backend(COIL_SEC(3600), yield_until_fired);
}

static int wait_for_nothing(void *pair)
{
    struct firing firing;
    coil_scope scope;

    watch(pair);
    CHECK_INT(coil_sleep(0), 0);
    CHECK_INT(coil_sleep_until(coil_now() - 1), 0);
    start_firing(&firing, coil_now());
    while (firing.polls == 0)
        coil_sleep(0);
    CHECK_INT(coil_scope_enter(&scope, coil_now() - 1), 0);
    CHECK_INT(coil_park(), -ECANCELED);
    CHECK_INT(coil_scope_exit(&scope, -ECANCELED), -ETIMEDOUT);
    unwatch(pair);
    return 0;
}

TEST(deadline_that_has_passed_is_not_delayed_by_any_slack)
{
    for_each_backend(COIL_SEC(3600), wait_for_nothing);
}

static int two_seconds(void *arg)
{
    (void)arg;
    CHECK_INT(coil_sleep(COIL_SEC(1)), 0);
    CHECK_INT(coil_now(), COIL_SEC(1));
    CHECK_INT(coil_sleep(1), 0);
    CHECK_INT(coil_now(), COIL_SEC(1) + 1);
    return 0;
}

TEST(virtual_clock_has_no_slack)
{
    coil_run_opts opts = {.loop.virtual_clock = true, .loop.timer_slack_ns = COIL_SEC(9)};

    CHECK_INT(coil_run(two_seconds, NULL, &opts), 0);
}

/*
 * Start a timer of one hour, and check by how much coil_guest_timeout() exceeds that
 * hour.
 */
static void check_guest(int64_t slack_ns, int64_t exceeds)
{
    coil_loop_opts opts = {.backend = "epoll", .timer_slack_ns = slack_ns};
    int64_t deadline, before, given;
    struct firing firing;
    coil_loop *loop;

    CHECK_INT(coil_loop_create(&opts, &loop), 0);
    deadline = coil_in(COIL_SEC(3600));
    start_firing(&firing, deadline);
    before = coil_now();
    given = coil_guest_timeout(loop);
    CHECK(given <= deadline - before + exceeds);
    CHECK(given >= deadline - coil_now() + exceeds);
    coil_timer_stop(&firing.timer);
    coil_loop_close(loop);
}

TEST(guest_timeout_includes_the_slack_beyond_the_threads)
{
    CHECK_INT(prctl(PR_SET_TIMERSLACK, COIL_USEC(20)), 0);
    check_guest(0, COIL_USEC(30));
    check_guest(COIL_NO_SLACK, 0);
    check_guest(COIL_USEC(20), 0);
    check_guest(COIL_SEC(1), COIL_SEC(1) - COIL_USEC(20));
}
