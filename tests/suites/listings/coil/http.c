/* needs: coil coil-http certificate */
/* http.c - compiles and runs the examples in include/coil/http.h. */
#include "listings.h"

#include <coil/http.h>

static int get(void)
{
    int rc;

#include "http.h/1"
    CHECK(n == 0);
    return rc;
}

#include "web.h"

static int app(void *arg)
{
    struct web web;

    (void)arg;
    open_web(&web);
    CHECK(get() == 0);
    close_web(&web);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
