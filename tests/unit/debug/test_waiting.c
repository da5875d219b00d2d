/*
 * test_waiting.c - coil_task_waiting() and coil_task_awaiters(): what a task waits for,
 * and which tasks wait for it.
 */
#include "../../harness/harness.h"

#include "../socket/sockets.h"

#include <coil.h>

#include <semaphore.h>
#include <unistd.h>

/*
 * Check what the task waits for. Cancels the task, and returns the description of its
 * wait.
 */
static coil_waiting waits_for(coil_task *task, const char *what, const void *object)
{
    coil_waiting w = {.what = NULL};

    settle();
    CHECK(coil_task_waiting(task, &w));
    CHECK_STR(w.what, what);
    CHECK_PTR(w.object, object);
    coil_task_cancel(task, NULL);
    coil_task_await(task);
    coil_task_release(task);
    return w;
}

/* ---- each kind of wait ------------------------------------------------------------- */

static int sleep_five(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(5));
}

static int park(void *arg)
{
    (void)arg;
    return coil_park();
}

static int await(void *arg)
{
    return coil_await(arg);
}

static int shield(void *arg)
{
    return coil_shield(arg);
}

static int gather_two(void *arg)
{
    return coil_gather(arg, 2, 0, NULL);
}

static int wait_for_two(void *arg)
{
    return coil_wait(arg, 2, COIL_WAIT_ALL, COIL_SEC(7));
}

TASK_TEST(waiting_tells_a_sleep_and_its_deadline)
{
    coil_waiting w = waits_for(test_spawn(sleep_five, NULL), "sleep", NULL);

    CHECK_INT(w.deadline, COIL_SEC(5));
    CHECK_PTR(w.future, NULL);
    CHECK_INT(w.fd, -1);
}

TASK_TEST(waiting_tells_since_when)
{
    coil_task *task = test_spawn(park, NULL);
    coil_waiting w;

    coil_sleep(COIL_SEC(3));
    CHECK(coil_task_waiting(task, &w));
    CHECK_INT(w.since, 0);
    waits_for(task, "park", NULL);
}

TASK_TEST(waiting_tells_futures)
{
    coil_future *futures[2];
    coil_task *sleeper = test_spawn(sleep_five, NULL);

    coil_future_create(&futures[0]);
    coil_future_create(&futures[1]);
    CHECK_PTR(waits_for(test_spawn(shield, futures[0]), "shield", NULL).future,
              futures[0]);
    CHECK_PTR(waits_for(test_spawn(wait_for_two, futures), "wait", NULL).future,
              futures[0]);
    CHECK_INT(waits_for(test_spawn(wait_for_two, futures), "wait", NULL).deadline,
              COIL_SEC(7));
    CHECK_PTR(waits_for(test_spawn(gather_two, futures), "gather", NULL).future,
              futures[0]);
    /* this future was cancelled with the task that gathered it */
    coil_future_release(futures[0]);
    coil_future_create(&futures[0]);
    CHECK_PTR(waits_for(test_spawn(await, futures[0]), "future", NULL).future,
              futures[0]);
    CHECK_PTR(
        waits_for(test_spawn(await, coil_task_future(sleeper)), "task", NULL).future,
        coil_task_future(sleeper));
    coil_future_release(futures[0]);
    coil_future_release(futures[1]);
    coil_task_release(sleeper);
}

TASK_TEST(waiting_tells_the_first_future_that_is_not_done)
{
    coil_future *futures[2];
    coil_task *task;
    coil_waiting w;

    coil_future_create(&futures[0]);
    coil_future_create(&futures[1]);
    task = test_spawn(gather_two, futures);
    settle();
    coil_future_set(futures[0], 0, NULL, NULL);
    CHECK(coil_task_waiting(task, &w));
    CHECK_PTR(w.future, futures[1]);
    coil_future_set(futures[1], 0, NULL, NULL);
    coil_task_await(task);
    coil_task_release(task);
    coil_future_release(futures[0]);
    coil_future_release(futures[1]);
}

static int acquire_lock(void *arg)
{
    return coil_lock_acquire(arg);
}

static int wait_for_event(void *arg)
{
    return coil_event_wait(arg);
}

static int acquire_semaphore(void *arg)
{
    return coil_semaphore_acquire(arg);
}

static int wait_for_condition(void *arg)
{
    coil_condition *condition = arg;

    coil_lock_acquire(condition->lock);
    coil_condition_wait(condition);
    coil_lock_release(condition->lock);
    return 0;
}

TASK_TEST(waiting_tells_locks_events_and_their_like)
{
    coil_lock lock = COIL_LOCK_INIT, free_lock = COIL_LOCK_INIT;
    coil_event event = COIL_EVENT_INIT;
    coil_semaphore semaphore = COIL_SEMAPHORE_INIT(0);
    coil_condition condition = COIL_CONDITION_INIT(&free_lock);

    coil_lock_acquire(&lock);
    waits_for(test_spawn(acquire_lock, &lock), "lock", &lock);
    waits_for(test_spawn(wait_for_event, &event), "event", &event);
    waits_for(test_spawn(acquire_semaphore, &semaphore), "semaphore", &semaphore);
    waits_for(test_spawn(wait_for_condition, &condition), "condition", &condition);
}

static int get(void *arg)
{
    int item;

    return coil_queue_get(arg, &item);
}

static int put(void *arg)
{
    return coil_queue_put(arg, &(int){1});
}

static int join(void *arg)
{
    return coil_queue_join(arg);
}

TASK_TEST(waiting_tells_what_of_a_queue)
{
    coil_queue queue;

    coil_queue_init(&queue, sizeof(int), 1);
    waits_for(test_spawn(get, &queue), "queue.get", &queue);
    CHECK_INT(put(&queue), 0);
    waits_for(test_spawn(put, &queue), "queue.put", &queue);
    waits_for(test_spawn(join, &queue), "queue.join", &queue);
    coil_queue_finish(&queue);
}

