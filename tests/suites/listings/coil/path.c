/* path.c - compiles and runs the examples in include/coil/path.h. */
#include "listings.h"

static int app(void *arg)
{
    int rc;

    (void)arg;
    CHECK(coil_write_file("today.log", "all is well\n", 12, 0666, 0) == 0);
#include "path.h/1"
    return rc;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
