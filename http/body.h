/*
 * body.h - buffers for the received bytes of a body that the caller has not read yet.
 */
#ifndef HTTP_BODY_H
#define HTTP_BODY_H

#include "session.h"

#define BUFFER_BYTES ((size_t)64 * 1024)

struct http_buffer {
    SLIST_ENTRY(http_buffer) link; /* coil_http_session.spare_buffers */
    char bytes[BUFFER_BYTES];
};

/* Take a buffer from the pool, or allocate one. Returns NULL if memory runs out. */
struct http_buffer *coil__http_buffer_take(coil_http_session *session);

/* Return a buffer to the pool, or free it. `buffer` may be NULL. */
void coil__http_buffer_give_back(coil_http_session *session, struct http_buffer *buffer);

/* Free the buffers in the pool. */
void coil__http_buffers_finish(coil_http_session *session);

#endif
