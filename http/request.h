/* request.h - convert a request to libcurl's options. */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include "session.h"

/* One request in a chain of redirects. */
struct http_step {
    const char *method;
    bool with_body;
    bool lost_body;        /* a redirect has dropped the body, if any */
    bool with_credentials; /* send the headers that only the first origin may see */
};

/*
 * Check the method and the headers. Fails with -EINVAL if one of them is malformed, with
 * a message in response->error.
 */
int coil__http_request_check(coil_http_response *response,
                             const coil_http_request *request);

/*
 * Check response->url. Fails like coil__http_target_parse(), with a message in
 * response->error.
 */
int coil__http_check_url(coil_http_response *response);

/* Return the first step of a request. */
struct http_step coil__http_first_step(const coil_http_request *request);

/*
 * Prepare the step after a redirect with the given status. `same_origin` is true if the
 * redirect leads to the same origin.
 */
struct http_step coil__http_next_step(struct http_step step, int status,
                                      bool same_origin);

/*
 * Look up the proxy for response->url or, without a proxy or if `directly` is true, the
 * host of the URL, and pass the addresses to libcurl. Addresses that libcurl already has
 * are omitted unless `all` is true. Suspends. Fails like coil__http_target_parse() and
 * coil_getaddrinfo(), with a message in response->error.
 */
int coil__http_look_up(coil_http_response *response, bool directly, bool all);

/*
 * Set response->handle to a handle with all options of the request. Fails like
 * coil__http_easy_take().
 */
int coil__http_prepare(coil_http_response *response, const coil_http_request *request,
                       const struct http_step *step);

/* Set the handle's callback for name lookups. */
void coil__http_request_apply(struct http_easy *handle);

#endif
