/*
 * late_request.c - a fault to find with a trace (docs/manual/trace.md): most requests take
 * a few milliseconds, but some take 30. A task computes for a long time without a pause.
 */
#include <coil.h>

#include <stdio.h>

#define CLIENTS 4
#define REQUESTS 40

static coil_lock table_lock = COIL_LOCK_INIT;
static int64_t slowest_ns;
static bool is_over;

/* Sort the table, in one step. */
static void sort_table(void)
{
    int64_t end = coil_in(COIL_MSEC(30));

    while (coil_now() < end)
        ;
}

static int clean_up(void *arg)
{
    int rc = 0;

    (void)arg;
    while (rc == 0 && !is_over) {
        rc = coil_lock_acquire(&table_lock);
        if (rc < 0)
            break;
        sort_table();
        coil_lock_release(&table_lock);
        rc = coil_sleep(COIL_MSEC(100));
    }
    return rc;
}

static int answer_request(void)
{
    int rc = coil_lock_acquire(&table_lock);

    if (rc < 0)
        return rc;
    rc = coil_sleep(COIL_MSEC(1)); /* the disk */
    coil_lock_release(&table_lock);
    return rc;
}

static int serve_client(void *arg)
{
    int rc = 0;

    (void)arg;
    for (int i = 0; i < REQUESTS && rc == 0; i++) {
        int64_t arrival = coil_in(COIL_MSEC(7));

        rc = coil_sleep_until(arrival);
        if (rc == 0)
            rc = answer_request();
        if (coil_now() - arrival > slowest_ns)
            slowest_ns = coil_now() - arrival;
    }
    is_over = true;
    return rc;
}

static int serve(void *arg)
{
    coil_spawn_opts client = {.name = "client"}, cleaner = {.name = "cleaner"};
    coil_group group;
    int rc;

    (void)arg;
    coil_group_enter(&group);
    rc = coil_group_spawn(&group, clean_up, NULL, &cleaner, NULL);
    for (int i = 0; i < CLIENTS && rc == 0; i++) {
        rc = coil_group_spawn(&group, serve_client, NULL, &client, NULL);
        if (rc == 0)
            rc = coil_sleep(COIL_MSEC(1));
    }
    rc = coil_group_exit(&group, rc);
    printf("the slowest request took %d ms\n", (int)(slowest_ns / COIL_MSEC(1)));
    return rc;
}

int main(void)
{
    return coil_run(serve, NULL, NULL) != 0;
}
