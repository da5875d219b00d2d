/*
 * What a session stores for its requests: cookies, connections, allowed addresses and
 * proxies.
 */
#include "fixture.h"

#include "../../harness/harness.h"
#include "../socket/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int say_ok(struct http_connection *c)
{
    return http_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
}

static int set_cookies(struct http_connection *c)
{
    return http_say(c, "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n"
                       "Set-Cookie: b=2; Path=/below\r\nSet-Cookie: c=3; Domain=other.org"
                       "\r\nContent-Length: 0\r\n\r\n");
}

static int redirect_with_a_cookie(struct http_connection *c)
{
    return http_say(c, "HTTP/1.1 302 Found\r\nLocation: /ok\r\nSet-Cookie: login=yes\r\n"
                       "Content-Length: 0\r\n\r\n");
}

static const struct http_route routes[] = {
    {"/ok", say_ok},       {"/below/ok", say_ok},
    {"/set", set_cookies}, {"/redirect", redirect_with_a_cookie},
    {NULL, NULL},
};

static bool was_sent(const struct http_both *both, const char *text)
{
    return strstr(both->server.last_request, text) != NULL;
}

IO_TEST(http_session_keeps_cookies_if_asked_to)
{
    coil_http_session_opts opts = {.cookies = true};
    struct http_both both;

    http_both_begin(&both, routes, &opts);
    CHECK_INT(http_fetch(&both.client, "/set"), 0);
    CHECK(!was_sent(&both, "Cookie:"));
    CHECK_INT(http_fetch(&both.client, "/ok"), 0);
    CHECK(was_sent(&both, "\r\nCookie: a=1\r\n"));
    CHECK_INT(http_fetch(&both.client, "/below/ok"), 0);
    CHECK(was_sent(&both, "a=1") && was_sent(&both, "b=2") && !was_sent(&both, "c=3"));
    both.client.request.max_redirects = 1;
    CHECK_INT(http_fetch(&both.client, "/redirect"), 0);
    CHECK(was_sent(&both, "GET /ok") && was_sent(&both, "login=yes"));
    http_both_end(&both);

    http_both_begin(&both, routes, NULL);
    CHECK_INT(http_fetch(&both.client, "/set"), 0);
    CHECK_INT(http_fetch(&both.client, "/ok"), 0);
    CHECK(!was_sent(&both, "Cookie:"));
    http_both_end(&both);
}

/*
 * Return the value of the last request's Cookie header, or "" if the request does not
 * have exactly one such header.
 */
static const char *cookies_sent(const struct http_both *both)
{
    static const char name[] = "\r\nCookie: ";
    static char value[256];
    const char *at = strstr(both->server.last_request, name);

    if (at == NULL || strstr(at + 1, name) != NULL)
        return "";
    at += strlen(name);
    snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\r"), at);
    return value;
}

/*
 * All cookies are sent in one header, because most servers read only one. A cookie that
 * the server has set replaces a cookie of the request with the same name.
 */
IO_TEST(http_session_sends_its_cookies_and_those_of_a_request_in_one_header)
{
    const char *own[] = {"cookie: mine=x; a=old", "X: y", NULL};
    const char *split[] = {"Cookie: b=old; mine=x", "COOKIE:login=no;other=z;", NULL};
    coil_http_session_opts opts = {.cookies = true};
    struct http_both both;

    http_both_begin(&both, routes, &opts);
    both.client.request.headers = own;
    CHECK_INT(http_fetch(&both.client, "/ok"), 0);
    CHECK_STR(cookies_sent(&both), "mine=x; a=old");
    CHECK_INT(http_fetch(&both.client, "/set"), 0);
    CHECK_INT(http_fetch(&both.client, "/ok"), 0);
    CHECK_STR(cookies_sent(&both), "a=1; mine=x");
    CHECK(was_sent(&both, "X: y"));
    both.client.request.headers = split;
    CHECK_INT(http_fetch(&both.client, "/ok"), 0);
    CHECK_STR(cookies_sent(&both), "a=1; b=old; mine=x; login=no; other=z");
    CHECK_INT(http_fetch(&both.client, "/below/ok"), 0);
    CHECK(was_sent(&both, "b=2") && !was_sent(&both, "b=old") &&
          was_sent(&both, "mine=x"));
    both.client.request.headers = own;
    both.client.request.max_redirects = 1;
    CHECK_INT(http_fetch(&both.client, "/redirect"), 0);
    CHECK(was_sent(&both, "GET /ok") && was_sent(&both, "login=yes") &&
          was_sent(&both, "mine=x"));
    both.client.request.headers = NULL;
    CHECK_INT(http_fetch(&both.client, "/ok"), 0);
    CHECK(was_sent(&both, "login=yes") && !was_sent(&both, "mine"));
    http_both_end(&both);
}

