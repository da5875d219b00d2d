/* idle.h - end requests that make no progress for too long. */
#ifndef HTTP_IDLE_H
#define HTTP_IDLE_H

#include "session.h"

void coil__http_idle_init(coil_http_session *session);
void coil__http_idle_finish(coil_http_session *session);

/*
 * Called when a task begins to wait for a response: start measuring the response's idle
 * time. Fails with -ENOMEM.
 */
int coil__http_idle_begin(coil_http_response *response);

/*
 * Record that the transfer of a response makes progress: bytes have arrived, or libcurl
 * has begun the transfer.
 */
void coil__http_idle_note(coil_http_response *response);

#endif
