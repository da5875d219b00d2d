#include "../../crawler/fetch.h"
#include "../harness/harness.h"

#include <coil.h>

/* ---- a server in the same loop ----------------------------------------------------- */

struct server {
    coil_listener *listener;
    coil_group group;
    int connections, requests;
};

static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                         "Content-Length: 5\r\n\r\nhello";

static int answer(coil_stream *stream, const char *path)
{
    if (strcmp(path, "/ok") == 0)
        return (int)coil_write(stream, ok, sizeof ok - 1);
    if (strcmp(path, "/slow") == 0) {
        coil_sleep(COIL_SEC(60));
    } else if (strcmp(path, "/half") == 0) {
        coil_write(stream, ok, sizeof ok - 3);
        coil_sleep(COIL_SEC(60));
    }
    return -1; /* "/cut" among them */
}

static int serve(void *arg)
{
    struct server *server = arg;
    char input[4096], path[64];
    coil_stream *stream;
    int rc = coil_accept(server->listener, &stream);

    if (rc < 0)
        return rc;
    server->connections++;
    coil_group_spawn(&server->group, serve, server, NULL, NULL);
    for (;;) {
        ssize_t n = coil_read(stream, input, sizeof input - 1); /* a request is small */
        if (n <= 0)
            break;
        input[n] = '\0';
        server->requests++;
        if (sscanf(input, "GET %63s", path) != 1 || answer(stream, path) < 0)
            break;
    }
    coil_stream_destroy(stream);
    return 0;
}

static void start(struct server *server)
{
    *server = (struct server){.listener = NULL};
    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &server->listener), 0);
    coil_group_enter(&server->group);
    coil_group_spawn(&server->group, serve, server, NULL, NULL);
}

static void stop(struct server *server)
{
    coil_group_exit(&server->group, -ECANCELED);
    coil_listener_destroy(server->listener);
}

/* ---- a client ---------------------------------------------------------------------- */

struct client {
    struct server *server;
    fetch_session *session;
    struct fetch_request request;
    struct fetch_response response;
    char url[64];
};

static void open_client(struct client *client, struct server *server)
{
    struct fetch_options options = {.user_agent = "test", .max_connections = 4};

    *client = (struct client){.server = server};
    CHECK_INT(fetch_session_create(&options, &client->session), 0);
}

static int get(struct client *client, const char *path)
{
    fetch_response_finish(&client->response);
    snprintf(client->url, sizeof client->url, "http://127.0.0.1:%u%s",
             coil_listener_port(client->server->listener), path);
    client->request.url = client->url;
    return fetch_get(client->session, &client->request, &client->response);
}

static void close_client(struct client *client)
{
    fetch_response_finish(&client->response);
    fetch_session_destroy(client->session);
}

static void check_ok(struct client *client)
{
    CHECK_INT(get(client, "/ok"), 0);
    CHECK_INT(client->response.status, 200);
    CHECK_STR(client->response.body != NULL ? client->response.body : "", "hello");
    CHECK_INT(client->response.size, 5);
}

IO_TEST(fetch_gets_and_keeps_the_connection)
{
    struct server server;
    struct client client;

    start(&server);
    open_client(&client, &server);
    for (int i = 0; i < 3; i++)
        check_ok(&client);
    CHECK_STR(client.response.content_type, "text/plain");
    CHECK_PTR(client.response.location, NULL);
    CHECK_INT(server.connections, 1);
    close_client(&client);
    stop(&server);
}

static int get_slow(void *arg)
{
    return get(arg, "/slow");
}

IO_TEST(fetch_can_be_cancelled_and_the_session_goes_on)
{
    struct server server;
    struct client client;
    coil_task *task;

    start(&server);
    open_client(&client, &server);
    CHECK_INT(coil_spawn(get_slow, &client, NULL, &task), 0);
    while (server.requests == 0)
        coil_sleep(COIL_MSEC(1));
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    coil_task_release(task);
    check_ok(&client);
    close_client(&client);
    stop(&server);
}

IO_TEST(fetch_obeys_deadlines)
{
    const char *paths[] = {"/slow", "/half"};
    struct server server;
    struct client client;

    start(&server);
    open_client(&client, &server);
    for (int i = 0; i < 2; i++) {
        coil_scope scope;
        coil_scope_enter(&scope, coil_in(COIL_MSEC(30)));
        CHECK_INT(coil_scope_exit(&scope, get(&client, paths[i])), -ETIMEDOUT);
        check_ok(&client);
    }
    close_client(&client);
    stop(&server);
}

static bool refuse(int status, const char *content_type)
{
    CHECK_INT(status, 200);
    CHECK_STR(content_type, "text/plain");
    return false;
}

IO_TEST(fetch_leaves_out_what_is_not_wanted)
{
    struct server server;
    struct client client;

    start(&server);
    open_client(&client, &server);
    client.request.want_body = refuse;
    CHECK_INT(get(&client, "/ok"), 0);
    CHECK_PTR(client.response.body, NULL);
    CHECK_INT(client.response.size, 5);
    client.request.want_body = NULL;
    check_ok(&client);
    CHECK_INT(server.connections, 1); /* short enough to be read to its end */
    close_client(&client);
    stop(&server);
}

IO_TEST(fetch_failures_have_a_code_and_a_sentence)
{
    struct server server;
    struct client client;

    start(&server);
    open_client(&client, &server);
    CHECK_INT(get(&client, "/cut"), -ECONNRESET);
    CHECK(client.response.error[0] != '\0');
    client.request.body_limit = 4;
    CHECK_INT(get(&client, "/ok"), -EFBIG);
    client.request.body_limit = 5;
    check_ok(&client);
    client.request.url = "gopher://127.0.0.1/";
    fetch_response_finish(&client.response);
    CHECK_INT(fetch_get(client.session, &client.request, &client.response), -EINVAL);
    check_ok(&client);
    close_client(&client);
    stop(&server);
}

IO_TEST(fetch_survives_every_failed_allocation_of_the_loop)
{
    struct server server;
    struct client client;
    int failures = 0;

    start(&server);
    open_client(&client, &server);
    for (int n = 1; n <= 30; n++) {
        test_fail_allocation(n);
        int rc = get(&client, "/ok");
        test_fail_allocation(0);
        failures += rc < 0;
        CHECK(rc == 0 || rc == -ENOMEM || rc == -ECONNRESET);
        check_ok(&client);
    }
    CHECK(failures > 0);
    close_client(&client);
    stop(&server);
}

IO_TEST(fetch_resolves_a_host_for_later)
{
    struct server server;
    struct client client;

    start(&server);
    open_client(&client, &server);
    snprintf(client.url, sizeof client.url, "http://localhost:%u/",
             coil_listener_port(server.listener));
    CHECK_INT(fetch_session_resolve(client.session, client.url), 0);
    CHECK_INT(fetch_session_resolve(client.session, "http://[::1]/"), 0);
    CHECK_INT(fetch_session_resolve(client.session, "nonsense:"), -EINVAL);
    check_ok(&client);
    close_client(&client);
    stop(&server);
}
