/*
 * body.c - buffers for bodies, and a pool of unused buffers.
 *
 * Buffers are reused, because free(3) would return the memory of such large buffers to
 * the system, and each new buffer would need new pages.
 */
#include "body.h"

#include <stdlib.h>

/* The maximum number of buffers in the pool: 4 MiB, as many as a crawler uses at once. */
#define MOST_SPARE 64

struct http_buffer *coil__http_buffer_take(coil_http_session *session)
{
    struct http_buffer *buffer = SLIST_FIRST(&session->spare_buffers);

    if (buffer == NULL)
        return malloc(sizeof *buffer);
    SLIST_REMOVE_HEAD(&session->spare_buffers, link);
    session->spare_buffer_count--;
    return buffer;
}

void coil__http_buffer_give_back(coil_http_session *session, struct http_buffer *buffer)
{
    if (buffer == NULL)
        return;
    if (session->multi == NULL || session->spare_buffer_count == MOST_SPARE) {
        free(buffer);
        return;
    }
    SLIST_INSERT_HEAD(&session->spare_buffers, buffer, link);
    session->spare_buffer_count++;
}

void coil__http_buffers_finish(coil_http_session *session)
{
    struct http_buffer *buffer;

    while ((buffer = SLIST_FIRST(&session->spare_buffers)) != NULL) {
        SLIST_REMOVE_HEAD(&session->spare_buffers, link);
        free(buffer);
    }
    session->spare_buffer_count = 0;
}
