/* address.c - compiles and runs the examples in include/coil/address.h. */
#include "listings.h"

static int app(void *arg)
{
    coil_stream *ends[2], *stream;

    (void)arg;
    CHECK(coil_stream_pair(ends) == 0);
    stream = ends[0];
#include "address.h/1"
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
