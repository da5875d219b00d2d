/*
 * test_finish.c - coil_X_init() works whatever the memory of the object contains, and
 * coil_X_finish() aborts while a task waits for the object.
 */
#include "../../harness/harness.h"

#include <coil.h>

static coil_lock lock = COIL_LOCK_INIT;
static coil_event event = COIL_EVENT_INIT;
static coil_semaphore semaphore = COIL_SEMAPHORE_INIT(0);
static coil_bounded_semaphore bounded = COIL_BOUNDED_SEMAPHORE_INIT(0);
static coil_condition condition = COIL_CONDITION_INIT(&lock);
static coil_queue queue = COIL_QUEUE_INIT(sizeof(int), 1);
static coil_rwlock rwlock = COIL_RWLOCK_INIT;
static int level;
static coil_latest latest = COIL_LATEST_INIT(&level, sizeof level);

static int wait_for_lock(void *arg)
{
    (void)arg;
    return coil_lock_acquire(&lock);
}

static int wait_for_event(void *arg)
{
    (void)arg;
    return coil_event_wait(&event);
}

static int wait_for_semaphore(void *arg)
{
    (void)arg;
    return coil_semaphore_acquire(&semaphore);
}

static int wait_for_bounded(void *arg)
{
    (void)arg;
    return coil_bounded_semaphore_acquire(&bounded);
}

static int wait_for_condition(void *arg)
{
    (void)arg;
    coil_lock_acquire(&lock);
    coil_condition_wait(&condition);
    coil_lock_release(&lock);
    return 0;
}

static int get_from_queue(void *arg)
{
    int item;

    (void)arg;
    return coil_queue_get(&queue, &item);
}

static int join_queue(void *arg)
{
    (void)arg;
    return coil_queue_join(&queue);
}

static int wait_for_rwlock(void *arg)
{
    (void)arg;
    return coil_rwlock_acquire_read(&rwlock);
}

static int follow_latest(void *arg)
{
    uint64_t seen = 0;
    int value, rc;

    (void)arg;
    while ((rc = coil_latest_wait(&latest, &seen, &value)) == 0)
        ;
    return rc;
}

/* clang-format off */
static void finish_lock(void *arg) { (void)arg; coil_lock_finish(&lock); }
static void finish_event(void *arg) { (void)arg; coil_event_finish(&event); }
static void finish_semaphore(void *arg) { (void)arg; coil_semaphore_finish(&semaphore); }
static void finish_bounded(void *arg) { (void)arg; coil_bounded_semaphore_finish(&bounded); }
static void finish_condition(void *arg) { (void)arg; coil_condition_finish(&condition); }
static void finish_queue(void *arg) { (void)arg; coil_queue_finish(&queue); }
static void finish_rwlock(void *arg) { (void)arg; coil_rwlock_finish(&rwlock); }
static void finish_latest(void *arg) { (void)arg; coil_latest_finish(&latest); }
/* clang-format on */

struct finish {
    coil_task_fn wait;
    void (*finish)(void *arg);
    const char *message;
};

/*
 * Check that finish(), called in a child process while a task waits for the object,
 * aborts.
 */
static void check_finish(const struct finish *row)
{
    coil_task *task = test_spawn(row->wait, NULL);

    coil_yield();
    test_dies(row->finish, NULL, row->message);
    coil_task_cancel(task, NULL);
    test_join(task);
}

TASK_TEST(finish_of_an_object_in_use_aborts)
{
    static const struct finish idle[] = {
        {wait_for_event, finish_event, "coil_event_finish: task 'task-"},
        {wait_for_semaphore, finish_semaphore, "coil_semaphore_finish: task 'task-"},
        {wait_for_bounded, finish_bounded, "coil_bounded_semaphore_finish: task 'task-"},
        {wait_for_condition, finish_condition, "coil_condition_finish: task 'task-"},
        {get_from_queue, finish_queue, "coil_queue_finish: task 'task-"},
        {follow_latest, finish_latest, "coil_latest_finish: task 'task-"},
    };
    static const struct finish with_an_item[] = {
        {join_queue, finish_queue, "coil_event_finish: task 'task-"}};
    static const struct finish locked[] = {
        {wait_for_lock, finish_lock, "coil_lock_finish: task 'task-"},
        {wait_for_rwlock, finish_rwlock, "coil_rwlock_finish: task 'task-"},
    };
    int item = 1;

    for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++)
        check_finish(&idle[i]);
    CHECK_INT(coil_queue_put(&queue, &item), 0);
    check_finish(&with_an_item[0]);
    CHECK_INT(coil_queue_get(&queue, &item), 0);
    coil_queue_task_done(&queue);
    coil_queue_finish(&queue);
    CHECK_INT(coil_lock_acquire(&lock), 0);
    CHECK_INT(coil_rwlock_acquire_write(&rwlock), 0);
    for (size_t i = 0; i < sizeof locked / sizeof locked[0]; i++)
        check_finish(&locked[i]);
    coil_lock_release(&lock);
    CHECK_INT(coil_rwlock_release(&rwlock), 0);
}

/* ---- init -------------------------------------------------------------------------- */

TASK_TEST(init_makes_garbage_an_object)
{
    struct {
        coil_lock lock;
        coil_event event;
        coil_semaphore semaphore;
        coil_bounded_semaphore bounded;
        coil_condition condition;
        coil_queue queue;
        coil_barrier barrier;
        coil_rwlock rwlock;
        coil_latest latest;
        coil_sequencer sequencer;
    } its;
    int value = 7;

    memset(&its, 0xa5, sizeof its);
    coil_lock_init(&its.lock);
    coil_event_init(&its.event);
    coil_semaphore_init(&its.semaphore, 1);
    coil_bounded_semaphore_init(&its.bounded, 1);
    coil_condition_init(&its.condition, &its.lock);
    coil_queue_init(&its.queue, sizeof value, 0);
    coil_barrier_init(&its.barrier, 1);
    coil_rwlock_init(&its.rwlock);
    coil_latest_init(&its.latest, &value, sizeof value);
    coil_sequencer_init(&its.sequencer);

    CHECK(!coil_lock_locked(&its.lock));
    CHECK_INT(coil_lock_acquire(&its.lock), 0);
    CHECK_INT(coil_condition_notify(&its.condition, 1), 0);
    coil_lock_release(&its.lock);
    CHECK(!coil_event_is_set(&its.event));
    CHECK_INT(coil_semaphore_acquire(&its.semaphore), 0);
    CHECK(coil_semaphore_locked(&its.semaphore));
    CHECK_INT(coil_bounded_semaphore_acquire(&its.bounded), 0);
    CHECK_INT(coil_bounded_semaphore_release(&its.bounded), 0);
    CHECK(coil_queue_empty(&its.queue));
    CHECK_INT(coil_barrier_wait(&its.barrier), 0);
    CHECK(!coil_rwlock_locked(&its.rwlock));
    CHECK_INT(coil_rwlock_acquire_read(&its.rwlock), 0);
    CHECK_INT(coil_rwlock_release(&its.rwlock), 0);
    coil_latest_get(&its.latest, &value);
    CHECK_INT(value, 7);
    CHECK_INT(coil_latest_set(&its.latest, &value), 0);
    CHECK_INT(coil_sequencer_wait(&its.sequencer, 0), 0);
    CHECK_INT(coil_sequencer_wait(&its.sequencer, 1), 0);
    coil_queue_finish(&its.queue);
}
