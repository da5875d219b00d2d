/* resolver.c - compiles and runs the examples in include/coil/resolver.h. */
#include "listings.h"

static int app(void *arg)
{
    int rc;

    (void)arg;
#include "resolver.h/1"
    return rc == -EOPNOTSUPP ? 0 : rc; // built without c-ares
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
