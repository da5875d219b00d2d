/*
 * Tasks come in the order in which they end, each as it does; one that has failed,
 * too.
 */
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

static char name_of(coil_future *const futures[], const coil_future *future)
{
    int i = 0;

    while (futures[i] != future)
        i++;
    return (char)('a' + i);
}

SCENARIO(as_completed_returns_tasks_as_they_end)
{
    static struct work works[] = {{"a", 3, 1}, {"b", 1, 2}, {"c", 1, 3}, {"d", 0, 4}};
    coil_future *futures[4], *next;
    coil_as_completed each;
    int rc;

    if (!start_all(works, futures, 4))
        return -ENOMEM;
    rc = coil_as_completed_init(&each, futures, 4, COIL_NEVER);
    while (rc >= 0 && (rc = coil_as_completed_next(&each, &next)) > 0)
        trace("%c: %s", name_of(futures, next), state(next));
    if (rc == 0)
        trace("over");
    coil_as_completed_finish(&each);
    return rc;
}