/*
 * A response may outlive its session. The session's cookies stay allocated until the
 * response is destroyed.
 */
IO_TEST(http_cookies_outlive_their_session)
{
    coil_http_session_opts opts = {.cookies = true};
    struct http_both both;

    http_both_begin(&both, routes, &opts);
    CHECK_INT(http_ask(&both.client, "/set"), 0);
    coil_http_session_destroy(both.client.session);
    both.client.session = NULL;
    http_both_end(&both);
}

/*
 * The peer closes an idle connection. The loop gets no event when this happens, although
 * the connection is still registered.
 */
IO_TEST(http_connection_that_the_peer_closes_between_requests_is_replaced)
{
    struct http_both both;

    http_both_begin(&both, routes, NULL);
    for (int i = 1; i <= 3; i++) {
        CHECK_INT(http_fetch(&both.client, "/ok"), 0);
        CHECK_INT(both.server.connections, i);
        http_server_hang_up(&both.server);
        coil_sleep(COIL_MSEC(20));
    }
    http_both_end(&both);
}

/* Write the address to the trace, and return *arg: whether the address is allowed. */
static bool look_at_address(const struct sockaddr *address, void *arg)
{
    const struct sockaddr_in *v4 = (const void *)address;
    char text[INET_ADDRSTRLEN] = "?";

    if (address->sa_family == AF_INET)
        inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
    test_trace("%s ", text);
    return *(const bool *)arg;
}

IO_TEST(http_session_asks_whether_an_address_may_be_connected_to)
{
    bool allowed = true;
    coil_http_session_opts opts = {.allows_address = look_at_address,
                                   .allows_address_arg = &allowed};
    struct http_both both;

    http_both_begin(&both, routes, &opts);
    CHECK_INT(http_fetch(&both.client, "/ok"), 0);
    CHECK_TRACE("127.0.0.1 ");
    CHECK_INT(http_fetch(&both.client, "/ok"), 0);
    CHECK_TRACE(""); /* the request uses an existing connection */
    http_both_end(&both);
}

IO_TEST(http_session_does_not_connect_to_an_address_that_is_not_allowed)
{
    bool allowed = false;
    coil_http_session_opts opts = {.allows_address = look_at_address,
                                   .allows_address_arg = &allowed};
    struct http_both both;

    http_both_begin(&both, routes, &opts);
    CHECK_INT(http_fetch(&both.client, "/ok"), -EACCES);
    CHECK_TRACE("127.0.0.1 ");
    CHECK(!was_sent(&both, "GET"));
    CHECK_INT(http_fetch(&both.client, "/ok"), -EACCES);
    CHECK_TRACE("127.0.0.1 ");
    allowed = true;
    CHECK_INT(http_fetch(&both.client, "/ok"), 0);
    CHECK_TRACE("127.0.0.1 ");
    http_both_end(&both);
}

static bool is_ipv6(const struct sockaddr *address, void *arg)
{
    (void)arg;
    return address->sa_family == AF_INET6;
}

