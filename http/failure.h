/* failure.h - convert libcurl's errors to an errno and a message. */
#ifndef HTTP_FAILURE_H
#define HTTP_FAILURE_H

#include "session.h"

/* Return 0 if the completed transfer was successful, or else a negative errno. */
int coil__http_outcome(const coil_http_response *response);

/*
 * End the transfer with the failure rc, which all later calls for the response also
 * return. Sets a message unless there already is one. Returns rc.
 */
int coil__http_give_up(coil_http_response *response, int rc);

#endif
