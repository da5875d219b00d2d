/*
 * 19_threads_fail.c - creates threads until that fails, and then 100 times as many tasks.
 *
 * Each system limits the number of threads: by kernel.pid_max, a service's control group,
 * or RLIMIT_NPROC. This program lowers its own RLIMIT_NPROC, which does not affect other
 * programs, and creates threads until pthread_create() fails. Then it creates tasks,
 * which are not threads, under the same limit. To try: set LIMIT to 100. The program then
 * creates half as many threads, but as many tasks as before.
 */
#include <coil.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LIMIT 200
#define TASKS 20000

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static coil_event gate_of_tasks = COIL_EVENT_INIT;

static void limit_threads(void)
{
    // The kernel does not limit root. A user namespace has its own count.
    if (geteuid() == 0 ? setuid(54321) != 0 : unshare(CLONE_NEWUSER) != 0)
        perror("the limit is shared with other programs of this user");
    setrlimit(RLIMIT_NPROC, &(struct rlimit){LIMIT, LIMIT});
}

static void *wait_at_gate(void *arg)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return arg;
}

/* [threads] */
static void try_threads(void)
{
    static pthread_t threads[2 * LIMIT];
    int n = 0, error = 0;
    pthread_mutex_lock(&gate);
    while (n < 2 * LIMIT && error == 0)
        if ((error = pthread_create(&threads[n], NULL, wait_at_gate, NULL)) == 0)
            n++;
    printf("%d threads, then: %s\n", n, strerror(error));
    pthread_mutex_unlock(&gate);
    while (n-- > 0)
        pthread_join(threads[n], NULL);
}
/* [end] */

/* [tasks] */
static int wait_as_task(void *waiting)
{
    ++*(int *)waiting;
    return coil_event_wait(&gate_of_tasks);
}

static int try_tasks(void *arg)
{
    int waiting = 0;
    coil_group group;
    int rc = 0;
    coil_group_enter(&group);
    for (int i = 0; i < TASKS && rc == 0; i++)
        rc = coil_group_spawn(&group, wait_as_task, &waiting, NULL, NULL);
    if (rc == 0)
        rc = coil_yield();
    printf("%d tasks wait, in one thread\n", waiting);
    coil_event_set(&gate_of_tasks);
    return (void)arg, coil_group_exit(&group, rc);
}
/* [end] */

int main(void)
{
    limit_threads();
    try_threads();
    return coil_run(try_tasks, NULL, NULL) < 0;
}
