/*
 * HEAD requests, responses with bodies that are not read, and bodies that are passed to a
 * callback.
 */
#include "fixture.h"

#include "../../harness/harness.h"

static int say_much_or_its_head(struct http_connection *c)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
    int rc = http_say(c, head);

    if (rc < 0 || strncmp(c->request, "HEAD ", 5) == 0)
        return rc;
    return coil_write(c->stream, test_memory(1000000), 1000000) < 0 ? -1 : 0;
}

static int redirect(struct http_connection *c)
{
    int rc = http_say(c, "HTTP/1.1 302 Found\r\nLocation: /much\r\n"
                         "Content-Length: 100000\r\n\r\n");

    if (rc < 0 || strncmp(c->request, "HEAD ", 5) == 0)
        return rc;
    return coil_write(c->stream, (char[100000]){0}, 100000) < 0 ? -1 : 0;
}

static int redirect_briefly(struct http_connection *c)
{
    return http_say(c, "HTTP/1.1 302 Found\r\nLocation: /hello\r\n"
                       "Content-Length: 5\r\n\r\nmoved");
}

static int say_hello(struct http_connection *c)
{
    return http_say(c, "HTTP/1.1 200 OK\r\nContent-Type: text/x\r\n"
                       "Content-Length: 5\r\n\r\nhello");
}

static int say_no_content(struct http_connection *c)
{
    return http_say(c, "HTTP/1.1 204 No Content\r\n\r\n");
}

static int say_half(struct http_connection *c)
{
    http_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
    return coil_sleep(COIL_SEC(60));
}

static int cut_in_the_middle(struct http_connection *c)
{
    http_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
    return -1;
}

