/* needs: coil-testing */
/* scope.c - compiles and runs the examples in docs/manual/scope.md. */
#include "simulated.h"

#include "scope.md/deadlines-and-cleaning-up"

static int say_quit(void *arg)
{
    coil_stream *stream = arg;
    int rc = coil_sleep(COIL_SEC(100));

#include "scope.md/cleaning-up"
    return rc;
}

static int app(void *arg)
{
    coil_stream *ends[2];
    coil_task *task;
    char line[8];

    (void)arg;
    CHECK(coil_stream_pair(ends) == 0);
    CHECK(read_in_time(ends[0], line, sizeof line) == -ETIMEDOUT);
    CHECK(coil_write(ends[1], "hello", 5) == 5);
    CHECK(read_in_time(ends[0], line, sizeof line) == 5);

    CHECK(coil_spawn(say_quit, ends[1], NULL, &task) == 0);
    CHECK(coil_yield() == 0);
    coil_task_cancel(task, NULL);
    CHECK(coil_task_await(task) == -ECANCELED);
    coil_task_release(task);
    CHECK(coil_read(ends[0], line, sizeof line) == 6);
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
    return 0;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
