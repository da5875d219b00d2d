/*
 * scenarios.c - see scenarios.h.
 */
#include "scenarios.h"

#include <coil/addrinfo.h>
#if HAVE_HTTP
#include <coil/http.h>
#endif

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *peers_folder, *http_port, *dns_port;

enum { BYTES = 30000 };

/* ---- TLS --------------------------------------------------------------------------- */

struct tls_pair {
    coil_stream *ends[2];
    coil_tls *server, *client;
};

static int serve_tls(void *arg)
{
    struct tls_pair *p = arg;
    static char bytes[BYTES];
    ssize_t n = coil_accept_tls(p->ends[1], p->server);

    if (n == 0)
        n = coil_read_exact(p->ends[1], bytes, BYTES);
    if (n >= 0)
        n = coil_write(p->ends[1], bytes, BYTES);
    if (n >= 0)
        n = coil_stream_shutdown_write(p->ends[1]);
    return n < 0 ? (int)n : 0;
}

static int ask_tls(struct tls_pair *p)
{
    static char sent[BYTES], got[BYTES];
    ssize_t n = coil_start_tls(p->ends[0], p->client, "localhost");

    memset(sent, 't', BYTES);
    if (n == 0)
        n = coil_write(p->ends[0], sent, BYTES);
    if (n >= 0)
        n = coil_read_exact(p->ends[0], got, BYTES);
    if (n >= 0)
        n = memcmp(sent, got, BYTES) == 0 ? coil_tls_stop(p->ends[0]) : 1;
    return (int)n;
}

static int talk_tls(struct tls_pair *p)
{
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = coil_group_spawn(&group, serve_tls, p, NULL, NULL);
    if (rc == 0)
        rc = ask_tls(p);
    return coil_group_exit(&group, rc);
}

static int tls(void *arg)
{
    struct tls_pair p = {.server = NULL};
    char file[256];
    int rc;

    (void)arg;
    snprintf(file, sizeof file, "%s/server.pem", peers_folder);
    rc = coil_tls_create(&(coil_tls_opts){.certificate_file = file, .ca_file = file},
                         &p.server);
    if (rc == 0)
        rc = coil_tls_create(&(coil_tls_opts){.ca_file = file}, &p.client);
    if (rc == 0)
        rc = coil_stream_pair(p.ends);
    if (rc == 0) {
        rc = talk_tls(&p);
        coil_stream_destroy(p.ends[0]);
        coil_stream_destroy(p.ends[1]);
    }
    coil_tls_release(p.server);
    coil_tls_release(p.client);
    return rc;
}

/* ---- HTTP -------------------------------------------------------------------------- */

#if HAVE_HTTP
static int count(coil_http_response *response, const char *bytes, size_t n, void *total)
{
    (void)response, (void)bytes;
    *(size_t *)total += n;
    return 0;
}

static int check_body(coil_http_response *response)
{
    char *body = NULL;
    size_t n = 0;
    int rc = coil_http_read_all(response, &body, &n);

    if (rc == 0)
        rc = n == BYTES && body[0] == 'h' && body[n - 1] == 'h' ? 0 : 1;
    coil_free(body);
    return rc;
}

/*
 * Fetch a page. Read the body of the response, or with `handed_on` count its bytes in a
 * callback.
 */
static int fetch(coil_http_session *session, const char *host, bool handed_on)
{
    const char *headers[] = {"X: y", NULL};
    size_t total = 0;
    char url[64];
    coil_http_request request = {.url = url, .idle_timeout_ns = COIL_SEC(60)};
    coil_http_response *response = NULL;
    int rc;

    snprintf(url, sizeof url, "http://%s:%s/x", host, http_port);
    if (handed_on) {
        request.on_body = count;
        request.on_body_arg = &total;
        request.headers = headers;
    }
    rc = coil_http_get(session, &request, &response);
    if (rc == 0)
        rc = handed_on ? total != BYTES : check_body(response);
    coil_http_response_destroy(response);
    return rc;
}

/*
 * The second request reuses the connection and the handle. The third request resolves a
 * name, which is cached for the fourth.
 */
