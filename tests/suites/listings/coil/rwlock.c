/* rwlock.c - compiles and runs the examples in include/coil/rwlock.h. */
#include "listings.h"

static int send_table(int *table)
{
    ++*table;
    return coil_yield();
}

static int app(void *arg)
{
    int table = 0, rc;

    (void)arg;
#include "rwlock.h/1"
    CHECK(rc == 0 && table == 1 && !coil_rwlock_locked(&lock));
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
