/*
 * test_http_cut.c - responses that end early. Each response is cut off after each of its
 * bytes, that is, in the status line, the headers, an interim response, the size of a
 * chunk, a chunk, and a trailer.
 */
#include "fixture.h"

#include "../../harness/harness.h"

#include <string.h>

struct answer {
    const char *head, *body;
};

static const struct answer answers[] = {
    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Y: z\r\n\r\n", "hello"},
    {"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", "hello"},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n",
     "3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nX: y\r\n\r\n"},
    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
     "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\n",
     "hello"},
    {"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 5\r\n\r\n", "hello"},
};

/* ---- the server -------------------------------------------------------------------- */

static const struct answer *current;
static size_t sent_bytes;

static int say_a_part(struct http_connection *c)
{
    char text[512];

    snprintf(text, sizeof text, "%s%s", current->head, current->body);
    coil_write(c->stream, text, sent_bytes);
    return -1;
}

static int say_ok(struct http_connection *c)
{
    return http_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK");
}

static const struct http_route routes[] = {
    {"/ok", say_ok}, {"*", say_a_part}, {NULL, NULL}};

/* ---- the client -------------------------------------------------------------------- */

static int expected(void)
{
    size_t head = strlen(current->head), body = strlen(current->body);

    if (sent_bytes < head)
        return -ECONNRESET;
    /* libcurl does not need the line feed that ends the trailers. */
    if (current->body[body - 1] == '\n')
        body--;
    return sent_bytes < head + body ? -ENODATA : 0;
}

static void check_part(struct http_client *client, bool reuse)
{
    int rc = expected();

    if (reuse)
        CHECK_INT(http_fetch(client, "/ok"), 0);
    CHECK_INT(http_fetch(client, "/part"), rc);
    if (rc == 0) {
        CHECK_STR(client->body, "hello");
        return;
    }
    CHECK((coil_http_status(client->response) == 0) == (rc == -ECONNRESET));
    CHECK(coil_http_header(client->response, "Content-Length") == NULL || rc == -ENODATA);
    CHECK(strstr(coil_http_error(client->response), "clos") != NULL);
}

static void cut_each(struct http_client *client, bool reuse)
{
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        current = &answers[i];
        for (sent_bytes = 0; sent_bytes <= strlen(current->head) + strlen(current->body);
             sent_bytes++)
            if (test_has_turn(sent_bytes))
                check_part(client, reuse);
    }
}

IO_TEST(http_answer_that_ends_early_fails)
{
    struct http_both both;

    http_both_begin(&both, routes, NULL);
    cut_each(&both.client, false);
    http_both_end(&both);
}

IO_TEST(http_answer_that_ends_early_on_a_used_connection_fails)
{
    struct http_both both;

    http_both_begin(&both, routes, NULL);
    cut_each(&both.client, true);
    http_both_end(&both);
}

IO_TEST(http_answer_of_a_proxy_that_ends_early_fails)
{
    struct http_server proxy;
    struct http_client client;
    char url[64];
    coil_http_session_opts opts = {.proxy = url};

    http_server_start(&proxy, routes);
    snprintf(url, sizeof url, "127.0.0.1:%u", coil_listener_port(proxy.listener));
    http_client_open(&client, &opts, "http", "name.invalid", 80);
    cut_each(&client, false);
    http_client_close(&client);
    http_server_stop(&proxy);
}

/* The proxy's response to CONNECT is cut off. */
IO_TEST(http_tunnel_that_ends_early_fails)
{
    static const struct answer established = {
        "HTTP/1.1 200 Connection established\r\n\r\n", ""};
    struct http_server proxy;
    struct http_client client;
    char url[64];
    coil_http_session_opts opts = {.proxy = url};

    http_server_start(&proxy, routes);
    snprintf(url, sizeof url, "127.0.0.1:%u", coil_listener_port(proxy.listener));
    http_client_open(&client, &opts, "https", "name.invalid", 443);
    current = &established;
    for (sent_bytes = 0; sent_bytes < strlen(established.head); sent_bytes++) {
        if (!test_has_turn(sent_bytes))
            continue;
        CHECK_INT(http_fetch(&client, "/"), -ECONNRESET);
        CHECK_INT(coil_http_status(client.response), 0);
    }
    http_client_close(&client);
    http_server_stop(&proxy);
}

/* A redirect is followed if only its body is incomplete, but not if its headers are. */
IO_TEST(http_redirect_that_ends_early)
{
    static const struct answer redirect = {
        "HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Length: 5\r\n\r\n", "hello"};
    struct http_both both;

    http_both_begin(&both, routes, NULL);
    both.client.request.max_redirects = 1;
    current = &redirect;
    for (sent_bytes = 0; sent_bytes < strlen(redirect.head) + 5; sent_bytes++) {
        if (!test_has_turn(sent_bytes))
            continue;
        CHECK_INT(http_fetch(&both.client, "/"),
                  sent_bytes < strlen(redirect.head) ? -ECONNRESET : 0);
    }
    http_both_end(&both);
}

static int count_bytes(coil_http_response *response, const char *bytes, size_t n,
                       void *count)
{
    (void)response;
    (void)bytes;
    *(size_t *)count += n;
    return 0;
}

IO_TEST(http_answer_that_ends_early_fails_with_on_body)
{
    struct http_both both;
    size_t count = 0;

    http_both_begin(&both, routes, NULL);
    both.client.request.on_body = count_bytes;
    both.client.request.on_body_arg = &count;
    current = &answers[0];
    for (sent_bytes = 0; sent_bytes < strlen(current->head) + 5; sent_bytes++)
        if (test_has_turn(sent_bytes)) {
            count = 0;
            CHECK_INT(http_ask(&both.client, "/"), expected());
            CHECK_INT(count, sent_bytes > strlen(current->head)
                                 ? sent_bytes - strlen(current->head)
                                 : 0);
        }
    http_both_end(&both);
}
