/* needs: coil-testing */
/* timer.c - compiles and runs the examples in docs/manual/timer.md. */
#include "simulated.h"

#include "timer.md/timers-in-your-own-memory"

static int app(void *arg)
{
    struct connection *c = calloc(1, sizeof *c);

    (void)arg;
    CHECK(c != NULL && open_connection(c) == 0);
    CHECK(coil_sleep(COIL_SEC(20)) == 0 && received_bytes(c) == 0);
    CHECK(coil_sleep(COIL_SEC(20)) == 0 && !c->closed);
    CHECK(coil_sleep(COIL_SEC(20)) == 0 && c->closed);
    free_connection(c);
    return 0;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
