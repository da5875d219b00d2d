/* signal.c - compiles and runs the examples in include/coil/signal.h. */
#include "listings.h"

static int reloads;

static void reload(void)
{
    reloads++;
    raise(SIGTERM);
}

static int stop_gracefully(void)
{
    return 0;
}

static int serve(void *arg)
{
    int rc;

    (void)arg;
#include "signal.h/1"
}

static int app(void *arg)
{
    coil_task *task;

    CHECK(coil_spawn(serve, arg, NULL, &task) == 0);
    CHECK(coil_yield() == 0);
    raise(SIGHUP);
    CHECK(coil_task_await(task) == 0 && reloads == 1);
    coil_task_release(task);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
