#include "client.h"
#include "nginx.h"
#include "tunnel.h"

#include "../../harness/harness.h"

#include <unistd.h>

static void open_with_nginx(struct nginx *nginx, struct http_client *client,
                            unsigned max_connections)
{
    coil_http_session_opts opts = {.proxy = "", .max_connections = max_connections};

    nginx_start(nginx, false);
    http_client_open(client, &opts, "http", "127.0.0.1", nginx->port);
}

static void close_with_nginx(struct nginx *nginx, struct http_client *client)
{
    http_client_close(client);
    nginx_stop(nginx);
}

static bool is_pattern(const char *bytes, size_t n, size_t from)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != 'a' + (int)((from + i) % 26))
            return false;
    return true;
}

static void check_whole(const struct http_client *client, size_t n)
{
    CHECK_INT(coil_http_status(client->response), 200);
    CHECK_INT(client->body_bytes, n);
    CHECK(is_pattern(client->body, client->body_bytes, 0));
}

/*
 * Wait until the log has a line for each request: nginx writes the line when it has
 * finished the request, which may be a moment after the client has.
 */
static void wait_for_log(const struct nginx *nginx, int requests)
{
    while (nginx_requests(nginx) < requests)
        coil_sleep(COIL_MSEC(10));
    CHECK_INT(nginx_requests(nginx), requests);
}

IO_TEST(http_nginx_sees_one_connection)
{
    struct http_client client;
    struct nginx nginx;

    open_with_nginx(&nginx, &client, 0);
    for (int i = 0; i < 50; i++) {
        CHECK_INT(http_fetch(&client, i % 10 == 9 ? "/file/large" : "/file/small"), 0);
        check_whole(&client, i % 10 == 9 ? 3000000 : 26);
    }
    client.request.method = "HEAD";
    CHECK_INT(http_fetch(&client, "/file/large"), 0);
    CHECK_INT(client.body_bytes, 0);
    CHECK_INT(coil_http_content_length(client.response), 3000000);
    client.request = (coil_http_request){.max_redirects = 1};
    CHECK_INT(http_fetch(&client, "/moved"), 0);
    check_whole(&client, 26);
    wait_for_log(&nginx, 53);
    CHECK_INT(nginx_connections(&nginx), 1);
    close_with_nginx(&nginx, &client);
}

IO_TEST(http_nginx_sends_gzip_and_chunks)
{
    const char *plain[] = {"Accept-Encoding: gzip", NULL};
    struct http_client client;
    struct nginx nginx;

    open_with_nginx(&nginx, &client, 0);
    CHECK_INT(http_fetch(&client, "/gzip/large"), 0);
    CHECK_STR(coil_http_header(client.response, "Content-Encoding"), "gzip");
    check_whole(&client, 3000000);
    CHECK(coil_http_body_bytes(client.response) < 100000);
    CHECK_INT(http_fetch(&client, "/chunked/large"), 0);
    CHECK_INT(coil_http_content_length(client.response), -1);
    CHECK_STR(coil_http_header(client.response, "Transfer-Encoding"), "chunked");
    check_whole(&client, 3000000);
    /* If the caller sets Accept-Encoding, the body is returned as the server sent it. */
    client.request.headers = plain;
    CHECK_INT(http_fetch(&client, "/gzip/large"), 0);
    CHECK(client.body_bytes < 100000 && client.body[0] == '\x1f');
    close_with_nginx(&nginx, &client);
}

IO_TEST(http_nginx_sends_ranges)
{
    const char *headers[] = {"Range: bytes=1000000-1000099", NULL};
    struct http_client client;
    struct nginx nginx;

    open_with_nginx(&nginx, &client, 0);
    client.request.headers = headers;
    CHECK_INT(http_fetch(&client, "/file/large"), 0);
    CHECK_INT(coil_http_status(client.response), 206);
    CHECK_INT(client.body_bytes, 100);
    CHECK(is_pattern(client.body, 100, 1000000));
    CHECK_STR(coil_http_header(client.response, "Content-Range"),
              "bytes 1000000-1000099/3000000");
    headers[0] = "Range: bytes=9000000-";
    CHECK_INT(http_fetch(&client, "/file/large"), 0);
    CHECK_INT(coil_http_status(client.response), 416);
    close_with_nginx(&nginx, &client);
}

