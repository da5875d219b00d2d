/* event.c - compiles and runs the examples in include/coil/event.h. */
#include "listings.h"

#include "event.h/1"

static int waiter(void *arg)
{
    int rc;

    (void)arg;
#include "event.h/2"
    return rc;
}

static int app(void *arg)
{
    coil_task *task;

    CHECK(coil_spawn(waiter, arg, NULL, &task) == 0);
    CHECK(coil_yield() == 0);
#include "event.h/3"
    CHECK(coil_task_await(task) == 0);
    coil_task_release(task);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
