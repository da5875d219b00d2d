/*
 * fetch.c - fetch several pages at the same time with coil-http, using two calls for each
 * page.
 *
 *     fetch http://localhost:8080/ http://localhost:8080/manual
 *
 * The chapter "A Web Crawler With asyncio Coroutines" has the same two calls: `response =
 * await session.get(url)`, `body = await response.read()`.
 */
#include <coil.h>
#include <coil/http.h>

#include <stdio.h>
#include <stdlib.h>

#define AT_A_TIME 10

static coil_http_session *session;

/* [fetch] */
static int fetch(void *arg)
{
    coil_http_request request = {.url = arg, .max_redirects = 10};
    coil_http_response *response;
    char *body = NULL;
    size_t n = 0;

    int rc = coil_http_get(session, &request, &response);
    if (rc == 0)
        rc = coil_http_read_all(response, &body, &n);
    if (rc == 0)
        printf("%s: %d, %zu bytes\n", request.url, coil_http_status(response), n);
    else if (rc != -ECANCELED)
        printf("%s: %s\n", request.url, coil_http_error(response));
    coil_free(body);
    coil_http_response_destroy(response);
    return rc == -ECANCELED ? rc : 0; // a failed page does not affect the others
}
/* [end] */

static int app(void *arg)
{
    char **urls = arg;
    int rc = coil_http_session_create(NULL, &session);

    if (rc < 0)
        return rc;
    COIL_WITH_GROUP(group, rc)
    {
        coil_group_set_limit(&group, AT_A_TIME);
        for (; *urls != NULL && rc == 0; urls++)
            rc = coil_group_spawn_when_free(&group, fetch, *urls, NULL, NULL);
    }
    coil_http_session_destroy(session);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: fetch URL...\n");
        return 2;
    }
    return coil_run(app, argv + 1, NULL) < 0;
}
