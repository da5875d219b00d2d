#include "client.h"
#include "server.h"

#include "../../harness/harness.h"
#include "../names/name_server.h"
#include "../socket/sockets.h"

#include <netinet/in.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- answers ----------------------------------------------------------------------- */

static int say_ok(struct http_connection *c)
{
    return http_say(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                       "Content-Length: 5\r\nX: one\r\nX: two\r\n\r\nhello");
}

static int say_nothing(struct http_connection *c)
{
    (void)c;
    return coil_sleep(COIL_SEC(60));
}

static int say_half(struct http_connection *c)
{
    http_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
    return coil_sleep(COIL_SEC(60));
}

static int cut_before_headers(struct http_connection *c)
{
    (void)c;
    return -1;
}

static int cut_in_the_middle(struct http_connection *c)
{
    http_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
    return -1;
}

static int cut_chunk(struct http_connection *c)
{
    http_say(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n7");
    return -1;
}

static int say_nonsense(struct http_connection *c)
{
    http_say(c, "220 mail.example.org ESMTP\r\n");
    return -1;
}

static int say_interim(struct http_connection *c)
{
    http_say(c, "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n");
    coil_sleep(COIL_MSEC(20));
    return say_ok(c);
}

static int switch_protocols(struct http_connection *c)
{
    http_say(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n");
    return coil_sleep(COIL_SEC(60));
}

static int say_headers_slowly(struct http_connection *c)
{
    http_say(c, "HTTP/1.1 200 OK\r\nContent-Le");
    coil_sleep(COIL_MSEC(20));
    http_say(c, "ngth: 5\r\n\r\n");
    coil_sleep(COIL_MSEC(20));
    for (const char *letter = "hello"; *letter != '\0'; letter++) {
        coil_write(c->stream, letter, 1);
        coil_sleep(COIL_MSEC(5));
    }
    return 0;
}

static char long_text[200000];

static int say_long_line(struct http_connection *c)
{
    memset(long_text, 'x', sizeof long_text - 1);
    http_say(c, "HTTP/1.1 200 OK\r\nX: ");
    coil_write(c->stream, long_text, sizeof long_text - 1);
    return http_say(c, "\r\nContent-Length: 0\r\n\r\n");
}

static int say_many_headers(struct http_connection *c)
{
    char line[1100];
    int rc = http_say(c, "HTTP/1.1 200 OK\r\n");

    for (int i = 0; i < 1000 && rc >= 0; i++) {
        snprintf(line, sizeof line, "X-%d: %01000d\r\n", i, i);
        rc = (int)coil_write(c->stream, line, strlen(line));
    }
    return -1;
}

static int say_until_close(struct http_connection *c)
{
    http_say(c, "HTTP/1.0 200 OK\r\n\r\nhello");
    return -1;
}

/* Send 16 MiB as fast as the client reads. bytes_sent counts the bytes sent so far. */
static size_t bytes_sent;

static int say_much(struct http_connection *c)
{
    static char block[65536];
    ssize_t n = 0;

    bytes_sent = 0;
    http_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 16777216\r\n\r\n");
    while (n >= 0 && bytes_sent < 16777216) {
        n = coil_write(c->stream, block, sizeof block);
        bytes_sent += coil_stream_write_transferred(c->stream);
    }
    return n < 0 ? -1 : 0;
}

/* Remove the second line, "Content-Encoding: gzip". */
static size_t without_a_line(char *text, size_t n)
{
    size_t from = strlen("HTTP/1.1 200 OK\r\n");
    size_t line = strlen("Content-Encoding: gzip\r\n");

    memmove(text + from, text + from + line, n - from - line);
    return n - line;
}

/*
 * Send a response in which some bytes are changed, and the end is missing. The changes
 * are the same in each run.
 */
static int say_garbage(struct http_connection *c)
{
    char text[] =
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nLocation: /ok\r\n"
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n";
    static unsigned seed = 1;
    size_t n = sizeof text - 1;

    for (int i = rand_r(&seed) % 4; i > 0; i--)
        text[(size_t)rand_r(&seed) % n] = (char)rand_r(&seed);
    if (rand_r(&seed) % 2 == 0)
        n = without_a_line(text, n);
    if (rand_r(&seed) % 3 == 0)
        n = (size_t)rand_r(&seed) % n;
    coil_write(c->stream, text, n);
    return -1;
}

static int redirect(struct http_connection *c, int status, const char *location)
{
    char text[1024];

    snprintf(text, sizeof text,
             "HTTP/1.1 %d Moved\r\nLocation: %s\r\nContent-Length: 5\r\n\r\nmoved",
             status, location);
    return http_say(c, text);
}

static int redirect_301(struct http_connection *c)
{
    return redirect(c, 301, "b/../ok");
}

static int redirect_303(struct http_connection *c)
{
    return redirect(c, 303, "/ok");
}

static int redirect_307(struct http_connection *c)
{
    return redirect(c, 307, "/ok");
}

static int redirect_in_a_circle(struct http_connection *c)
{
    return redirect(c, 302, "/circle");
}

static int redirect_to_a_file(struct http_connection *c)
{
    return redirect(c, 302, "file:///etc/passwd");
}

static int redirect_to_localhost(struct http_connection *c)
{
    char url[64];

    snprintf(url, sizeof url, "http://localhost:%u/ok",
             coil_listener_port(c->server->listener));
    return redirect(c, 302, url);
}

static const struct http_route routes[] = {
    {"/ok", say_ok},
    {"/long-line", say_long_line},
    {"/many-headers", say_many_headers},
    {"/nothing", say_nothing},
    {"/half", say_half},
    {"/cut", cut_before_headers},
    {"/cut-middle", cut_in_the_middle},
    {"/cut-chunk", cut_chunk},
    {"/nonsense", say_nonsense},
    {"/interim", say_interim},
    {"/101", switch_protocols},
    {"/slow", say_headers_slowly},
    {"/close", say_until_close},
    {"/much", say_much},
    {"/garbage", say_garbage},
    {"/301", redirect_301},
    {"/303", redirect_303},
    {"/307", redirect_307},
    {"/circle", redirect_in_a_circle},
    {"/file", redirect_to_a_file},
    {"/localhost", redirect_to_localhost},
    {NULL, NULL},
};

struct both {
    struct http_server server;
    struct http_client client;
};

static void open_client(struct both *both)
{
    coil_http_session_opts opts = {.proxy = ""};

    http_client_open(&both->client, &opts, "http", "127.0.0.1",
                     coil_listener_port(both->server.listener));
}

static void begin(struct both *both)
{
    http_server_start(&both->server, routes);
    open_client(both);
}

static void end(struct both *both)
{
    http_client_close(&both->client);
    http_server_stop(&both->server);
}

static void check_ok(struct http_client *client)
{
    CHECK_INT(http_fetch(client, "/ok"), 0);
    CHECK_INT(coil_http_status(client->response), 200);
    CHECK_STR(client->body != NULL ? client->body : "", "hello");
}

/* ---- requests ---------------------------------------------------------------------- */

IO_TEST(http_gets_and_keeps_the_connection)
{
    struct both both;
    struct http_client *client = &both.client;

    begin(&both);
    for (int i = 0; i < 3; i++)
        check_ok(client);
    CHECK_STR(coil_http_header(client->response, "content-type"), "text/plain");
    CHECK_STR(coil_http_header_at(client->response, "X", 1), "two");
    CHECK_PTR(coil_http_header_at(client->response, "X", 2), NULL);
    CHECK_PTR(coil_http_header(client->response, "Location"), NULL);
    CHECK_INT(coil_http_content_length(client->response), 5);
    CHECK_INT(coil_http_version(client->response), 11);
    CHECK_STR(coil_http_url(client->response), client->url);
    CHECK_STR(coil_http_error(client->response), "");
    CHECK_INT(coil_http_body_bytes(client->response), 5);
    CHECK(coil_http_received_bytes(client->response) > 70);
    CHECK_INT(both.server.connections, 1);
    end(&both);
}

/*
 * The bytes that were sent and received, in groups: consecutive bytes of the same kind
 * form a group, and each request head begins a new one.
 */
struct wire {
    char text[4096];
    size_t n;
    int last;
};

static void note_wire(enum coil_http_wire what, const char *bytes, size_t n, void *arg)
{
    struct wire *wire = arg;

    if (what == COIL_HTTP_WIRE_REQUEST_HEAD)
        wire->last = -1;
    if ((int)what != wire->last)
        wire->n += (size_t)snprintf(wire->text + wire->n, sizeof wire->text - wire->n,
                                    "|%d ", (int)what);
    wire->last = (int)what;
    wire->n += (size_t)snprintf(wire->text + wire->n, sizeof wire->text - wire->n, "%.*s",
                                (int)n, bytes);
}

static void fetch_wired(struct both *both, struct wire *wire, const char *path)
{
    *wire = (struct wire){.last = -1};
    both->client.request.on_wire = note_wire;
    both->client.request.on_wire_arg = wire;
    http_fetch(&both->client, path);
    both->client.request.on_wire = NULL;
}

IO_TEST(http_tells_what_goes_over_the_wire)
{
    struct both both;
    struct wire wire;
    char expected[512];
    const char *host;

    begin(&both);
    host = strstr(both.client.base, "://") + 3;
    fetch_wired(&both, &wire, "/ok");
    snprintf(expected, sizeof expected, "|0 GET /ok HTTP/1.1\r\nHost: %s\r\n", host);
    CHECK(strncmp(wire.text, expected, strlen(expected)) == 0);
    CHECK(strstr(wire.text,
                 "\r\n\r\n|2 HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                 "Content-Length: 5\r\nX: one\r\nX: two\r\n\r\n|3 hello") != NULL);
    fetch_wired(&both, &wire, "/cut-chunk");
    CHECK(strstr(wire.text, "Transfer-Encoding: chunked\r\n\r\n|3 5\r\nhello\r\n7") !=
          NULL);
    fetch_wired(&both, &wire, "/interim");
    CHECK(strstr(wire.text, "|2 HTTP/1.1 103 Early Hints\r\n") != NULL);
    wire = (struct wire){.last = -1};
    check_ok(&both.client); /* on_wire does not apply to the next request */
    CHECK_INT(wire.n, 0);
    both.client.request.body = "what";
    both.client.request.body_bytes = 4;
    fetch_wired(&both, &wire, "/ok");
    CHECK(strstr(wire.text, "\r\n\r\n|1 what|2 HTTP/1.1 200 OK\r\n") != NULL);
    end(&both);
}

static bool was_sent(const struct both *both, const char *text)
{
    return strstr(both->server.last_request, text) != NULL;
}

IO_TEST(http_sends_method_headers_and_body)
{
    const char *headers[] = {"X-Test: yes", "User-Agent: other", "Accept:", NULL};
    const char *typed[] = {"Content-Type: application/json", NULL};
    struct both both;

    begin(&both);
    both.client.request.headers = headers;
    both.client.request.body = "a=1";
    both.client.request.body_bytes = 3;
    check_ok(&both.client);
    CHECK(was_sent(&both, "POST /ok HTTP/1.1\r\n"));
    CHECK(was_sent(&both, "\r\nX-Test: yes\r\n"));
    CHECK(was_sent(&both, "\r\nUser-Agent: other\r\n"));
    CHECK(was_sent(&both, "\r\nContent-Length: 3\r\n"));
    CHECK(was_sent(&both, "\r\n\r\na=1"));
    CHECK(!was_sent(&both, "Accept: "));
    CHECK(!was_sent(&both, "Content-Type"));
    both.client.request.method = "PUT";
    check_ok(&both.client);
    CHECK(was_sent(&both, "PUT /ok HTTP/1.1\r\n") && was_sent(&both, "\r\n\r\na=1"));
    both.client.request = (coil_http_request){.method = "POST"};
    check_ok(&both.client);
    CHECK(was_sent(&both, "POST /ok") && was_sent(&both, "Content-Length: 0\r\n"));
    CHECK(!was_sent(&both, "Content-Type"));
    both.client.request.headers = typed;
    check_ok(&both.client);
    CHECK(was_sent(&both, "\r\nContent-Type: application/json\r\n"));
    both.client.request = (coil_http_request){.method = "DELETE"};
    check_ok(&both.client);
    CHECK(was_sent(&both, "DELETE /ok") && !was_sent(&both, "Content-Length"));
    CHECK(was_sent(&both, "User-Agent: coil/"));
    end(&both);
}

/*
 * The server switches to another protocol (101) without a request for it, so the bytes
 * after that cannot be parsed.
 */
IO_TEST(http_switch_of_protocols_that_nobody_asked_for_fails)
{
    struct both both;

    begin(&both);
    CHECK_INT(http_fetch(&both.client, "/101"), -EPROTO);
    CHECK_STR(coil_http_error(both.client.response),
              "the server switched to another protocol, which was not requested");
    check_ok(&both.client);
    end(&both);
}

IO_TEST(http_refuses_invalid_requests)
{
    const char *urls[] = {
        "gopher://127.0.0.1/",    "file:///etc/passwd", "nonsense", "", "http://",
        "http://127.0.0.1:99999/"};
    const char *smuggled[] = {"X: a\r\nY: b", NULL};
    struct both both;

    begin(&both);
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        snprintf(both.client.url, sizeof both.client.url, "%s", urls[i]);
        CHECK_INT(http_fetch_task(&both.client), -EINVAL);
        CHECK(coil_http_error(both.client.response)[0] != '\0');
        CHECK_INT(coil_http_status(both.client.response), 0);
    }
    both.client.request.headers = smuggled;
    CHECK_INT(http_fetch(&both.client, "/ok"), -EINVAL);
    both.client.request.headers = NULL;
    both.client.request.method = "GET /";
    CHECK_INT(http_fetch(&both.client, "/ok"), -EINVAL);
    both.client.request.method = NULL;
    check_ok(&both.client);
    end(&both);
}

/* ---- responses --------------------------------------------------------------------- */

IO_TEST(http_returns_with_the_headers_before_the_body)
{
    struct both both;
    char letter;

    begin(&both);
    CHECK_INT(http_ask(&both.client, "/half"), 0);
    CHECK_INT(coil_http_status(both.client.response), 200);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(coil_http_read(both.client.response, &letter, 1), 1);
        CHECK_INT(letter, "hello"[i]);
    }
    end(&both);
}

IO_TEST(http_accepts_slow_servers_and_http_1_0)
{
    struct both both;

    begin(&both);
    CHECK_INT(http_fetch(&both.client, "/slow"), 0);
    CHECK_STR(both.client.body, "hello");
    CHECK_INT(http_fetch(&both.client, "/interim"), 0);
    CHECK_STR(both.client.body, "hello");
    CHECK_INT(coil_http_status(both.client.response), 200);
    CHECK_INT(http_fetch(&both.client, "/close"), 0);
    CHECK_STR(both.client.body, "hello");
    CHECK_INT(coil_http_version(both.client.response), 10);
    CHECK_INT(coil_http_content_length(both.client.response), -1);
    end(&both);
}

IO_TEST(http_failures_have_a_code_and_a_sentence)
{
    static const struct {
        const char *path;
        int rc;
    } cases[] = {
        {"/cut", -ECONNRESET},
        {"/cut-middle", -ENODATA},
        {"/cut-chunk", -ENODATA},
        {"/nonsense", -EPROTO},
    };
    struct both both;
    char byte;

    begin(&both);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int rc = http_fetch(&both.client, cases[i].path);
        char *said = strdup(coil_http_error(both.client.response));
        CHECK_INT(rc, cases[i].rc);
        CHECK(said[0] != '\0');
        CHECK_INT(coil_http_read(both.client.response, &byte, 1), cases[i].rc);
        CHECK_STR(coil_http_error(both.client.response), said);
        free(said);
        check_ok(&both.client);
    }
    CHECK_INT(http_ask(&both.client, "/cut-middle"), 0);
    for (int i = 0; i < 5; i++)
        CHECK_INT(coil_http_read(both.client.response, &byte, 1), 1);
    CHECK_INT(coil_http_read(both.client.response, &byte, 1), -ENODATA);
    end(&both);
}

IO_TEST(http_survives_garbage)
{
    struct both both;
    int good = 0, bad = 0;

    begin(&both);
    both.client.request.max_redirects = 2;
    both.client.request.body_limit = 1000;
    for (int i = 0; i < 300; i++) {
        int rc = http_fetch(&both.client, "/garbage");
        bool said = coil_http_error(both.client.response)[0] != '\0';
        CHECK(said == (rc < 0));
        good += rc == 0;
        bad += rc < 0;
    }
    CHECK(good > 10 && bad > 10);
    check_ok(&both.client);
    end(&both);
}

IO_TEST(http_tells_a_refused_connection)
{
    coil_http_session_opts opts = {.proxy = ""};
    struct http_client client;
    int nobody;

    http_client_open(&client, &opts, "http", "127.0.0.1", take_refusing_port(&nobody));
    CHECK_INT(http_fetch(&client, "/"), -ECONNREFUSED);
    CHECK(strstr(coil_http_error(client.response), "127.0.0.1") != NULL);
    http_client_close(&client);
    close(nobody);
}

IO_TEST(http_limits_the_body)
{
    struct both both;

    begin(&both);
    both.client.request.body_limit = 4;
    CHECK_INT(http_fetch(&both.client, "/ok"), -EMSGSIZE);
    CHECK_STR(coil_http_error(both.client.response), "the body is longer than the limit");
    both.client.request.body_limit = 5;
    check_ok(&both.client);
    both.client.request.body_limit = 100000;
    CHECK_INT(http_fetch(&both.client, "/much"), -EMSGSIZE);
    CHECK(bytes_sent < 16777216);
    end(&both);
}

/*
 * The server must be stopped before it has sent 8 MiB, which is more than the kernel's
 * buffers at both ends can hold.
 */
IO_TEST(http_holds_little_of_a_body_that_is_read_slowly)
{
    struct both both;
    static char buf[100000];
    size_t total = 0, first = 0, before;
    ssize_t n;

    begin(&both);
    CHECK_INT(http_ask(&both.client, "/much"), 0);
    do { /* wait until the server can send no more */
        before = first;
        coil_sleep(COIL_MSEC(50));
        first = bytes_sent;
    } while (first == 0 || first != before);
    CHECK(first < 8 * 1024 * 1024);
    coil_sleep(COIL_MSEC(50));
    CHECK_INT(bytes_sent, first);
    while ((n = coil_http_read(both.client.response, buf, sizeof buf)) > 0)
        total += (size_t)n;
    CHECK_INT(n, 0);
    CHECK_INT(total, 16777216);
    CHECK_INT(coil_http_read(both.client.response, buf, 1), 0);
    check_ok(&both.client);
    CHECK_INT(both.server.connections, 1);
    end(&both);
}

IO_TEST(http_discards_what_is_short_and_cuts_off_what_is_long)
{
    struct both both;
    char byte;

    begin(&both);
    CHECK_INT(http_ask(&both.client, "/ok"), 0);
    CHECK_INT(coil_http_discard(both.client.response, 5), 0);
    CHECK_INT(coil_http_read(both.client.response, &byte, 1), 0);
    CHECK_INT(http_ask(&both.client, "/slow"), 0);
    CHECK_INT(coil_http_discard(both.client.response, 100), 0);
    CHECK_INT(both.server.connections, 1);
    CHECK_INT(http_ask(&both.client, "/much"), 0);
    CHECK_INT(coil_http_discard(both.client.response, 100000), 0);
    CHECK_INT(coil_http_read(both.client.response, &byte, 1), 0);
    check_ok(&both.client);
    CHECK_INT(both.server.connections, 2);
    end(&both);
}

IO_TEST(http_responses_may_be_left_half_read)
{
    struct both both;
    char byte;

    begin(&both);
    CHECK_INT(http_ask(&both.client, "/much"), 0);
    CHECK_INT(coil_http_read(both.client.response, &byte, 1), 1);
    check_ok(&both.client); /* destroys the unfinished response */
    end(&both);
}

static int read_one(void *response)
{
    char byte;

    return (int)coil_http_read(response, &byte, 1);
}

IO_TEST(http_a_response_has_one_reader)
{
    struct both both;
    coil_task *task;
    char buf[5];

    begin(&both);
    CHECK_INT(http_ask(&both.client, "/half"), 0);
    CHECK_INT(coil_http_read(both.client.response, buf, 5), 5);
    CHECK_INT(coil_spawn(read_one, both.client.response, NULL, &task), 0);
    coil_sleep(COIL_MSEC(5));
    CHECK_INT(coil_http_read(both.client.response, buf, 5), -EBUSY);
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    coil_task_release(task);
    CHECK_INT(coil_http_read(both.client.response, buf, 5), -ECANCELED);
    end(&both);
}

static int read_and_count(void *response)
{
    char buf[16];
    int count = 0, n;

    while ((n = (int)coil_http_read(response, buf, sizeof buf)) > 0)
        count += n;
    return n < 0 ? n : count;
}

/*
 * Discarding the body while a task is reading it does not take away bytes from that task,
 * whether they have already arrived or not.
 */
IO_TEST(http_discard_leaves_a_response_to_its_reader)
{
    struct both both;
    coil_task *task;

    begin(&both);
    CHECK_INT(http_ask(&both.client, "/slow"), 0);
    CHECK_INT(coil_spawn(read_and_count, both.client.response, NULL, &task), 0);
    for (size_t n = 0; coil_yield() == 0 && !coil_future_done(coil_task_future(task));
         n ^= 100)
        CHECK_INT(coil_http_discard(both.client.response, n), -EBUSY);
    CHECK_INT(coil_task_await(task), 5);
    coil_task_release(task);
    end(&both);
}

IO_TEST(http_sentences_have_no_password)
{
    struct both both;

    begin(&both);
    both.client.request.url = "http://me:secret@127.0.0.1:1/path?a@b";
    CHECK_INT(
        coil_http_get(both.client.session, &both.client.request, &both.client.response),
        -ECONNREFUSED);
    CHECK(strstr(coil_error_message(coil_last_error()), "secret") == NULL);
    CHECK(strstr(coil_error_message(coil_last_error()),
                 "http://127.0.0.1:1/path?a@b: ") != NULL);
    end(&both);
}

/* ---- redirects --------------------------------------------------------------------- */

IO_TEST(http_leaves_redirects_to_the_caller)
{
    struct both both;

    begin(&both);
    CHECK_INT(http_fetch(&both.client, "/301"), 0);
    CHECK_INT(coil_http_status(both.client.response), 301);
    CHECK_STR(coil_http_header(both.client.response, "Location"), "b/../ok");
    CHECK_STR(both.client.body, "moved");
    CHECK_INT(coil_http_redirect_count(both.client.response), 0);
    end(&both);
}

IO_TEST(http_follows_redirects_if_asked_to)
{
    struct both both;
    const char *url;

    begin(&both);
    both.client.request.max_redirects = 3;
    CHECK_INT(http_fetch(&both.client, "/301"), 0);
    CHECK_INT(coil_http_status(both.client.response), 200);
    CHECK_STR(both.client.body, "hello");
    CHECK_INT(coil_http_redirect_count(both.client.response), 1);
    url = coil_http_url(both.client.response);
    CHECK_STR(url + strlen(both.client.base), "/ok");
    CHECK_INT(both.server.connections, 1);
    CHECK_INT(http_fetch(&both.client, "/circle"), -ELOOP);
    CHECK_STR(coil_http_error(both.client.response), "too many redirects");
    CHECK_INT(both.server.requests, 2 + 4);
    CHECK_INT(http_fetch(&both.client, "/file"), -EINVAL);
    check_ok(&both.client);
    end(&both);
}

IO_TEST(http_redirects_change_the_method_as_browsers_do)
{
    static const struct {
        const char *method, *path, *then;
        bool with_body;
    } cases[] = {
        {"POST", "/301", "GET /ok", false}, {"POST", "/303", "GET /ok", false},
        {"POST", "/307", "POST /ok", true}, {"PUT", "/301", "PUT /ok", true},
        {"PUT", "/303", "GET /ok", false},  {"HEAD", "/303", "HEAD /ok", false},
    };
    const char *headers[] = {"Content-Type: text/x", "Trailer: X", NULL};
    struct both both;

    begin(&both);
    both.client.request.max_redirects = 3;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool head = strcmp(cases[i].method, "HEAD") == 0;
        both.client.request.method = cases[i].method;
        both.client.request.headers = headers;
        both.client.request.body = head ? NULL : "a=1";
        both.client.request.body_bytes = 3;
        /*
         * The server does not support HEAD, and sends a body that the client must ignore.
         */
        CHECK_INT(http_fetch(&both.client, cases[i].path), 0);
        CHECK_INT(strncmp(both.server.last_request, cases[i].then, strlen(cases[i].then)),
                  0);
        CHECK_INT(was_sent(&both, "\r\n\r\na=1"), cases[i].with_body);
        CHECK_INT(was_sent(&both, "Content-Type"), cases[i].with_body || head);
        CHECK_INT(was_sent(&both, "Trailer"), cases[i].with_body || head);
    }
    end(&both);
}

