/*
 * cookie.h - send cookies from a request's own Cookie header in addition to cookies that
 * servers have set.
 */
#ifndef HTTP_COOKIE_H
#define HTTP_COOKIE_H

#include "session.h"

/*
 * Append the value of a Cookie header, such as "a=b; c=d", to *cookies. The caller frees
 * *cookies with free(3). If a server has set a cookie with the same name for the
 * response's URL, the request's cookie is omitted, because the server's cookie is newer.
 * Returns 0 or -ENOMEM.
 */
int coil__http_cookie_add(const coil_http_response *response, const char *value,
                          char **cookies);

#endif
