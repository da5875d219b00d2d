/*
 * walk.c - runs the operations that scripts/walks follows: a read that waits, and a
 * cancellation.
 *
 *     walk read|cancel
 *
 * The program is linked with a libcoil that was compiled with -finstrument-functions. The
 * program records which of coil's functions an operation enters, and prints their
 * addresses.
 */
#include <coil/run.h>
#include <coil/stream.h>
#include <coil/task.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))
#define STEPS_MAX 10000

void __cyg_profile_func_enter(void *fn, void *site) PLAIN;
void __cyg_profile_func_exit(void *fn, void *site) PLAIN;

static void *steps[STEPS_MAX];
static size_t count;
static _Thread_local bool noting;
static coil_stream *ends[2];

void __cyg_profile_func_enter(void *fn, void *site)
{
    (void)site;
    if (noting && count < STEPS_MAX)
        steps[count++] = fn;
}

void __cyg_profile_func_exit(void *fn, void *site)
{
    (void)fn;
    (void)site;
}

PLAIN static void require(bool met, const char *what)
{
    if (met)
        return;
    fprintf(stderr, "walk: %s\n", what);
    exit(1);
}

PLAIN static void *write_later(void *unused)
{
    (void)unused;
    usleep(20000);
    require(write(coil_stream_fd(ends[1]), "x", 1) == 1, "write");
    return NULL;
}

/*
 * Record a read, from the entry of coil_read() to its return. Another thread writes the
 * byte after a pause, so the read waits.
 */
PLAIN static void walk_read(void)
{
    pthread_t writer;
    char byte;
    ssize_t n;

    coil_sleep(COIL_MSEC(2)); /* wait until earlier operations have ended */
    count = 0;
    require(pthread_create(&writer, NULL, write_later, NULL) == 0, "pthread_create");
    noting = true;
    n = coil_read(ends[0], &byte, 1);
    noting = false;
    require(n == 1, "coil_read");
    pthread_join(writer, NULL);
}

PLAIN static int read_for_ever(void *unused)
{
    char byte;

    (void)unused;
    return (int)coil_read(ends[0], &byte, 1);
}

/* Record the cancellation of a task that is waiting to read, and its join. */
PLAIN static void walk_cancel(void)
{
    coil_task *task;
    int rc;

    require(coil_spawn(read_for_ever, NULL, NULL, &task) == 0, "coil_spawn");
    coil_sleep(COIL_MSEC(2));
    count = 0;
    noting = true;
    coil_task_cancel(task, NULL);
    rc = coil_task_await(task);
    noting = false;
    require(rc == -ECANCELED, "coil_task_await");
    coil_task_release(task);
}

/*
 * Only the third repetition counts, because by then the buffers exist and the descriptor
 * is registered.
 */
PLAIN static int walk(void *name)
{
    void (*walk)(void) = strcmp(name, "read") == 0 ? walk_read : walk_cancel;

    require(coil_stream_pair(ends) == 0, "coil_stream_pair");
    for (int i = 0; i < 3; i++)
        walk();
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
    return 0;
}

PLAIN int main(int argc, char **argv)
{
    require(argc == 2, "usage: walk read|cancel");
    require(coil_run(walk, argv[1], NULL) == 0, "coil_run");
    for (size_t i = 0; i < count; i++)
        printf("%p\n", steps[i]);
    return 0;
}
