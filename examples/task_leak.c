/*
 * task_leak.c - a bug to find with coil-ps (docs/manual/ps.md): each request leaves a
 * task behind.
 */
#include <coil.h>

static int watch_client(void *arg)
{
    coil_event gone = COIL_EVENT_INIT; /* the bug: not set when the request ends */

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

int main(void)
{
    return coil_run(leak_tasks, NULL, NULL) != 0;
}