IO_TEST(http_redirects_take_no_credentials_to_another_host)
{
    const char *headers[] = {"Authorization: Basic eA==", "cookie: a=b", "X: y", NULL};
    struct both both;

    begin(&both);
    both.client.request.max_redirects = 3;
    both.client.request.headers = headers;
    CHECK_INT(http_fetch(&both.client, "/303"), 0);
    CHECK(was_sent(&both, "Authorization: Basic") && was_sent(&both, "cookie: a=b"));
    CHECK_INT(http_fetch(&both.client, "/localhost"), 0);
    CHECK_STR(both.client.body != NULL ? both.client.body : "", "hello");
    CHECK(!was_sent(&both, "Authorization") && !was_sent(&both, "cookie"));
    CHECK(was_sent(&both, "X: y"));
    end(&both);
}

/* ---- cancellation, deadlines, ends ------------------------------------------------- */

static int wait_for_gate(void *gate)
{
    return sem_wait(gate);
}

static int occupy_the_dns_lane(void *gate)
{
    return coil_blocking(COIL_LANE_DNS, wait_for_gate, gate);
}

/* Occupy the only thread that looks up names, until let_look_ups_go_on() is called. */
static void hold_up_look_ups(coil_task **occupant, sem_t *gate)
{
    sem_init(gate, 0, 0);
    CHECK_INT(coil_resolver_configure(&(coil_resolver_opts){.engine = "getaddrinfo"}), 0);
    coil_executor_set_limit(COIL_LANE_DNS, 1);
    CHECK_INT(coil_spawn(occupy_the_dns_lane, gate, NULL, occupant), 0);
}

