/* fixture.c - see fixture.h. */
#include "fixture.h"

void http_both_begin(struct http_both *both, const struct http_route *routes,
                     const coil_http_session_opts *opts)
{
    coil_http_session_opts own = opts != NULL ? *opts : (coil_http_session_opts){0};

    own.proxy = own.proxy != NULL ? own.proxy : "";
    http_server_start(&both->server, routes);
    http_client_open(&both->client, &own, "http", "127.0.0.1",
                     coil_listener_port(both->server.listener));
}

void http_both_end(struct http_both *both)
{
    http_client_close(&both->client);
    http_server_stop(&both->server);
}