IO_TEST(http_nginx_takes_long_bodies)
{
    enum { BYTES = 900000 };
    char *body = test_memory(BYTES);
    struct http_client client;
    struct nginx nginx;

    for (size_t i = 0; i < BYTES; i++)
        body[i] = (char)('a' + i % 26);
    open_with_nginx(&nginx, &client, 0);
    client.request =
        (coil_http_request){.method = "PUT", .body = body, .body_bytes = BYTES};
    CHECK_INT(http_fetch(&client, "/put/it"), 0);
    CHECK_INT(coil_http_status(client.response), 201);
    client.request = (coil_http_request){.url = NULL};
    CHECK_INT(http_fetch(&client, "/put/it"), 0);
    check_whole(&client, BYTES);
    close_with_nginx(&nginx, &client);
}

IO_TEST(http_nginx_that_is_slow_is_cut_off_in_time)
{
    struct http_client client;
    struct nginx nginx;
    coil_scope scope;

    open_with_nginx(&nginx, &client, 0);
    coil_scope_enter(&scope, coil_in(COIL_MSEC(200)));
    CHECK_INT(coil_scope_exit(&scope, http_fetch(&client, "/slow/large")), -ETIMEDOUT);
    CHECK_INT(http_fetch(&client, "/file/small"), 0);
    check_whole(&client, 26);
    close_with_nginx(&nginx, &client);
}

/* ---- many at once ------------------------------------------------------------------ */

struct crowd {
    struct http_client *client;
    int left, failed;
};

static int fetch_until_none_is_left(void *arg)
{
    struct crowd *crowd = arg;

    while (crowd->left > 0) {
        struct http_client own = *crowd->client;
        crowd->left--;
        own.response = NULL;
        own.body = NULL;
        int rc = http_fetch(&own, "/file/small");
        crowd->failed += rc < 0 || own.body_bytes != 26;
        coil_http_response_destroy(own.response);
        coil_free(own.body);
    }
    return 0;
}

static void fetch_many(struct http_client *client, int requests, int at_once)
{
    struct crowd crowd = {client, requests, 0};
    coil_group group;

    coil_group_enter(&group);
    for (int i = 0; i < at_once; i++)
        CHECK_INT(coil_group_spawn(&group, fetch_until_none_is_left, &crowd, NULL, NULL),
                  0);
    CHECK_INT(coil_group_exit(&group, 0), 0);
    CHECK_INT(crowd.failed, 0);
}

IO_TEST(http_nginx_serves_1000_requests_100_at_once)
{
    struct http_client client;
    struct nginx nginx;
    int threads = thread_count();

    open_with_nginx(&nginx, &client, 100);
    fetch_many(&client, 1000, 100);
    wait_for_log(&nginx, 1000);
    CHECK(nginx_connections(&nginx) <= 100);
    CHECK_INT(thread_count(), threads);
    close_with_nginx(&nginx, &client);
}

IO_TEST(http_requests_beyond_max_connections_wait)
{
    struct http_client client;
    struct nginx nginx;

    open_with_nginx(&nginx, &client, 3);
    fetch_many(&client, 60, 20);
    wait_for_log(&nginx, 60);
    CHECK(nginx_connections(&nginx) <= 3);
    close_with_nginx(&nginx, &client);
}

/* ---- TLS --------------------------------------------------------------------------- */

/* Replace the client's session with a session that trusts ca_file. */
static void reopen(struct http_client *client, const struct nginx *nginx,
                   const char *ca_file)
{
    coil_http_session_opts opts = {.proxy = "", .ca_file = ca_file};

    http_client_close(client);
    http_client_open(client, &opts, "https", "localhost", nginx->tls_port);
}