static void let_look_ups_go_on(coil_task *occupant, sem_t *gate)
{
    sem_post(gate);
    CHECK_INT(coil_task_await(occupant), 0);
    coil_task_release(occupant);
    sem_destroy(gate);
}

/* Start a request, and cancel it while it is waiting. */
static void cancel_soon(struct http_client *client)
{
    coil_task *task;

    CHECK_INT(coil_spawn(http_fetch_task, client, NULL, &task), 0);
    coil_sleep(COIL_MSEC(20));
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    coil_task_release(task);
}

IO_TEST(http_can_be_cancelled_while_it_resolves)
{
    struct both both;
    coil_task *occupant;
    sem_t gate;

    begin(&both);
    hold_up_look_ups(&occupant, &gate);
    snprintf(both.client.url, sizeof both.client.url, "http://name.invalid/");
    cancel_soon(&both.client);
    let_look_ups_go_on(occupant, &gate);
    check_ok(&both.client);
    end(&both);
}

/* The listener's backlog is full, so the client waits for its connection. */
IO_TEST(http_can_be_cancelled_while_it_connects)
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t length = sizeof name;
    struct both both;
    int listening = socket(AF_INET, SOCK_STREAM, 0), fds[3];

    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK_INT(bind(listening, (struct sockaddr *)&name, length), 0);
    CHECK_INT(listen(listening, 0), 0);
    getsockname(listening, (struct sockaddr *)&name, &length);
    for (int i = 0; i < 3; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)connect(fds[i], (struct sockaddr *)&name, length);
    }
    begin(&both);
    snprintf(both.client.url, sizeof both.client.url, "http://127.0.0.1:%d/",
             ntohs(name.sin_port));
    cancel_soon(&both.client);
    check_ok(&both.client);
    end(&both);
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    close(listening);
}

