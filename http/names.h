/*
 * names.h - hosts looked up for libcurl, which would start a thread for each.
 */
#ifndef HTTP_NAMES_H
#define HTTP_NAMES_H

#include <coil/base.h>

#include <curl/curl.h>
#include <sys/queue.h>

struct http_names {
    TAILQ_HEAD(http_by_use, http_name) by_use; /* latest first */
    size_t count;
};

void coil__http_names_init(struct http_names *names);

/* Nobody may be looking anything up. */
void coil__http_names_finish(struct http_names *names);

/*
 * Look a host up, or remember it from before, and append what was found to *entries, a
 * list for CURLOPT_RESOLVE. Suspends. Fails as coil_getaddrinfo().
 */
int coil__http_names_look_up(struct http_names *names, const char *host, const char *port,
                             struct curl_slist **entries);

#endif
