/*
 * body.h - what came of a body and was not read yet.
 */
#ifndef HTTP_BODY_H
#define HTTP_BODY_H

#include "session.h"

#define BUFFER_BYTES ((size_t)64 * 1024)

struct http_buffer {
    SLIST_ENTRY(http_buffer) link; /* coil_http_session.spare_buffers */
    char bytes[BUFFER_BYTES];
};

/* NULL for want of memory. */
struct http_buffer *coil__http_buffer_take(coil_http_session *session);

/* NULL is accepted. */
void coil__http_buffer_give_back(coil_http_session *session, struct http_buffer *buffer);

/* Free those that are spare. */
void coil__http_buffers_finish(coil_http_session *session);

#endif