IO_TEST(http_can_be_cancelled_before_the_headers_and_in_the_body)
{
    const char *paths[] = {"/nothing", "/half"};
    struct both both;

    begin(&both);
    for (int i = 0; i < 2; i++) {
        snprintf(both.client.url, sizeof both.client.url, "%s%s", both.client.base,
                 paths[i]);
        cancel_soon(&both.client);
        check_ok(&both.client);
    }
    end(&both);
}

IO_TEST(http_obeys_deadlines)
{
    const char *paths[] = {"/nothing", "/half"};
    struct both both;

    begin(&both);
    for (int i = 0; i < 2; i++) {
        coil_scope scope;
        coil_scope_enter(&scope, coil_in(COIL_MSEC(30)));
        CHECK_INT(coil_scope_exit(&scope, http_fetch(&both.client, paths[i])),
                  -ETIMEDOUT);
        check_ok(&both.client);
    }
    end(&both);
}

IO_TEST(http_a_session_may_be_destroyed_under_its_transfers)
{
    const char *paths[] = {"/nothing", "/half"};
    struct both both;
    struct http_client clients[2];
    coil_task *tasks[2];

    begin(&both);
    for (int i = 0; i < 2; i++) {
        clients[i] = both.client;
        snprintf(clients[i].url, sizeof clients[i].url, "%s%s", both.client.base,
                 paths[i]);
        CHECK_INT(coil_spawn(http_fetch_task, &clients[i], NULL, &tasks[i]), 0);
    }
    CHECK_INT(http_ask(&both.client, "/half"), 0);
    coil_sleep(COIL_MSEC(20));
    coil_http_session_destroy(both.client.session);
    both.client.session = NULL;
    for (int i = 0; i < 2; i++) {
        CHECK_INT(coil_task_await(tasks[i]), -ESHUTDOWN);
        coil_task_release(tasks[i]);
        CHECK_STR(coil_http_error(clients[i].response), "the session was destroyed");
        coil_http_response_destroy(clients[i].response);
    }
    /* The bytes received before the failure can still be read. */
    CHECK_INT(coil_http_read_all(both.client.response, &both.client.body,
                                 &both.client.body_bytes),
              -ESHUTDOWN);
    CHECK_INT(coil_http_status(both.client.response), 200);
    end(&both);
}

