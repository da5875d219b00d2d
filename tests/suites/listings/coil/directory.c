/* directory.c - compiles and runs the examples in include/coil/directory.h. */
#include "listings.h"

static int app(void *arg)
{
    int rc;

    (void)arg;
#include "directory.h/1"
    return rc;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
