/*
 * A block under a lock: held inside, free after it, also when the block fails or is
 * cancelled.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;

struct block {
    const char *name;
    int failure;
};

static int block(void *arg)
{
    struct block *self = arg;
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    trace("%s: locked %d", self->name, coil_lock_locked(&lock));
    rc = coil_sleep(COIL_SEC(2));
    coil_lock_release(&lock);
    return rc < 0 ? rc : self->failure;
}

static void await_it(const char *name, coil_task *task)
{
    const char *end = outcome(coil_task_await(task));

    trace("%s: %s, locked %d", name, end, coil_lock_locked(&lock));
}

SCENARIO(lock_held_for_a_block)
{
    static struct block blocks[] = {{"a", 0}, {"b", -EIO}, {"c", 0}};
    coil_task *tasks[3];

    trace("locked %d", coil_lock_locked(&lock));
    for (int i = 0; i < 3; i++) {
        tasks[i] = start(block, &blocks[i]);
        if (tasks[i] == NULL)
            return -ENOMEM;
    }
    await_it("a", tasks[0]);
    await_it("b", tasks[1]);
    coil_sleep(COIL_SEC(1));
    coil_task_cancel(tasks[2], NULL);
    await_it("c", tasks[2]);
    return 0;
}
