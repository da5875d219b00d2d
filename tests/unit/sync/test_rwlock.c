/*
 * test_rwlock.c - read-write locks: many readers or one writer.
 */
#include "../../harness/harness.h"

#include <coil.h>

static coil_rwlock lock = COIL_RWLOCK_INIT;

/*
 * Acquire the lock, and release it. `arg` is "ra" for a reader named a, or "wb" for a
 * writer named b.
 */
static int use(void *arg)
{
    const char *how = arg;
    int rc = how[0] == 'r' ? coil_rwlock_acquire_read(&lock)
                           : coil_rwlock_acquire_write(&lock);

    test_trace("%s%s ", how, rc == 0 ? "+" : "!");
    if (rc < 0)
        return rc;
    COIL_RWLOCK_GUARD(&lock);
    rc = coil_sleep(COIL_MSEC(10));
    test_trace("%s- ", how);
    return rc;
}

static coil_task *start(const char *how)
{
    return test_spawn(use, (void *)how);
}

TASK_TEST(rwlock_admits_readers_together_and_writers_alone)
{
    coil_task *tasks[] = {start("ra"), start("rb"), start("wc"), start("wd"),
                          start("re")};

    for (int i = 0; i < 5; i++)
        CHECK_INT(test_join(tasks[i]), 0);
    CHECK_TRACE("ra+ rb+ ra- rb- wc+ wc- wd+ wd- re+ re- ");
    CHECK(!coil_rwlock_locked(&lock));
    coil_rwlock_finish(&lock);
}

/* Readers that come after a waiting writer must wait. */
TASK_TEST(rwlock_does_not_starve_a_writer)
{
    coil_task *a = start("ra"), *b, *c;

    coil_sleep(COIL_MSEC(5));
    b = start("wb");
    coil_yield();
    c = start("rc");
    CHECK_INT(test_join(a), 0);
    CHECK_INT(test_join(b), 0);
    CHECK_INT(test_join(c), 0);
    CHECK_TRACE("ra+ ra- wb+ wb- rc+ rc- ");
}

/* If a waiting writer is cancelled, the readers behind it get the lock at once. */
TASK_TEST(rwlock_cancelled_writer_admits_the_readers_behind_it)
{
    coil_task *a = start("ra"), *b = start("wb"), *c = start("rc");

    coil_yield();
    coil_task_cancel(b, NULL);
    coil_yield();
    coil_yield();
    CHECK_TRACE("ra+ wb! rc+ ");
    CHECK_INT(test_join(b), -ECANCELED);
    CHECK_INT(test_join(a), 0);
    CHECK_INT(test_join(c), 0);
}

/* A writer that is cancelled after it was woken passes the lock to the next waiter. */
static void cancel_woken(const char *first, const char *next)
{
    coil_task *b, *c;

    CHECK_INT(coil_rwlock_acquire_write(&lock), 0);
    b = start(first);
    c = start(next);
    coil_yield();
    CHECK_INT(coil_rwlock_release(&lock), 0);
    CHECK(coil_rwlock_locked(&lock));
    coil_task_cancel(b, NULL);
    CHECK_INT(test_join(b), -ECANCELED);
    CHECK_INT(test_join(c), 0);
    CHECK(!coil_rwlock_locked(&lock));
}

TASK_TEST(rwlock_waiter_cancelled_after_it_was_woken_passes_it_on)
{
    cancel_woken("wb", "wc");
    cancel_woken("wb", "rc");
    cancel_woken("rb", "wc");
    cancel_woken("rb", "rc");
    CHECK_TRACE("wb! wc+ wc- wb! rc+ rc- rb! wc+ wc- rb! rc+ rc- ");
}

TASK_TEST(rwlock_release_without_an_acquire)
{
    coil_rwlock_init(&lock);
    CHECK_INT(coil_rwlock_release(&lock), -EPERM);
    CHECK_INT(coil_rwlock_acquire_read(&lock), 0);
    CHECK_INT(coil_rwlock_acquire_read(&lock), 0);
    CHECK_INT(coil_rwlock_release(&lock), 0);
    CHECK(coil_rwlock_locked(&lock));
    CHECK_INT(coil_rwlock_release(&lock), 0);
    CHECK_INT(coil_rwlock_release(&lock), -EPERM);
    coil_rwlock_finish(NULL);
}
