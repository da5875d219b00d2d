/*
 * cookie.h - send cookies from a request's own Cookie header in addition to cookies that
 * servers have set.
 */
#ifndef HTTP_COOKIE_H
#define HTTP_COOKIE_H

#include "session.h"

/*
 * Append the cookies in a Cookie header, whose value is for example "a=b; c=d", to
 * *cookies. A cookie is omitted if a server has set a cookie with the same name for the
 * response's URL, because the server's cookie is newer. The caller frees *cookies with
 * free(3). Returns 0 or -ENOMEM.
 */
int coil__http_cookie_add(const coil_http_response *response, const char *value,
                          char **cookies);

#endif
