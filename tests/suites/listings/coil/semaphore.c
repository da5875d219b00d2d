/* semaphore.c - compiles and runs the examples in include/coil/semaphore.h. */
#include "listings.h"

static int at_once, most;

static int download(const char *url)
{
    int rc;

    (void)url;
    if (++at_once > most)
        most = at_once;
    rc = coil_yield();
    at_once--;
    return rc;
}

static int one(void *url)
{
    int rc;

#include "semaphore.h/1"
    return rc;
}

static int app(void *arg)
{
    coil_group group;
    int rc = 0;

    coil_group_enter(&group);
    for (int i = 0; i < 30 && rc == 0; i++)
        rc = coil_group_spawn(&group, one, arg, NULL, NULL);
    return coil_group_exit(&group, rc);
}

int main(void)
{
    RUN(app, NULL);
    CHECK(most == 10);
    return 0;
}
