/* run.c - compiles and runs the examples in include/coil/run.h. */
#include "listings.h"

#define main listing_main
#include "run.h/1"
#undef main

struct state {
    int commands;
};

static int connect_all(void *state)
{
    (void)state;
    return coil_yield();
}

static int execute(void *state)
{
    (void)state;
    return coil_yield();
}

static bool read_command(struct state *state)
{
    return state->commands++ < 3;
}

static int run_several(void)
{
    struct state state = {0};
    int rc;

#include "run.h/2"
    CHECK(state.commands == 4);
    return rc;
}

int main(void)
{
    CHECK(run_several() == 0);
    return listing_main();
}
