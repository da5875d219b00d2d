/*
 * light.c - a hundred thousand tasks that wait most of the time, in 1 KB of memory each.
 */
#include <coil.h>
#include <coil/debug.h>

#include <stdio.h>

#define TASKS 100000

static coil_event gong = COIL_EVENT_INIT;

static int wait_for_gong(void *arg)
{
    int rc = coil_event_wait(&gong); // meanwhile, no pointer to this stack is in use

    ++*(int *)arg;
    return rc;
}

static int app(void *arg)
{
    int awake = 0, rc = 0;
    coil_stats stats;
    coil_group group;

    (void)arg;
    coil_group_enter(&group);
    for (int i = 0; i < TASKS && rc == 0; i++)
        rc = coil_group_spawn(&group, wait_for_gong, &awake, NULL, NULL);
    coil_yield(); // lets the tasks take their first steps
    coil_stats_get(&stats);
    fprintf(stderr, "%zu light tasks, %zu swapped out: %zu KiB%s%s\n", stats.light_tasks,
            stats.light_stored, stats.light_stored_bytes / 1024,
            stats.light_off != NULL ? "; off: " : "",
            stats.light_off != NULL ? stats.light_off : "");
    coil_event_set(&gong);
    rc = coil_group_exit(&group, rc);
    printf("%d awake\n", awake);
    return rc;
}

int main(void)
{
    return coil_run(app, NULL, &(coil_run_opts){.light = true}) < 0;
}
