/*
 * Requests reuse libcurl's handles, so the options of a request must not affect later
 * ones.
 */
#include "fixture.h"

#include "../../harness/harness.h"

#include <curl/curl.h>

static int say_ok(struct http_connection *c)
{
    bool head = strncmp(c->request, "HEAD ", 5) == 0;

    return http_say(c, head ? "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
                            : "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
}

static int say_half(struct http_connection *c)
{
    http_say(c, "HTTP/1.1 200 OK\r\nX: half\r\nContent-Length: 10\r\n\r\nhello");
    return coil_sleep(COIL_SEC(60));
}

static int cut(struct http_connection *c)
{
    (void)c;
    return -1;
}

static const struct http_route routes[] = {
    {"/half", say_half}, {"/cut", cut}, {"*", say_ok}, {NULL, NULL}};

static char plain_request[8192];

/* Check that a GET of /ok sends the same bytes as the first request of this test. */
static void check_plain(struct http_both *both)
{
    both->client.request = (coil_http_request){.url = NULL};
    CHECK_INT(http_fetch(&both->client, "/ok"), 0);
    CHECK_STR(both->client.body != NULL ? both->client.body : "", "hello");
    CHECK_STR(both->server.last_request, plain_request);
}

IO_TEST(http_leaves_nothing_of_a_request_to_the_next)
{
    static const char *const with_type[] = {"Content-Type: text/x", "X: y", NULL};
    static const char *const as_it_is[] = {"Accept-Encoding: gzip", NULL};
    static const char *const without[] = {"User-Agent:", NULL};
    static const coil_http_request requests[] = {
        {.method = "HEAD"},
        {.method = "POST"},
        {.method = "DELETE"},
        {.method = "PUT", .body = "a=1", .body_bytes = 3},
        {.body = "a=1", .body_bytes = 3, .headers = with_type},
        {.headers = as_it_is},
        {.headers = without},
        {.method = "HEAD", .headers = with_type},
        {.body_limit = 2},
    };
    struct http_both both;

    http_both_begin(&both, routes, NULL);
    CHECK_INT(http_fetch(&both.client, "/ok"), 0);
    snprintf(plain_request, sizeof plain_request, "%s", both.server.last_request);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        bool fails = requests[i].body_limit > 0;
        both.client.request = requests[i];
        CHECK_INT(http_fetch(&both.client, "/ok"), fails ? -EMSGSIZE : 0);
        CHECK(fails || strcmp(both.server.last_request, plain_request) != 0);
        check_plain(&both);
    }
    http_both_end(&both);
}

/* Count the lines of the server's last request that begin with `text`. */
static int count_lines(const struct http_server *server, const char *text)
{
    int count = 0;

    for (const char *at = server->last_request; (at = strstr(at, text)) != NULL; at++)
        count += at[-1] == '\n';
    return count;
}

static void send_with(struct http_both *both, const char *const *headers)
{
    both->client.request.headers = headers;
    CHECK_INT(http_fetch(&both->client, "/ok"), 0);
}

/* Each default header is sent once, unless the request has its own or an empty one. */
IO_TEST(http_sends_each_default_header_once)
{
    static const char *const more[] = {"X: y", NULL};
    static const char *const own[] = {"user-agent: own", "X: y", NULL};
    static const char *const none[] = {"User-Agent:", NULL};
    static const char *const range[] = {"Range: bytes=0-9", NULL};
    struct http_both both;

    http_both_begin(&both, routes, &(coil_http_session_opts){.user_agent = "test/1"});
    for (int i = 0; i < 2; i++) {
        send_with(&both, i == 0 ? NULL : more);
        CHECK_INT(count_lines(&both.server, "User-Agent: test/1\r\n"), 1);
        CHECK_INT(count_lines(&both.server, "User-Agent:"), 1);
        CHECK_INT(count_lines(&both.server, "Accept-Encoding:"), 1);
        CHECK_INT(count_lines(&both.server, "Accept: */*\r\n"), 1);
    }
    send_with(&both, own);
    CHECK_INT(count_lines(&both.server, "user-agent: own\r\n"), 1);
    CHECK_INT(count_lines(&both.server, "User-Agent:"), 0);
    CHECK_INT(count_lines(&both.server, "Accept-Encoding:"), 1);
    send_with(&both, none);
    CHECK_INT(count_lines(&both.server, "User-Agent:"), 0);
    send_with(&both, range);
    CHECK_INT(count_lines(&both.server, "Accept-Encoding:"), 0);
    CHECK_INT(count_lines(&both.server, "User-Agent: test/1\r\n"), 1);
    http_both_end(&both);
}