IO_TEST(http_a_session_may_be_destroyed_under_a_look_up)
{
    static const struct name_rule held = {"slow.test", 'A', "127.0.0.1", .held = true};
    struct name_server names;
    struct both both;
    struct http_client client;
    coil_task *task;

    name_server_start(&names, &held, 1);
    name_server_use(&names, NULL);
    begin(&both);
    client = both.client;
    snprintf(client.url, sizeof client.url, "http://slow.test:%u/ok",
             coil_listener_port(both.server.listener));
    CHECK_INT(coil_spawn(http_fetch_task, &client, NULL, &task), 0);
    coil_sleep(COIL_MSEC(20));
    coil_http_session_destroy(both.client.session);
    both.client.session = NULL;
    name_server_release(&names);
    CHECK_INT(coil_task_await(task), -ESHUTDOWN);
    coil_task_release(task);
    coil_http_response_destroy(client.response);
    end(&both);
    name_server_stop(&names);
}

/* ---- names ------------------------------------------------------------------------- */

IO_TEST(http_tells_a_name_that_does_not_exist)
{
    struct both both;

    begin(&both);
    snprintf(both.client.url, sizeof both.client.url, "http://no-such-name.invalid/");
    int rc = http_fetch_task(&both.client);
    CHECK(rc == -ENOENT || rc == -EAGAIN); /* -EAGAIN: no name server */
    CHECK(strstr(coil_http_error(both.client.response), "no-such-name.invalid") != NULL);
    check_ok(&both.client);
    end(&both);
}

