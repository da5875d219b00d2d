/* promise.c - compiles and runs the examples in include/coil/promise.h. */
#include "listings.h"

static void *decode_image(void)
{
    return calloc(1, 64);
}

static int shown;

static void show(const char *image)
{
    CHECK(image[0] == 0);
    shown++;
}

#include "promise.h/1"

static int app(void *arg)
{
    (void)arg;
#include "promise.h/2"
    return rc;
}

int main(void)
{
    RUN(app, NULL);
    CHECK(shown == 1);
    return 0;
}
