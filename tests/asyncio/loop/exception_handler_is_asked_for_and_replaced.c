/* A loop has no exception handler but the default; one that is set is called until it is
 * replaced, or taken back. */
#include "../scenario.h"

static void other(const coil_exception *exception, void *arg)
{
    (void)arg;
    trace("other: %s", exception->message);
}

static const char *name(coil_exception_handler handler)
{
    return handler == NULL             ? "none"
           : handler == tell_exception ? "tell_exception"
                                       : "other";
}

SCENARIO(exception_handler_is_asked_for_and_replaced)
{
    coil_exception_handler handlers[] = {NULL, tell_exception, other, NULL,
                                         tell_exception};

    for (int i = 0; i < 5; i++) {
        coil_set_exception_handler(handlers[i], NULL);
        trace("is: %s", name(coil_get_exception_handler(NULL)));
        if (handlers[i] != NULL)
            coil_call_exception_handler(&(coil_exception){.message = "hello"});
    }
    return 0;
}
