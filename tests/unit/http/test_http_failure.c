/*
 * Requests that cannot be sent, and invalid responses. The call fails with an errno and a
 * message that explains the cause.
 */
#include "fixture.h"

#include "../../harness/harness.h"

#define OK "HTTP/1.1 200 OK\r\n"

static int say_ok(struct http_connection *c)
{
    return http_say(c, OK "Content-Length: 5\r\n\r\nhello");
}

/* ---- answers that are none --------------------------------------------------------- */

struct bad_answer {
    /* the answer; if `flood` is not 0, 300,000 copies of that character follow */
    const char *text;
    char flood;
    int rc;
    const char *words; /* a part of the message */
};

static const struct bad_answer bad_answers[] = {
    {OK "no colon\r\n\r\n", 0, -EPROTO, "Header without colon"},
    {OK "Content-Length: some\r\n\r\n", 0, -EPROTO, "Content-Length"},
    {OK "Content-Length: 4\r\nContent-Length: 5\r\n\r\nhello", 0, -EPROTO,
     "Content-Length headers differ"},
    {OK "Content-Length: 5\r\nX: y\r\nContent-Length: 5, 6\r\n\r\nhello", 0, -EPROTO,
     "Content-Length headers differ"},
    {OK "Content-Encoding: gzip\r\n\r\nhello", 0, -EPROTO, "unencoding"},
    {OK "Transfer-Encoding: chunked\r\n\r\nzz\r\nhello", 0, -EPROTO, "chunked"},
    {OK "Transfer-Encoding: chunked\r\n\r\n11111111111111111111\r\n", 0, -EPROTO,
     "chunked"},
    {OK "Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n", 0, -EPROTO, "chunked"},
    {OK "X: ", 'x', -EMSGSIZE, "a header is longer"},
    {"HTTP/1.1 200 ", 'x', -EMSGSIZE, "a header is longer"},
    {OK "Transfer-Encoding: chunked\r\n\r\n0\r\nX: ", 'x', -EMSGSIZE, "trailer"},
    {"HTTP/1.1 9999 OK\r\n\r\n", 0, -EPROTO, "response code"},
    {"HTTP/7.1 200 OK\r\n\r\n", 0, -EPROTO, "version"},
    {"SSH-2.0-OpenSSH\r\n\r\n", 0, -EPROTO, "HTTP/0.9"},
    {"HTTP/1.1 302 Found\r\nLocation: http://u:secret@[bad/\r\n\r\n", 0, -EPROTO,
     "Location is not a URL"},
    {"HTTP/1.1 302 Found\r\nLocation: ftp://u:secret@h/\r\n\r\n", 0, -EINVAL,
     "scheme is neither http nor https"},
    {"HTTP/1.1 302 Found\r\nLocation: news://u:secret@h/\r\n\r\n", 0, -EINVAL,
     /* news: is a scheme that libcurl does not know */
     "scheme is neither http nor https"},
};

/* ---- failed handshakes ------------------------------------------------------------- */

struct bad_handshake {
    const char *answer;
    size_t n; /* 0: close the connection without an answer */
    const char *reason;
    coil_listener *listener;
};

static int answer_handshake(void *arg)
{
    const struct bad_handshake *bad = arg;
    char hello[4096];
    coil_stream *stream;
    ssize_t rc = coil_accept(bad->listener, &stream);

    if (rc < 0)
        return (int)rc;
    rc = coil_read(stream, hello, sizeof hello);
    if (rc > 0 && bad->n > 0)
        rc = coil_write(stream, bad->answer, bad->n);
    coil_stream_destroy(stream);
    return rc < 0 ? (int)rc : 0;
}

static void check_bad_handshake(struct bad_handshake *bad)
{
    coil_http_session_opts opts = {.proxy = "", .insecure = true};
    struct http_client client;
    coil_task *task;

    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &bad->listener), 0);
    task = test_spawn(answer_handshake, bad);
    http_client_open(&client, &opts, "https", "127.0.0.1",
                     coil_listener_port(bad->listener));
    CHECK_INT(http_fetch(&client, "/"), -EPROTO);
    CHECK_STR(coil_http_error(client.response), bad->reason);
    http_client_close(&client);
    CHECK_INT(test_join(task), 0);
    coil_listener_destroy(bad->listener);
}

