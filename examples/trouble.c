/*
 * trouble.c - three programs with a fault, for docs/manual/ps.md.
 *
 *     trouble lock    a task holds a lock while it waits for an answer that never comes
 *     trouble leak    each request leaves a task behind
 *     trouble slow    a task computes for a long time, and no other task runs
 */
#include <coil.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- a lock held ------------------------------------------------------------------- */

static coil_lock table_lock = COIL_LOCK_INIT;

static int refresh_table(void *arg)
{
    const int *answer = arg;
    int rc = coil_lock_acquire(&table_lock);

    if (rc < 0)
        return rc;
    rc = coil_wait_fd(answer[0], COIL_READABLE); /* the answer never comes */
    coil_lock_release(&table_lock);
    return rc;
}

static int read_table(void *arg)
{
    int rc = coil_lock_acquire(&table_lock);

    (void)arg;
    if (rc == 0)
        coil_lock_release(&table_lock);
    return rc;
}

static int hold_lock(void *arg)
{
    coil_group group;
    int answer[2], rc;

    (void)arg;
    if (pipe(answer) < 0)
        return -1;
    coil_group_enter(&group);
    rc = coil_group_spawn(&group, refresh_table, answer,
                          &(coil_spawn_opts){.name = "refresh"}, NULL);
    for (int i = 0; i < 200 && rc >= 0; i++)
        rc = coil_group_spawn(&group, read_table, NULL, NULL, NULL);
    return coil_group_exit(&group, rc < 0 ? rc : 0);
}

/* ---- a leak of tasks --------------------------------------------------------------- */

static int watch_client(void *arg)
{
    coil_event gone = COIL_EVENT_INIT; /* nothing sets it when the request ends */

    (void)arg;
    return coil_event_wait(&gone);
}

static int handle_request(void *arg)
{
    int rc = coil_spawn(watch_client, NULL, NULL, NULL);

    (void)arg;
    return rc < 0 ? rc : coil_sleep(COIL_MSEC(1));
}

static int leak_tasks(void *arg)
{
    int rc = 0;

    (void)arg;
    while (rc >= 0) {
        rc = coil_spawn(handle_request, NULL, NULL, NULL);
        if (rc >= 0)
            rc = coil_sleep(COIL_MSEC(2));
    }
    return rc;
}

/* ---- a slow callback --------------------------------------------------------------- */

static volatile unsigned long sum;

static void sort_slowly(void)
{
    for (;;)
        sum++;
}

static int serve(void *arg)
{
    int rc = 0;

    (void)arg;
    while (rc >= 0)
        rc = coil_sleep(COIL_MSEC(10));
    return rc;
}

static int compute(void *arg)
{
    int rc = coil_spawn(serve, NULL, NULL, NULL);

    (void)arg;
    if (rc < 0)
        return rc;
    coil_yield();
    sort_slowly();
    return 0;
}

int main(int argc, char *argv[])
{
    const char *mode = argc == 2 ? argv[1] : "";

    if (strcmp(mode, "lock") == 0)
        return coil_run(hold_lock, NULL, NULL) != 0;
    if (strcmp(mode, "leak") == 0)
        return coil_run(leak_tasks, NULL, NULL) != 0;
    if (strcmp(mode, "slow") == 0)
        return coil_run(compute, NULL, NULL) != 0;
    fprintf(stderr, "usage: trouble lock|leak|slow\n");
    return 2;
}
