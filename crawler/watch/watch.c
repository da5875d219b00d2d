/*
 * watch.c - see watch.h
 *
 * Each connection serves one request, because clients only poll every second or two. The
 * numbers are computed again for each request.
 *
 * A web page in the user's browser could access this port through a host name that
 * resolves to this machine (DNS rebinding). Therefore the Host header must be an address,
 * "localhost", or the host of --status. If there are more than CLIENTS connections, the
 * oldest one is closed, so that clients that never complete their requests do not block
 * others.
 */
#include "watch.h"

#include "pages.h"

#include <coil/address.h>
#include <coil/error.h>
#include <coil/scope.h>
#include <coil/server.h>
#include <coil/timer.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HEAD_BYTES 8192 /* maximum size of the head of a request */
#define PATIENCE_NS COIL_SEC(10)
#define CLIENTS 16
/* maximum number of connections, including those that are being closed */
#define CONNECTIONS (3 * CLIENTS)

/* ---- status ------------------------------------------------------------------------ */

void watch_init(struct watch *watch, const struct crawler *crawler)
{
    *watch = (struct watch){.crawler = crawler};
    TAILQ_INIT(&watch->clients);
}

void watch_tick(struct watch *watch)
{
    struct crawler_progress now = crawler_progress(watch->crawler);

    progress_update(&watch->progress, now.known, now.done, now.bad, coil_now());
}

typedef void (*writer)(struct text *text, const struct watch_numbers *numbers,
                       double rate);

static void write_stderr(const struct watch *watch, writer write, struct text *text)
{
    struct watch_numbers numbers;

    watch_count(&numbers, watch->crawler);
    write(text, &numbers, watch->progress.rate);
}

void watch_print(struct watch *watch)
{
    struct text text = {0};

    write_stderr(watch, watch_lines, &text);
    fputs("coil-crawl: ", stderr);
    fwrite(text.at, 1, text.n, stderr);
    if (text.failed)
        fputs("(not complete: out of memory)\n", stderr);
    fflush(stderr);
    free(text.at);
}

/* ---- where ------------------------------------------------------------------------- */

int watch_listen(struct watch *watch, const char *host, const char *port, char **message)
{
    int rc = coil_listen(host[0] != '\0' ? host : NULL, port, 0, &watch->listener);

    watch->host = host;
    *message = NULL;
    if (rc < 0 && asprintf(message, "--status: %s: %s",
                           coil_error_message(coil_last_error()), strerror(-rc)) < 0)
        *message = NULL;
    return rc;
}

int watch_name(const struct watch *watch, char *name, size_t size)
{
    coil_address address;
    int rc = coil_listener_name(watch->listener, &address);

    if (rc == 0)
        coil_address_format(&address, name, size);
    return rc;
}

/* ---- answers ----------------------------------------------------------------------- */

static const struct {
    const char *path, *type;
    writer write;
} pages[] = {
    {"/", "text/html; charset=utf-8", watch_page},
    {"/status.json", "application/json", watch_json},
    {"/metrics", "text/plain; version=0.0.4; charset=utf-8", watch_metrics},
};

/* Send a complete answer. `with_body` is false if the request method is HEAD. */
static int send_answer(coil_stream *stream, const char *status, const char *type,
                       const struct text *body, bool with_body)
{
    char head[512];
    ssize_t rc;
    int n = snprintf(head, sizeof head,
                     "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                     "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                     "Content-Security-Policy: default-src 'none'; "
                     "style-src 'unsafe-inline'\r\nConnection: close\r\n\r\n",
                     status, type, body->n);

    rc = coil_write(stream, head, (size_t)n);
    if (rc >= 0 && with_body)
        rc = coil_write(stream, body->at, body->n);
    return rc < 0 ? (int)rc : 0;
}

static int send_refusal(coil_stream *stream, const char *status)
{
    struct text body = {0};
    int rc;

    text_add(&body, status, strlen(status));
    text_add(&body, "\n", 1);
    rc = send_answer(stream, status, "text/plain", &body, true);
    free(body.at);
    return rc;
}

static int send_page(const struct watch *watch, coil_stream *stream, size_t page,
                     bool with_body)
{
    struct text body = {0};
    int rc;

    write_stderr(watch, pages[page].write, &body);
    rc = body.failed ? send_refusal(stream, "503 Service Unavailable")
                     : send_answer(stream, "200 OK", pages[page].type, &body, with_body);
    free(body.at);
    return rc;
}

/* ---- user agents ------------------------------------------------------------------- */

static bool is_name(const char *host, size_t n, const char *name)
{
    return strlen(name) == n && strncasecmp(host, name, n) == 0;
}

static bool is_address(const char *host, size_t n)
{
    char text[INET6_ADDRSTRLEN];
    unsigned char bytes[16];
    bool has_brackets = n > 2 && host[0] == '[' && host[n - 1] == ']';

    if (has_brackets) {
        host++;
        n -= 2;
    }
    if (n >= sizeof text)
        return false;
    memcpy(text, host, n);
    text[n] = '\0';
    return inet_pton(has_brackets ? AF_INET6 : AF_INET, text, bytes) == 1;
}

/* Return the length of the host in a text such as "localhost:9100". */
static size_t host_length(const char *value, size_t n)
{
    size_t digits = 0;

    while (digits < n && value[n - digits - 1] >= '0' && value[n - digits - 1] <= '9')
        digits++;
    return digits < n && value[n - digits - 1] == ':' ? n - digits - 1 : n;
}

