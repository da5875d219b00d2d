/* signal.c - compiles and runs the examples in docs/manual/signal.md. */
#include "listings.h"

static void reload(void *arg);

#include "signal.md/signals"

static int printed;

static void print_statistics(void *server)
{
    ++*(int *)server;
    printed++;
}

static int add_handler(void)
{
    static int server;
    int rc;

#include "signal.md/signals-2"
    return rc;
}

static void reload(void *arg)
{
    ++*(int *)arg;
    raise(SIGTERM);
}

static int app(void *arg)
{
    coil_task *task;
    int reloads = 0;

    (void)arg;
    CHECK(add_handler() == 0);
    raise(SIGUSR1);
    CHECK(coil_spawn(serve_until_sigterm, &reloads, NULL, &task) == 0);
    CHECK(coil_yield() == 0);
    raise(SIGHUP);
    CHECK(coil_task_await(task) == -ECANCELED && reloads == 1);
    coil_task_release(task);
    for (int i = 0; i < 100 && printed == 0; i++)
        CHECK(coil_sleep(COIL_MSEC(1)) == 0);
    CHECK(printed == 1);
    coil_remove_signal_handler(SIGUSR1);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
