/*
 * request.h - a request in libcurl's terms.
 */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include "session.h"

/* The request of one step in a chain of redirects. */
struct http_step {
    const char *method;
    bool with_body;
    bool lost_body;        /* a redirect has taken it, if there was one */
    bool with_credentials; /* send headers that are for the first origin only */
};

/* -EINVAL for a malformed method or header, with a sentence in response->error. */
int coil__http_request_check(coil_http_response *response,
                             const coil_http_request *request);

/* Fails as coil__http_target_parse(), with a sentence in response->error. */
int coil__http_check_url(coil_http_response *response);

/* The first step of a request. */
struct http_step coil__http_first_step(const coil_http_request *request);

/* Prepare the step after a redirect with `status`, to the same origin or another one. */
struct http_step coil__http_next_step(struct http_step step, int status,
                                      bool same_origin);

/*
 * Look up the host of response->url, or of the proxy for it unless `directly`, and tell
 * libcurl the addresses: all of them, or what it has not been told. Suspends; fails as
 * coil__http_target_parse() and coil_getaddrinfo(), with a sentence in response->error.
 */
int coil__http_look_up(coil_http_response *response, bool directly, bool all);

/*
 * Give the response a handle with all options of the request. Fails as
 * coil__http_easy_take().
 */
int coil__http_prepare(coil_http_response *response, const coil_http_request *request,
                       const struct http_step *step);

/* Set the callback by which a handle looks up names. */
void coil__http_request_apply(struct http_easy *handle);

#endif
