/*
 * A failed call must not show the message of an older failure.
 * (tests/unit/across/test_failing_calls.c checks other calls.)
 */
#include "fixture.h"

#include "../across/failing.h"
#include "../../harness/harness.h"

static struct http_both both;

static int say_half(struct http_connection *c)
{
    http_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
    return -1;
}

static int say_nothing(struct http_connection *c)
{
    (void)c;
    return coil_sleep(COIL_SEC(60));
}

static int cut(struct http_connection *c)
{
    (void)c;
    return -1;
}

static int redirect(struct http_connection *c)
{
    return http_say(c, "HTTP/1.1 302 Found\r\nLocation: /redirect\r\n"
                       "Content-Length: 0\r\n\r\n");
}

static int redirect_in_half(struct http_connection *c)
{
    http_say(c, "HTTP/1.1 302 Found\r\nLocation: /whole\r\n"
                "Content-Length: 100\r\n\r\nhello");
    return -1;
}

static int say_whole(struct http_connection *c)
{
    return http_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
}

static const struct http_route routes[] = {
    {"/half", say_half},   {"/away", redirect_in_half},
    {"/whole", say_whole}, {"/nothing", say_nothing},
    {"/cut", cut},         {"/redirect", redirect},
    {NULL, NULL}};

static int refuse(coil_http_response *response, const char *bytes, size_t n, void *arg)
{
    (void)response, (void)bytes, (void)n, (void)arg;
    return -ENOSPC;
}

static ssize_t ask(const char *path, coil_http_request request)
{
    both.client.request = request;
    return http_fetch(&both.client, path);
}

static ssize_t get_nonsense(void)
{
    coil_http_response *response;
    int rc = coil_http_get(both.client.session, &(coil_http_request){.url = "nonsense"},
                           &response);

    coil_http_response_destroy(response);
    return rc;
}

static ssize_t get_from_nobody(void)
{
    coil_http_request request = {.url = "http://127.0.0.1:1/"};
    coil_http_response *response;
    int rc = coil_http_get(both.client.session, &request, &response);

    coil_http_response_destroy(response);
    return rc;
}

static ssize_t get_by_a_bad_method(void)
{
    return ask("/half", (coil_http_request){.method = "GE T"});
}

static ssize_t get_with_a_bad_header(void)
{
    static const char *const headers[] = {"no colon", NULL};

    return ask("/half", (coil_http_request){.headers = headers});
}

static ssize_t get_cut_off(void)
{
    return ask("/cut", (coil_http_request){.url = NULL});
}

static ssize_t get_in_a_circle(void)
{
    return ask("/redirect", (coil_http_request){.max_redirects = 1});
}

static ssize_t get_nothing_in_time(void)
{
    return ask("/nothing", (coil_http_request){.idle_timeout_ns = COIL_MSEC(20)});
}

static ssize_t get_for_a_refuser(void)
{
    return ask("/half", (coil_http_request){.on_body = refuse});
}

static ssize_t get_too_much(void)
{
    return ask("/half", (coil_http_request){.body_limit = 2});
}

static ssize_t read_cut_off(void)
{
    return ask("/half", (coil_http_request){.url = NULL});
}

static ssize_t read_again_after_a_failure(void)
{
    char byte;

    ask("/half", (coil_http_request){.url = NULL});
    return coil_http_read(both.client.response, &byte, 1);
}

static ssize_t discard_cut_off(void)
{
    both.client.request = (coil_http_request){.url = NULL};
    http_ask(&both.client, "/half");
    return coil_http_discard(both.client.response, 100);
}

static const struct failing_call calls[] = {
    CALL(get_nonsense),
    CALL(get_from_nobody),
    CALL(get_by_a_bad_method),
    CALL(get_with_a_bad_header),
    CALL(get_cut_off),
    CALL(get_in_a_circle),
    CALL(get_nothing_in_time),
    CALL(get_for_a_refuser),
    CALL(get_too_much),
    CALL(read_cut_off),
    CALL(read_again_after_a_failure),
    CALL(discard_cut_off),
};

IO_TEST(http_failures_are_described_by_their_own_sentences)
{
    http_both_begin(&both, routes, NULL);
    check_own_sentences(calls, sizeof calls / sizeof *calls);
    check_last_errors(calls, sizeof calls / sizeof *calls);
    http_both_end(&both);
}

/*
 * The client follows the redirect and ignores its body, so it is not an error if the body
 * is cut off.
 */
IO_TEST(a_redirect_whose_body_is_cut_off_leaves_no_error)
{
    http_both_begin(&both, routes, NULL);
    CHECK_INT(ask("/away", (coil_http_request){.max_redirects = 1}), 0);
    CHECK_PTR(coil_last_error(), NULL);
    coil_fail(-ENODATA, "the reason");
    CHECK_INT(ask("/away", (coil_http_request){.max_redirects = 1}), 0);
    CHECK(coil_last_error() != NULL);
    CHECK_STR(coil_error_message(coil_last_error()), "the reason");
    http_both_end(&both);
}

static int refuse_in_words(coil_http_response *response, const char *bytes, size_t n,
                           void *arg)
{
    (void)response, (void)bytes, (void)arg;
    return coil_fail(-ENOSPC, "no room for %zu bytes", n);
}

/* If on_body fails, the request fails with on_body's error as the cause. */
IO_TEST(http_error_of_the_on_body_callback_is_the_cause)
{
    coil_error *error;

    http_both_begin(&both, routes, NULL);
    CHECK_INT(ask("/whole", (coil_http_request){.on_body = refuse_in_words}), -ENOSPC);
    CHECK_STR(coil_http_error(both.client.response),
              "the on_body callback ended the request: no room for 5 bytes");
    error = coil_last_error();
    CHECK(error != NULL && coil_error_cause(error) != NULL);
    CHECK_STR(coil_error_message(coil_error_cause(error)), "no room for 5 bytes");
    CHECK_INT(ask("/whole", (coil_http_request){.on_body = refuse}), -ENOSPC);
    CHECK_PTR(coil_error_cause(coil_last_error()), NULL);
    CHECK_STR(coil_http_error(both.client.response),
              "the on_body callback ended the request: No space left on device");
    http_both_end(&both);
}