/*
 * One request in four is for this machine's host name. That name may have any addresses,
 * so the results of these requests are not checked.
 */
IO_TEST(http_starts_no_thread_for_a_name)
{
    enum { COUNT = 20 };
    static struct http_client clients[COUNT];
    coil_task *tasks[COUNT];
    struct both both;
    int before, most = 0;
    char host[256] = "";

    CHECK_INT(gethostname(host, sizeof host - 1), 0);
    begin(&both);
    coil_executor_set_limit(COIL_LANE_DNS, 1);
    before = thread_count();
    for (int i = 0; i < COUNT; i++) {
        clients[i] = both.client;
        snprintf(clients[i].url, sizeof clients[i].url, "http://%s:%u/ok",
                 i % 2 ? host : "localhost", coil_listener_port(both.server.listener));
        if (i % 4 == 3)
            snprintf(clients[i].url, sizeof clients[i].url, "http://%d.invalid/", i);
        CHECK_INT(coil_spawn(http_fetch_task, &clients[i], NULL, &tasks[i]), 0);
    }
    for (int i = 0; i < COUNT; i++) {
        while (!coil_future_done(coil_task_future(tasks[i]))) {
            int now = thread_count();
            most = now > most ? now : most;
            coil_sleep(COIL_USEC(200));
        }
        int rc = coil_task_await(tasks[i]);
        CHECK(i % 4 == 1 || (i % 4 == 3 ? rc < 0 : rc == 0));
        coil_task_release(tasks[i]);
        coil_http_response_destroy(clients[i].response);
        coil_free(clients[i].body);
    }
    CHECK(most <= before + 1);
    end(&both);
}

