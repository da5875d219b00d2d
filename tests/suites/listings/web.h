/*
 * web.h - simulates https://example.org/ for listings of coil-http, with a proxy on a
 * free local port that answers every request itself. A context that includes this file
 * begins with `needs: coil-http certificate`.
 */
#ifndef LISTINGS_WEB_H
#define LISTINGS_WEB_H

#include "listings.h"

struct web {
    coil_tls *tls;
    coil_listener *listener;
    coil_server *server;
};

static inline int web_read_head(coil_stream *stream)
{
    char line[1000];
    ssize_t n;

    while ((n = coil_read_line(stream, line, sizeof line)) > 1)
        continue; // an empty line (only "\r") ends the request header
    return n < 0 ? (int)n : 0;
}

static inline int web_answer(coil_stream *stream, void *tls)
{
    static const char tunnel[] = "HTTP/1.1 200 OK\r\n\r\n";
    static const char page[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                               "Content-Length: 6\r\n\r\nhello\n";
    int rc = web_read_head(stream);

    if (rc == 0)
        rc = (int)coil_write(stream, tunnel, strlen(tunnel));
    if (rc >= 0)
        rc = coil_accept_tls(stream, tls);
    while (rc >= 0 && web_read_head(stream) == 0)
        rc = (int)coil_write(stream, page, strlen(page));
    return 0;
}

static inline void open_web(struct web *web)
{
    static char proxy[40];

    CHECK(coil_tls_create(&(coil_tls_opts){.certificate_file = "fullchain.pem",
                                           .key_file = "privkey.pem"},
                          &web->tls) == 0);
    CHECK(coil_listen("127.0.0.1", "0", 0, &web->listener) == 0);
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u",
             coil_listener_port(web->listener));
    CHECK(setenv("https_proxy", proxy, 1) == 0);
    CHECK(coil_server_create(web->listener, web_answer, web->tls, NULL, &web->server) ==
          0);
}

static inline void close_web(struct web *web)
{
    CHECK(coil_server_stop(web->server) == 0);
    coil_server_destroy(web->server);
    coil_listener_destroy(web->listener);
    coil_tls_release(web->tls);
}

#endif
