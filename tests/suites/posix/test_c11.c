/*
 * test_c11.c - C11's mutexes, condition variables and threads (threads.h).
 */
#include "differential.h"

#include <threads.h>

static mtx_t mutex;
static cnd_t changed;
static bool change_seen;
static _Atomic bool locked, released;

static void hold(int unused)
{
    (void)unused;
    CHECK_INT(mtx_lock(&mutex), thrd_success);
    locked = true;
    while (!released)
        usleep(1000);
    CHECK_INT(mtx_unlock(&mutex), thrd_success);
}

static void release(int unused)
{
    (void)unused;
    released = true;
}

static void change(int unused)
{
    (void)unused;
    mtx_lock(&mutex);
    change_seen = true;
    cnd_broadcast(&changed);
    mtx_unlock(&mutex);
}

SAME(locks_of_c11, true)
{
    struct timespec soon = from_now(CLOCK_REALTIME, 20);
    int rc = thrd_success;

    locked = released = change_seen = false;
    RECORD(mtx_init(&mutex, mtx_timed));
    RECORD(cnd_init(&changed));
    later(0, hold, 0);
    while (!locked)
        usleep(1000);
    RECORD(mtx_trylock(&mutex) == thrd_busy);
    RECORD(mtx_timedlock(&mutex, &soon) == thrd_timedout);
    later(20, release, 0);
    RECORD(mtx_lock(&mutex));
    soon = from_now(CLOCK_REALTIME, 20);
    while (rc == thrd_success)
        rc = cnd_timedwait(&changed, &mutex, &soon);
    RECORD(rc == thrd_timedout);
    later(20, change, 0);
    while (!change_seen)
        CHECK_INT(cnd_wait(&changed, &mutex), thrd_success);
    RECORD(mtx_unlock(&mutex));
    finish_later();
    cnd_destroy(&changed);
    mtx_destroy(&mutex);
}

static int answer(void *arg)
{
    thrd_sleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    return *(int *)arg;
}

SAME(threads_of_c11, true)
{
    int number = 42, result = 0;
    thrd_t thread;

    RECORD(thrd_create(&thread, answer, &number));
    RECORD(thrd_join(thread, &result));
    RECORD(result);
    RECORD_AT_LEAST(10, thrd_sleep(&(struct timespec){.tv_nsec = 10000000}, NULL));
    RECORD(thrd_sleep(&(struct timespec){.tv_nsec = -1}, NULL) < -1);
    thrd_yield();
}

struct contest {
    int inside, most;
};

static int enter(void *arg)
{
    struct contest *c = arg;

    CHECK_INT(mtx_lock(&mutex), thrd_success);
    if (++c->inside > c->most)
        c->most = c->inside;
    thrd_yield();
    usleep(1000);
    c->inside--;
    CHECK_INT(mtx_unlock(&mutex), thrd_success);
    return 0;
}

IO_TEST(recursive_lock_of_c11_between_tasks)
{
    struct contest c = {.most = 0};
    coil_task *tasks[3];

    CHECK_INT(mtx_init(&mutex, mtx_plain | mtx_recursive), thrd_success);
    for (int i = 0; i < 3; i++)
        tasks[i] = start_task(enter, &c);
    for (int i = 0; i < 3; i++)
        finish_task(tasks[i]);
    CHECK_INT(c.most, 1);
    mtx_destroy(&mutex);
}
