/* connect_tls.c - connects to a host, and starts TLS on the connection. */
#include "../base/base.h"

#include <coil/connect.h>
#include <coil/tls.h>

int coil_connect_tls(const char *host, const char *port, coil_tls *tls, coil_stream **out)
{
    COIL__REQUIRE(out, "an output pointer");
    coil_stream *stream;
    int rc;

    *out = NULL;
    rc = coil_connect(host, port, &stream);
    if (rc < 0)
        return rc;
    rc = coil_start_tls(stream, tls, host);
    if (rc < 0)
        coil_stream_destroy(stream);
    else
        *out = stream;
    return rc;
}