static coil_group open_group;

static int leave_group(void *arg)
{
    (void)arg;
    coil_group_enter(&open_group);
    coil_group_spawn(&open_group, sleep_five, NULL, NULL, NULL);
    return coil_group_exit(&open_group, 0);
}

TASK_TEST(waiting_tells_a_group)
{
    waits_for(test_spawn(leave_group, NULL), "group", &open_group);
}

static int read_one(void *arg)
{
    char c;

    return (int)coil_read(arg, &c, 1);
}

static int wait_readable(void *arg)
{
    return coil_wait_fd(*(int *)arg, COIL_READABLE);
}

static int accept_one(void *arg)
{
    coil_stream *stream;

    return coil_accept(arg, &stream);
}

IO_TEST(waiting_tells_the_descriptor)
{
    coil_stream *ends[2];
    coil_listener *listener;
    int pipe_ends[2];

    make_stream_pair(ends);
    CHECK_INT(waits_for(test_spawn(read_one, ends[0]), "read", NULL).fd,
              coil_stream_fd(ends[0]));
    destroy_streams(ends);
    CHECK_INT(pipe(pipe_ends), 0);
    CHECK_INT(waits_for(test_spawn(wait_readable, &pipe_ends[0]), "wait_fd", NULL).fd,
              pipe_ends[0]);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    CHECK_INT(coil_listen("127.0.0.1", "0", 1, &listener), 0);
    CHECK(waits_for(test_spawn(accept_one, listener), "accept", NULL).fd >= 0);
    coil_listener_destroy(listener);
}

static int wait_for_gate(void *gate)
{
    return sem_wait(gate);
}

static int block(void *gate)
{
    return coil_blocking(COIL_LANE_FILE, wait_for_gate, gate);
}

TASK_TEST(waiting_tells_a_blocking_call)
{
    coil_task *task;
    coil_waiting w;
    sem_t gate;

    sem_init(&gate, 0, 0);
    task = test_spawn(block, &gate);
    coil_yield();
    CHECK(coil_task_waiting(task, &w));
    CHECK_STR(w.what, "blocking.file");
    sem_post(&gate);
    coil_task_await(task);
    coil_task_release(task);
    sem_destroy(&gate);
}

/* ---- not waiting ------------------------------------------------------------------- */

static int note_that_nothing_is_waited_for(void *arg)
{
    coil_waiting w;

    CHECK(!coil_task_waiting(coil_task_current(), &w));
    return coil_await(arg);
}

TASK_TEST(waiting_is_false_for_tasks_that_run_or_are_ready_or_have_ended)
{
    coil_future *future;
    coil_task *task;
    coil_waiting w;

    coil_future_create(&future);
    task = test_spawn(note_that_nothing_is_waited_for, future);
    CHECK(!coil_task_waiting(task, &w)); /* new */
    coil_yield();
    CHECK(coil_task_waiting(task, &w));
    coil_future_set(future, 0, NULL, NULL);
    CHECK(!coil_task_waiting(task, &w)); /* ready */
    coil_task_await(task);
    CHECK(!coil_task_waiting(task, &w)); /* ended */
    coil_task_release(task);
    coil_future_release(future);
}

/* ---- awaiters ---------------------------------------------------------------------- */

static int note_name(coil_task *task, void *arg)
{
    (void)arg;
    test_trace("%s ", coil_task_name(task));
    return 0;
}

static int stop_at_first(coil_task *task, void *arg)
{
    *(coil_task **)arg = task;
    return 7;
}

TASK_TEST(awaiters_are_those_that_await_shield_gather_and_wait)
{
    coil_task *target = test_spawn(park, NULL);
    coil_future *both[] = {coil_task_future(target), coil_task_future(target)};
    coil_task *awaiting = test_spawn(await, both[0]),
              *shielding = test_spawn(shield, both[0]);
    coil_task *gathering = test_spawn(gather_two, both), *first = NULL;

    coil_task_set_name(awaiting, "awaiting");
    coil_task_set_name(shielding, "shielding");
    coil_task_set_name(gathering, "gathering");
    CHECK_INT(coil_task_awaiters(target, note_name, NULL), 0);
    CHECK_TRACE(""); /* no awaiter has begun yet */
    settle();
    CHECK_INT(coil_task_awaiters(target, note_name, NULL), 0);
    CHECK_TRACE("awaiting shielding gathering ");
    CHECK_INT(coil_task_awaiters(target, stop_at_first, &first), 7);
    CHECK_PTR(first, awaiting);
    coil_unpark(target, 0);
    coil_task_awaiters(target, note_name, NULL);
    CHECK_TRACE("awaiting shielding gathering ");
    coil_task_await(target);
    coil_task_awaiters(target, note_name, NULL);
    CHECK_TRACE("");
    coil_task_await(shielding);
    coil_task_await(gathering);
    coil_task_release(target);
    coil_task_release(awaiting);
    coil_task_release(shielding);
    coil_task_release(gathering);
}

TASK_TEST(awaiters_of_a_child_begin_with_the_owner_of_its_group)
{
    coil_task *child, *other;
    coil_group group;

    coil_group_enter(&group);
    coil_group_spawn(&group, sleep_five, NULL, NULL, &child);
    coil_group_spawn(&group, await, coil_task_future(child),
                     &(coil_spawn_opts){.name = "other"}, &other);
    settle();
    coil_task_set_name(coil_task_current(), "owner");
    coil_task_awaiters(child, note_name, NULL);
    CHECK_TRACE("owner other ");
    CHECK_INT(coil_group_exit(&group, 0), 0);
}
