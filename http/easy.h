/*
 * easy.h - libcurl's handles of transfers, used again.
 */
#ifndef HTTP_EASY_H
#define HTTP_EASY_H

#include "session.h"

struct http_easy {
    CURL *easy;
    SLIST_ENTRY(http_easy) link;  /* coil_http_session.spare */
    coil_http_response *response; /* that uses it; NULL while it is spare */
    const char *proxy;            /* that it was told of */
    /* Which options the response has changed. */
    bool is_head, has_headers, has_cookies, has_names, is_not_decoded, is_wired;
    bool is_raw; /* the codings of its answer are not all known */
    bool is_changed_for_good;
};

/*
 * Give the response a handle with all options of the session. Fails with -ENOMEM, or
 * -EMSGSIZE for a string that is longer than libcurl takes.
 */
int coil__http_easy_take(coil_http_response *response);

/* Take it from the response, if it has one: it is not running. */
void coil__http_easy_give_back(coil_http_response *response);

/* Free those that are spare. */
void coil__http_easies_finish(coil_http_session *session);

#endif
