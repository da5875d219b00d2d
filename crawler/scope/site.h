/* site.h - decide which URLs belong to the sites that are crawled. */
#ifndef CRAWLER_SITE_H
#define CRAWLER_SITE_H

#include "../base/table.h"

#include <stdbool.h>

/* The sites of a crawl. Initialize with zeroes, and set `lenient` if necessary. */
struct site {
    struct table keys; /* keys of all sites */
    bool lenient;
};

/*
 * Add the site of `url`, which must be a result of url_resolve(). Returns 0 or -ENOMEM.
 * Another URL belongs to the same site if
 *
 *     strict     the host is equal apart from "www.", and the port is equal
 *                (the default ports of http and https count as equal)
 *     lenient    the last two labels of the host are equal, with any port
 *
 * Numeric addresses must be equal as a whole.
 */
int site_add(struct site *site, const char *url);

/* Return 1 if the URL belongs to one of the sites, 0 if not, or -ENOMEM. */
int site_has(const struct site *site, const char *url);

/* Free the keys. A zeroed struct is accepted. */
void site_finish(struct site *site);

#endif
