/*
 * test_once.c - pthread_once() and call_once() in tasks and threads.
 */
#include "differential.h"

#include <pthread.h>
#include <sys/wait.h>
#include <threads.h>

static pthread_once_t control;
static once_flag flag_of_c11;
static coil_task *initialiser;
static int initialised;

/* An initialiser that waits, for example because it reads a configuration file. */
static void initialise(void)
{
    initialiser = coil_task_current();
    usleep(20000);
    initialised++;
}

static int need_it(void *arg)
{
    (void)arg;
    CHECK_INT(pthread_once(&control, initialise), 0);
    CHECK_INT(initialised, 1);
    return 0;
}

IO_TEST(once_in_many_tasks_of_a_thread)
{
    coil_task *tasks[10];

    control = PTHREAD_ONCE_INIT;
    initialised = 0;
    for (int i = 0; i < 10; i++)
        tasks[i] = start_task(need_it, NULL);
    for (int i = 0; i < 10; i++)
        finish_task(tasks[i]);
    CHECK_INT(initialised, 1);
    CHECK(initialiser == tasks[0]); /* the first task has called it, not another thread */
}

static int need_it_in_c11(void *arg)
{
    (void)arg;
    call_once(&flag_of_c11, initialise);
    CHECK_INT(initialised, 1);
    return 0;
}

IO_TEST(call_once_in_many_tasks_of_a_thread)
{
    coil_task *tasks[3];

    flag_of_c11 = (once_flag)ONCE_FLAG_INIT;
    initialised = 0;
    for (int i = 0; i < 3; i++)
        tasks[i] = start_task(need_it_in_c11, NULL);
    for (int i = 0; i < 3; i++)
        finish_task(tasks[i]);
    CHECK_INT(initialised, 1);
}

static _Atomic bool begun, may_end;

static void initialise_on_demand(void)
{
    begun = true;
    while (!may_end)
        usleep(1000);
    initialised++;
}

static void *need_it_on_a_thread(void *arg)
{
    (void)arg;
    CHECK_INT(pthread_once(&control, initialise_on_demand), 0);
    return NULL;
}

IO_TEST(once_that_another_thread_has_begun)
{
    pthread_t thread;
    coil_task *task;

    control = PTHREAD_ONCE_INIT;
    initialised = 0;
    begun = may_end = false;
    CHECK_INT(pthread_create(&thread, NULL, need_it_on_a_thread, NULL), 0);
    while (!begun)
        coil_sleep(COIL_MSEC(1));
    task = start_task(need_it, NULL);
    coil_sleep(COIL_MSEC(5));
    may_end = true;
    finish_task(task);
    CHECK_INT(pthread_join(thread, NULL), 0);
}

/*
 * Fork while a routine is running. In the child, the routine must run again from its
 * start.
 */
static void fork_within(void)
{
    pid_t pid;

    if (++initialised > 1)
        return;
    pid = fork();
    if (pid == 0) {
        CHECK_INT(pthread_once(&control, fork_within), 0);
        _exit(initialised == 2 ? 42 : 1);
    }
    CHECK_INT(waitpid(pid, &initialised, 0), pid);
}

static int fork_once(void *arg)
{
    (void)arg;
    return pthread_once(&control, fork_within);
}

IO_TEST(once_begun_before_a_fork)
{
    control = PTHREAD_ONCE_INIT;
    initialised = 0;
    finish_task(start_task(fork_once, NULL));
    CHECK_INT(initialised, 42 << 8);
}
