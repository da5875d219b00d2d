/* server.c - see server.h. */
#include "server.h"

#include "../../harness/harness.h"

int http_say(struct http_connection *connection, const char *text)
{
    return (int)coil_write(connection->stream, text, strlen(text));
}

static size_t body_length(const char *request)
{
    const char *header = strcasestr(request, "\r\nContent-Length:");

    return header != NULL ? strtoul(header + 17, NULL, 10) : 0;
}

/*
 * Read a request. Tests send one request at a time, so all received bytes belong to this
 * request.
 */
static int read_request(struct http_connection *c)
{
    char *end = NULL;

    c->request_bytes = 0;
    while (end == NULL ||
           (size_t)(c->request + c->request_bytes - end) < 4 + body_length(c->request)) {
        ssize_t n = coil_read(c->stream, c->request + c->request_bytes,
                              sizeof c->request - c->request_bytes - 1);
        if (n <= 0)
            return -1;
        c->request_bytes += (size_t)n;
        c->request[c->request_bytes] = '\0';
        end = strstr(c->request, "\r\n\r\n");
    }
    return sscanf(c->request, "%*s %255s", c->path) == 1 ? 0 : -1;
}

static int answer(struct http_connection *c)
{
    c->server->requests++;
    memcpy(c->server->last_request, c->request, c->request_bytes + 1);
    for (const struct http_route *route = c->server->routes; route->path; route++)
        if (strcmp(route->path, c->path) == 0 || strcmp(route->path, "*") == 0)
            return route->answer(c);
    return http_say(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
}

/*
 * Accept connections and serve them. If an allocation of the server fails, because a test
 * of the client makes allocations fail, the server tries again.
 */
static int serve(void *arg)
{
    struct http_server *server = arg;
    struct http_connection c = {.server = server};
    int rc;

    do
        rc = coil_accept(server->listener, &c.stream);
    while (rc == -ENOMEM);
    if (rc < 0)
        return rc;
    server->connections++;
    while (coil_group_spawn(&server->group, serve, server, NULL, NULL) == -ENOMEM)
        ;
    while (read_request(&c) == 0)
        if (answer(&c) < 0)
            break;
    coil_stream_destroy(c.stream);
    return 0;
}

static void begin(struct http_server *server)
{
    coil_group_enter(&server->group);
    coil_group_spawn(&server->group, serve, server, NULL, NULL);
}

void http_server_hang_up(struct http_server *server)
{
    coil_group_exit(&server->group, -ECANCELED);
    begin(server);
}

void http_server_start_at(struct http_server *server, const char *host,
                          const struct http_route *routes)
{
    *server = (struct http_server){.routes = routes};
    CHECK_INT(coil_listen(host, "0", 0, &server->listener), 0);
    begin(server);
}

void http_server_start(struct http_server *server, const struct http_route *routes)
{
    http_server_start_at(server, "127.0.0.1", routes);
}

void http_server_stop(struct http_server *server)
{
    coil_group_exit(&server->group, -ECANCELED);
    coil_listener_destroy(server->listener);
}