IO_TEST(http_reports_why_a_handshake_failed)
{
    static const char plain[] = OK "Content-Length: 0\r\n\r\n";
    static const char alert[] = {0x15, 3, 3, 0, 2, 2, 40};
    static const char no_tls[] =
        "the TLS handshake failed: the server does not speak TLS on this port";
    struct bad_handshake bad[] = {
        {.answer = plain, .n = sizeof plain - 1, .reason = no_tls},
        {.answer = "SSH-2.0-OpenSSH\r\n", .n = 17, .reason = no_tls},
        {.answer = alert,
         .n = sizeof alert,
         .reason = "the TLS handshake failed: sslv3 alert handshake failure"},
        {.reason = "the TLS handshake failed: the server closed the connection"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_bad_handshake(&bad[i]);
}

/* Send the same Content-Length several times, which is allowed. (RFC 9110, 8.6) */
static int say_length_twice(struct http_connection *c)
{
    return http_say(c, OK "Content-Length: 5\r\nContent-Length: 5, 5\r\n\r\nhello");
}

static int say_something_bad(struct http_connection *c)
{
    const struct bad_answer *bad = &bad_answers[atoi(c->path + 1)];
    static char flood[300000];

    memset(flood, bad->flood, sizeof flood);
    http_say(c, bad->text);
    if (bad->flood != 0)
        coil_write(c->stream, flood, sizeof flood);
    return -1;
}

static bool keeps_the_secret(const coil_http_response *response)
{
    return strstr(coil_http_error(response), "secret") == NULL &&
           strstr(coil_error_message(coil_last_error()), "secret") == NULL;
}

IO_TEST(http_says_what_is_wrong_with_an_answer)
{
    static const struct http_route routes[] = {{"*", say_something_bad}, {NULL, NULL}};
    struct http_both both;
    char path[16];

    http_both_begin(&both, routes, NULL);
    both.client.request.max_redirects = 1;
    for (size_t i = 0; i < sizeof bad_answers / sizeof *bad_answers; i++) {
        snprintf(path, sizeof path, "/%zu", i);
        CHECK_INT(http_fetch(&both.client, path), bad_answers[i].rc);
        if (strstr(coil_http_error(both.client.response), bad_answers[i].words) == NULL)
            CHECK_STR(coil_http_error(both.client.response), bad_answers[i].words);
        CHECK(keeps_the_secret(both.client.response));
    }
    http_both_end(&both);
}

IO_TEST(http_takes_the_same_length_twice)
{
    static const struct http_route routes[] = {{"*", say_length_twice}, {NULL, NULL}};
    struct http_both both;

    http_both_begin(&both, routes, NULL);
    CHECK_INT(http_fetch(&both.client, "/"), 0);
    CHECK_STR(both.client.body, "hello");
    http_both_end(&both);
}

/* 80 MB of zeros, compressed with gzip twice. */
/* clang-format off */
static const unsigned char bomb[] = {
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 237, 220, 161, 78, 130, 81,
    24, 199, 225, 131, 223, 23, 144, 13, 208, 96, 50, 192, 101, 88, 216, 160,
    88, 44, 206, 105, 118, 70, 131, 215, 0, 155, 115, 99, 163, 120, 39, 20,
    232, 184, 25, 188, 3, 181, 121, 1, 96, 48, 152, 84, 244, 251, 238, 194,
    243, 62, 79, 58, 249, 141, 255, 157, 253, 122, 179, 102, 170, 236, 20, 235,
    135, 70, 227, 239, 49, 185, 255, 153, 191, 55, 91, 9, 0, 0, 0, 200,
    220, 228, 245, 182, 168, 198, 128, 212, 223, 62, 31, 159, 94, 0, 0, 0,
    0, 185, 187, 234, 118, 202, 122, 20, 248, 186, 60, 28, 57, 7, 0, 0,
    0, 100, 239, 110, 112, 180, 87, 255, 16, 248, 24, 223, 148, 206, 1, 0,
    0, 0, 217, 59, 248, 124, 27, 214, 91, 192, 211, 118, 185, 127, 238, 30,
    0, 0, 0, 144, 189, 23, 193, 0, 0, 0, 0, 8, 69, 48, 0, 0,
    0, 0, 98, 17, 12, 0, 0, 0, 128, 88, 4, 3, 0, 0, 0, 32,
    24, 193, 0, 0, 0, 0, 136, 69, 48, 0, 0, 0, 0, 98, 17, 12,
    0, 0, 0, 128, 88, 4, 3, 0, 0, 0, 32, 24, 193, 0, 0, 0,
    0, 136, 69, 48, 0, 0, 0, 0, 98, 17, 12, 0, 0, 0, 128, 88,
    4, 3, 0, 0, 0, 32, 24, 193, 0, 0, 0, 0, 136, 229, 186, 219,
    217, 173, 182, 128, 242, 123, 188, 105, 23, 9, 0, 0, 0, 254, 169, 213,
    232, 108, 113, 50, 77, 139, 199, 242, 23, 210, 199, 155, 50, 211, 47, 1,
    0,
};
/* clang-format on */

static int say_bomb(struct http_connection *c)
{
    http_say(c, OK "Content-Encoding: gzip, gzip\r\n\r\n");
    coil_write(c->stream, bomb, sizeof bomb);
    return -1;
}

IO_TEST(http_says_that_a_piece_is_decompressed_to_too_much)
{
    static const struct http_route routes[] = {{"*", say_bomb}, {NULL, NULL}};
    struct http_both both;

    http_both_begin(&both, routes, NULL);
    CHECK_INT(http_fetch(&both.client, "/"), -EMSGSIZE);
    CHECK(strstr(coil_http_error(both.client.response), "decompressed") != NULL);
    http_both_end(&both);
}

/* ---- requests that are none -------------------------------------------------------- */

static int ask_url(struct http_client *client, const char *url)
{
    coil_http_response_destroy(client->response);
    client->request.url = url;
    return coil_http_get(client->session, &client->request, &client->response);
}

static bool says(const struct http_client *client, const char *words)
{
    return strstr(coil_http_error(client->response), words) != NULL;
}

IO_TEST(http_says_what_is_wrong_with_a_url)
{
    static const struct {
        const char *url, *words;
    } cases[] = {
        {NULL, "no URL"},
        {"", "no URL"},
        {"http://", "No host"},
        {"nonsense", "does not begin with http"},
        {"u:secret@h/", "does not begin with http"},
        {"http:\\\\u:secret@h\\", "does not begin with http"},
        {"http://u:sec/secret@h/", "Port"},
        {"http://u:secret@h:99999/", "Port"},
        {"http://u:secret@[::1", "IPv6"},
        {"http://u:secret@a b/", "hostname"},
        {"ftp://u:secret@h/", "neither http nor https"},
        {"coap://u:secret@h/", "neither http nor https"},
        {"http:/u:secret@127.0.0.1:1/", "connect"},
        {"http:///u:secret@127.0.0.1:1/", "connect"},
        {"http://u:secret@127.0.0.1:1/", "connect"},
        {"http://127.0.0.1:1/a b", "path"},
    };
    struct http_both both;
    struct http_client *client = &both.client;

    http_both_begin(&both, NULL, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool refused = strcmp(cases[i].words, "connect") == 0;
        CHECK_INT(ask_url(client, cases[i].url), refused ? -ECONNREFUSED : -EINVAL);
        if (!says(client, cases[i].words))
            CHECK_STR(coil_http_error(client->response), cases[i].words);
        CHECK(keeps_the_secret(client->response));
    }
    http_both_end(&both);
}

IO_TEST(http_says_what_is_wrong_with_a_header_or_method)
{
    static const struct {
        const char *header, *words;
    } cases[] = {
        {"no-colon", "header 2 of the request has no colon"},
        {"Authorization secret", "no colon"},
        {": secret", "does not begin with a name"},
        {"", "does not begin with a name"},
        {"X: secret\r\nY: z", "header 2 of the request (X) contains a line break"},
    };
    static const struct http_route routes[] = {{"*", say_ok}, {NULL, NULL}};
    const char *headers[] = {"A: b", NULL, NULL};
    struct http_both both;

    http_both_begin(&both, routes, NULL);
    both.client.request.headers = headers;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        headers[1] = cases[i].header;
        CHECK_INT(http_fetch(&both.client, "/ok"), -EINVAL);
        if (!says(&both.client, cases[i].words))
            CHECK_STR(coil_http_error(both.client.response), cases[i].words);
        CHECK(keeps_the_secret(both.client.response));
    }
    both.client.request = (coil_http_request){.method = "GE T"};
    CHECK_INT(http_fetch(&both.client, "/ok"), -EINVAL);
    CHECK(says(&both.client, "method"));
    http_both_end(&both);
}

/* Return `beginning`, followed by n letters. */
static char *long_text(const char *beginning, size_t n)
{
    char *text = malloc(strlen(beginning) + n + 1);

    CHECK(text != NULL);
    strcpy(text, beginning);
    memset(text + strlen(beginning), 'a', n);
    text[strlen(beginning) + n] = '\0';
    return text;
}

IO_TEST(http_says_what_of_a_request_is_too_long)
{
    static const struct {
        size_t length;
        const char *url_words, *header_words, *method_words;
    } cases[] = {
        {1100000, "URL or headers are longer", "URL or headers are longer",
         "URL or headers are longer"},
        {9000000, "the URL is longer", "URL or headers are longer", "longer"},
    };
    static const struct http_route routes[] = {{"*", say_ok}, {NULL, NULL}};
    struct http_both both;
    char root[160];

    http_both_begin(&both, routes, NULL);
    snprintf(root, sizeof root, "%s/", both.client.base);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *url = long_text(root, cases[i].length);
        char *header = long_text("X: ", cases[i].length);
        char *method = long_text("", cases[i].length);
        const char *headers[] = {header, NULL};

        both.client.request = (coil_http_request){.url = NULL};
        CHECK_INT(ask_url(&both.client, url), -EMSGSIZE);
        CHECK(says(&both.client, cases[i].url_words));
        CHECK(strlen(coil_error_message(coil_last_error())) < 2000);
        both.client.request.headers = headers;
        CHECK_INT(ask_url(&both.client, root), -EMSGSIZE);
        CHECK(says(&both.client, cases[i].header_words));
        both.client.request = (coil_http_request){.method = method};
        CHECK_INT(ask_url(&both.client, root), -EMSGSIZE);
        CHECK(says(&both.client, cases[i].method_words));
        free(url), free(header), free(method);
    }
    both.client.request = (coil_http_request){.url = NULL};
    CHECK_INT(http_fetch(&both.client, "/ok"), 0);
    http_both_end(&both);
}

