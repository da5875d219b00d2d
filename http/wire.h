/* wire.h - report transmitted bytes: coil_http_request.on_wire. */
#ifndef HTTP_WIRE_H
#define HTTP_WIRE_H

#include "easy.h"

/*
 * Start or stop passing transmitted bytes to the response's on_wire. While transmitted
 * bytes are passed, requests use HTTP/1.1.
 */
void coil__http_wire(struct http_easy *handle);
void coil__http_unwire(struct http_easy *handle);

#endif