static int http(void *arg)
{
    coil_http_session_opts opts = {.cookies = true};
    coil_http_session *session;
    int rc = coil_http_session_create(&opts, &session);

    (void)arg;
    if (rc < 0)
        return rc;
    rc = fetch(session, "127.0.0.1", false);
    if (rc == 0)
        rc = fetch(session, "127.0.0.1", true);
    if (rc == 0)
        rc = fetch(session, "localhost", false);
    if (rc == 0)
        rc = fetch(session, "localhost", true);
    coil_http_session_destroy(session);
    return rc;
}

/*
 * libcurl also sends the header to the target of the redirect, because both URLs are on
 * the same server.
 */
static int redirect(void *arg)
{
    const char *headers[] = {"Authorization: Basic dTpw", NULL};
    char url[64];
    coil_http_request request = {.url = url, .headers = headers, .max_redirects = 1};
    coil_http_response *response = NULL;
    coil_http_session *session;
    int rc = coil_http_session_create(NULL, &session);

    (void)arg;
    if (rc < 0)
        return rc;
    snprintf(url, sizeof url, "http://127.0.0.1:%s/moved", http_port);
    rc = coil_http_get(session, &request, &response);
    if (rc == 0)
        rc = coil_http_status(response) != 200;
    coil_http_response_destroy(response);
    coil_http_session_destroy(session);
    return rc;
}
#endif

/* ---- names ------------------------------------------------------------------------- */

static int look_up(void)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *list;
    int rc = coil_getaddrinfo("one.test", "80", &hints, &list);

    if (rc < 0)
        return rc;
    rc = list != NULL && list->ai_family == AF_INET ? 0 : 1;
    freeaddrinfo(list);
    return rc;
}

static int dns(void *arg)
{
    char servers[64];
    int rc;

    (void)arg;
    snprintf(servers, sizeof servers, "127.0.0.1:%s", dns_port);
    rc = coil_resolver_configure(&(coil_resolver_opts){.engine = "c-ares",
                                                       .servers = servers,
                                                       .hosts_file = "/dev/null",
                                                       .timeout_ns = COIL_MSEC(300),
                                                       .tries = 1});
    return rc < 0 ? rc : look_up();
}

/* Let the C library resolve a name on a thread. */
static int names(void *arg)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_family = AF_INET6,
                             /* without this flag, coil would resolve the name itself */
                             .ai_flags = AI_V4MAPPED};
    struct addrinfo *list;
    int rc = coil_resolver_configure(&(coil_resolver_opts){.engine = "getaddrinfo"});

    (void)arg;
    if (rc == 0)
        rc = coil_getaddrinfo("localhost", "80", &hints, &list);
    if (rc == 0)
        freeaddrinfo(list);
    return rc;
}

/* ---- processes and files ----------------------------------------------------------- */

static int process(void *arg)
{
    static char input[BYTES];
    const char *const argv[] = {"cat", NULL};
    coil_process_opts opts = {.argv = argv, .in = COIL_PIPE, .out = COIL_PIPE};
    coil_output out = {.data = NULL};
    coil_process *child;
    int rc = coil_process_spawn(&opts, &child);

    (void)arg;
    if (rc < 0)
        return rc;
    memset(input, 'p', BYTES);
    rc = coil_process_communicate(child, input, BYTES, &out, NULL, 0);
    if (rc == 0)
        rc = out.size == BYTES && memcmp(out.data, input, BYTES) == 0 ? 0 : 1;
    coil_output_finish(&out);
    coil_process_destroy(child);
    return rc;
}

static int file(void *arg)
{
    char path[256];
    void *data = NULL;
    size_t n = 0;
    int rc;

    (void)arg;
    snprintf(path, sizeof path, "%s/written", peers_folder);
    rc = coil_write_file(path, "written", 7, 0600, COIL_FILE_ATOMIC);
    if (rc == 0)
        rc = coil_read_file(path, 0, &data, &n);
    if (rc == 0)
        rc = n == 7 && memcmp(data, "written", 7) == 0 ? 0 : 1;
    coil_free(data);
    return rc;
}

const struct scenario scenarios[] = {
    {"tls", tls},
#if HAVE_HTTP
    {"http", http}, {"redirect", redirect},
#endif
    {"dns", dns},   {"names", names},       {"process", process}, {"file", file},
};
const int scenario_count = sizeof scenarios / sizeof scenarios[0];