/* Send "coil" a hundred times, compressed with gzip. */
static int say_compressed(struct http_connection *c)
{
    static const unsigned char body[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00,
                                         0x02, 0x03, 0x4b, 0xce, 0xcf, 0xcc, 0x49, 0x1e,
                                         0xc5, 0x83, 0x06, 0x03, 0x00, 0xdf, 0xc8, 0xce,
                                         0x01, 0x90, 0x01, 0x00, 0x00};

    http_say(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n");
    coil_write(c->stream, body, sizeof body);
    return -1;
}

static const struct http_route routes[] = {
    {"/much", say_much_or_its_head},
    {"/redirect", redirect},
    {"/brief", redirect_briefly},
    {"/hello", say_hello},
    {"/204", say_no_content},
    {"/half", say_half},
    {"/cut", cut_in_the_middle},
    {"/gzip", say_compressed},
    {NULL, NULL},
};

/* ---- HEAD -------------------------------------------------------------------------- */

IO_TEST(http_head_tells_the_length_and_waits_for_no_body)
{
    struct http_both both;
    struct http_client *client = &both.client;
    char byte;

    http_both_begin(&both, routes, NULL);
    client->request.method = "HEAD";
    for (int i = 0; i < 3; i++) {
        CHECK_INT(http_ask(client, "/much"), 0);
        CHECK_INT(coil_http_status(client->response), 200);
        CHECK_INT(coil_http_content_length(client->response), 1000000);
        if (i == 0)
            CHECK_INT(coil_http_read(client->response, &byte, 1), 0);
        if (i == 1)
            CHECK_INT(coil_http_discard(client->response, 10), 0);
    }
    CHECK_INT(both.server.connections, 1);
    http_both_end(&both);
}

IO_TEST(http_head_follows_redirects_on_one_connection)
{
    struct http_both both;

    http_both_begin(&both, routes, NULL);
    both.client.request.method = "HEAD";
    both.client.request.max_redirects = 1;
    CHECK_INT(http_fetch(&both.client, "/redirect"), 0);
    CHECK_INT(coil_http_content_length(both.client.response), 1000000);
    CHECK_INT(both.server.requests, 2);
    CHECK_INT(both.server.connections, 1);
    http_both_end(&both);
}

/* ---- headers ----------------------------------------------------------------------- */

static int say_headers(struct http_connection *c)
{
    return http_say(c, "HTTP/1.1 103 Early Hints\r\nLink: early\r\n\r\n"
                       "HTTP/1.1 200 OK\r\nA: 1\r\nab: 2\r\nABC:3\r\nabcd:  4\r\n"
                       "X-Long-Name-0: 5\r\nx-long-NAME-1: 6\r\nABCD: 7\r\nEmpty-One:\r\n"
                       "Folded:\r\n a\r\n\tb\r\nFolded-2: c;\r\n  d\r\n"
                       "Transfer-Encoding: chunked\r\nTrailer: Tail\r\n\r\n"
                       "0\r\nTail: 8\r\n\r\n");
}

/*
 * Header names may have any length, and are case-insensitive. The headers of interim
 * responses, and trailers, are not found.
 */
IO_TEST(http_finds_headers_however_their_names_are_written)
{
    static const struct {
        const char *name, *value;
    } cases[] = {
        {"a", "1"},
        {"AB", "2"},
        {"abc", "3"},
        {"ABCD", "4"},
        {"x-long-name-0", "5"},
        {"X-Long-Name-1", "6"},
        {"empty-one", ""},
        {"folded", "a\tb"},
        {"folded-2", "c; d"},
        {"X-Long-Name-2", NULL},
        {"Link", NULL},
        {"Tail", NULL},
        {"abcde", NULL},
        {"", NULL},
        {"Location", NULL},
        {"X", NULL},
        {"TRANSFER-ENCODING", "chunked"},
    };
    static const struct http_route route[] = {{"*", say_headers}, {NULL, NULL}};
    struct http_both both;

    http_both_begin(&both, route, NULL);
    CHECK_INT(http_fetch(&both.client, "/"), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *value = coil_http_header(both.client.response, cases[i].name);
        if (cases[i].value == NULL)
            CHECK_PTR(value, NULL);
        else
            CHECK_STR(value != NULL ? value : "none", cases[i].value);
    }
    CHECK_STR(coil_http_header_at(both.client.response, "abcd", 1), "7");
    http_both_end(&both);
}

/* ---- content codings --------------------------------------------------------------- */

/*
 * The body that say_compressed() sends. say_packed_and_more() sends a second gzip member
 * and other bytes after it.
 */
static const unsigned char packed[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00,
                                       0x02, 0x03, 0x4b, 0xce, 0xcf, 0xcc, 0x49, 0x1e,
                                       0xc5, 0x83, 0x06, 0x03, 0x00, 0xdf, 0xc8, 0xce,
                                       0x01, 0x90, 0x01, 0x00, 0x00};

static int say_packed_and_more(struct http_connection *c)
{
    static char zeroes[100000];
    bool is_apart = strstr(c->path, "apart") != NULL;
    bool is_long = strstr(c->path, "long") != NULL;
    bool is_chunked = strstr(c->path, "chunked") != NULL;

    http_say(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n");
    if (is_chunked)
        http_say(c, "Transfer-Encoding: chunked\r\n\r\n1d\r\n");
    else
        http_say(c, is_long ? "Content-Length: 100029\r\n\r\n"
                            : "Content-Length: 33\r\n\r\n");
    coil_write(c->stream, packed, sizeof packed);
    if (is_apart)
        coil_sleep(COIL_MSEC(20));
    if (is_chunked)
        return http_say(c, "\r\n4\r\nmore\r\n0\r\n\r\n");
    return coil_write(c->stream, is_long ? zeroes : "more", is_long ? sizeof zeroes : 4) <
                   0
               ? -1
               : 0;
}

/* Padding and other bytes after the end of the gzip data are ignored, as browsers do. */
IO_TEST(http_ignores_bytes_behind_the_end_of_gzip)
{
    static const char *const paths[] = {"/",           "/apart",   "/long",
                                        "/long-apart", "/chunked", "/chunked-apart"};
    static const struct http_route route[] = {{"*", say_packed_and_more}, {NULL, NULL}};
    struct http_both both;

    http_both_begin(&both, route, NULL);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        CHECK_INT(http_fetch(&both.client, paths[i]), 0);
        CHECK_INT(both.client.body_bytes, 400);
        CHECK_STR(coil_http_error(both.client.response), "");
    }
    http_both_end(&both);
}

static int say_odd_coding(struct http_connection *c)
{
    http_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n");
    if (strcmp(c->path, "/utf-8") == 0)
        http_say(c, "Content-Encoding: utf-8\r\n");
    else if (strcmp(c->path, "/list") == 0)
        http_say(c, "content-encoding: gzip, aes128gcm\r\n");
    else if (strcmp(c->path, "/two") == 0)
        http_say(c, "Content-Encoding: gzip\r\nContent-Encoding: ISO-8859-1\r\n");
    else if (strcmp(c->path, "/identity") == 0)
        http_say(c, "Content-Encoding: , Identity\r\n");
    else if (strcmp(c->path, "/empty") == 0)
        http_say(c, "Content-Encoding:\r\n");
    return http_say(c, "\r\nhello");
}

/*
 * A body in an unknown coding is not decoded, but the next response on the connection is.
 */
IO_TEST(http_takes_a_body_in_an_unknown_coding_as_it_is)
{
    static const char *const paths[] = {"/utf-8", "/list", "/two", "/identity", "/empty"};
    static const struct http_route route[] = {
        {"/gzip", say_packed_and_more}, {"*", say_odd_coding}, {NULL, NULL}};
    struct http_both both;

    http_both_begin(&both, route, NULL);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        CHECK_INT(http_fetch(&both.client, paths[i]), 0);
        CHECK_STR(both.client.body != NULL ? both.client.body : "", "hello");
        CHECK_INT(both.server.connections, 1);
    }
    CHECK_INT(both.server.requests, sizeof paths / sizeof *paths);
    CHECK_INT(http_fetch(&both.client, "/gzip"), 0);
    CHECK_INT(both.client.body_bytes, 400);
    http_both_end(&both);
}

