/* easy.h - reuse libcurl's transfer handles. */
#ifndef HTTP_EASY_H
#define HTTP_EASY_H

#include "session.h"

struct http_easy {
    CURL *easy;
    SLIST_ENTRY(http_easy) link;  /* coil_http_session.spare */
    coil_http_response *response; /* the response that uses the handle, or NULL */
    const char *proxy;            /* the value of CURLOPT_PROXY */
    /* Which options of the handle this response has changed. */
    bool is_head, has_headers, has_cookies, has_names, is_not_decoded, is_wired;
    bool is_raw; /* the response has an unknown content coding */
    bool cannot_be_reset;
};

/*
 * Set response->handle to a handle with all options of the session. Fails with -ENOMEM,
 * or -EMSGSIZE if a string exceeds libcurl's limit.
 */
int coil__http_easy_take(coil_http_response *response);

/* Reuse or destroy the response's handle, if it has one. The transfer must not be
   running. */
void coil__http_easy_give_back(coil_http_response *response);

/* Free the spare handles. */
void coil__http_easies_finish(coil_http_session *session);

#endif
