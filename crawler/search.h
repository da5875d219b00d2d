/*
 * search.h - the URLs that a page points at, without holding up the loop.
 */
#ifndef CRAWLER_SEARCH_H
#define CRAWLER_SEARCH_H

#include <coil/base.h>

/* What was found. Zeroes are nothing. */
struct search_result {
    char *records; /* see search_next() */
    size_t bytes;
};

/*
 * Search a page for links and resolve them. `content_type` may be NULL. Long pages are
 * searched by threads of the cpu lane. In any case finish the result.
 *
 * Fails with -ECANCELED, -ENOMEM, or -ETIME for a page that takes too long.
 */
COIL_SUSPENDS int search_page(const char *url, const char *content_type, const char *html,
                              size_t n, struct search_result *result);

/*
 * Go through the result: *at begins as NULL. Returns the next reference and whether it
 * is a URL as url_resolve() makes them, or else as written and no URL at all; or NULL at
 * the end. References with other schemes than http and https are left out.
 */
const char *search_next(const struct search_result *result, const char **at,
                        bool *is_url);

/* Free it. Zeroes are accepted. */
void search_result_finish(struct search_result *result);

#endif
