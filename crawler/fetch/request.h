/*
 * request.h - fetch a target: choose headers and method, and decide how much of the body
 * to read.
 */
#ifndef CRAWLER_REQUEST_H
#define CRAWLER_REQUEST_H

#include "answer.h"
#include "../frontier/frontier.h"
#include "../options/options.h"

/* Data shared by all requests of a crawl. */
struct requester {
    const struct options *options;
    struct warc *warc;  /* archive of all requests and answers; or NULL */
    unsigned split;     /* number of processes that share each host's limits */
    unsigned max_tasks; /* concurrent requests of each class */
    coil_http_session *sessions[FRONTIER_CLASSES];
};

/*
 * Return how many requests of each class may be sent at the same time: --max-tasks, or
 * fewer if the process cannot open enough descriptors.
 */
unsigned request_count_tasks(const struct options *options);

/*
 * Open the sessions. Returns 0 or -ENOMEM. requester_close() must be called even after an
 * error.
 */
int requester_open(struct requester *requester);
void requester_close(struct requester *requester);

/*
 * Close all idle connections by opening new sessions, except with --cookies. No request
 * may be in progress. Returns 0 or -ENOMEM.
 */
int requester_close_idle(struct requester *requester);

/*
 * Set host->headers to the headers that the user specified for this host and, if it is
 * trusted like a start URL, for all start URLs. Returns 0 or -ENOMEM.
 */
int request_find_headers(const struct requester *requester, struct host *host);

/*
 * Return the size limit of a page's body. For a sitemap, this is at least the limit of
 * the sitemap protocol.
 */
size_t request_body_limit(const struct options *options, const struct target *page);

/*
 * Fetch a page: with GET on the site, and on other sites with HEAD, then GET if HEAD
 * fails. Only GET is used if the ids of the page are needed, or if --external is not
 * "head". Sends `headers`, or host->headers if `headers` is NULL. Fails like answer_get()
 * or warc_add().
 */
COIL_SUSPENDS int request_answer(struct requester *requester, const struct target *page,
                                 const char *const *headers,
                                 const struct body_reader *reader, struct answer *answer);

#endif
