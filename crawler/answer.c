/*
 * answer.c - what a server had to say about a URL.
 */
#include "answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A body that nobody wants is worth reading up to here, to keep the connection. */
#define DRAIN_BYTES ((size_t)128 * 1024)

static int copy_header(const coil_http_response *response, const char *name, char **to)
{
    const char *value = coil_http_header(response, name);

    if (value == NULL)
        return 0;
    *to = strdup(value);
    return *to != NULL ? 0 : -ENOMEM;
}

static int copy_headers(struct answer *answer, const coil_http_response *response)
{
    int rc = copy_header(response, "Content-Type", &answer->content_type);

    answer->status = coil_http_status(response);
    return rc == 0 ? copy_header(response, "Location", &answer->location) : rc;
}

static void measure(struct answer *answer, const coil_http_response *response)
{
    int64_t announced = coil_http_content_length(response);

    answer->size = announced >= 0 ? announced : coil_http_body_bytes(response);
    answer->received_bytes = coil_http_received_bytes(response);
}

static int take_body(struct answer *answer, coil_http_response *response,
                     answer_wanted wanted)
{
    if (wanted(answer->status, answer->content_type))
        return coil_http_read_all(response, &answer->body, &answer->body_bytes);
    return coil_http_discard(response, DRAIN_BYTES);
}

int answer_get(struct answer *answer, coil_http_session *session, const char *url,
               size_t body_limit, answer_wanted wanted)
{
    coil_http_request request = {.url = url, .body_limit = body_limit};
    coil_http_response *response;
    int rc = coil_http_get(session, &request, &response);

    *answer = (struct answer){.status = 0};
    if (rc == 0)
        rc = copy_headers(answer, response);
    if (rc == 0)
        rc = take_body(answer, response, wanted);
    if (response != NULL)
        measure(answer, response);
    if (rc < 0)
        snprintf(answer->error, sizeof answer->error, "%s", coil_http_error(response));
    coil_http_response_destroy(response);
    return rc;
}

void answer_finish(struct answer *answer)
{
    free(answer->content_type);
    free(answer->location);
    free(answer->body);
    *answer = (struct answer){.status = 0};
}