static int answer_for_another(struct http_connection *c)
{
    return say_ok(c);
}

IO_TEST(http_asks_a_proxy_and_lets_it_resolve)
{
    static const struct http_route proxy_routes[] = {{"*", answer_for_another},
                                                     {NULL, NULL}};
    struct http_server proxy;
    struct http_client client;
    char url[64], *agent;
    coil_http_session_opts opts = {.proxy = url};

    http_server_start(&proxy, proxy_routes);
    snprintf(url, sizeof url, "localhost:%u", coil_listener_port(proxy.listener));
    http_client_open(&client, &opts, "http", "name.invalid", 80);
    CHECK_INT(http_fetch(&client, "/x"), 0);
    CHECK_STR(client.body != NULL ? client.body : "", "hello");
    CHECK(strstr(proxy.last_request, "GET http://name.invalid:80/x HTTP/1.1\r\n") !=
              NULL ||
          strstr(proxy.last_request, "GET http://name.invalid/x HTTP/1.1\r\n") != NULL);
    agent = strstr(proxy.last_request, "\r\nUser-Agent: coil/");
    CHECK(agent != NULL && strstr(agent + 3, "User-Agent:") == NULL);
    http_client_close(&client);

    /*
     * The host is listed in no_proxy, so libcurl connects to it directly, after looking
     * up its addresses.
     */
    setenv("no_proxy", "localhost", 1);
    http_client_open(&client, &opts, "http", "localhost",
                     coil_listener_port(proxy.listener));
    CHECK_INT(http_fetch(&client, "/y"), 0);
    CHECK_INT(strncmp(proxy.last_request, "GET /y ", 7), 0);
    http_client_close(&client);
    http_server_stop(&proxy);
}

