/*
 * watch.c - a crawl is watched while it runs: --status, and SIGUSR1.
 *
 * A connection is a request and its answer: whoever looks comes back in a second or two. The
 * numbers are counted anew for each.
 */
#include "watch.h"

#include "pages.h"

#include <coil/address.h>
#include <coil/error.h>
#include <coil/scope.h>
#include <coil/server.h>
#include <coil/timer.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES 8192 /* of a request */
#define PATIENCE_NS COIL_SEC(10)
#define CONNECTIONS 16

/* ---- how it stands ----------------------------------------------------------------- */

void watch_init(struct watch *watch, const struct crawler *crawler)
{
    *watch = (struct watch){.crawler = crawler};
}

void watch_tick(struct watch *watch)
{
    struct crawler_progress now = crawler_progress(watch->crawler);

    progress_update(&watch->progress, now.known, now.done, now.bad, coil_now());
}

typedef void (*writer)(struct text *text, const struct watch_numbers *numbers,
                       double rate);

static void write_down(const struct watch *watch, writer write, struct text *text)
{
    struct watch_numbers numbers;

    watch_count(&numbers, watch->crawler);
    write(text, &numbers, watch->progress.rate);
}

void watch_print(struct watch *watch)
{
    struct text text = {0};

    write_down(watch, watch_lines, &text);
    fputs("coil-crawl: ", stderr);
    fwrite(text.at, 1, text.n, stderr);
    if (text.failed)
        fputs("(there is no memory to tell more)\n", stderr);
    fflush(stderr);
    free(text.at);
}

/* ---- where ------------------------------------------------------------------------- */

int watch_listen(struct watch *watch, const char *host, const char *port, char **message)
{
    int rc = coil_listen(host[0] != '\0' ? host : NULL, port, 0, &watch->listener);

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

/* ---- requests ---------------------------------------------------------------------- */

static const struct {
    const char *path, *type;
    writer write;
} pages[] = {
    {"/", "text/html; charset=utf-8", watch_page},
    {"/status.json", "application/json", watch_json},
    {"/metrics", "text/plain; version=0.0.4; charset=utf-8", watch_metrics},
};

/* The answer as a whole; of HEAD without what `body` has. */
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

    write_down(watch, pages[page].write, &body);
    rc = body.failed ? send_refusal(stream, "503 Service Unavailable")
                     : send_answer(stream, "200 OK", pages[page].type, &body, with_body);
    free(body.at);
    return rc;
}

/* The request line is "METHOD TARGET HTTP/1.x"; a query says nothing to us. */
static int answer_request(const struct watch *watch, coil_stream *stream, char *head)
{
    char *line_end = strpbrk(head, "\r\n"), *target, *version;
    size_t n;

    if (line_end != NULL)
        *line_end = '\0';
    target = strchr(head, ' ');
    version = target != NULL ? strchr(target + 1, ' ') : NULL;
    if (version == NULL || strncmp(version + 1, "HTTP/1.", 7) != 0 || target[1] != '/')
        return send_refusal(stream, "400 Bad Request");
    *target++ = *version = '\0';
    if (strcmp(head, "GET") != 0 && strcmp(head, "HEAD") != 0)
        return send_refusal(stream, "405 Method Not Allowed");
    n = strcspn(target, "?");
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++)
        if (strlen(pages[i].path) == n && memcmp(pages[i].path, target, n) == 0)
            return send_page(watch, stream, i, strcmp(head, "GET") == 0);
    return send_refusal(stream, "404 Not Found");
}

static int answer(coil_stream *stream, void *arg)
{
    char head[HEAD_BYTES + 1];
    coil_scope scope;
    ssize_t n;
    int rc = coil_scope_enter(&scope, coil_in(PATIENCE_NS));

    if (rc < 0)
        return 0;
    n = coil_read_until(stream, "\r\n\r\n", 4, head, HEAD_BYTES);
    if (n >= 0) {
        head[n] = '\0';
        rc = answer_request(arg, stream, head);
    } else {
        rc = n == -EMSGSIZE ? send_refusal(stream, "431 Request Header Fields Too Large")
                            : (int)n;
    }
    rc = coil_scope_exit(&scope, rc);
    return rc == -ECANCELED ? rc : 0; /* a client's failures are its own */
}

int watch_serve(void *arg)
{
    struct watch *watch = arg;
    coil_server_opts opts = {.max_connections = CONNECTIONS, .name = "status"};

    return coil_serve(watch->listener, answer, watch, &opts);
}

void watch_finish(struct watch *watch)
{
    coil_listener_destroy(watch->listener);
    watch->listener = NULL;
}
