/* Two tasks gather the same child: cancelling one cancels it, and the other takes that.
 */
#include "../scenario.h"

struct gathering {
    const char *name;
    size_t n;
    coil_future *futures[2];
};

static int child(void *arg)
{
    (void)arg;
    return tell("child", coil_sleep(COIL_SEC(10)));
}

static int body(void *arg)
{
    struct gathering *g = arg;
    int rc = tell(g->name, coil_gather(g->futures, g->n, 0, NULL));

    trace("%s counted %d", g->name, coil_task_cancelling(coil_task_current()));
    return rc;
}

SCENARIO(gathers_of_one_task_end_together)
{
    static struct gathering first = {"first", 1, {NULL}}, second = {"second", 2, {NULL}};
    coil_task *shared = start(child, NULL), *a, *b;
    coil_future *future = new_future();

    if (future == NULL)
        return -ENOMEM;
    first.futures[0] = second.futures[1] = coil_task_future(shared);
    second.futures[0] = future;
    a = start(body, &first);
    b = start(body, &second);
    if (b == NULL)
        return -ENOMEM;
    coil_future *both[] = {coil_task_future(a), coil_task_future(b)};
    coil_sleep(COIL_SEC(1));
    if (allocation_failed())
        return -ENOMEM; /* one of them is not in its gather */
    trace("cancel: %d", coil_task_cancel(a, NULL));
    coil_wait(both, 2, COIL_WAIT_ALL, COIL_NEVER);
    trace("first %s, second %s, future %s", state(both[0]), state(both[1]),
          state(future));
    return 0;
}
