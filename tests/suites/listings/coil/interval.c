/* needs: coil-testing */
/* interval.c - compiles and runs the examples in include/coil/interval.h. */
#include "simulated.h"

static int reports;

static void report(void)
{
    if (++reports == 3)
        coil_task_cancel(coil_task_current(), NULL);
}

static int app(void *arg)
{
    int rc;

    (void)arg;
#include "interval.h/1"
    CHECK(rc == -ECANCELED && reports == 3);
    coil_cancel_caught();
    return 0;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
