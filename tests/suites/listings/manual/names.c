/* needs: coil-testing */
/* names.c - compiles and runs the examples in docs/manual/names.md. */
#include "simulated.h"

#include "names.md/names-and-connecting"

static int app(void *arg)
{
    coil_listener *listener;
    coil_stream *s;
    int rc;

    (void)arg;
    use_known_hosts();
    CHECK(coil_listen(NULL, "80", 0, &listener) == 0);
    CHECK(connect_or_explain("example.org", "80", &s) == 0);
    coil_stream_destroy(s);
    CHECK(connect_or_explain("example.org", "81", &s) == -ECONNREFUSED);
    coil_listener_destroy(listener);
#include "names.md/tests"
    return rc;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
