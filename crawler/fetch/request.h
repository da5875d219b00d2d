/* request.h - the headers and the method of a request, and which part of the answer
   counts. */
#ifndef CRAWLER_REQUEST_H
#define CRAWLER_REQUEST_H

#include "answer.h"
#include "../frontier/frontier.h"
#include "../options/options.h"

/* The data that all requests of a crawl share. */
struct requester {
    const struct options *options;
    struct warc *warc; /* takes all requests and answers; or NULL */
    unsigned split;    /* this many processes may request from one host at a time */
    coil_http_session *sessions[FRONTIER_CLASSES];
};

/* Open the sessions. 0 or -ENOMEM; close it in any case. */
int requester_open(struct requester *requester);
void requester_close(struct requester *requester);

/* The functions that read a body: struct question. */
struct request_reader {
    bool (*wants_body)(const struct answer *answer, void *arg);
    int (*take_body)(const char *bytes, size_t n, void *arg);
    void *arg;
    const char *const *headers; /* replace the headers of the host; or NULL */
};

/* Set host->headers: the user's headers for the origins of starts, and for this host. 0
   or -ENOMEM. */
int request_find_headers(const struct requester *requester, struct host *host);

/* The largest body that is read. Sitemaps may be as long as their protocol allows. */
size_t request_body_limit(const struct options *options, const struct target *page);

/* Fetch a target: on the site by GET; elsewhere by HEAD, then by GET if HEAD fails. As
   answer_get(), or as warc_add(). */
COIL_SUSPENDS int request_answer(struct requester *requester, const struct target *page,
                                 const struct request_reader *reader,
                                 struct answer *answer);

#endif