static void open_tls(struct nginx *nginx, struct http_client *client, const char *host,
                     bool trusted)
{
    coil_http_session_opts opts = {.proxy = ""};

    nginx_start(nginx, true);
    opts.ca_file = trusted ? nginx->ca_file : NULL;
    http_client_open(client, &opts, "https", host, nginx->tls_port);
}

IO_TEST(http_tls_speaks_http_2)
{
    struct http_client client;
    struct nginx nginx;

    open_tls(&nginx, &client, "localhost", true);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(http_fetch(&client, "/file/large"), 0);
        check_whole(&client, 3000000);
        CHECK_INT(coil_http_version(client.response), 20);
    }
    wait_for_log(&nginx, 3);
    CHECK_INT(nginx_connections(&nginx), 1);
    fetch_many(&client, 100, 10);
    close_with_nginx(&nginx, &client);
}

/* Read in small pieces with pauses, so that libcurl pauses the transfer often. */
static int fetch_slowly(void *arg)
{
    struct http_client own = *(struct http_client *)arg;
    static char buf[50000];
    size_t total = 0;
    ssize_t n = 0;
    int rc;

    own.response = NULL;
    own.body = NULL;
    rc = http_ask(&own, "/file/large");
    for (int i = 0; rc == 0 && (n = coil_http_read(own.response, buf, sizeof buf)) > 0;
         i++) {
        CHECK(is_pattern(buf, (size_t)n, total));
        total += (size_t)n;
        if (i % 8 == 0)
            rc = coil_sleep(COIL_MSEC(1));
    }
    CHECK_INT(total, 3000000);
    coil_http_response_destroy(own.response);
    return rc < 0 ? rc : (int)n;
}

static void fetch_slowly_at_once(struct http_client *client, int count)
{
    coil_group group;

    coil_group_enter(&group);
    for (int i = 0; i < count; i++)
        CHECK_INT(coil_group_spawn(&group, fetch_slowly, client, NULL, NULL), 0);
    CHECK_INT(coil_group_exit(&group, 0), 0);
}

IO_TEST(http_2_serves_many_slow_readers)
{
    struct http_client client;
    struct nginx nginx;

    open_tls(&nginx, &client, "localhost", true);
    /* The first request opens the connection that the others share. */
    CHECK_INT(http_fetch(&client, "/file/small"), 0);
    fetch_slowly_at_once(&client, 10);
    wait_for_log(&nginx, 11);
    CHECK_INT(nginx_connections(&nginx), 1);
    close_with_nginx(&nginx, &client);
}

/*
 * A request with headers or a URL of this length is sent over HTTP/1, because libcurl
 * 7.88 would hang over HTTP/2. libcurl would also hang if a request exceeded its TLS
 * buffer.
 */
IO_TEST(http_requests_that_are_too_long_for_http_2_go_by_http_1)
{
    static char header[100001] = "X: ", path[60001] = "/file/small?";
    static char longer[200001] = "X: ";
    const char *headers[] = {header, NULL};
    struct http_client client;
    struct nginx nginx;
    char *url;

    memset(header + 3, 'a', sizeof header - 4);
    memset(longer + 3, 'a', sizeof longer - 4);
    memset(path + 12, 'a', sizeof path - 13);
    open_tls(&nginx, &client, "localhost", true);
    CHECK_INT(http_fetch(&client, "/file/small"), 0);
    CHECK_INT(coil_http_version(client.response), 20);
    client.request.headers = headers;
    CHECK_INT(http_fetch(&client, "/file/small"), 0);
    check_whole(&client, 26);
    CHECK_INT(coil_http_version(client.response), 11);
    headers[0] = longer;
    CHECK_INT(http_fetch(&client, "/file/small"), -EMSGSIZE);
    CHECK(strstr(coil_http_error(client.response), "longer than libcurl allows") != NULL);
    CHECK(asprintf(&url, "%s%s", client.base, path) > 0);
    coil_http_response_destroy(client.response);
    client.request = (coil_http_request){.url = url};
    CHECK_INT(coil_http_get(client.session, &client.request, &client.response), 0);
    CHECK_INT(coil_http_status(client.response), 200);
    CHECK_INT(coil_http_version(client.response), 11);
    free(url);
    client.request = (coil_http_request){.url = NULL};
    CHECK_INT(http_fetch(&client, "/file/small"), 0);
    CHECK_INT(coil_http_version(client.response), 20);
    close_with_nginx(&nginx, &client);
}