static bool is_own_host(const struct watch *watch, const char *value, size_t n)
{
    n = host_length(value, n);
    return is_address(value, n) || is_name(value, n, "localhost") ||
           is_name(value, n, "localhost.") ||
           (watch->host != NULL && *watch->host != '\0' &&
            is_name(value, n, watch->host));
}

/* Return the trimmed value of a header line, or NULL if its name is not `name`. */
static const char *value_in(const char *line, size_t n, const char *name, size_t *length)
{
    size_t name_n = strlen(name);

    if (n <= name_n || strncasecmp(line, name, name_n) != 0 || line[name_n] != ':')
        return NULL;
    line += name_n + 1;
    n -= name_n + 1;
    while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t'))
        n--;
    while (n > 0 && (*line == ' ' || *line == '\t')) {
        line++;
        n--;
    }
    *length = n;
    return line;
}

/*
 * Return NULL if the Host header names this server, otherwise the HTTP status with which
 * to refuse the request. `may_lack` is true for HTTP/1.0, which does not require the
 * header. (RFC 9112, 3.2; RFC 9110, 7.4)
 */
static const char *refusal_of_host(const struct watch *watch, const char *headers,
                                   bool may_lack)
{
    const char *host = NULL;
    size_t host_n = 0, n;

    for (headers += strspn(headers, "\r\n"); *headers != '\0';
         headers += n, headers += strspn(headers, "\r\n")) {
        size_t length;
        const char *value;

        n = strcspn(headers, "\r\n");
        value = value_in(headers, n, "Host", &length);
        if (value != NULL && host != NULL)
            return "400 Bad Request";
        if (value != NULL) {
            host = value;
            host_n = length;
        }
    }
    if (host == NULL)
        return may_lack ? NULL : "400 Bad Request";
    return is_own_host(watch, host, host_n) ? NULL : "421 Misdirected Request";
}

/* ---- requests ---------------------------------------------------------------------- */

/*
 * Answer a request, whose first line is "METHOD TARGET HTTP/1.x". Ignore a query in the
 * target.
 */
static int answer_request(const struct watch *watch, coil_stream *stream, char *head)
{
    char *line_end = head + strcspn(head, "\r\n"), *target, *version;
    const char *headers = *line_end != '\0' ? line_end + 1 : line_end, *refusal;
    size_t n;

    *line_end = '\0';
    target = strchr(head, ' ');
    version = target != NULL ? strchr(target + 1, ' ') : NULL;
    if (version == NULL || strncmp(version + 1, "HTTP/1.", 7) != 0 || target[1] != '/')
        return send_refusal(stream, "400 Bad Request");
    refusal = refusal_of_host(watch, headers, strcmp(version + 1, "HTTP/1.0") == 0);
    if (refusal != NULL)
        return send_refusal(stream, refusal);
    *target++ = *version = '\0';
    if (strcmp(head, "GET") != 0 && strcmp(head, "HEAD") != 0)
        return send_refusal(stream, "405 Method Not Allowed");
    n = strcspn(target, "?");
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++)
        if (strlen(pages[i].path) == n && memcmp(pages[i].path, target, n) == 0)
            return send_page(watch, stream, i, strcmp(head, "GET") == 0);
    return send_refusal(stream, "404 Not Found");
}

/* ---- connections ------------------------------------------------------------------- */

struct watch_client {
    TAILQ_ENTRY(watch_client) link;
    coil_scope scope;
    bool is_listed;
};

static void remove_client(struct watch *watch, struct watch_client *client)
{
    if (!client->is_listed)
        return;
    TAILQ_REMOVE(&watch->clients, client, link);
    client->is_listed = false;
    watch->client_count--;
}

/* Add a client. If there are too many, close the oldest connection. */
static void add_client(struct watch *watch, struct watch_client *client)
{
    TAILQ_INSERT_TAIL(&watch->clients, client, link);
    client->is_listed = true;
    watch->client_count++;
    while (watch->client_count > CLIENTS) {
        struct watch_client *oldest = TAILQ_FIRST(&watch->clients);

        remove_client(watch, oldest);
        coil_scope_set_deadline(&oldest->scope, coil_now());
    }
}

static int serve_client(coil_stream *stream, void *arg)
{
    char head[HEAD_BYTES + 1];
    struct watch_client client;
    ssize_t n;
    int rc = coil_scope_enter(&client.scope, coil_in(PATIENCE_NS));

    if (rc < 0)
        return 0;
    add_client(arg, &client);
    n = coil_read_until(stream, "\r\n\r\n", 4, head, HEAD_BYTES);
    if (n >= 0) {
        head[n] = '\0';
        rc = answer_request(arg, stream, head);
    } else {
        rc = n == -EMSGSIZE ? send_refusal(stream, "431 Request Header Fields Too Large")
                            : (int)n;
    }
    remove_client(arg, &client);
    rc = coil_scope_exit(&client.scope, rc);
    return rc == -ECANCELED ? rc : 0; /* ignore the client's errors */
}

int watch_serve(void *arg)
{
    struct watch *watch = arg;
    coil_server_opts opts = {.max_connections = CONNECTIONS, .name = "status"};

    return coil_serve(watch->listener, serve_client, watch, &opts);
}

void watch_finish(struct watch *watch)
{
    coil_listener_destroy(watch->listener);
    watch->listener = NULL;
}
