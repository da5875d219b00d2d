/*
 * failure.h - what libcurl says went wrong, as an errno and a sentence.
 */
#ifndef HTTP_FAILURE_H
#define HTTP_FAILURE_H

#include "session.h"

/* The result of a transfer that is done: 0 or a negative errno. */
int coil__http_outcome(const coil_http_response *response);

/*
 * Fail the call, and every later one, with rc: end the transfer, and set a message if
 * there is none. Returns rc.
 */
int coil__http_give_up(coil_http_response *response, int rc);

#endif
