/* A handler may start a task and ask for calls; they are made in the turns that follow.
 */
#include "../scenario.h"

static void say(void *text)
{
    trace("%s", (const char *)text);
}

static int clean_up(void *arg)
{
    int rc;

    (void)arg;
    trace("clean up: begin");
    rc = coil_sleep(COIL_SEC(1));
    trace("clean up: end");
    return rc;
}

static void handler(const coil_exception *exception, void *arg)
{
    tell_exception(exception, arg);
    if (coil_call_soon(say, "called soon", NULL) < 0 || start(clean_up, NULL) == NULL)
        trace("no memory");
}

static int body(void *arg)
{
    (void)arg;
    return -EIO;
}

SCENARIO(exception_handler_may_start_a_task)
{
    int rc;

    coil_set_exception_handler(handler, NULL);
    rc = coil_spawn(body, NULL, NULL, NULL);
    if (rc < 0)
        return rc;
    ticker(TURNS(4));
    return coil_sleep(COIL_SEC(2));
}
