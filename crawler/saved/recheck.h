/*
 * recheck.h - what an earlier crawl was answered, so that a server need not send it again.
 *
 *     rc = recheck_find(recheck, url, &kept);          // 1: ask with its validators
 *     ... recheck_headers(&kept, host_headers) ... a 304 means that kept.page still holds ...
 *     recheck_kept_finish(&kept);
 *
 * (RFC 9110, section 13: If-None-Match, If-Modified-Since)
 */
#ifndef CRAWLER_RECHECK_H
#define CRAWLER_RECHECK_H

#include "../base/text.h"
#include "saved_urls.h"

#include <coil/base.h>

struct recheck;

/* A page of the earlier crawl, copied. Zeroes are none. */
struct recheck_kept {
    struct store_page page;
    struct text bytes;    /* its texts and blobs */
    const char **headers; /* NULL-terminated */
    char *validators[2];
};

/* The store becomes the recheck's; its URLs are kept in `cold`, or on the heap. 0, -ENOMEM, -EBADMSG, or what the store failed with, which it tells. */
int recheck_create(struct store *store, struct cold *cold, struct recheck **out,
                   char **message);
void recheck_destroy(struct recheck *recheck);

/* 1 if there is an answer to that URL with a validator, 0 if not, or -ENOMEM, -ECANCELED, or what
   the store failed with. Finish *kept in any case. */
COIL_SUSPENDS int recheck_find(struct recheck *recheck, const char *url,
                               struct recheck_kept *kept);

/* kept->headers are those, and the validators. 0 or -ENOMEM. */
int recheck_headers(struct recheck_kept *kept, const char *const *headers);

const struct saved_urls *recheck_book(const struct recheck *recheck);

void recheck_kept_finish(struct recheck_kept *kept);

#endif