static int refuse_tunnel(struct http_connection *c)
{
    return http_say(c, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
}

IO_TEST(http_tells_a_proxy_that_refuses_a_tunnel)
{
    static const struct http_route proxy_routes[] = {{"*", refuse_tunnel}, {NULL, NULL}};
    struct http_server proxy;
    struct http_client client;
    char url[64];
    coil_http_session_opts opts = {.proxy = url};

    http_server_start(&proxy, proxy_routes);
    snprintf(url, sizeof url, "http://127.0.0.1:%u", coil_listener_port(proxy.listener));
    http_client_open(&client, &opts, "https", "name.invalid", 443);
    CHECK_INT(http_fetch(&client, "/x"), -EPROTO);
    CHECK(strstr(coil_http_error(client.response), "403") != NULL);
    CHECK_INT(coil_http_status(client.response), 0);
    CHECK_INT(strncmp(proxy.last_request, "CONNECT name.invalid:443 ", 25), 0);
    CHECK(strstr(proxy.last_request, "\r\nUser-Agent: coil/") != NULL);
    http_client_close(&client);
    http_server_stop(&proxy);
}

/* An IPv6 address in brackets is not a name, and CURLOPT_RESOLVE could not express it. */
IO_TEST(http_takes_ipv6_in_numbers)
{
    coil_http_session_opts opts = {.proxy = ""};
    struct http_server server = {.routes = routes};
    struct http_client client;

    if (coil_listen("::1", "0", 0, &server.listener) < 0)
        test_skip("there is no IPv6 here");
    coil_listener_destroy(server.listener);
    http_server_start_at(&server, "::1", routes);
    http_client_open(&client, &opts, "http", "[::1]",
                     coil_listener_port(server.listener));
    check_ok(&client);
    http_client_close(&client);
    http_server_stop(&server);
}

IO_TEST(http_says_that_a_header_is_too_long)
{
    struct both both;

    begin(&both);
    CHECK_INT(http_fetch(&both.client, "/long-line"), -EMSGSIZE);
    CHECK(strstr(coil_http_error(both.client.response), "header") != NULL);
    CHECK(strstr(coil_error_message(coil_last_error()), "/long-line: ") != NULL);
    CHECK_INT(http_fetch(&both.client, "/many-headers"), -EMSGSIZE);
    CHECK(strstr(coil_http_error(both.client.response), "header") != NULL);
    check_ok(&both.client);
    end(&both);
}

IO_TEST(http_session_destroyed_by_a_forked_child_goes_on_in_the_parent)
{
    struct both both;
    int status = -1;
    pid_t child;

    if (test_under_valgrind())
        test_skip("valgrind reports the parent's objects in the child as leaked");
    begin(&both);
    check_ok(&both.client);
    child = fork();
    if (child == 0) {
        http_client_close(&both.client);
        _exit(0);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    check_ok(&both.client);
    CHECK_INT(both.server.connections, 1);
    end(&both);
}

/* ---- running out ------------------------------------------------------------------- */

IO_TEST(http_survives_every_failed_allocation_of_the_loop)
{
    struct both both;
    int failures = 0;

    begin(&both);
    for (int n = 1; n <= 30; n++) {
        http_client_close(&both.client); /* the next request must connect again */
        open_client(&both);
        test_fail_allocation(n);
        int rc = http_fetch(&both.client, "/ok");
        test_fail_allocation(0);
        failures += rc < 0;
        CHECK(rc == 0 || rc == -ENOMEM || rc == -ECONNRESET);
        check_ok(&both.client);
    }
    CHECK(failures > 0);
    end(&both);
}

IO_TEST(http_tells_that_there_is_no_descriptor)
{
    coil_http_session_opts opts = {.proxy = ""};
    struct http_client client;
    int before, nobody;

    http_client_open(&client, &opts, "http", "127.0.0.1", take_refusing_port(&nobody));
    /* makes libcurl open its other descriptors */
    CHECK_INT(http_fetch(&client, "/"), -ECONNREFUSED);
    before = limit_descriptors(0);
    CHECK_INT(http_fetch(&client, "/"), -EMFILE);
    restore_descriptors(before);
    CHECK_INT(http_fetch(&client, "/"), -ECONNREFUSED);
    http_client_close(&client);
    close(nobody);
}

/* ---- destroyed before -------------------------------------------------------------- */

static int misuse_session(void *arg)
{
    coil_http_session *session;
    coil_http_response *response;

    if (coil_http_session_create(&(coil_http_session_opts){.proxy = NULL}, &session) < 0)
        return -1;
    coil_http_get(session, &(coil_http_request){.url = "http://127.0.0.1:1/"}, &response);
    if (*(const int *)arg == 0) {
        coil_http_response_destroy(response);
        coil_http_response_destroy(response);
    } else if (*(const int *)arg == 1) { /* the session is still allocated */
        coil_http_session_destroy(session);
        coil_http_session_destroy(session);
    } else {
        coil_http_session_destroy(session);
        coil_http_get(session, &(coil_http_request){.url = "http://127.0.0.1:1/"},
                      &response);
    }
    return 0;
}

static void run_misuse(void *arg)
{
    coil_run(misuse_session, arg, NULL);
}

TEST(http_session_or_response_used_after_it_was_destroyed_stops_the_program)
{
    int response = 0, session = 1, request = 2;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    if (!test_under_valgrind()) /* Valgrind reports the use of freed memory */
        test_dies(run_misuse, &response,
                  "coil_http_response_destroy: the object was destroyed");
#endif
    (void)response;
    test_dies(run_misuse, &session,
              "coil_http_session_destroy: the object was destroyed");
    test_dies(run_misuse, &request, "coil_http_get: the object was destroyed");
}
