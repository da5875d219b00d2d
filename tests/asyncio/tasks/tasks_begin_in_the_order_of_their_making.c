/* New tasks and callbacks stand in one line; a task's own children stand behind them. */
#include "../scenario.h"

struct part {
    char name[16];
    int children;
};

static int body(void *arg)
{
    static struct part parts[4];
    static int used;
    const struct part *self = arg;
    coil_task *tasks[2] = {NULL};
    int rc;

    trace("%s begins", self->name);
    for (int i = 0; i < self->children; i++) {
        struct part *part = &parts[used++];

        snprintf(part->name, sizeof part->name, "%.2s%d", self->name, i);
        tasks[i] = start(body, part);
        if (tasks[i] == NULL)
            return -ENOMEM;
    }
    rc = coil_yield();
    trace("%s goes on", self->name);
    for (int i = 0; rc == 0 && i < self->children; i++)
        rc = coil_task_await(tasks[i]);
    return rc;
}

static void callback(void *arg)
{
    (void)arg;
    trace("a callback");
}

SCENARIO(tasks_begin_in_the_order_of_their_making)
{
    static struct part a = {"a", 2}, b = {"b", 1};
    coil_task *first = start(body, &a), *second;
    int rc = coil_call_soon(callback, NULL, NULL);

    second = start(body, &b);
    if (rc < 0 || second == NULL)
        return -ENOMEM;
    trace("made");
    coil_task_await(first);
    return coil_task_await(second);
}
