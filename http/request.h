/*
 * request.h - a request in libcurl's terms.
 */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include "session.h"

/* What one step of a chain of redirects sends. */
struct http_step {
    const char *method;
    bool with_body;
    bool with_credentials; /* headers that are for the first origin alone */
};

/* -EINVAL for a malformed method or header. */
int coil__http_request_check(const coil_http_request *request);

/* The first step of a request. */
struct http_step coil__http_first_step(const coil_http_request *request);

/*
 * The step after a redirect with `status`, which leads to the same origin or not.
 */
struct http_step coil__http_next_step(struct http_step step, int status,
                                      bool same_origin);

/*
 * Look up who has to be asked for response->url: the host, or a proxy. With `directly`
 * the host in any case. Suspends; fails as coil_getaddrinfo().
 */
int coil__http_look_up(coil_http_response *response, bool directly);

/* Make response->easy, ready to be started but for its callbacks. -ENOMEM. */
int coil__http_prepare(coil_http_response *response, const coil_http_request *request,
                       const struct http_step *step);

#endif