/* A response that is not read must not delay another response on the same connection. */
IO_TEST(http_2_responses_do_not_wait_for_each_other)
{
    struct http_client client, other;
    struct nginx nginx;
    coil_scope scope;
    char byte;

    open_tls(&nginx, &client, "localhost", true);
    CHECK_INT(http_ask(&client, "/file/large"), 0);
    CHECK_INT(coil_http_read(client.response, &byte, 1), 1);
    coil_sleep(COIL_MSEC(50));
    other = client;
    other.response = NULL;
    coil_scope_enter(&scope, coil_in(COIL_SEC(60)));
    CHECK_INT(coil_scope_exit(&scope, http_fetch(&other, "/file/small")), 0);
    if (other.body != NULL)
        check_whole(&other, 26);
    coil_http_response_destroy(other.response);
    coil_free(other.body);
    CHECK_INT(coil_http_read_all(client.response, &client.body, &client.body_bytes), 0);
    CHECK_INT(client.body_bytes, 2999999);
    close_with_nginx(&nginx, &client);
}

/* HTTP/2 can end one stream without closing the connection. */
IO_TEST(http_2_keeps_the_connection_of_a_response_that_is_left)
{
    struct http_client client;
    struct nginx nginx;

    open_tls(&nginx, &client, "localhost", true);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(http_ask(&client, "/file/large"), 0);
        CHECK_INT(coil_http_content_length(client.response), 3000000);
        /* destroys the previous response */
        CHECK_INT(http_fetch(&client, "/file/small"), 0);
        check_whole(&client, 26);
    }
    client.request.method = "HEAD";
    CHECK_INT(http_fetch(&client, "/file/large"), 0);
    CHECK_INT(coil_http_content_length(client.response), 3000000);
    CHECK_INT(client.body_bytes, 0);
    wait_for_log(&nginx, 7);
    CHECK_INT(nginx_connections(&nginx), 1);
    close_with_nginx(&nginx, &client);
}

struct pieces {
    size_t total, wrong;
};

static int check_piece(coil_http_response *response, const char *bytes, size_t n,
                       void *arg)
{
    struct pieces *pieces = arg;

    (void)response;
    pieces->wrong += !is_pattern(bytes, n, pieces->total);
    pieces->total += n;
    return 0;
}

IO_TEST(http_nginx_bodies_are_handed_on_in_order)
{
    const char *paths[] = {"/file/large", "/gzip/large", "/chunked/large"};
    struct http_client client;
    struct nginx nginx;

    nginx_start(&nginx, true);
    for (int tls = 0; tls < 2; tls++) {
        coil_http_session_opts opts = {.proxy = "", .ca_file = nginx.ca_file};
        http_client_open(&client, &opts, tls ? "https" : "http", "localhost",
                         tls ? nginx.tls_port : nginx.port);
        for (size_t i = 0; i < 3 - (size_t)tls; i++) {
            struct pieces pieces = {0, 0};
            client.request.on_body = check_piece;
            client.request.on_body_arg = &pieces;
            client.request.idle_timeout_ns = COIL_SEC(60);
            CHECK_INT(http_ask(&client, paths[i]), 0);
            CHECK_INT(pieces.total, 3000000);
            CHECK_INT(pieces.wrong, 0);
        }
        http_client_close(&client);
    }
    nginx_stop(&nginx);
}

