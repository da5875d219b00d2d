/*
 * crawl.h - the parts that coil_crawl.c and thread_crawl.c share: the set of seen pages,
 * and parsing. The two crawlers differ only in how they wait.
 */
#ifndef COIL_CRAWL_H
#define COIL_CRAWL_H

#include "claims.h"

#include <stdbool.h>

#define PAGES_MOST 100000
#define PAGE_BYTES 4096

static bool seen[PAGES_MOST];

/*
 * Add the page to the set of seen pages. Returns false if it was seen before or does not
 * exist.
 */
static inline bool is_new(long page)
{
    if (page < 0 || page >= PAGES_MOST || seen[page])
        return false;
    return seen[page] = true;
}

/*
 * Return the number of the page in the next link, and move *text past the link. Returns
 * -1 if no link follows.
 */
static inline long next_link(const char **text)
{
    const char *link = strstr(*text, "href=\"/");

    if (link == NULL)
        return -1;
    *text = link + strlen("href=\"/");
    return atol(*text);
}

/*
 * Compute the length of the whole answer from its head. Returns 0 while the head is
 * incomplete.
 */
static inline size_t answer_length(const char *bytes)
{
    const char *end = strstr(bytes, "\r\n\r\n"),
               *length = strstr(bytes, "Content-Length: ");

    if (end == NULL || length == NULL || length > end)
        return 0;
    return (size_t)(end + 4 - bytes) + (size_t)atol(length + strlen("Content-Length: "));
}

static inline size_t write_request(char *out, size_t size, long page)
{
    return (size_t)snprintf(out, size, "GET /%ld HTTP/1.1\r\nHost: localhost\r\n\r\n",
                            page);
}

#endif
