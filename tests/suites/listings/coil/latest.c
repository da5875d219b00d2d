/* latest.c - compiles and runs the examples in include/coil/latest.h. */
#include "listings.h"

#include "latest.h/1"

static int app(void *arg)
{
    coil_task *task;
    int value = 7;

    CHECK(coil_spawn(follow, arg, NULL, &task) == 0);
    CHECK(coil_yield() == 0);
    CHECK(coil_latest_set(&latest, &value) == 0);
    coil_latest_shutdown(&latest);
    CHECK(coil_task_await(task) == 0);
    coil_task_release(task);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
