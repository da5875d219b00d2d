/* error.c - compiles and runs the examples in include/coil/error.h. */
#include "listings.h"

#include "error.h/1"

static int load(const char *text)
{
    return read_port(text);
}

static int start(const char *path)
{
    int rc;

#include "error.h/3"
    return rc;
}

static int build(int count)
{
#include "error.h/2"
}

static int app(void *arg)
{
    (void)arg;
    CHECK(start("80") == 80);
    CHECK(build(3) == -COIL_EFAILED);
    CHECK(start("http") == -EINVAL);
    coil_error_print(coil_last_error(), stdout);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
