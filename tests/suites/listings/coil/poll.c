/* poll.c - compiles and runs the examples in include/coil/poll.h. */
#include "listings.h"

static int taken;

static void take_input(int fd)
{
    CHECK(fd >= 0);
    taken++;
}

static int wait_for_both(int in, int out)
{
#include "poll.h/1"
    return n;
}

#include <unistd.h>

static int app(void *arg)
{
    int in[2], out[2];

    (void)arg;
    CHECK(pipe(in) == 0 && pipe(out) == 0 && write(in[1], "x", 1) == 1);
    CHECK(wait_for_both(in[0], out[1]) == 2 && taken == 1);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