IO_TEST(http_says_what_is_wrong_with_a_proxy_and_keeps_its_password)
{
    static const struct {
        const char *proxy;
        int rc;
        const char *words;
    } cases[] = {
        {"ftp://u:secret@127.0.0.1:1", -EINVAL, "proxy's scheme"},
        {"odd://u:secret@127.0.0.1:1", -EINVAL, "proxy's scheme"},
        {"u:sec secret@h:1", -EINVAL, "the proxy is not a URL"},
        {"http://u:secret@h:99999", -EINVAL, "the proxy is not a URL"},
        {"http://u:sec/secret@h", -EINVAL, "the proxy is not a URL"},
        {"http://u:secret@127.0.0.1:1", -ECONNREFUSED, "127.0.0.1 port 1"},
        {"socks5://u:secret@127.0.0.1:1", -ECONNREFUSED, "127.0.0.1 port 1"},
        {"HTTP://u:secret@127.0.0.1:1", -ECONNREFUSED, "127.0.0.1 port 1"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        coil_http_session_opts opts = {.proxy = cases[i].proxy};
        struct http_client client;
        http_client_open(&client, &opts, "http", "u:secret@127.0.0.1", 9);
        CHECK_INT(http_fetch(&client, "/"), cases[i].rc);
        if (!says(&client, cases[i].words))
            CHECK_STR(coil_http_error(client.response), cases[i].words);
        CHECK(keeps_the_secret(client.response));
        http_client_close(&client);
    }
}