IO_TEST(http_sends_no_user_agent_if_it_is_empty)
{
    struct http_both both;

    http_both_begin(&both, routes, &(coil_http_session_opts){.user_agent = ""});
    send_with(&both, NULL);
    CHECK_INT(count_lines(&both.server, "User-Agent:"), 0);
    http_both_end(&both);
}

/* Send a request with libcurl alone, which requests all codings that it can decode. */
static int send_with_libcurl(void *url)
{
    CURL *easy = curl_easy_init();
    CURLcode code;

    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    code = curl_easy_perform(easy);
    curl_easy_cleanup(easy);
    return code == CURLE_OK ? 0 : -EIO;
}

static const char *accept_encoding(const struct http_server *server, char *line)
{
    const char *found = strstr(server->last_request, "Accept-Encoding:");

    snprintf(line, 100, "%.*s", found != NULL ? (int)strcspn(found, "\r") : 0,
             found != NULL ? found : "");
    return line;
}

IO_TEST(http_requests_the_codings_that_libcurl_can_decode)
{
    struct http_both both;
    char by_coil[100], by_libcurl[100];

    http_both_begin(&both, routes, NULL);
    send_with(&both, NULL);
    accept_encoding(&both.server, by_coil);
    CHECK_INT(coil_blocking(COIL_LANE_CPU, send_with_libcurl, both.client.url), 0);
    CHECK_STR(by_coil, accept_encoding(&both.server, by_libcurl));
    http_both_end(&both);
}

IO_TEST(http_goes_on_after_requests_that_ended_early)
{
    struct http_both both;

    http_both_begin(&both, routes, NULL);
    CHECK_INT(http_fetch(&both.client, "/ok"), 0);
    snprintf(plain_request, sizeof plain_request, "%s", both.server.last_request);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(http_ask(&both.client, "/half"), 0);
        CHECK_STR(coil_http_header(both.client.response, "X"), "half");
        check_plain(&both);
        CHECK_PTR(coil_http_header(both.client.response, "X"), NULL);
        CHECK_INT(http_fetch(&both.client, "/cut"), -ECONNRESET);
        check_plain(&both);
    }
    http_both_end(&both);
}

/* The first request is for a new origin, the second for a known one. */
IO_TEST(http_refuses_a_url_of_a_known_origin_as_of_any_other)
{
    struct http_both both;
    char url[300];

    http_both_begin(&both, routes, NULL);
    for (int i = 0; i < 2; i++) {
        snprintf(url, sizeof url, "%s/a b", both.client.base);
        both.client.request.url = url;
        coil_http_response_destroy(both.client.response);
        CHECK_INT(coil_http_get(both.client.session, &both.client.request,
                                &both.client.response),
                  -EINVAL);
        CHECK(strstr(coil_http_error(both.client.response), "path") != NULL);
        CHECK_INT(http_fetch(&both.client, "/ok"), 0);
    }
    /* The URL begins with the URL of a known origin, but names another host. */
    snprintf(url, sizeof url, "%s@127.0.0.1:1/", both.client.base);
    both.client.request.url = url;
    coil_http_response_destroy(both.client.response);
    CHECK_INT(
        coil_http_get(both.client.session, &both.client.request, &both.client.response),
        -ECONNREFUSED);
    http_both_end(&both);
}

/*
 * The headers of a response stay unchanged until it is destroyed, even if other requests
 * are made.
 */
IO_TEST(http_responses_keep_their_headers_while_others_come)
{
    enum { COUNT = 5 };
    struct http_client kept[COUNT];
    struct http_both both;
    char path[16], wanted[300];

    http_both_begin(&both, routes, NULL);
    for (int i = 0; i < COUNT; i++) {
        kept[i] = both.client;
        kept[i].response = NULL;
        kept[i].body = NULL;
        snprintf(path, sizeof path, "/%d", i);
        CHECK_INT(http_fetch(&kept[i], path), 0);
    }
    for (int i = 0; i < COUNT; i++) {
        snprintf(wanted, sizeof wanted, "%s/%d", both.client.base, i);
        CHECK_STR(coil_http_url(kept[i].response), wanted);
        CHECK_INT(coil_http_status(kept[i].response), 200);
        CHECK_STR(coil_http_header(kept[i].response, "Content-Length"), "5");
        coil_http_response_destroy(kept[i].response);
        coil_free(kept[i].body);
    }
    http_both_end(&both);
}
