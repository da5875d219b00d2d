/*
 * context.c - a request's ID, which every function can read without an argument.
 *
 * A context variable is set once for each request. Its value is visible in all functions
 * that the request's handler calls, in the tasks that they spawn, and on the threads that
 * run their jobs. Each request has its own value. (Python: contextvars)
 */
#include <coil.h>

#include <stdio.h>

/* [variable] */
static coil_var request_id = COIL_VAR_INIT("request_id", "none");

static void say(const char *what)
{
    printf("[%s] %s\n", (const char *)coil_var_get(&request_id), what);
}
/* [end] */

static int on_thread(void *arg)
{
    say("checked the password, on a thread");
    return (void)arg, 0;
}

static int child(void *arg)
{
    say("asked the database, in a task of its own");
    return (void)arg, 0;
}

/* [serve] */
static int serve(void *id)
{
    coil_group group;
    int rc = coil_var_set(&request_id, id, NULL); // for this task and its children

    if (rc == 0)
        rc = coil_sleep(COIL_MSEC(1)); // meanwhile, another request sets its own ID
    if (rc < 0)
        return rc;
    say("began");
    rc = coil_blocking(COIL_LANE_CPU, on_thread, NULL);
    coil_group_enter(&group);
    if (rc == 0)
        rc = coil_group_spawn(&group, child, NULL, NULL, NULL);
    return coil_group_exit(&group, rc);
}
/* [end] */

static int app(void *arg)
{
    (void)arg;
    coil_group group;

    coil_group_enter(&group);
    int rc = coil_group_spawn(&group, serve, "one", NULL, NULL);
    if (rc == 0)
        rc = coil_group_spawn(&group, serve, "two", NULL, NULL);
    rc = coil_group_exit(&group, rc);
    say("outside of requests");
    return rc;
}

int main(void)
{
    return coil_run(app, NULL, NULL) < 0;
}
