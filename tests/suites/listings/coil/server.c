/* needs: coil-testing */
/* server.c - the program around the listings of include/coil/server.h. */
#include "simulated.h"

#include "server.h/1"

static int run_server(void *arg)
{
    (void)arg;
#include "server.h/2"
    return rc;
}

static int app(void *arg)
{
    coil_stream *stream;
    coil_task *task;
    char line[5];

    CHECK(coil_spawn(run_server, arg, NULL, &task) == 0);
    CHECK(coil_yield() == 0);
    CHECK(coil_connect("localhost", "7", &stream) == 0);
    CHECK(coil_write(stream, "hello", 5) == 5);
    CHECK(coil_read_exact(stream, line, 5) == 5);
    coil_stream_destroy(stream);
    coil_task_cancel(task, NULL);
    CHECK(coil_task_await(task) == -ECANCELED);
    coil_task_release(task);
    return 0;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
