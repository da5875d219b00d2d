/*
 * request.h - fetch a target: choose headers and method, and decide how much of the body
 * to read.
 */
#ifndef CRAWLER_REQUEST_H
#define CRAWLER_REQUEST_H

#include "answer.h"
#include "../frontier/frontier.h"
#include "../options/options.h"

/* The data that all requests of a crawl share. */
struct requester {
    const struct options *options;
    struct warc *warc; /* the archive of all requests and answers; or NULL */
    unsigned split;    /* number of processes that share the limits of each host */
    coil_http_session *sessions[FRONTIER_CLASSES];
};

/* Open the sessions. Returns 0 or -ENOMEM. Always call requester_close() afterwards. */
int requester_open(struct requester *requester);
void requester_close(struct requester *requester);

/* Set host->headers to the headers that the user gave for this host, or for all starts if
   the host is trusted like a start. Returns 0 or -ENOMEM. */
int request_find_headers(const struct requester *requester, struct host *host);

/* Return the size limit of the page's body. A sitemap may be as long as the sitemap
   protocol allows. */
size_t request_body_limit(const struct options *options, const struct target *page);

/*
 * Fetch a page, with GET on the site and HEAD on other sites. If HEAD fails, try GET. If
 * `headers` is not NULL, send these headers instead of the host's headers. Returns 0, or
 * fails like answer_get() and warc_add().
 */
COIL_SUSPENDS int request_answer(struct requester *requester, const struct target *page,
                                 const char *const *headers,
                                 const struct body_reader *reader, struct answer *answer);

#endif
