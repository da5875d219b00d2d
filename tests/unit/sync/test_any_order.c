/*
 * test_any_order.c - locks and queues keep their guarantees in any order in which tasks
 * run.
 *
 * Each program runs with three hundred seeds. The seed determines the order of the tasks
 * in each turn, which tasks are cancelled, and when. A program that reaches its deadline
 * has deadlocked.
 */
#include "../../harness/harness.h"

#include <coil.h>

enum { SEEDS = 300, TASKS = 8, ROUNDS = 5, ITEMS = 12 };

static uint64_t dice;

/* Return a random number from 0 to limit - 1. */
static unsigned throw_dice(unsigned limit)
{
    dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(dice >> 33) % limit;
}

/* Yield a random number of times, possibly none. */
static int dawdle(void)
{
    int rc = 0;

    for (unsigned n = throw_dice(4); rc == 0 && n > 0; n--)
        rc = coil_yield();
    return rc;
}

/* Run TASKS tasks with this function, cancel some of them, and check that all end. */
static int run_crowd(coil_task_fn body)
{
    coil_task *tasks[TASKS];
    coil_future *futures[TASKS];
    coil_scope scope;
    int rc;

    CHECK_INT(coil_scope_enter(&scope, coil_in(COIL_SEC(1000))), 0);
    for (int i = 0; i < TASKS; i++) {
        CHECK_INT(coil_spawn(body, NULL, NULL, &tasks[i]), 0);
        futures[i] = coil_task_future(tasks[i]);
    }
    for (unsigned n = throw_dice(TASKS); n > 0; n--) {
        dawdle();
        coil_task_cancel(tasks[throw_dice(TASKS)], NULL);
    }
    rc = coil_wait(futures, TASKS, COIL_WAIT_ALL, COIL_NEVER);
    for (int i = 0; i < TASKS; i++) {
        if (rc >= 0)
            /* awaited so that its failure is not reported */
            coil_task_await(tasks[i]);
        coil_task_release(tasks[i]);
    }
    return coil_scope_exit(&scope, rc);
}

static void run_with_seeds(coil_task_fn program)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        dice = seed;
        coil_testing_shuffle(seed);
        CHECK_INT(coil_testing_run(program, NULL), 0);
    }
    coil_testing_shuffle(0);
}

/* ---- limits ------------------------------------------------------------------------ */

static coil_lock lock;
static coil_semaphore semaphore;
static int inside;

static int dawdle_inside(int limit)
{
    int rc;

    CHECK(++inside <= limit);
    rc = dawdle();
    inside--;
    return rc;
}

static int use_lock(void *arg)
{
    int rc = 0;

    (void)arg;
    for (int i = 0; i < ROUNDS && rc == 0; i++) {
        rc = coil_lock_acquire(&lock);
        if (rc < 0)
            return rc;
        rc = dawdle_inside(1);
        CHECK_INT(coil_lock_release(&lock), 0);
    }
    return rc;
}

static int crowd_of_locks(void *arg)
{
    int rc;

    (void)arg;
    coil_lock_init(&lock);
    rc = run_crowd(use_lock);
    CHECK(!coil_lock_locked(&lock));
    coil_lock_finish(&lock);
    return rc < 0 ? rc : 0;
}

TEST(lock_has_one_owner_in_any_order)
{
    run_with_seeds(crowd_of_locks);
}

static int use_semaphore(void *arg)
{
    int rc = 0;

    (void)arg;
    for (int i = 0; i < ROUNDS && rc == 0; i++) {
        rc = coil_semaphore_acquire(&semaphore);
        if (rc < 0)
            return rc;
        rc = dawdle_inside(3);
        coil_semaphore_release(&semaphore);
    }
    return rc;
}

static int crowd_of_semaphores(void *arg)
{
    int rc;

    (void)arg;
    coil_semaphore_init(&semaphore, 3);
    rc = run_crowd(use_semaphore);
    for (int i = 0; i < 3; i++) {
        CHECK(!coil_semaphore_locked(&semaphore));
        CHECK_INT(coil_semaphore_acquire(&semaphore), 0);
    }
    CHECK(coil_semaphore_locked(&semaphore));
    coil_semaphore_finish(&semaphore);
    return rc < 0 ? rc : 0;
}

TEST(semaphore_count_is_right_in_any_order)
{
    run_with_seeds(crowd_of_semaphores);
}

/* ---- nothing is lost --------------------------------------------------------------- */

static coil_queue queue;
static int put[TASKS * ITEMS], got[TASKS * ITEMS], next_item;
static int putting, getting;