static void write_hosts(char *path, const char *text)
{
    int fd = mkstemp(path);

    CHECK_INT(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

/* Return a port of the address on which nobody listens, or a negative errno. */
static int closed_port(const char *address)
{
    coil_listener *listener;
    int port = coil_listen(address, "0", 0, &listener);

    if (port < 0)
        return port;
    port = coil_listener_port(listener);
    coil_listener_destroy(listener);
    return port;
}

/* The host has two addresses: one is not allowed, and the other has no server. */
IO_TEST(http_session_tells_of_the_address_that_is_allowed)
{
    coil_http_session_opts opts = {.proxy = "", .allows_address = is_ipv6};
    char path[] = "/tmp/coil-hosts-XXXXXX";
    struct http_client client;
    int port = closed_port("::1");

    write_hosts(path, "::1 both.test\n127.0.0.1 both.test\n");
    if (port < 0) {
        unlink(path);
        test_skip("there is no IPv6 here");
    }
    CHECK_INT(coil_resolver_configure(&(coil_resolver_opts){.hosts_file = path}), 0);
    http_client_open(&client, &opts, "http", "both.test", port);
    CHECK_INT(http_fetch(&client, "/ok"), -ECONNREFUSED);
    http_client_close(&client);
    unlink(path);
}

static int addresses_before_lack, limit_before;

/* Let the descriptors run out before the socket for a certain address is opened. */
static bool use_up_descriptors(const struct sockaddr *address, void *arg)
{
    (void)address, (void)arg;
    if (addresses_before_lack-- == 0)
        limit_before = limit_descriptors(0);
    return true;
}

static int fetch_without_descriptors(struct http_client *client, int addresses_before)
{
    int rc;

    addresses_before_lack = addresses_before;
    rc = http_fetch(client, "/ok");
    restore_descriptors(limit_before);
    addresses_before_lack = -1;
    return rc;
}

/*
 * A lack of descriptors is reported even if another address refuses the connection. A
 * look-up that lacked them is repeated for the next request.
 */
IO_TEST(http_session_reports_a_lack_of_descriptors)
{
    coil_http_session_opts opts = {.proxy = "", .allows_address = use_up_descriptors};
    char path[] = "/tmp/coil-hosts-XXXXXX";
    struct http_client client;
    int port = closed_port("127.0.0.1");

    CHECK(port > 0);
    write_hosts(path, "127.0.0.1 both.test\n127.0.0.2 both.test\n");
    CHECK_INT(coil_resolver_configure(&(coil_resolver_opts){.hosts_file = path}), 0);
    http_client_open(&client, &opts, "http", "both.test", port);
    limit_before = limit_descriptors(0);
    CHECK_INT(fetch_without_descriptors(&client, -1), -EMFILE);
    CHECK_INT(fetch_without_descriptors(&client, 0), -EMFILE);
    CHECK_INT(fetch_without_descriptors(&client, 1), -EMFILE);
    CHECK_INT(http_fetch(&client, "/ok"), -ECONNREFUSED);
    http_client_close(&client);
    unlink(path);
}

/*
 * libcurl does not accept addresses with a zone, and would ignore all addresses of an
 * entry that contains one.
 */
IO_TEST(http_session_leaves_out_addresses_with_a_zone)
{
    coil_http_session_opts opts = {.proxy = ""};
    char path[] = "/tmp/coil-hosts-XXXXXX";
    struct http_client client;
    coil_listener *listener;
    int port;

    write_hosts(path,
                "fe80::1%lo both.test\n127.0.0.1 both.test\nfe80::1%lo zone.test\n");
    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &listener), 0);
    port = coil_listener_port(listener);
    coil_listener_destroy(listener);
    CHECK_INT(coil_resolver_configure(&(coil_resolver_opts){.hosts_file = path}), 0);
    http_client_open(&client, &opts, "http", "both.test", port);
    CHECK_INT(http_fetch(&client, "/ok"), -ECONNREFUSED);
    http_client_close(&client);
    http_client_open(&client, &opts, "http", "zone.test", port);
    CHECK_INT(http_fetch(&client, "/ok"), -EADDRNOTAVAIL);
    http_client_close(&client);
    unlink(path);
}

/* ---- the environment --------------------------------------------------------------- */

TEST(http_proxy_of_environment_is_the_one_that_a_session_uses)
{
    static const char *const names[] = {"http_proxy",  "https_proxy", "HTTP_PROXY",
                                        "HTTPS_PROXY", "all_proxy",   "ALL_PROXY"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
    CHECK_STR(coil_http_proxy_of_environment("http"), NULL);
    CHECK_STR(coil_http_proxy_of_environment("https"), NULL);
    /* a CGI script's HTTP_PROXY may come from the request's "Proxy" header */
    setenv("HTTP_PROXY", "http://a", 1);
    setenv("http_proxy", "", 1);
    CHECK_STR(coil_http_proxy_of_environment("http"), NULL);
    setenv("ALL_PROXY", "http://b", 1);
    CHECK_STR(coil_http_proxy_of_environment("http"), "http://b");
    setenv("http_proxy", "http://c", 1);
    setenv("HTTPS_PROXY", "http://d", 1);
    CHECK_STR(coil_http_proxy_of_environment("http"), "http://c");
    CHECK_STR(coil_http_proxy_of_environment("https"), "http://d");
}
