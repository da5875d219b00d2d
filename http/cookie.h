/*
 * cookie.h - the cookies that a request brings, beside those that servers have set.
 */
#ifndef HTTP_COOKIE_H
#define HTTP_COOKIE_H

#include "session.h"

/*
 * Add the value of a Cookie header, "a=b; c=d", to *cookies, for free(). A cookie whose name a
 * server has set for the response's URL is left out, since that one is newer. 0 or -ENOMEM.
 */
int coil__http_cookie_add(const coil_http_response *response, const char *value,
                          char **cookies);

#endif
