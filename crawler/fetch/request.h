/*
 * request.h - how a target is asked for: which headers, which method, what of the answer.
 */
#ifndef CRAWLER_REQUEST_H
#define CRAWLER_REQUEST_H

#include "answer.h"
#include "../frontier/frontier.h"
#include "../options/options.h"

/* What all requests of a crawl have in common. */
struct requester {
    const struct options *options;
    struct warc *warc; /* takes all requests and answers; or NULL */
    unsigned split;    /* this many processes may request from one host at a time */
    coil_http_session *sessions[FRONTIER_CLASSES];
};

/* Open the sessions. 0 or -ENOMEM; close it in any case. */
int requester_open(struct requester *requester);
void requester_close(struct requester *requester);

/* Whoever reads bodies: struct question. */
struct request_reader {
    bool (*wants_body)(const struct answer *answer, void *arg);
    int (*take_body)(const char *bytes, size_t n, void *arg);
    void *arg;
    const char *const *headers; /* in the place of those of the host; NULL: none are */
};

/* host->headers is set: those of the user for the starts' origins, or for this host. 0 or
   -ENOMEM. */
int request_find_headers(const struct requester *requester, struct host *host);

/* So long may its body be: a sitemap's as long as the protocol allows. */
size_t request_body_limit(const struct options *options, const struct target *page);

/*
 * Ask for it: of the site by GET, of others by HEAD, and by GET where HEAD does no good. As
 * answer_get(); or as warc_add().
 */
COIL_SUSPENDS int request_answer(struct requester *requester, const struct target *page,
                                 const struct request_reader *reader,
                                 struct answer *answer);

#endif
