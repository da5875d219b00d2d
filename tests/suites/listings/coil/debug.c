/* debug.c - compiles and runs the examples in include/coil/debug.h. */
#include "listings.h"

#include "debug.h/1"

static int sleep_long(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(100));
}

static int app(void *arg)
{
    CHECK(coil_spawn(sleep_long, arg, NULL, NULL) == 0);
    CHECK(coil_yield() == 0);
#include "debug.h/2"
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