/* Put items in every second task, and get them in the others. */
static int put_or_get(void *arg)
{
    static int turn;
    bool putter = turn++ % 2 == 0;
    int rc = 0;

    (void)arg;
    for (int i = 0; i < ITEMS && rc == 0; i++) {
        int item = putter ? next_item++ : -1;

        *(putter ? &putting : &getting) += 1;
        rc = putter ? coil_queue_put(&queue, &item) : coil_queue_get(&queue, &item);
        *(putter ? &putting : &getting) -= 1;
        if (rc == 0)
            (putter ? put : got)[item]++;
        if (rc == 0)
            rc = dawdle();
    }
    return rc == -ESHUTDOWN ? 0 : rc;
}

/*
 * Shut the queue down after a second, because some tasks may be waiting for other tasks
 * that were cancelled. Check that no putter is waiting while the queue has room, and no
 * getter while it has an item.
 */
static void shut_down(void *arg)
{
    (void)arg;
    CHECK(getting == 0 || coil_queue_empty(&queue));
    CHECK(putting == 0 || coil_queue_full(&queue));
    coil_queue_shutdown(&queue, false);
}

static int crowd_at_a_queue(void *arg)
{
    int item, rc;

    (void)arg;
    coil_queue_init(&queue, sizeof(int), 2);
    memset(put, 0, sizeof put);
    memset(got, 0, sizeof got);
    next_item = 0;
    CHECK_INT(coil_call_later(COIL_SEC(1), shut_down, NULL, NULL), 0);
    rc = run_crowd(put_or_get);
    while (coil_queue_get_nowait(&queue, &item) == 0)
        got[item]++;
    for (int i = 0; i < next_item; i++)
        CHECK_INT(got[i], put[i]);
    coil_queue_finish(&queue);
    return rc < 0 ? rc : 0;
}

TEST(queue_hands_out_each_item_once_in_any_order)
{
    run_with_seeds(crowd_at_a_queue);
}

/* Tokens, each of which a task takes and puts back before it notifies another task. */
static coil_condition condition;
static int tokens;

static int take_token(void)
{
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    while (rc == 0 && tokens == 0)
        rc = coil_condition_wait(&condition);
    /* the task has the lock even if its wait was cancelled */
    CHECK(coil_lock_locked(&lock));
    tokens -= rc == 0;
    coil_lock_release(&lock);
    return rc;
}

static void put_token_back(void)
{
    while (coil_lock_acquire(&lock) < 0)
        coil_cancel_caught();
    tokens++;
    CHECK_INT(coil_condition_notify(&condition, 1), 0);
    coil_lock_release(&lock);
}

static int use_token(void *arg)
{
    int rc = take_token();

    (void)arg;
    if (rc < 0)
        return rc;
    rc = dawdle_inside(1);
    put_token_back();
    return rc;
}

static int crowd_at_a_condition(void *arg)
{
    int rc;

    (void)arg;
    coil_lock_init(&lock);
    coil_condition_init(&condition, &lock);
    tokens = 1;
    rc = run_crowd(use_token);
    CHECK_INT(tokens, 1);
    coil_condition_finish(&condition);
    coil_lock_finish(&lock);
    return rc < 0 ? rc : 0;
}

TEST(condition_loses_no_notification_in_any_order)
{
    run_with_seeds(crowd_at_a_condition);
}

/* ---- rounds ------------------------------------------------------------------------ */

static coil_barrier barrier;
static int passed[ROUNDS];

static void break_barrier(void)
{
    coil_cancel_caught();
    while (coil_barrier_abort(&barrier) < 0)
        coil_cancel_caught();
}

/*
 * Break the barrier after a second: if a task was cancelled before it began, the others
 * would wait forever.
 */
static int break_after_a_second(void *arg)
{
    int rc = coil_sleep(COIL_SEC(1));

    (void)arg;
    if (rc == 0)
        break_barrier();
    return rc;
}

/*
 * Pass the barrier once per round. Either all tasks reach the barrier, or a cancelled
 * task breaks it for all of them.
 */
static int pass_rounds(void *arg)
{
    (void)arg;
    for (int round = 0; round < ROUNDS; round++) {
        int rc = dawdle();

        if (rc == 0)
            rc = coil_barrier_wait(&barrier);
        if (rc < 0) {
            break_barrier();
            return rc;
        }
        passed[round]++;
        for (int before = 0; before < round; before++)
            CHECK(passed[before] >= passed[round]);
    }
    return 0;
}

static int crowd_at_a_barrier(void *arg)
{
    int rc;

    (void)arg;
    coil_barrier_init(&barrier, TASKS);
    memset(passed, 0, sizeof passed);
    CHECK_INT(coil_spawn(break_after_a_second, NULL, NULL, NULL), 0);
    rc = run_crowd(pass_rounds);
    CHECK(passed[ROUNDS - 1] == TASKS || coil_barrier_broken(&barrier));
    coil_barrier_finish(&barrier);
    return rc < 0 ? rc : 0;
}

TEST(barrier_holds_its_rounds_apart_in_any_order)
{
    run_with_seeds(crowd_at_a_barrier);
}
