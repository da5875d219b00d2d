/* needs: coil-testing */
/* scope.c - compiles and runs the examples in include/coil/scope.h. */
#include "simulated.h"

static ssize_t read_in_time(coil_stream *stream)
{
    char buf[8];

#include "scope.h/1"
    return n;
}

static int say_bye(void *arg)
{
    coil_stream *stream = arg;
    int rc = coil_sleep(COIL_SEC(100));
    coil_scope s;

#include "scope.h/2"
    return rc;
}

static int app(void *arg)
{
    coil_stream *ends[2], *stream, *peer;
    coil_task *task;
    char line[8];

    (void)arg;
    CHECK(coil_stream_pair(ends) == 0);
    stream = ends[0];
    peer = ends[1];
    CHECK(read_in_time(stream) == -ETIMEDOUT);
    CHECK(coil_write(peer, "hello", 5) == 5);
    CHECK(read_in_time(stream) == 5);

    CHECK(coil_spawn(say_bye, peer, NULL, &task) == 0);
    CHECK(coil_yield() == 0);
    coil_task_cancel(task, NULL);
    CHECK(coil_task_await(task) == -ECANCELED);
    coil_task_release(task);
    CHECK(coil_read(stream, line, sizeof line) == 4);
    coil_stream_destroy(stream);
    coil_stream_destroy(peer);
    return 0;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
