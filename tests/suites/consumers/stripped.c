/*
 * stripped.c - a program without symbols, linked with libcoil.a and libcoil-testing.a.
 * Reports distinguish the program's code from coil's code by address. Each report is
 * caused by a function in this file that is called by another function in this file.
 */
#include <coil.h>

#include <errno.h>
#include <stdio.h>

/*
 * Reports should show these functions, so they are not inlined and do not end with a tail
 * call.
 */
#define SHOWN __attribute__((noinline, noclone))
#define NO_JUMP() __asm__ volatile("")

SHOWN static int fail(void)
{
    int rc = coil_fail(-EINVAL, "nobody asks for this");

    NO_JUMP();
    return rc;
}

SHOWN static int run_failing(void *unused)
{
    int rc = fail();

    (void)unused;
    NO_JUMP();
    return rc;
}

SHOWN static int wait_in_queue(coil_queue *queue)
{
    void *item;
    int rc = coil_queue_get(queue, &item);

    NO_JUMP();
    return rc;
}

SHOWN static int run_queue(void *queue)
{
    int rc = wait_in_queue(queue);

    NO_JUMP();
    return rc;
}

SHOWN static int run_stream(void *stream)
{
    char line[16];
    ssize_t n = coil_read_line(stream, line, sizeof line);

    NO_JUMP();
    return (int)n;
}

SHOWN static int run_gather(void *future)
{
    coil_future *futures[] = {future, future};
    int rc = coil_gather(futures, 2, 0, NULL);

    NO_JUMP();
    return rc;
}

SHOWN static int run_sequencer(void *sequencer)
{
    int rc = coil_sequencer_wait(sequencer, 1);

    NO_JUMP();
    return rc;
}

SHOWN static void leak_stream(coil_stream **kept)
{
    coil_stream *pair[2];

    if (coil_stream_pair(pair) == 0) {
        kept[0] = pair[0];
        kept[1] = pair[1];
    }
    NO_JUMP();
}

SHOWN static int app(void *arg)
{
    coil_stream *pair[2] = {NULL, NULL};
    coil_queue queue;
    static coil_sequencer sequencer = COIL_SEQUENCER_INIT;
    coil_future *future;
    coil_task *task;

    (void)arg;
    if (coil_future_create(&future) < 0)
        return -ENOMEM;
    coil_queue_init(&queue, sizeof(void *), 0);
    leak_stream(pair);
    coil_spawn(run_failing, NULL, NULL, &task);
    coil_sleep(0);
    coil_task_release(task);
    coil_spawn(run_queue, &queue, NULL, NULL);
    coil_spawn(run_stream, pair[0], NULL, NULL);
    coil_spawn(run_gather, future, NULL, NULL);
    coil_spawn(run_sequencer, &sequencer, NULL, NULL);
    coil_sleep(COIL_MSEC(1));
    coil_dump(stderr);
    coil_future_release(future);
    return 0; /* the streams are leaked, and reported if COIL_DEBUG is 1 */
}

int main(void)
{
    return coil_run(app, NULL, NULL) < 0;
}
