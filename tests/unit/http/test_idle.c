/* Requests that make no progress for idle_timeout_ns fail. Slow requests do not fail. */
#include "fixture.h"

#include "../../harness/harness.h"

#include <coil/poll.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define PATIENCE COIL_MSEC(300)

static int say_nothing(struct http_connection *c)
{
    (void)c;
    return coil_sleep(COIL_SEC(60));
}

static int say_half_a_header(struct http_connection *c)
{
    http_say(c, "HTTP/1.1 200 OK\r\nContent-Le");
    return coil_sleep(COIL_SEC(60));
}

static int say_half(struct http_connection *c)
{
    http_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
    return coil_sleep(COIL_SEC(60));
}

static int say_ok(struct http_connection *c)
{
    return http_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
}

/* Send a response with a body of ten letters, letter by letter. */
static int drip(struct http_connection *c)
{
    static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhellohello";

    for (const char *letter = text; *letter != '\0'; letter++) {
        if (coil_write(c->stream, letter, 1) < 0 || coil_sleep(COIL_MSEC(60)) < 0)
            return -1;
    }
    return 0;
}

static const struct http_route routes[] = {
    {"/nothing", say_nothing}, {"/half-header", say_half_a_header},
    {"/half", say_half},       {"/drip", drip},
    {"/ok", say_ok},           {NULL, NULL},
};

static int ignore(coil_http_response *response, const char *bytes, size_t n, void *arg)
{
    (void)response, (void)bytes, (void)arg;
    return n > 0 ? 0 : -EINVAL;
}

/* Check that the request times out as idle, with and without on_body. */
static void check_idle(struct http_client *client, const char *path, const char *words)
{
    for (int i = 0; i < 2; i++) {
        client->request.on_body = i == 0 ? NULL : ignore;
        CHECK_INT(http_fetch(client, path), -ETIMEDOUT);
        if (strstr(coil_http_error(client->response), words) == NULL)
            CHECK_STR(coil_http_error(client->response), words);
    }
    client->request.on_body = NULL;
}

IO_TEST(http_idle_requests_end)
{
    struct http_both both;

    http_both_begin(&both, routes, NULL);
    both.client.request.idle_timeout_ns = PATIENCE;
    check_idle(&both.client, "/nothing", "received nothing of the response for 0.3 s");
    check_idle(&both.client, "/half-header",
               "received nothing of the response for 0.3 s");
    check_idle(&both.client, "/half", "received nothing of the body for 0.3 s");
    CHECK_INT(coil_http_status(both.client.response), 200);
    both.client.request.idle_timeout_ns = 0;
    CHECK_INT(http_fetch(&both.client, "/ok"), 0);
    http_both_end(&both);
}

/* The response takes longer than the timeout, but the pauses in it are shorter. */
IO_TEST(http_slow_requests_do_not_count_as_idle)
{
    struct http_both both;
    int64_t began = coil_now();

    http_both_begin(&both, routes, NULL);
    both.client.request.idle_timeout_ns = COIL_SEC(2);
    CHECK_INT(http_fetch(&both.client, "/drip"), 0);
    CHECK_INT(both.client.body_bytes, 10);
    CHECK(coil_now() - began > COIL_SEC(2));
    http_both_end(&both);
}

/* A response is not idle while the caller does not read. */
IO_TEST(http_response_that_nobody_reads_is_not_idle)
{
    struct http_both both;
    char buf[5];

    http_both_begin(&both, routes, NULL);
    both.client.request.idle_timeout_ns = PATIENCE;
    CHECK_INT(http_ask(&both.client, "/half"), 0);
    coil_sleep(2 * PATIENCE);
    CHECK_INT(coil_http_read(both.client.response, buf, 5), 5);
    CHECK_INT(coil_http_read(both.client.response, buf, 5), -ETIMEDOUT);
    http_both_end(&both);
}

/* If a request has to wait for a connection, this wait does not count as idle time. */
IO_TEST(http_request_that_waits_for_its_turn_is_not_idle)
{
    coil_http_session_opts opts = {.max_connections = 1};
    struct http_client other;
    struct http_both both;
    coil_task *task;

    http_both_begin(&both, routes, &opts);
    CHECK_INT(http_ask(&both.client, "/half"), 0);
    other = both.client;
    other.response = NULL;
    /* the request will wait for the only connection for longer than this */
    other.request.idle_timeout_ns = 5 * PATIENCE;
    snprintf(other.url, sizeof other.url, "%s/ok", other.base);
    task = test_spawn(http_fetch_task, &other);
    coil_sleep(7 * PATIENCE);
    CHECK(!coil_future_done(coil_task_future(task)));
    coil_http_response_destroy(both.client.response);
    both.client.response = NULL;
    CHECK_INT(test_join(task), 0);
    coil_http_response_destroy(other.response);
    coil_free(other.body);
    http_both_end(&both);
}

