/*
 * site.h - which URLs belong to the sites that are crawled.
 */
#ifndef CRAWLER_SITE_H
#define CRAWLER_SITE_H

#include "../base/table.h"

#include <stdbool.h>

/* Zeroes are no site at all, strict. */
struct site {
    struct table keys; /* what the URLs of a site have in common, to itself */
    bool lenient;
};

/*
 * From now on all URLs of the same site as `url`, made by url_resolve(), belong. Strict:
 * the same host but for a "www." in front, with the same port, those of http and https
 * counting as one where they are the usual ones. Lenient: hosts that share their last two
 * labels; the port does not matter. Addresses in numbers are never shortened.
 * 0 or -ENOMEM.
 */
int site_add(struct site *site, const char *url);

/* 1 if the URL belongs, 0 if not, or -ENOMEM. */
int site_has(const struct site *site, const char *url);

/* Zeroes are accepted. */
void site_finish(struct site *site);

#endif