/* ---- the headers alone ------------------------------------------------------------- */

IO_TEST(http_get_may_end_after_the_headers)
{
    static const struct {
        const char *path;
        /* total number of connections after the next request */
        int connections;
    } cases[] = {{"/hello", 1}, {"/204", 1}, {"/much", 2}, {"/half", 3}};
    struct http_both both;

    http_both_begin(&both, routes, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_INT(http_ask(&both.client, cases[i].path), 0);
        CHECK(coil_http_status(both.client.response) > 0);
        /* destroys the previous response */
        CHECK_INT(http_fetch(&both.client, "/hello"), 0);
        CHECK_INT(both.server.connections, cases[i].connections);
    }
    http_both_end(&both);
}

/* ---- bodies passed to a callback --------------------------------------------------- */

struct taker {
    struct http_client *client;
    char text[1000];
    size_t total, pieces;
    int status, end_with;
    char type[32];
};

static int take(coil_http_response *response, const char *bytes, size_t n, void *arg)
{
    struct taker *taker = arg;
    const char *type = coil_http_header(response, "Content-Type");

    if (taker->total + n < sizeof taker->text)
        memcpy(taker->text + taker->total, bytes, n);
    taker->total += n;
    taker->pieces++;
    taker->status = coil_http_status(response);
    snprintf(taker->type, sizeof taker->type, "%s", type != NULL ? type : "");
    CHECK_PTR(response, taker->client->response);
    CHECK_PTR(coil_task_current(), NULL);
    return taker->end_with;
}

static int hand_on(struct http_both *both, const char *path, struct taker *taker,
                   int end_with)
{
    *taker = (struct taker){.client = &both->client, .end_with = end_with};
    both->client.request.on_body = take;
    both->client.request.on_body_arg = taker;
    return http_ask(&both->client, path);
}

IO_TEST(http_hands_on_the_body_and_returns_at_its_end)
{
    struct http_both both;
    struct taker taker;
    char byte;

    http_both_begin(&both, routes, NULL);
    CHECK_INT(hand_on(&both, "/hello", &taker, 0), 0);
    CHECK_STR(taker.text, "hello");
    CHECK_INT(taker.status, 200);
    CHECK_STR(taker.type, "text/x");
    CHECK_INT(coil_http_read(both.client.response, &byte, 1), 0);
    CHECK_INT(hand_on(&both, "/much", &taker, 0), 0);
    CHECK_INT(taker.total, 1000000);
    CHECK(taker.pieces > 1);
    CHECK_INT(hand_on(&both, "/204", &taker, 0), 0);
    CHECK_INT(taker.pieces, 0);
    CHECK_INT(both.server.connections, 1);
    CHECK_INT(hand_on(&both, "/gzip", &taker, 0), 0);
    CHECK_INT(taker.total, 400);
    CHECK_INT(strncmp(taker.text, "coilcoil", 8), 0);
    http_both_end(&both);
}

