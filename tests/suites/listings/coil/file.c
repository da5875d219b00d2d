/* file.c - compiles and runs the examples in include/coil/file.h. */
#include "listings.h"

static int app(void *arg)
{
    const char text[] = "all is well\n";
    const size_t n = strlen(text);
    ssize_t rc;

    (void)arg;
#include "file.h/1"
    CHECK(rc == 0);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
