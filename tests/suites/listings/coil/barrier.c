/* barrier.c - compiles and runs the examples in include/coil/barrier.h. */
#include "listings.h"

static int times;

static void print_totals(void)
{
    times++;
}

#include "barrier.h/1"

static int party(void *arg)
{
    int rc;

    (void)arg;
#include "barrier.h/2"
    return 0;
}

static int app(void *arg)
{
    coil_group group;
    int rc = 0;

    coil_group_enter(&group);
    for (int i = 0; i < 3 && rc == 0; i++)
        rc = coil_group_spawn(&group, party, arg, NULL, NULL);
    return coil_group_exit(&group, rc);
}

int main(void)
{
    RUN(app, NULL);
    CHECK(times == 1);
    return 0;
}
