/*
 * coil_fetch.c - fetches known URLs with coil-http, with a task for each connection.
 *
 *     coil_fetch URL-PREFIX PAGES CONNECTIONS [read]
 *
 * Pages are not parsed. An on_body callback discards them; with `read`, coil_http_read()
 * reads them into a buffer instead. The difference from libcurl_fetch is the cost of
 * coil-http and coil.
 */
#include <coil.h>
#include <coil/http.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *prefix;
static long page_count, next_page, failed_count;
static bool reads;

static int drop(coil_http_response *response, const char *bytes, size_t n, void *arg)
{
    (void)response, (void)bytes, (void)n, (void)arg;
    return 0;
}

static int fetch(coil_http_session *session, const char *url)
{
    coil_http_request request = {.url = url, .on_body = reads ? NULL : drop};
    coil_http_response *response;
    int rc = coil_http_get(session, &request, &response);
    char buffer[16384];
    ssize_t n = 1;

    while (rc == 0 && reads && n > 0)
        n = coil_http_read(response, buffer, sizeof buffer);
    if (rc == 0 && (n < 0 || coil_http_status(response) != 200))
        rc = -EPROTO;
    coil_http_response_destroy(response);
    return rc;
}

static int work(void *session)
{
    char url[256];

    while (next_page < page_count) {
        snprintf(url, sizeof url, "%sp%ld.html", prefix, next_page++);
        failed_count += fetch(session, url) < 0;
    }
    return 0;
}

static int app(void *arg)
{
    coil_http_session_opts opts = {.proxy = ""};
    coil_http_session *session;
    coil_group group;
    int rc = coil_http_session_create(&opts, &session);

    if (rc < 0)
        return rc;
    coil_group_enter(&group);
    for (long i = 0; rc == 0 && i < *(const long *)arg; i++)
        rc = coil_group_spawn(&group, work, session, NULL, NULL);
    rc = coil_group_exit(&group, rc);
    coil_http_session_destroy(session);
    return rc;
}

int main(int argc, char *argv[])
{
    long connections;

    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: coil_fetch URL-PREFIX PAGES CONNECTIONS [read]\n");
        return 2;
    }
    prefix = argv[1];
    page_count = atol(argv[2]);
    connections = atol(argv[3]);
    reads = argc == 5 && strcmp(argv[4], "read") == 0;
    return coil_run(app, &connections, NULL) < 0 || failed_count > 0;
}
