/* needs: coil-testing */
/* timer.c - compiles and runs the examples in include/coil/timer.h. */
#include "simulated.h"

struct connection {
    coil_timer idle;
    int closed;
};

static void close_idle(void *arg)
{
    ((struct connection *)arg)->closed = 1;
}

static int app(void *arg)
{
    struct connection one = {.closed = 0}, *connection = &one;
    int rc;

    (void)arg;
#include "timer.h/1"
    CHECK(rc == 0 && coil_sleep(COIL_SEC(60)) == 0 && one.closed);
#include "timer.h/2"
    return 0;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