/* A body times out as idle even if its connection receives frames of other streams. */
IO_TEST(http_2_idle_body_ends_among_others_that_go_on)
{
    struct http_client client, slow;
    struct nginx nginx;
    coil_task *task;

    open_tls(&nginx, &client, "localhost", true);
    CHECK_INT(http_fetch(&client, "/file/small"), 0);
    slow = client;
    slow.response = NULL;
    slow.body = NULL;
    /* long enough to receive the headers */
    slow.request.idle_timeout_ns = COIL_MSEC(900);
    snprintf(slow.url, sizeof slow.url, "%s/slow/large", slow.base);
    task = test_spawn(http_fetch_task, &slow); /* receives 10 KB once a second */
    while (!coil_future_done(coil_task_future(task)))
        CHECK_INT(http_fetch(&client, "/file/small"), 0);
    CHECK_INT(test_join(task), -ETIMEDOUT);
    CHECK(strstr(coil_http_error(slow.response), "of the body") != NULL);
    CHECK_INT(coil_http_version(slow.response), 20);
    coil_http_response_destroy(slow.response);
    CHECK_INT(http_fetch(&client, "/file/small"), 0);
    close_with_nginx(&nginx, &client);
}

IO_TEST(http_tls_refuses_what_it_cannot_trust)
{
    struct http_client client;
    struct nginx nginx;

    open_tls(&nginx, &client, "localhost", false);
    CHECK_INT(http_fetch(&client, "/file/small"), -EKEYREJECTED);
    CHECK(strstr(coil_http_error(client.response), "certificate") != NULL);
    close_with_nginx(&nginx, &client);

    /* the certificate's name is localhost */
    open_tls(&nginx, &client, "127.0.0.1", true);
    CHECK_INT(http_fetch(&client, "/file/small"), -EKEYREJECTED);
    CHECK(coil_http_error(client.response)[0] != '\0');
    close_with_nginx(&nginx, &client);

    open_tls(&nginx, &client, "localhost", true); /* this port does not speak TLS */
    snprintf(client.url, sizeof client.url, "https://localhost:%d/", nginx.port);
    CHECK_INT(http_fetch_task(&client), -EPROTO);
    close_with_nginx(&nginx, &client);
}

IO_TEST(http_tls_trusts_all_if_that_is_asked_for)
{
    coil_http_session_opts opts = {.proxy = "", .insecure = true};
    const char *hosts[] = {"localhost", "127.0.0.1"};
    struct nginx nginx;

    nginx_start(&nginx, true);
    for (int i = 0; i < 2; i++) {
        struct http_client client;
        http_client_open(&client, &opts, "https", hosts[i], nginx.tls_port);
        CHECK_INT(http_fetch(&client, "/file/small"), 0);
        check_whole(&client, 26);
        http_client_close(&client);
    }
    nginx_stop(&nginx);
}

/*
 * SSL_CERT_FILE and SSL_CERT_DIR have the same meaning as for OpenSSL's programs.
 * Certificates in the folder have hashed names, as c_rehash(1) creates them.
 */
IO_TEST(http_tls_trusts_what_the_environment_says)
{
    struct http_client client;
    struct nginx nginx;
    char folder[128];

    open_tls(&nginx, &client, "localhost", false);
    CHECK_INT(http_fetch(&client, "/file/small"), -EKEYREJECTED);
    setenv("SSL_CERT_FILE", nginx.ca_file, 1);
    CHECK_INT(http_fetch(&client, "/file/small"), -EKEYREJECTED);
    reopen(&client, &nginx, NULL);
    CHECK_INT(http_fetch(&client, "/file/small"), 0);
    unsetenv("SSL_CERT_FILE");
    snprintf(folder, sizeof folder, "%s/trusted", nginx.folder);
    setenv("SSL_CERT_DIR", folder, 1);
    reopen(&client, &nginx, NULL);
    CHECK_INT(http_fetch(&client, "/file/small"), 0);
    close_with_nginx(&nginx, &client);
}

