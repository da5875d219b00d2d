/* lock.c - compiles and runs the examples in include/coil/lock.h. */
#include "listings.h"

static int save(int *state)
{
    ++*state;
    return coil_yield();
}

static int app(void *arg)
{
    int state = 0, rc;

    (void)arg;
#include "lock.h/1"
    CHECK(rc == 0 && state == 1 && !coil_lock_locked(&lock));
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
