/* condition.c - compiles and runs the examples in include/coil/condition.h. */
#include "listings.h"

static coil_lock lock = COIL_LOCK_INIT;
static coil_condition changed = COIL_CONDITION_INIT(&lock);
static bool ready;

static int wait_until_ready(void *arg)
{
    int rc;

    (void)arg;
#include "condition.h/1"
    CHECK(ready);
    return rc;
}

static int app(void *arg)
{
    coil_task *task;

    CHECK(coil_spawn(wait_until_ready, arg, NULL, &task) == 0);
    CHECK(coil_yield() == 0);
    CHECK(coil_lock_acquire(&lock) == 0);
    ready = true;
    coil_condition_notify_all(&changed);
    coil_lock_release(&lock);
    CHECK(coil_task_await(task) == 0);
    coil_task_release(task);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
