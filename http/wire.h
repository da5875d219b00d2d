/*
 * wire.h - what goes over the wire, told as it goes: coil_http_request.on_wire.
 */
#ifndef HTTP_WIRE_H
#define HTTP_WIRE_H

#include "easy.h"

/* Tell the response's on_wire of its next request, which goes by HTTP/1.1; and no more. */
void coil__http_wire(struct http_easy *handle);
void coil__http_unwire(struct http_easy *handle);

#endif
