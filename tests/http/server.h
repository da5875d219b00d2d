/*
 * server.h - a server in the test's own loop, that answers what it is told to.
 *
 *     static void answer(struct http_connection *c) { http_say(c, "HTTP/1.1 200 ..."); }
 *
 * A request's path chooses the answer: paths and functions are a table of the test's.
 */
#ifndef TESTS_HTTP_SERVER_H
#define TESTS_HTTP_SERVER_H

#include <coil.h>

struct http_connection {
    struct http_server *server;
    coil_stream *stream;
    char path[256];
    char request[8192]; /* headers, and the body that came with them */
    size_t request_bytes;
};

/* Returns below 0 to have the connection closed. */
typedef int (*http_answer)(struct http_connection *connection);

struct http_route {
    const char *path;
    http_answer answer;
};

struct http_server {
    const struct http_route *routes;
    coil_listener *listener;
    coil_group group;
    int connections, requests;
    char last_request[8192];
};

void http_server_start(struct http_server *server, const struct http_route *routes);
void http_server_start_at(struct http_server *server, const char *host,
                          const struct http_route *routes);

/* Close all its connections, and accept new ones. */
void http_server_hang_up(struct http_server *server);

void http_server_stop(struct http_server *server);

/* Write all of a string; below 0 where the client has gone. */
int http_say(struct http_connection *connection, const char *text);

#endif
