/*
 * client.h - an HTTP client for the tests: a session, and at most one response at a time.
 */
#ifndef TESTS_HTTP_CLIENT_H
#define TESTS_HTTP_CLIENT_H

#include <coil.h>
#include <coil/http.h>

struct http_client {
    coil_http_session *session;
    coil_http_request request;
    coil_http_response *response;
    char base[128]; /* "http://127.0.0.1:8080" */
    char url[512];
    char *body; /* the body that http_fetch() has read */
    size_t body_bytes;
};

void http_client_open(struct http_client *client, const coil_http_session_opts *opts,
                      const char *scheme, const char *host, int port);
void http_client_close(struct http_client *client);

/*
 * Request `path`, relative to the base URL, and wait for the headers. Returns the result
 * of coil_http_get().
 */
int http_ask(struct http_client *client, const char *path);

/* Like http_ask(), but also read the whole body. */
int http_fetch(struct http_client *client, const char *path);

/* Like http_fetch(), but fetch client->url. Can be used as the function of a task. */
int http_fetch_task(void *client);

/* Return the number of threads of this process. */
int thread_count(void);

#endif
