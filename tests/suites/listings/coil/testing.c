/* needs: coil-testing */
/* testing.c - compiles and runs the examples in include/coil/testing.h. */
#include "listings.h"

enum state { NEW, CONNECTING };

struct world {
    enum state state;
};

static int run_client(void *arg)
{
    ((struct world *)arg)->state = CONNECTING;
    return coil_sleep(COIL_SEC(10));
}

static enum state state_of(const struct world *world)
{
    return world->state;
}

#include "testing.h/1"
#include "testing.h/3"

static int pass_both(void *arg)
{
    int rc;

    (void)arg;
#include "testing.h/4"
    return rc;
}

int main(void)
{
    struct world world = {NEW};

#include "testing.h/2"
    RUN(pass_both, NULL);
    return 0;
}
