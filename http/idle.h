/*
 * idle.h - requests that end because nothing has come for too long.
 */
#ifndef HTTP_IDLE_H
#define HTTP_IDLE_H

#include "session.h"

void coil__http_idle_init(coil_http_session *session);
void coil__http_idle_finish(coil_http_session *session);

/* A task begins to wait for the response: from now on its time runs. Fails with -ENOMEM. */
int coil__http_idle_begin(coil_http_response *response);

/* Something of the response has come, or libcurl has begun with it. */
void coil__http_idle_note(coil_http_response *response);

#endif