IO_TEST(http_does_not_pass_the_body_of_a_redirect_to_on_body)
{
    struct http_both both;
    struct taker taker;

    http_both_begin(&both, routes, NULL);
    both.client.request.max_redirects = 1;
    CHECK_INT(hand_on(&both, "/brief", &taker, 0), 0);
    CHECK_STR(taker.text, "hello");
    CHECK_INT(both.server.connections, 1);
    both.client.request.max_redirects = 0;
    CHECK_INT(hand_on(&both, "/brief", &taker, 0), 0);
    CHECK_STR(taker.text, "moved");
    http_both_end(&both);
}

IO_TEST(http_whoever_takes_the_body_may_end_it)
{
    struct http_both both;
    struct taker taker;

    http_both_begin(&both, routes, NULL);
    CHECK_INT(hand_on(&both, "/much", &taker, -ENOSPC), -ENOSPC);
    CHECK_INT(taker.pieces, 1);
    CHECK_INT(coil_http_status(both.client.response), 200);
    CHECK(strstr(coil_http_error(both.client.response), "on_body callback") != NULL);
    CHECK_INT(hand_on(&both, "/hello", &taker, 0), 0);
    http_both_end(&both);
}

IO_TEST(http_tells_of_a_body_that_fails_while_it_is_handed_on)
{
    struct http_both both;
    struct taker taker;
    coil_scope scope;

    http_both_begin(&both, routes, NULL);
    CHECK_INT(hand_on(&both, "/cut", &taker, 0), -ENODATA);
    CHECK_STR(taker.text, "hello");
    CHECK_INT(coil_http_status(both.client.response), 200);
    both.client.request.body_limit = 4;
    CHECK_INT(hand_on(&both, "/hello", &taker, 0), -EMSGSIZE);
    CHECK_INT(taker.pieces, 0);
    CHECK(strstr(coil_http_error(both.client.response), "limit") != NULL);
    both.client.request.body_limit = 0;
    coil_scope_enter(&scope, coil_in(COIL_MSEC(30)));
    CHECK_INT(coil_scope_exit(&scope, hand_on(&both, "/half", &taker, 0)), -ETIMEDOUT);
    CHECK_INT(hand_on(&both, "/hello", &taker, 0), 0);
    http_both_end(&both);
}

/* ---- misuse ------------------------------------------------------------------------ */

static int destroy_response(coil_http_response *response, const char *bytes, size_t n,
                            void *arg)
{
    (void)bytes, (void)n, (void)arg;
    coil_http_response_destroy(response);
    return 0;
}

static int destroy_session(coil_http_response *response, const char *bytes, size_t n,
                           void *arg)
{
    (void)response, (void)bytes, (void)n;
    coil_http_session_destroy(((struct http_client *)arg)->session);
    return 0;
}

static int begin_another(coil_http_response *response, const char *bytes, size_t n,
                         void *arg)
{
    coil_http_request request = {.url = coil_http_url(response)};

    (void)bytes, (void)n;
    coil_http_get(((struct http_client *)arg)->session, &request, &response);
    return 0;
}

static int read_itself(coil_http_response *response, const char *bytes, size_t n,
                       void *arg)
{
    char byte;

    (void)bytes, (void)n, (void)arg;
    return (int)coil_http_read(response, &byte, 1);
}

static int misuse(void *on_body)
{
    struct http_both both;

    http_both_begin(&both, routes, NULL);
    both.client.request.on_body = *(coil_http_body_fn *)on_body;
    both.client.request.on_body_arg = &both.client;
    http_ask(&both.client, "/hello");
    http_both_end(&both);
    return 0;
}

static void run_misuse(void *on_body)
{
    coil_run(misuse, on_body, NULL);
}

TEST(http_function_that_takes_a_body_must_leave_libcurl_alone)
{
    coil_http_body_fn response = destroy_response, session = destroy_session;
    coil_http_body_fn another = begin_another, itself = read_itself;

    test_dies(run_misuse, &response, "coil_http_response_destroy: called inside");
    test_dies(run_misuse, &session, "coil_http_session_destroy: called inside");
    test_dies(run_misuse, &another, "coil_http_get: called inside");
    test_dies(run_misuse, &itself, "no task is running here");
}
