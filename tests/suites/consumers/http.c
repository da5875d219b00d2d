/*
 * http.c - a user's program that sends a request to a closed port.
 */
#include <coil.h>
#include <coil/http.h>

#include <stdio.h>

static int main_task(void *arg)
{
    coil_http_session_opts opts = {.proxy = ""};
    coil_http_request request = {.url = "http://127.0.0.1:1/"};
    coil_http_session *session;
    coil_http_response *response;
    int rc = coil_http_session_create(&opts, &session);

    (void)arg;
    if (rc < 0)
        return rc;
    rc = coil_http_get(session, &request, &response);
    coil_http_response_destroy(response);
    coil_http_session_destroy(session);
    puts(rc == -ECONNREFUSED ? "-ECONNREFUSED" : "something else");
    return 0;
}

int main(void)
{
    return coil_run(main_task, NULL, NULL) < 0;
}
