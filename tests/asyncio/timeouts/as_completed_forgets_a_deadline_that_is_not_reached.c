/* When the last one has come there is no deadline any more. */
#include "timeouts.h"

struct work {
    const char *name;
    int seconds, result;
};

static int work(void *arg)
{
    const struct work *w = arg;
    int rc = tell(w->name, coil_sleep(COIL_SEC(w->seconds)));

    return rc < 0 ? rc : w->result;
}

/* Starts all of them; false where memory fails. */
static bool start_all(struct work *works, coil_future *futures[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        coil_task *task = start(work, &works[i]);

        if (task == NULL)
            return false;
        futures[i] = coil_task_future(task);
    }
    return true;
}

SCENARIO(as_completed_forgets_a_deadline_that_is_not_reached)
{
    static struct work works[] = {{"a", 1, 1}};
    coil_future *futures[1], *next;
    coil_as_completed each;
    int rc;

    if (!start_all(works, futures, 1))
        return -ENOMEM;
    rc = coil_as_completed_init(&each, futures, 1, coil_in(COIL_SEC(5)));
    while (rc >= 0 && (rc = coil_as_completed_next(&each, &next)) > 0)
        trace("a: %s", state(next));
    if (rc == 0)
        trace("over");
    coil_as_completed_finish(&each);
    tell("sleep", coil_sleep(COIL_SEC(10)));
    return rc;
}
