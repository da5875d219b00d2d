/* trace.c - compiles and runs the examples in include/coil/trace.h. */
#include "listings.h"

static int work(void *arg)
{
    return coil_yield() < 0 ? -1 : *(int *)arg;
}

#include "trace.h/1"

#include <unistd.h>

static int app(void *arg)
{
    int answer = 42;

    (void)arg;
    CHECK(trace_work(work, &answer) == 42);
    CHECK(access("work.json", R_OK) == 0);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
