/* client.c - see client.h. */
#include "client.h"

#include "../../harness/harness.h"

#include <dirent.h>

void http_client_open(struct http_client *client, const coil_http_session_opts *opts,
                      const char *scheme, const char *host, int port)
{
    *client = (struct http_client){.session = NULL};
    snprintf(client->base, sizeof client->base, "%s://%s:%d", scheme, host, port);
    CHECK_INT(coil_http_session_create(opts, &client->session), 0);
}

static void forget_response(struct http_client *client)
{
    coil_http_response_destroy(client->response);
    coil_free(client->body);
    client->response = NULL;
    client->body = NULL;
    client->body_bytes = 0;
}

void http_client_close(struct http_client *client)
{
    forget_response(client);
    coil_http_session_destroy(client->session);
    client->session = NULL;
}

int http_ask(struct http_client *client, const char *path)
{
    forget_response(client);
    if (client->url != path)
        snprintf(client->url, sizeof client->url, "%s%s", client->base, path);
    client->request.url = client->url;
    return coil_http_get(client->session, &client->request, &client->response);
}

int http_fetch(struct http_client *client, const char *path)
{
    int rc = http_ask(client, path);

    if (rc < 0)
        return rc;
    return coil_http_read_all(client->response, &client->body, &client->body_bytes);
}

int http_fetch_task(void *arg)
{
    struct http_client *client = arg;

    return http_fetch(client, client->url);
}

int thread_count(void)
{
    DIR *folder = opendir("/proc/self/task");
    int count = -2; /* the entries . and .. do not count */

    while (folder != NULL && readdir(folder) != NULL)
        count++;
    if (folder != NULL)
        closedir(folder);
    return count;
}
