/* fork.c - compiles and runs the examples in docs/manual/fork.md. */
#include "listings.h"

static int serve(void *arg);

#include "fork.md/forks"

#include <sys/wait.h>

static int serve(void *arg)
{
    (void)arg;
    return coil_yield();
}

static int app(void *arg)
{
    coil_stream *ends[2];
    pid_t child;
    int status;

    (void)arg;
    CHECK(coil_stream_pair(ends) == 0);
    child = start_worker(ends[0], arg);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
