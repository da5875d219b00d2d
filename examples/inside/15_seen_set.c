/*
 * 15_seen_set.c - "have we seen this link?", asked by threads and by tasks.
 *
 * The chapter: a worker checks that a link is not in seen_urls, and then adds it. Between
 * the two a thread may be interrupted, and another one finds the link missing as well:
 * it is queued twice. Here a barrier interrupts both there, so it goes wrong every time,
 * and ThreadSanitizer names the line (build with -fsanitize=thread). A task is only ever
 * interrupted where it waits. There is no lock, and coil_no_suspend says so.
 *
 * Call coil_yield() in add_in_task() between the two lines: the program stops at it.
 */
#include <coil.h>

#include <pthread.h>
#include <stdio.h>

static bool seen_urls[10]; // by the link's number
enum { ABOUT = 7 };

/* [thread] */
static pthread_barrier_t interruption;

static void *add_in_thread(void *arg)
{
    bool seen = seen_urls[ABOUT];

    pthread_barrier_wait(&interruption); // both have looked, none has added
    seen_urls[ABOUT] = true;             // the line that ThreadSanitizer names
    *(int *)arg += !seen;
    return NULL;
}
/* [end] */

static int with_threads(void)
{
    int queued[2] = {0};
    pthread_t other;
    pthread_barrier_init(&interruption, NULL, 2);
    if (pthread_create(&other, NULL, add_in_thread, &queued[0]) != 0)
        return -1;
    add_in_thread(&queued[1]);
    pthread_join(other, NULL);
    pthread_barrier_destroy(&interruption);
    return queued[0] + queued[1];
}

/* [task] */
static int add_in_task(void *queued)
{
    coil_no_suspend region;
    int rc = coil_yield(); // here others run

    coil_no_suspend_enter(&region, "a link is looked for and added at once");
    bool seen = seen_urls[ABOUT];
    seen_urls[ABOUT] = true; // nobody came in between
    coil_no_suspend_exit(&region);
    *(int *)queued += !seen;
    return rc;
}
/* [end] */

static int with_tasks(void *arg)
{
    int queued = 0, rc = 0;
    coil_group group;

    seen_urls[ABOUT] = false;
    coil_group_enter(&group);
    for (int i = 0; i < 2 && rc == 0; i++)
        rc = coil_group_spawn(&group, add_in_task, &queued, NULL, NULL);
    rc = coil_group_exit(&group, rc);
    return (void)arg, rc < 0 ? rc : queued;
}

int main(void)
{
    printf("two threads queued one link %d times\n", with_threads());
    printf("two tasks queued one link %d times\n", coil_run(with_tasks, NULL, NULL));
    return 0;
}
