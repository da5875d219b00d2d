/* needs: coil-posix hiredis */
/* posix.c - what the listing of docs/manual/posix.md stands in. */
#include "listings.h"

#include "posix.md/blocking-code-in-tasks-libcoil-posix"

#include "posix.md/state-and-ownership-by-thread"

static int app(void *arg)
{
    char key[] = "coil:listings";
    int rc = get(key); // there need not be a server

    (void)arg;
    CHECK(rc == 0 || rc == -EIO);
    return 0;
}

int main(void)
{
    CHECK(run_with_own_state(app, NULL) == 0);
    return 0;
}
