/* needs: coil-posix hiredis */
/* posix.c - compiles and runs the examples in docs/manual/posix.md. */
#include "listings.h"

#include "posix.md/blocking-code-in-tasks-libcoil-posix"

#include "posix.md/state-and-ownership-by-thread"

static int app(void *arg)
{
    char key[] = "coil:listings";
    int rc = get(key); // may fail: -EIO if Redis is not running

    (void)arg;
    CHECK(rc == 0 || rc == -EIO);
    return 0;
}

int main(void)
{
    CHECK(run_with_own_state(app, NULL) == 0);
    return 0;
}
