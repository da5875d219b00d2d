/* needs: coil-testing */
/* guard.c - compiles and runs the examples in include/coil/guard.h. */
#include "simulated.h"

#include "guard.h/1"

static int fetched, saved, ended;

static int fetch(void *url)
{
    (void)url;
    fetched++;
    return coil_yield();
}

static int say_bye(void *arg)
{
    coil_stream *stream = arg;
    int rc = coil_sleep(COIL_SEC(100));

#include "guard.h/2"
    return rc;
}

static int fetch_both(void)
{
    int left, right, rc;

#include "guard.h/3"
    return rc;
}

static ssize_t read_soon(coil_stream *stream)
{
    char buf[8];

#include "guard.h/4"
}

static int save(int *state)
{
    saved += *state;
    return coil_yield();
}

static coil_lock lock = COIL_LOCK_INIT;

static int save_locked(void)
{
    int state = 1;

#include "guard.h/5"
}

static int connect_here(coil_stream **out)
{
#include "guard.h/6"
#include "guard.h/7"
    return 0;
}

typedef struct session {
    int number;
} session;

static void end_session(session *s)
{
    ended += s->number;
}

#include "guard.h/8"

static int app(void *arg)
{
    coil_listener *listener;
    coil_stream *ends[2], *stream;
    coil_task *task;
    char line[8];

    CHECK(coil_stream_pair(ends) == 0);
    CHECK(greet(ends[0], arg) == -ETIMEDOUT);
    CHECK(coil_write(ends[1], "Ada\n", 4) == 4);
    CHECK(greet(ends[0], arg) == 0);
    CHECK(coil_read_exact(ends[1], line, 6) == 6);
    CHECK(read_soon(ends[0]) == -ENODATA);
    CHECK(coil_write(ends[1], "x", 1) == 1);
    CHECK(read_soon(ends[0]) == 1);

    CHECK(coil_spawn(say_bye, ends[1], NULL, &task) == 0);
    CHECK(coil_yield() == 0);
    coil_task_cancel(task, NULL);
    CHECK(coil_task_await(task) == -ECANCELED);
    coil_task_release(task);
    CHECK(coil_read(ends[0], line, sizeof line) == 4);
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);

    CHECK(fetch_both() == 0 && fetched == 2);
    CHECK(save_locked() == 0 && saved == 1 && !coil_lock_locked(&lock));
    CHECK(connect_here(&stream) < 0);
    CHECK(coil_listen("localhost", "7", 0, &listener) == 0);
    CHECK(connect_here(&stream) == 0);
    coil_stream_destroy(stream);
    coil_listener_destroy(listener);
    {
        session one = {1};
        COIL_AUTO(session) s = &one;
    }
    CHECK(ended == 1);
    return 0;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
