/* process.c - compiles and runs the examples in include/coil/process.h. */
#include "listings.h"

static int app(void *arg)
{
    const char *numbers = "10\n9\n";
    int rc;

    (void)arg;
#include "process.h/1"
    return rc;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
