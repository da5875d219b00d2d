/* A handler may have the default one print what it was told, and goes on after that. */
#include "../scenario.h"

static void handler(const coil_exception *exception, void *arg)
{
    tell_exception(exception, arg);
    coil_default_exception_handler(exception);
    trace("printed");
}

static int body(void *arg)
{
    (void)arg;
    return -EIO;
}

SCENARIO(exception_handler_may_ask_the_default_one)
{
    int rc;

    coil_set_exception_handler(handler, NULL);
    rc = coil_spawn(body, NULL, NULL, NULL);
    if (rc < 0)
        return rc;
    turns(3);
    trace("end");
    return 0;
}