/* With ca_file, only the certificates in this file are trusted. */
IO_TEST(http_tls_trusts_its_ca_file_alone)
{
    struct http_client client;
    struct nginx nginx;
    char folder[128], other[128];

    open_tls(&nginx, &client, "localhost", false);
    snprintf(folder, sizeof folder, "%s/trusted", nginx.folder);
    snprintf(other, sizeof other, "%s/other.pem", nginx.folder);
    setenv("SSL_CERT_DIR", folder, 1);
    setenv("SSL_CERT_FILE", nginx.ca_file, 1);
    reopen(&client, &nginx, other);
    CHECK_INT(http_fetch(&client, "/file/small"), -EKEYREJECTED);
    close_with_nginx(&nginx, &client);
}

IO_TEST(http_tls_needs_its_ca_file)
{
    coil_http_session_opts opts = {.proxy = "", .ca_file = "/nonexistent/ca.pem"};
    struct http_client client;
    struct nginx nginx;

    nginx_start(&nginx, true);
    http_client_open(&client, &opts, "https", "localhost", nginx.tls_port);
    CHECK_INT(http_fetch(&client, "/file/small"), -EINVAL);
    CHECK(strstr(coil_http_error(client.response), "/nonexistent/ca.pem") != NULL);
    close_with_nginx(&nginx, &client);
}

static int cancel_when_it_may_be_in_the_handshake(void *arg)
{
    return http_fetch(arg, "/file/small");
}

IO_TEST(http_tls_can_be_cancelled_at_any_moment)
{
    struct http_client client, other;
    struct nginx nginx;

    open_tls(&nginx, &client, "localhost", true);
    for (int i = 0; i < 20; i++) {
        coil_task *task;
        other = client;
        other.response = NULL;
        other.body = NULL;
        CHECK_INT(coil_spawn(cancel_when_it_may_be_in_the_handshake, &other, NULL, &task),
                  0);
        coil_sleep(COIL_USEC(100 * i));
        coil_task_cancel(task, NULL);
        int rc = coil_task_await(task);
        CHECK(rc == 0 || rc == -ECANCELED);
        coil_task_release(task);
        coil_http_response_destroy(other.response);
        coil_free(other.body);
    }
    CHECK_INT(http_fetch(&client, "/file/small"), 0);
    check_whole(&client, 26);
    close_with_nginx(&nginx, &client);
}

/* ---- through a proxy --------------------------------------------------------------- */

static void check_target(const struct tunnel_proxy *proxy, const char *host, int port)
{
    char target[64];

    snprintf(target, sizeof target, "%s:%d", host, port);
    CHECK_STR(proxy->target, target);
}

/*
 * Fetch a file through the proxy. If `host` is NULL, the client resolves "localhost"
 * itself, to one or two addresses.
 */
static void fetch_through_tunnel(const char *scheme, bool socks, const char *host)
{
    struct tunnel_proxy proxy;
    struct http_client client;
    struct nginx nginx;
    char url[64];
    coil_http_session_opts opts = {.proxy = url, .ca_file = nginx.ca_file};

    tunnel_start(&proxy, socks);
    nginx_start(&nginx, true);
    snprintf(url, sizeof url, "%s://127.0.0.1:%u", scheme,
             coil_listener_port(proxy.listener));
    http_client_open(&client, &opts, "https", "localhost", nginx.tls_port);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(http_fetch(&client, "/file/large"), 0);
        check_whole(&client, 3000000);
    }
    if (host == NULL)
        host = strncmp(proxy.target, "::1:", 4) == 0 ? "::1" : "127.0.0.1";
    check_target(&proxy, host, nginx.tls_port);
    CHECK_INT(proxy.tunnels, 1);
    close_with_nginx(&nginx, &client);
    tunnel_stop(&proxy);
}

IO_TEST(http_tls_goes_through_a_tunnel_that_is_kept)
{
    fetch_through_tunnel("http", false, "localhost");
}

IO_TEST(http_tls_goes_through_socks)
{
    fetch_through_tunnel("socks5h", true, "localhost");
    fetch_through_tunnel("socks5", true, NULL);
}
