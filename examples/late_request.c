/* late_request.c - a fault to find with a trace (docs/manual/trace.md): most requests take
   a few milliseconds, but some take 30. */
#include <coil.h>

#include <stdio.h>

enum { CLIENTS = 4, REQUESTS = 40 };

static coil_lock table_lock = COIL_LOCK_INIT;
static int64_t slowest_ns;
static bool is_over;

static void sort_table(void)
{
    for (int64_t end = coil_in(COIL_MSEC(30)); coil_now() < end;)
        continue;
}

static int clean_up(void *arg)
{
    int rc = 0;

    (void)arg;
    while (rc == 0 && !is_over && (rc = coil_lock_acquire(&table_lock)) == 0) {
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
    int rc = coil_sleep(COIL_MSEC(1) * *(int *)arg);

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

static int serve(void *numbers)
{
    coil_spawn_opts client = {.name = "client"}, cleaner = {.name = "cleaner"};
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = coil_group_spawn(&group, clean_up, NULL, &cleaner, NULL);
    for (int i = 0; i < CLIENTS && rc == 0; i++)
        rc = coil_group_spawn(&group, serve_client, (int *)numbers + i, &client, NULL);
    rc = coil_group_exit(&group, rc);
    printf("the slowest request took %d ms\n", (int)(slowest_ns / COIL_MSEC(1)));
    return rc;
}

int main(void)
{
    return coil_run(serve, (int[CLIENTS]){0, 1, 2, 3}, NULL) != 0;
}
