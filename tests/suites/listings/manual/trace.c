/* trace.c - compiles and runs the examples in docs/manual/trace.md. */
#include "listings.h"

static int handle_request(void *request)
{
    (void)request;
    return coil_yield();
}

static int app(void *request)
{
    int rc;

#include "trace.md/three-ways-to-get-one"
    return rc;
}

#include <unistd.h>

int main(void)
{
    RUN(app, NULL);
    CHECK(access("request.json", R_OK) == 0);
    return 0;
}
