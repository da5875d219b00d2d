/* What is reported reaches the handler within the call, in a task and in a callback;
 * nothing waits for a turn. */
#include "../scenario.h"

static void tell_all(void *where)
{
    trace("%s: before", (const char *)where);
    coil_call_exception_handler(&(coil_exception){.message = "hello", .rc = -EIO});
    trace("%s: after", (const char *)where);
}

SCENARIO(exception_handler_is_called_at_once)
{
    int rc;

    coil_set_exception_handler(tell_exception, NULL);
    rc = coil_call_soon(tell_all, "callback", NULL);
    if (rc < 0)
        return rc;
    tell_all("task");
    turns(1);
    rc = coil_call_later(COIL_SEC(1), tell_all, "timer", NULL);
    return rc < 0 ? rc : coil_sleep(COIL_SEC(2));
}
