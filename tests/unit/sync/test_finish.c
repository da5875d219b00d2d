/*
 * test_finish.c - each coil_X_finish() aborts while a task waits for the object.
 */
#include "../../harness/harness.h"

#include <coil.h>

static coil_lock lock = COIL_LOCK_INIT;
static coil_event event = COIL_EVENT_INIT;
static coil_semaphore semaphore = COIL_SEMAPHORE_INIT(0);
static coil_bounded_semaphore bounded = COIL_BOUNDED_SEMAPHORE_INIT(0);
static coil_condition condition = COIL_CONDITION_INIT(&lock);
static coil_queue queue = COIL_QUEUE_INIT(sizeof(int), 1);

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

static void finish_lock(void *arg)
{
    (void)arg;
    coil_lock_finish(&lock);
}

static void finish_event(void *arg)
{
    (void)arg;
    coil_event_finish(&event);
}

static void finish_semaphore(void *arg)
{
    (void)arg;
    coil_semaphore_finish(&semaphore);
}

static void finish_bounded(void *arg)
{
    (void)arg;
    coil_bounded_semaphore_finish(&bounded);
}

static void finish_condition(void *arg)
{
    (void)arg;
    coil_condition_finish(&condition);
}

static void finish_queue(void *arg)
{
    (void)arg;
    coil_queue_finish(&queue);
}

/* Let a task begin to wait, then call end() in a child process, which must abort. */
static void check_finish(coil_task_fn wait, void (*end)(void *), const char *message)
{
    coil_task *task = test_spawn(wait, NULL);

    coil_yield();
    test_dies(end, NULL, message);
    coil_task_cancel(task, NULL);
    test_join(task);
}

TASK_TEST(finish_of_an_object_in_use_aborts)
{
    int item = 1;

    check_finish(wait_for_event, finish_event, "coil_event_finish: task 'task-");
    check_finish(wait_for_semaphore, finish_semaphore,
                 "coil_semaphore_finish: task 'task-");
    check_finish(wait_for_bounded, finish_bounded,
                 "coil_bounded_semaphore_finish: task 'task-");
    check_finish(wait_for_condition, finish_condition,
                 "coil_condition_finish: task 'task-");
    check_finish(get_from_queue, finish_queue, "coil_queue_finish: task 'task-");
    CHECK_INT(coil_queue_put(&queue, &item), 0);
    check_finish(join_queue, finish_queue, "coil_event_finish: task 'task-");
    CHECK_INT(coil_queue_get(&queue, &item), 0);
    coil_queue_task_done(&queue);
    coil_queue_finish(&queue);
    coil_lock_acquire(&lock);
    check_finish(wait_for_lock, finish_lock, "coil_lock_finish: task 'task-");
    coil_lock_release(&lock);
}
