/* needs: coil-testing */
/* server.c - compiles and runs the examples in include/coil/server.h. */
#include "simulated.h"

#include "server.h/1"

static int answer_request(coil_stream *stream)
{
    char byte;
    ssize_t n = coil_read(stream, &byte, 1);

    if (n <= 0)
        return n < 0 ? (int)n : -ENODATA;
    return (int)coil_write(stream, &byte, 1);
}

static int answer_all(coil_stream *stream, void *arg)
{
    int rc;

    (void)arg;
#include "server.h/3"
    return rc == -ENODATA ? 0 : rc;
}

static int run_other_server(void *arg)
{
    coil_listener *other;

    CHECK(coil_listen("localhost", "8", 0, &other) == 0);
    CHECK(coil_serve(other, answer_all, arg, NULL) == -ECANCELED);
    coil_listener_destroy(other);
    return 0;
}

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

    CHECK(coil_spawn(run_other_server, arg, NULL, &task) == 0);
    CHECK(coil_yield() == 0);
    CHECK(coil_connect("localhost", "8", &stream) == 0);
    CHECK(coil_write(stream, "hello", 5) == 5);
    CHECK(coil_read_exact(stream, line, 5) == 5);
    coil_stream_destroy(stream);
    coil_task_cancel(task, NULL);
    CHECK(coil_task_await(task) == 0);
    coil_task_release(task);
    return 0;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
