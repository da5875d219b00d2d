/*
 * 15_seen_set.c - "have we seen this link?": the check in threads and in tasks.
 *
 * A worker looks for a link in seen_urls, and then adds it. If a thread is interrupted
 * between the two steps, another thread may queue the link, too. Here a barrier
 * interrupts both threads at this point, and ThreadSanitizer (-fsanitize=thread) names
 * the line. A task is interrupted only where it waits, so it needs no lock here.
 * coil_no_suspend checks that it does not wait.
 *
 * To try: call coil_yield() between add_in_task()'s two lines. The program aborts there.
 */
#include <coil.h>

#include <pthread.h>
#include <stdio.h>

static bool seen_urls[10]; // indexed by the number of the link
enum { ABOUT = 7 };

/* [thread] */
static pthread_barrier_t interruption;

static void *add_in_thread(void *arg)
{
    bool seen = seen_urls[ABOUT];

    pthread_barrier_wait(&interruption); // both have looked, neither has added the link
    seen_urls[ABOUT] = true;             // ThreadSanitizer names this line
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
    int rc = coil_yield(); // here other tasks run

    coil_no_suspend_enter(&region, "a link is looked for and added at once");
    bool seen = seen_urls[ABOUT];
    seen_urls[ABOUT] = true; // no task ran in between
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
