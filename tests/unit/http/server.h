/*
 * server.h - a server on the test's own loop, with responses provided by the test.
 *
 *     static void answer(struct http_connection *c) { http_say(c, "HTTP/1.1 200 ..."); }
 *
 * The test has a table of paths and of functions that answer requests for them.
 */
#ifndef TESTS_HTTP_SERVER_H
#define TESTS_HTTP_SERVER_H

#include <coil.h>

struct http_connection {
    struct http_server *server;
    coil_stream *stream;
    char path[256];
    char request[8192]; /* the headers, and the part of the body that arrived with them */
    size_t request_bytes;
};

/* Answer a request. Returns a negative value to close the connection. */
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

/* Close all connections of the server, which continues to accept new ones. */
void http_server_hang_up(struct http_server *server);

void http_server_stop(struct http_server *server);

/*
 * Write the whole text. Returns a negative errno if the client has closed the connection.
 */
int http_say(struct http_connection *connection, const char *text);

#endif
