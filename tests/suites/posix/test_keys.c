/*
 * test_keys.c - coil_hooks_thread_keys(), which gives each task its own values for
 * pthread_getspecific().
 */
#include "differential.h"

#include <coil/posix.h>

#include <pthread.h>

static pthread_key_t key, other;
static int destroyed[4];
static const coil_task_hooks *hooks[2];

static void count_destroyed(void *value)
{
    destroyed[(intptr_t)value]++;
}

static coil_task *start_with_keys(int (*fn)(void *arg), void *arg)
{
    coil_spawn_opts opts = {.hooks = hooks};
    coil_task *task;

    hooks[0] = coil_hooks_thread_keys();
    CHECK_INT(coil_spawn(fn, arg, &opts, &task), 0);
    return task;
}

static void begin(void)
{
    memset(destroyed, 0, sizeof destroyed);
    CHECK_INT(pthread_key_create(&key, count_destroyed), 0);
    CHECK_INT(pthread_setspecific(key, (void *)3), 0);
}

static void end(void)
{
    CHECK_PTR(pthread_getspecific(key), (void *)3);
    CHECK_INT(pthread_setspecific(key, NULL), 0);
    CHECK_INT(pthread_key_delete(key), 0);
}

static int keep_value(void *value)
{
    CHECK_PTR(pthread_getspecific(key), NULL);
    CHECK_INT(pthread_setspecific(key, value), 0);
    for (int i = 0; i < 3; i++) {
        coil_sleep(COIL_MSEC(1));
        CHECK_PTR(pthread_getspecific(key), value);
    }
    return 0;
}

static int find_threads_value(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) {
        CHECK_PTR(pthread_getspecific(key), (void *)3);
        coil_sleep(COIL_MSEC(1));
    }
    return 0;
}

TASK_TEST(keys_of_each_task_have_values_of_their_own)
{
    coil_task *tasks[3];

    begin();
    tasks[0] = start_with_keys(keep_value, (void *)1);
    tasks[1] = start_with_keys(keep_value, (void *)2);
    tasks[2] = start_task(find_threads_value, NULL);
    for (int i = 0; i < 3; i++)
        finish_task(tasks[i]);
    CHECK_INT(destroyed[1], 1);
    CHECK_INT(destroyed[2], 1);
    CHECK_INT(destroyed[3], 0);
    end();
}

static void set_again(void *value)
{
    count_destroyed(value);
    if ((intptr_t)value > 0)
        CHECK_INT(pthread_setspecific(other, (char *)value - 1), 0);
}

static int set_other(void *value)
{
    CHECK_INT(pthread_setspecific(other, value), 0);
    return 0;
}

TASK_TEST(keys_that_a_destructor_sets_are_destroyed_too)
{
    begin();
    CHECK_INT(pthread_key_create(&other, set_again), 0);
    finish_task(start_with_keys(set_other, (void *)2));
    CHECK_INT(destroyed[2], 1);
    CHECK_INT(destroyed[1], 1);
    CHECK_PTR(pthread_getspecific(other), NULL);
    CHECK_INT(pthread_key_delete(other), 0);
    end();
}

static int find_deleted(void *unused)
{
    (void)unused;
    CHECK_INT(pthread_setspecific(other, (void *)1), 0);
    coil_sleep(COIL_MSEC(5));
    CHECK_PTR(pthread_getspecific(other), NULL);
    return 0;
}

/* A new key gets the number of a deleted key, but not its values. */
TASK_TEST(keys_that_are_deleted_lose_their_values)
{
    pthread_key_t old;
    coil_task *task;

    begin();
    CHECK_INT(pthread_key_create(&other, count_destroyed), 0);
    old = other;
    task = start_with_keys(find_deleted, NULL);
    coil_sleep(COIL_MSEC(1));
    CHECK_INT(pthread_key_delete(other), 0);
    CHECK_INT(pthread_key_create(&other, count_destroyed), 0);
    CHECK_INT(other, old);
    finish_task(task);
    CHECK_INT(destroyed[1], 0);
    CHECK_INT(pthread_key_delete(other), 0);
    end();
}

static int set_all(void *all)
{
    pthread_key_t *keys = all;

    for (int i = 0; i < 300; i++)
        pthread_setspecific(keys[i], (void *)1);
    coil_sleep(COIL_MSEC(1));
    for (int i = 0; i < 300; i++)
        CHECK_PTR(pthread_getspecific(keys[i]), (void *)1);
    return 0;
}

TASK_TEST(keys_in_great_number_are_the_threads)
{
    static pthread_key_t keys[300];
    int left = 0;

    begin();
    for (int i = 0; i < 300; i++)
        CHECK_INT(pthread_key_create(&keys[i], count_destroyed), 0);
    finish_task(start_with_keys(set_all, keys));
    for (int i = 0; i < 300; i++) {
        left += pthread_getspecific(keys[i]) != NULL;
        CHECK_INT(pthread_key_delete(keys[i]), 0);
    }
    CHECK_INT(left + destroyed[1], 300);
    CHECK(destroyed[1] >= 100 && destroyed[1] <= 128);
    end();
}

static int fail_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) {
        coil_fail(-EIO, "an error of the thread's");
        coil_sleep(COIL_MSEC(1));
    }
    return 0;
}

/*
 * libcoil's own keys must still have one value per thread: if they had one value per
 * task, the stack of a running task could be freed.
 */
TASK_TEST(keys_of_libcoil_stay_the_threads)
{
    for (int i = 0; i < 100; i++)
        finish_task(start_with_keys(fail_often, NULL));
}
