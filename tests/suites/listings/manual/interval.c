/* needs: coil-testing */
/* interval.c - compiles and runs the examples in docs/manual/interval.md. */
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
#include "interval.md/intervals-something-every-second"
    CHECK(rc == -ECANCELED && reports == 3 && coil_now() >= COIL_SEC(3));
    coil_cancel_caught();
    return 0;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
