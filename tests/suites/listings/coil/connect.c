/* needs: coil-testing */
/* connect.c - compiles and runs the examples in include/coil/connect.h. */
#include "simulated.h"

static int app(void *arg)
{
    coil_listener *listener;
    coil_stream *stream;
    int rc;

    (void)arg;
    use_known_hosts();
    CHECK(coil_listen(NULL, "443", 0, &listener) == 0);
#include "connect.h/1"
    CHECK(rc == 0);
    coil_stream_destroy(stream);
    coil_listener_destroy(listener);
    return 0;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
