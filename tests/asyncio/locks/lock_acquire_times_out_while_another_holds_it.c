/*
 * A task that gives up after two seconds is not in the way of the one behind it when the
 * lock is released.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;

static int impatient(void *arg)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(COIL_SEC(2)));

    (void)arg;
    return rc < 0 ? rc : coil_scope_exit(&scope, coil_lock_acquire(&lock));
}

static int patient(void *arg)
{
    int rc = coil_lock_acquire(&lock);

    (void)arg;
    if (rc == 0)
        trace("the patient one has it");
    return rc;
}

SCENARIO(lock_acquire_times_out_while_another_holds_it)
{
    coil_task *a = start(impatient, NULL), *b = start(patient, NULL);

    if (a == NULL || b == NULL)
        return -ENOMEM;
    coil_lock_acquire(&lock);
    trace("a: %s", outcome(coil_task_await(a)));
    coil_sleep(COIL_SEC(1));
    coil_lock_release(&lock);
    turns(1);
    trace("b: %s, locked %d", state(coil_task_future(b)), coil_lock_locked(&lock));
    return 0;
}
