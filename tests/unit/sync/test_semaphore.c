/*
 * test_semaphore.c - semaphores, which limit the number of concurrent tasks.
 */
#include "../../harness/harness.h"

#include <coil.h>

static coil_semaphore slots = COIL_SEMAPHORE_INIT(2);

static int use(void *arg)
{
    int rc = coil_semaphore_acquire(&slots);

    test_trace("%s%s ", (const char *)arg, rc == 0 ? "+" : "!");
    if (rc < 0)
        return rc;
    rc = coil_sleep(COIL_MSEC(10));
    test_trace("%s- ", (const char *)arg);
    coil_semaphore_release(&slots);
    return rc;
}

static coil_task *spawn(const char *name)
{
    coil_task *task;

    CHECK_INT(coil_spawn(use, (void *)name, NULL, &task), 0);
    return task;
}

TASK_TEST(semaphore_admits_so_many_and_the_rest_in_order)
{
    coil_task *t[] = {spawn("a"), spawn("b"), spawn("c"), spawn("d")};

    for (int i = 0; i < 4; i++) {
        CHECK_INT(coil_task_await(t[i]), 0);
        coil_task_release(t[i]);
    }
    CHECK_TRACE("a+ b+ a- b- c+ d+ c- d- ");
    CHECK(!coil_semaphore_locked(&slots));
    coil_semaphore_finish(&slots);
}

TASK_TEST(semaphore_waiter_cancelled_after_it_was_woken_passes_it_on)
{
    coil_task *c, *d;

    coil_semaphore_acquire(&slots);
    coil_semaphore_acquire(&slots);
    CHECK(coil_semaphore_locked(&slots));
    c = spawn("c");
    d = spawn("d");
    coil_yield();
    coil_semaphore_release(&slots); /* for c */
    coil_task_cancel(c, NULL);
    CHECK_INT(coil_task_await(c), -ECANCELED);
    CHECK_INT(coil_task_await(d), 0);
    CHECK_TRACE("c! d+ d- ");
    coil_semaphore_release(&slots);
    coil_task_release(c);
    coil_task_release(d);
}

TASK_TEST(semaphore_is_not_overtaken)
{
    coil_task *c;

    coil_semaphore_init(&slots, 1);
    coil_semaphore_acquire(&slots);
    c = spawn("c");
    coil_yield();
    coil_semaphore_release(&slots);
    CHECK(coil_semaphore_locked(&slots)); /* the slot already belongs to c */
    CHECK_INT(coil_semaphore_acquire(&slots), 0);
    CHECK_TRACE("c+ c- ");
    coil_task_release(c);
}

static coil_bounded_semaphore one = COIL_BOUNDED_SEMAPHORE_INIT(1);

static int use_one(void *arg)
{
    int rc = coil_bounded_semaphore_acquire(&one);

    (void)arg;
    return rc < 0 ? rc : coil_bounded_semaphore_release(&one);
}

TASK_TEST(semaphore_bounded_notices_a_release_too_many)
{
    CHECK_INT(coil_bounded_semaphore_release(&one), -EOVERFLOW);
    CHECK_INT(coil_bounded_semaphore_acquire(&one), 0);
    CHECK(coil_bounded_semaphore_locked(&one));
    CHECK_INT(coil_bounded_semaphore_release(&one), 0);
    CHECK_INT(coil_bounded_semaphore_release(&one), -EOVERFLOW);
    CHECK(!coil_bounded_semaphore_locked(&one));
    coil_bounded_semaphore_init(&one, 2);
    CHECK_INT(coil_bounded_semaphore_acquire(&one), 0);
    CHECK(!coil_bounded_semaphore_locked(&one));
    coil_bounded_semaphore_finish(&one);
    coil_bounded_semaphore_finish(NULL);
}

TASK_TEST(semaphore_bounded_release_goes_to_who_waits)
{
    coil_task *task;

    CHECK_INT(coil_bounded_semaphore_acquire(&one), 0);
    CHECK_INT(coil_spawn(use_one, NULL, NULL, &task), 0);
    coil_yield();
    CHECK_INT(coil_bounded_semaphore_release(&one), 0);
    CHECK(coil_bounded_semaphore_locked(&one)); /* the slot already belongs to the task */
    CHECK_INT(coil_task_await(task), 0);
    CHECK(!coil_bounded_semaphore_locked(&one));
    coil_task_release(task);
}
