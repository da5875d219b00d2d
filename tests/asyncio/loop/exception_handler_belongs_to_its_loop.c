/* A handler is one loop's: the next loop has none. */
#include "../scenario.h"

static void fail(void *name)
{
    bool none = coil_get_exception_handler(NULL) == NULL;

    trace("%s: %s", (char *)name, none ? "none" : "some");
    coil_call_exception_handler(&(coil_exception){.message = name});
}

static void stop(void *arg)
{
    (void)arg;
    coil_loop_stop(coil_loop_current());
}

PLAIN_SCENARIO(exception_handler_belongs_to_its_loop)
{
    static char names[][8] = {"first", "second", "third"};

    for (int i = 0; i < 3; i++) {
        coil_loop *loop;
        int rc = coil_loop_create(&(coil_loop_opts){.virtual_clock = true}, &loop);

        if (rc < 0)
            return rc;
        if (i != 1)
            coil_set_exception_handler(tell_exception, NULL);
        rc = coil_call_soon(fail, names[i], NULL);
        if (rc == 0)
            rc = coil_call_soon(stop, NULL, NULL);
        if (rc == 0)
            rc = coil_loop_run_forever(loop);
        coil_loop_close(loop);
        if (rc < 0)
            return rc;
    }
    return 0;
}
