/* failure.h - convert libcurl's errors to an errno and a message. */
#ifndef HTTP_FAILURE_H
#define HTTP_FAILURE_H

#include "session.h"

/* Return the result of a completed transfer: 0 or a negative errno. */
int coil__http_outcome(const coil_http_response *response);

/*
 * Make this call and all later calls fail with rc: end the transfer, and set a message if
 * there is none. Returns rc.
 */
int coil__http_give_up(coil_http_response *response, int rc);

#endif