/*
 * A listener with a full backlog. Linux drops further SYNs, so attempts to connect never
 * end.
 */
struct deaf {
    int fds[8]; /* the listener, and the connections that fill its backlog */
    struct sockaddr_in name;
};

static int connect_to(const struct deaf *deaf)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0);
    connect(fd, (const struct sockaddr *)&deaf->name, sizeof deaf->name);
    return fd;
}

static void deaf_open(struct deaf *deaf)
{
    socklen_t length = sizeof deaf->name;
    struct pollfd last = {.events = POLLOUT};

    deaf->name = (struct sockaddr_in){.sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    deaf->fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(deaf->fds[0], (struct sockaddr *)&deaf->name, length), 0);
    CHECK_INT(getsockname(deaf->fds[0], (struct sockaddr *)&deaf->name, &length), 0);
    CHECK_INT(listen(deaf->fds[0], 0), 0);
    for (size_t i = 1; i < COUNT(deaf->fds); i++)
        deaf->fds[i] = connect_to(deaf);
    last.fd = deaf->fds[COUNT(deaf->fds) - 1];
    if (coil_poll(&last, 1, COIL_MSEC(100)) != 0)
        test_skip("this system does not drop requests when the backlog is full");
}

static void deaf_close(struct deaf *deaf)
{
    for (size_t i = 0; i < COUNT(deaf->fds); i++)
        close(deaf->fds[i]);
}

/*
 * A request's idle timeout starts when the request gets a connection, even if the request
 * had to wait.
 */
IO_TEST(http_request_has_its_whole_time_once_it_has_had_its_turn)
{
    coil_http_session_opts opts = {.max_connections = 1};
    struct http_client other;
    struct http_both both;
    struct deaf deaf;
    coil_task *task;
    int64_t began;

    deaf_open(&deaf);
    http_both_begin(&both, routes, &opts);
    CHECK_INT(http_ask(&both.client, "/half"), 0);
    other = both.client;
    other.response = NULL;
    other.request.idle_timeout_ns = 2 * PATIENCE;
    snprintf(other.url, sizeof other.url, "http://127.0.0.1:%d/",
             ntohs(deaf.name.sin_port));
    task = test_spawn(http_fetch_task, &other);
    coil_sleep(3 * PATIENCE);
    CHECK(!coil_future_done(coil_task_future(task)));
    began = coil_now();
    coil_http_response_destroy(both.client.response);
    both.client.response = NULL;
    CHECK_INT(test_join(task), -ETIMEDOUT);
    CHECK(coil_now() - began >= 2 * PATIENCE);
    CHECK(strstr(coil_http_error(other.response), "while connecting") != NULL);
    coil_http_response_destroy(other.response);
    http_both_end(&both);
    deaf_close(&deaf);
}

static int accept_and_say_nothing(void *listener)
{
    coil_stream *stream;
    int rc = coil_accept(listener, &stream);

    if (rc < 0)
        return rc;
    rc = coil_sleep(COIL_SEC(60));
    coil_stream_destroy(stream);
    return rc;
}

IO_TEST(http_idle_handshake_ends)
{
    coil_http_session_opts opts = {.proxy = "", .insecure = true};
    struct http_client client;
    coil_listener *listener;
    coil_task *task;

    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &listener), 0);
    task = test_spawn(accept_and_say_nothing, listener);
    http_client_open(&client, &opts, "https", "127.0.0.1", coil_listener_port(listener));
    client.request.idle_timeout_ns = PATIENCE;
    check_idle(&client, "/", "during the TLS handshake");
    http_client_close(&client);
    coil_task_cancel(task, NULL);
    CHECK_INT(test_join(task), -ECANCELED);
    coil_listener_destroy(listener);
}

/* Many requests with different timeouts share one timer. */
IO_TEST(http_idle_requests_end_each_in_its_time)
{
    enum { COUNT = 20 };
    static struct http_client clients[COUNT];
    coil_task *tasks[COUNT];
    struct http_both both;

    http_both_begin(&both, routes, NULL);
    for (int i = 0; i < COUNT; i++) {
        clients[i] = both.client;
        clients[i].request.idle_timeout_ns =
            i % 2 == 0 ? COIL_MSEC(20) * (i + 1) : COIL_SEC(100);
        snprintf(clients[i].url, sizeof clients[i].url, "%s/nothing", clients[i].base);
        tasks[i] = test_spawn(http_fetch_task, &clients[i]);
    }
    for (int i = 0; i < COUNT; i += 2)
        CHECK_INT(test_join(tasks[i]), -ETIMEDOUT);
    for (int i = 1; i < COUNT; i += 2) {
        CHECK(!coil_future_done(coil_task_future(tasks[i])));
        coil_task_cancel(tasks[i], NULL);
        CHECK_INT(test_join(tasks[i]), -ECANCELED);
    }
    for (int i = 0; i < COUNT; i++)
        coil_http_response_destroy(clients[i].response);
    http_both_end(&both);
}
