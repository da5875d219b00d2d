/*
 * recheck.h - send conditional requests with the validators of an earlier crawl, so that
 * servers need not send unchanged pages again.
 *
 *     rc = recheck_find(recheck, url, &saved);          // 1: send its validators
 *     ... recheck_headers(&saved, host_headers) ... after a 304, use saved.page ...
 *     recheck_answer_finish(&saved);
 *
 * (RFC 9110, section 13: If-None-Match, If-Modified-Since)
 */
#ifndef CRAWLER_RECHECK_H
#define CRAWLER_RECHECK_H

#include "../base/text.h"
#include "saved_urls.h"

#include <coil/base.h>

struct recheck;

/* A copy of a page of the earlier crawl, or all zero if the page was not found. */
struct recheck_answer {
    struct store_page page;
    struct text bytes;    /* the texts and blobs of the page */
    const char **headers; /* NULL-terminated */
    char *validators[2];
};

/*
 * Read the URLs of an earlier crawl into `cold`, or into the heap if `cold` is NULL.
 * Takes ownership of the store, even if it fails. Fails with -ENOMEM, with -EBADMSG if a
 * URL is invalid, or with the error of the store, whose message is then stored in
 * *message.
 */
int recheck_create(struct store *store, struct cold *cold, struct recheck **out,
                   char **message);
void recheck_destroy(struct recheck *recheck);

/*
 * Find the earlier answer for a URL. Returns 1 if there is one with a validator,
 * otherwise 0. Fails with -ENOMEM, -ECANCELED, or the error of the store.
 * recheck_answer_finish() must be called even after an error.
 */
COIL_SUSPENDS int recheck_find(struct recheck *recheck, const char *url,
                               struct recheck_answer *saved);

/* Set saved->headers to `headers`, followed by If-None-Match and If-Modified-Since.
   Returns 0 or -ENOMEM. */
int recheck_headers(struct recheck_answer *saved, const char *const *headers);

const struct saved_urls *recheck_urls(const struct recheck *recheck);

void recheck_answer_finish(struct recheck_answer *saved);

#endif
