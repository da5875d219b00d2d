/* broadcast.c - compiles and runs the examples in include/coil/broadcast.h. */
#include "listings.h"

#include "broadcast.h/1"

static int app(void *arg)
{
    coil_task *task;
    int item = 7;

    CHECK(coil_spawn(listener, arg, NULL, &task) == 0);
    CHECK(coil_yield() == 0);
    CHECK(coil_broadcast_send(&news, &item) == 0);
    coil_broadcast_shutdown(&news);
    CHECK(coil_task_await(task) == 0);
    coil_task_release(task);
    coil_broadcast_finish(&news);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
