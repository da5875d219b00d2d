/*
 * fixture.h - a server and a client, opened and closed together.
 */
#ifndef TESTS_HTTP_FIXTURE_H
#define TESTS_HTTP_FIXTURE_H

#include "client.h"
#include "server.h"

struct http_both {
    struct http_server server;
    struct http_client client;
};

/* `opts` may be NULL. The client does not use proxies from environment variables. */
void http_both_begin(struct http_both *both, const struct http_route *routes,
                     const coil_http_session_opts *opts);
void http_both_end(struct http_both *both);

#endif
